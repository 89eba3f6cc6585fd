"""How a machine is divided into slots."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.commands import RESERVED_VARIABLES
from tunebook.core.errors import StudyError
from tunebook.core.study import Resources
from tunebook.execution import cgroups, slots
from tunebook.execution.slots import Slot, divide


@pytest.mark.parametrize(
    ("resources", "cpus", "gpus", "workers", "expected"),
    [
        (Resources(), 4, [], None, [()] * 4),
        (Resources(cpus=3), 8, [], None, [()] * 2),
        (Resources(cpus=16), 8, [], None, [()]),
        (Resources(), 2, [], 5, [()] * 5),
        (Resources(), 8, [], 1, [()]),
        (Resources(gpus=1), 8, ["0", "1"], None, [("0",), ("1",)]),
        (Resources(gpus=1), 1, ["0", "1"], None, [("0",)]),
        (Resources(gpus=2), 8, ["0", "1", "2", "3", "4"], None, [("0", "1"), ("2", "3")]),
        (Resources(gpus=1), 8, ["a", "b", "c"], 2, [("a",), ("b",)]),
        (Resources(gpus=1), 8, ["a", "b"], 5, [("a",), ("b",)]),
        (Resources(gpus=1), 1, ["a", "b"], 2, [("a",), ("b",)]),
    ],
)
def test_cases(
    resources: Resources,
    cpus: int,
    gpus: list[str],
    workers: int | None,
    expected: list[tuple[str, ...]],
) -> None:
    divided = divide(resources, cpus, gpus, workers)
    assert [slot.gpus for slot in divided] == expected
    assert [slot.number for slot in divided] == list(range(len(expected)))
    assert {slot.cpus for slot in divided} == {resources.cpus}


@given(
    st.builds(Resources, st.integers(1, 9), st.integers(0, 4), st.none() | st.just(2**30)),
    st.integers(1, 64),
    st.integers(0, 9),
    st.none() | st.integers(1, 20),
)
def test_no_accelerator_is_shared(
    resources: Resources, cpus: int, count: int, workers: int | None
) -> None:
    gpus = [str(number) for number in range(count)]
    if resources.gpus > count:
        with pytest.raises(StudyError):
            divide(resources, cpus, gpus, workers)
        return
    divided = divide(resources, cpus, gpus, workers)
    assert len(divided) >= 1
    given_out = [gpu for slot in divided for gpu in slot.gpus]
    assert len(given_out) == len(set(given_out)) == resources.gpus * len(divided)
    assert {slot.memory for slot in divided} == {resources.memory}
    if workers is not None:
        assert len(divided) <= workers


def test_too_few_accelerators() -> None:
    with pytest.raises(StudyError) as raised:
        divide(Resources(gpus=2), 8, ["0"])
    assert str(raised.value) == (
        "a trial needs 2 gpus, but this machine shows 1; "
        "lower resources.gpus in the study, or run where there are more"
    )


def test_no_workers() -> None:
    with pytest.raises(StudyError, match="the number of workers must be at least 1, got 0"):
        divide(Resources(), 8, [], 0)


def test_what_a_program_finds_in_its_environment() -> None:
    environment = Slot(1, cpus=3, gpus=("2", "5")).environment()
    assert environment["CUDA_VISIBLE_DEVICES"] == "2,5"
    assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert {environment[name] for name in slots.THREAD_VARIABLES} == {"3"}
    assert Slot().environment()["CUDA_VISIBLE_DEVICES"] == ""
    assert environment.keys() <= RESERVED_VARIABLES


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0,1", ("0", "1")),
        (" 2 , GPU-8a ", ("2", "GPU-8a")),
        ("", ()),
        ("-1", ()),
        ("0,-1,1", ("0",)),
        ("0,,1", ("0",)),
    ],
)
def test_accelerators_that_were_given(
    given: str, expected: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert slots.gpus_here(lambda: ("7",)) == expected


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that was given two of the host's accelerators, and no variable about them."""
    for name in ("nvidia3", "nvidia10", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(slots, "Path", lambda _: tmp_path)


@pytest.mark.parametrize("listed", [("0",), ("0", "1", "2"), ()])
@pytest.mark.usefixtures("nodes")
def test_all_accelerators_that_the_driver_lists(listed: tuple[str, ...]) -> None:
    assert slots.gpus_here(lambda: listed) == listed


@pytest.mark.usefixtures("nodes")
def test_where_nobody_can_tell_there_are_as_many_as_nodes() -> None:
    assert slots.gpus_here(lambda: None) == ("0", "1")


@pytest.mark.parametrize(
    ("version", "files", "expected"),
    [
        (2, {"cpu.max": "max 100000"}, 8),
        (2, {"cpu.max": "250000 100000"}, 3),
        (2, {"cpu.max": "10000 100000"}, 1),
        (2, {"cpu.max": "9900000 100000"}, 8),
        (1, {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, 8),
        (1, {"cpu.cfs_quota_us": "200000", "cpu.cfs_period_us": "100000"}, 2),
        (2, {}, 8),
    ],
)
def test_processors_within_the_quota(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: int,
    files: dict[str, str],
    expected: int,
) -> None:
    group = tmp_path / ("group" if version == 2 else "cpu/group")
    group.mkdir(parents=True)
    for name, content in files.items():
        (group / name).write_text(content + "\n")
    (tmp_path / "membership").write_text("0::/group\n" if version == 2 else "4:cpu,x:/group\n")
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    monkeypatch.setattr(cgroups, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert slots.cpus_here() == expected


def test_processors_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert slots.cpus_here() == 1


def test_a_device_that_is_named_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0,0")
    with pytest.raises(StudyError) as caught:
        slots.gpus_here(lambda: None)
    assert str(caught.value) == (
        "CUDA_VISIBLE_DEVICES=1,0,0 names 0 twice, and CUDA then shows no device; name each once"
    )


def test_one_gpu_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudyError, match="a trial needs 1 gpu, but this machine shows 0"):
        slots.divide(Resources(gpus=1), 1, ())
