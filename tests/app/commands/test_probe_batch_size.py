"""`tunebook probe batch-size`: its options, and planted programs beside their healthy twins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import call

PLANTED = Path(__file__).parents[2] / "planted"
STUDY = """\
study: planted
program: {planted}/batches.py:{program}
objective: {{metric: valid/error, better: lower}}
max_steps: {steps}
nuisance: {{learning_rate: {{log: [1e-4, 1e-1]}}}}
fixed: {{batch_size: 16}}
knobs: {{batch_size: batch_size, learning_rate: learning_rate}}
"""
TORCHRUN = """\
study: several
command:
  - torchrun
  - --nproc-per-node=2
  - --master-port={{port}}
  - {planted}/torchrun_batches.py
  - --steps={{max_steps}}
  - "{{overrides}}"
objective: {{metric: loss, better: lower}}
max_steps: 40
nuisance: {{learning_rate: {{log: [1e-4, 1e-1]}}}}
fixed: {{batch_size: 16}}
knobs: {{batch_size: batch_size, learning_rate: learning_rate}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, program: str, steps: int = 400) -> Path:
    file = folder / "study.yaml"
    file.write_text(STUDY.format(planted=PLANTED, program=program, steps=steps))
    return file


def probed(capsys: pytest.CaptureFixture[str], file: Path, *options: object) -> dict[str, Any]:
    """The findings by the key of their question, and what else was printed."""
    done = call(capsys, "probe", "batch-size", file, "--json", *options)
    assert done.code == 0, done.err
    said: dict[str, Any] = json.loads(done.out)
    return said | {finding["question"]: finding for finding in said["findings"]}


def test_options_that_cannot_be_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder, "hungry")
    for options, said in (
        (("--memory", "much"), "expected a size such as 4GB"),
        (("--sizes", "16,many"), "takes batch sizes in one text, such as 16,64,256; got '16,many'"),
        (("--smallest", 64, "--largest", 8), "the largest batch size, 8, is below the smallest"),
        (("--to-goal",), "give --goal VALUE"),
    ):
        done = call(capsys, "probe", "batch-size", file, *options)
        assert done.code != 0
        assert said in " ".join(done.err.replace("│", " ").split())


def test_what_a_study_lacks_is_named_with_its_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder, "hungry")
    file.write_text(file.read_text().replace("batch_size: batch_size, ", ""))
    done = call(capsys, "probe", "batch-size", file)
    assert done.code != 0
    assert "write 'batch_size: batch_size' under knobs" in done.err


def test_a_program_that_breaks_pauses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "probe", "batch-size", write(folder, "breaks"), "--largest", 16)
    assert done.code == 3
    assert "Paused: 5 attempts in a row broke within 60 s, the last one: ValueError: no" in done.err
    assert "memory" not in done.err


@pytest.mark.long
def test_a_loader_that_keeps_up_until_throughput_stops_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = probed(capsys, write(folder, "prefetching_loader"), "--largest", 256)
    assert found["probe-bottleneck"]["sentence"].startswith("Input: ")
    twin = folder / "twin"
    twin.mkdir()
    healthy = probed(capsys, write(twin, "full_device"), "--largest", 256, "--dir", twin / "book")
    assert not healthy["probe-bottleneck"]["sentence"].startswith("Input")


@pytest.mark.long
def test_running_out_of_memory_is_an_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two megabytes for each example and a limit of 100 MB, really allocated."""
    options = ("--memory", "100MB", "--largest", 128)
    found = probed(capsys, write(folder, "hungry", steps=20), *options)
    finding = found["probe-batch-size"]
    assert finding["numbers"]["largest_fitting"] == 32
    assert "64 ran out of memory" in finding["sentence"]


@pytest.mark.long
def test_a_slow_loader_is_named_and_its_twin_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = probed(capsys, write(folder, "slow_loader"), "--largest", 256)
    assert found["probe-bottleneck"]["verdict"] == "problem"
    assert found["probe-bottleneck"]["sentence"].startswith("Input: ")
    twin = folder / "twin"
    twin.mkdir()
    healthy = probed(capsys, write(twin, "quick_loader"), "--largest", 256, "--dir", twin / "book")
    assert healthy["probe-bottleneck"]["verdict"] == "good"
    assert not healthy["probe-bottleneck"]["sentence"].startswith("Input")


@pytest.mark.long
def test_a_leak_is_found_and_its_twin_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--largest", 32, "--memory", "1GB")
    found = probed(capsys, write(folder, "leaks", steps=10_000), *options)
    assert found["probe-memory"]["verdict"] == "problem"
    assert found["probe-memory"]["numbers"]["bytes_per_step"] == pytest.approx(2**19, rel=0.1)
    assert "it runs out after about" in found["probe-memory"]["sentence"]
    twin = folder / "twin"
    twin.mkdir()
    file = write(twin, "keeps_nothing", steps=10_000)
    healthy = probed(capsys, file, *options, "--dir", twin / "book")
    assert healthy["probe-memory"]["verdict"] == "good"


@pytest.mark.long
def test_several_processes_by_torchrun(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "several.yaml"
    file.write_text(TORCHRUN.format(planted=PLANTED))
    found = probed(capsys, file, "--largest", 16, "--steps", 40)
    finding = found["probe-batch-size"]
    assert finding["numbers"]["largest_fitting"] == 16
    assert "recommended" in finding["numbers"]
    assert found["probe-bottleneck"]["verdict"] == "unknown"
