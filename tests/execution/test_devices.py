"""Who uses the accelerators, by what `nvidia-smi` says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attempts import wait_for
from fake_devices import FakeSmi
from tunebook.execution import devices
from tunebook.execution.devices import NvidiaSmi, Tenant

FIRST, SECOND = "GPU-8a1f0c2e-1111", "GPU-9b2d4e6f-2222"


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSmi:
    smi = FakeSmi(tmp_path / "smi", [FIRST, SECOND])
    monkeypatch.setenv("PATH", f"{smi.folder}:{os.environ['PATH']}")
    return smi


def test_nobody(smi: FakeSmi) -> None:
    assert NvidiaSmi().tenants() == ()


def test_a_process_is_named_by_how_it_was_started(smi: FakeSmi) -> None:
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        smi.put(SECOND, sleeper.pid, "10240 MiB", "sleep")
        (tenant,) = NvidiaSmi().tenants() or ()
        sleeper.kill()
    assert tenant == Tenant(sleeper.pid, "sleep 600", "10240 MiB", "1", SECOND)


def test_a_process_that_cannot_be_seen_keeps_its_name(smi: FakeSmi) -> None:
    smi.put(FIRST, 2**30, "[N/A]", "/usr/bin/a, b")
    assert NvidiaSmi().tenants() == (Tenant(2**30, "/usr/bin/a, b", "[N/A]", "0", FIRST),)


def test_a_long_command_is_cut(smi: FakeSmi) -> None:
    smi.put(FIRST, 2**30, "1 MiB", "x" * 500)
    (tenant,) = NvidiaSmi().tenants() or ()
    assert tenant.command == "x" * 97 + "..."


def test_contexts_of_one_process_count_once(smi: FakeSmi) -> None:
    for device in (FIRST, FIRST, SECOND):
        smi.put(device, 2**30, "1 MiB", "a")
    assert [tenant.index for tenant in NvidiaSmi().tenants() or ()] == ["0", "1"]


def test_a_broker_is_not_in_the_way(smi: FakeSmi) -> None:
    smi.put(FIRST, 2**30, "28 MiB", "/usr/bin/nvidia-cuda-mps-server")
    assert NvidiaSmi().tenants() == ()


def test_the_numbers_of_all(smi: FakeSmi) -> None:
    assert NvidiaSmi().indices() == ("0", "1")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("echo 'No devices were found'", ()),
        ("echo '0, GPU-1'; echo '[Unknown Error], GPU-2'", ("0",)),
        ("echo '0, GPU-1'; exit 9", None),
    ],
)
def test_numbers_that_are_not_to_be_had(
    smi: FakeSmi, answer: str, expected: tuple[str, ...] | None
) -> None:
    smi.script(answer)
    assert NvidiaSmi().indices() == expected


def test_the_numbers_are_asked_for_once(smi: FakeSmi) -> None:
    works = (smi.folder / "nvidia-smi").read_text().partition("\n")[2]
    smi.script(f'echo "$1" >> {smi.folder}/asked\n{works}')
    asked = NvidiaSmi()
    asked.indices()
    for _ in range(2):
        assert asked.tenants() == ()
    questions = [line.partition("=")[0] for line in (smi.folder / "asked").read_text().splitlines()]
    assert questions == ["--query-gpu", "--query-compute-apps", "--query-compute-apps"]


@pytest.mark.parametrize(
    "garbage",
    ["No devices were found\n", "a,b,c,d\n", ",,,\n", "\n\n,\n", "\xff\x00", "GPU-1, 12\n"],
)
def test_garbage_means_nothing(smi: FakeSmi, garbage: str) -> None:
    smi.apps.write_text(garbage)
    assert NvidiaSmi().tenants() == ()


def test_a_tool_that_fails(smi: FakeSmi) -> None:
    smi.put(FIRST, 2**30, "1 MiB", "a")
    smi.script("echo 'GPU-1, 12, 1 MiB, a'; exit 9")
    assert NvidiaSmi().tenants() is None


def test_a_first_answer_that_fails_is_not_kept(smi: FakeSmi) -> None:
    smi.put(SECOND, 2**30, "1 MiB", "a")
    works = (smi.folder / "nvidia-smi").read_text().partition("\n")[2]
    smi.script('case "$1" in --query-gpu=*) exit 9;; esac\n' + works)
    asked = NvidiaSmi()
    assert asked.tenants() is None
    smi.script(works)
    found = asked.tenants()
    assert found is not None
    assert [tenant.index for tenant in found] == ["1"]


def test_no_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert NvidiaSmi().tenants() is None
    assert NvidiaSmi().indices() is None


def test_a_tool_that_hangs_is_asked_once(smi: FakeSmi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_PATIENCE_SECONDS", 0.2)
    smi.script(f"echo asked >> {smi.folder}/asked; exec sleep 60")
    hanging = NvidiaSmi()
    assert [hanging.tenants() for _ in range(3)] == [None] * 3
    assert (smi.folder / "asked").read_text() == "asked\n"


def test_a_tool_that_cannot_be_killed_is_left_and_reaped_when_it_ends(
    smi: FakeSmi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that sleeps in the kernel, where no signal reaches it."""
    monkeypatch.setattr(devices, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(devices, "_DYING_SECONDS", 0.1)
    smi.script(f"echo $$ > {smi.folder}/pid; exec sleep 600")
    hanging = NvidiaSmi()
    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "kill", lambda _: None)
        assert hanging.tenants() is None
    pid = smi.folder / "pid"
    wait_for(lambda: pid.exists() and pid.read_text())
    tool = psutil.Process(int(pid.read_text()))
    assert tool.is_running()
    tool.kill()
    # Once it is dead it is a zombie, until it is asked about.
    wait_for(lambda: tool.status() == psutil.STATUS_ZOMBIE)
    assert hanging.tenants() is None
    assert not psutil.pid_exists(tool.pid)


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("1", True),
        ("0", False),
        ("11", False),
        (SECOND, True),
        ("GPU-9b2d", True),
        (FIRST, False),
        ("", False),
        ("MIG-9b2d4e6f", False),
    ],
)
def test_names_of_an_accelerator(gpu: str, expected: bool) -> None:
    assert Tenant(1, "a", "1 MiB", "1", SECOND).sits_on(gpu) is expected


def test_a_part_of_an_accelerator_is_known_where_the_tool_names_it() -> None:
    part = "MIG-41b35b1f-0c5d"
    assert Tenant(1, "a", "1 MiB", "", part).sits_on("MIG-41b35b1f")
    assert not Tenant(1, "a", "1 MiB", "", part).sits_on("0")


@given(st.text(max_size=40))
def test_any_answer_is_survived(answer: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        told = answer.encode(errors="replace")
        patch.setattr(NvidiaSmi, "_answer", lambda *_: told)
        assert all(map(str.isdecimal, NvidiaSmi().indices() or ()))
        for tenant in NvidiaSmi().tenants() or ():
            assert tenant.pid >= 0
