"""Attempts that hang are told of, or ended."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from attempts import TERMS, attempt_in, notes, outcome, program_in, run, spec_in
from tunebook.core.errors import StudyError
from tunebook.execution import processes, stalling
from tunebook.execution.processes import Processes
from tunebook.execution.slots import Slot
from tunebook.execution.spec import Spec, StopRequest
from tunebook.execution.stalling import Stalls

HANGS = """
    import time

    def train(run):
        run.log({"loss": 1.0})
        time.sleep(600)
"""


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    spec = spec_in(tmp_path)
    spec.write()
    return spec


def test_a_silent_attempt_is_warned_of_once(spec: Spec) -> None:
    stalls = Stalls()
    assert stalls.look(spec, 0.0) is None
    assert [stalls.look(spec, 100.0) for _ in range(5)] == [None] * 5
    assert stalls.look(spec, 100.0) == (
        "no log, output or checkpoint for 10 min; with --stall-timeout SECONDS, a trial that hangs "
        "is ended"
    )
    assert stalls.look(spec, 1e6) is None


def test_a_silent_attempt_is_ended(spec: Spec) -> None:
    stalls = Stalls(60.0)
    assert stalls.look(spec, 0.0) is None
    assert stalls.look(spec, 59.0) is None
    reason = "stalled: no log, output or checkpoint for 61 s"
    assert stalls.look(spec, 2.0) == StopRequest("stall", reason, 0.0)
    assert stalls.look(spec, 1e6) is None


def test_time_before_the_first_look_was_no_silence(spec: Spec) -> None:
    stalls = Stalls(60.0)
    assert stalls.look(spec, 1e6) is None
    assert stalls.look(spec, 59.0) is None
    assert stalls.look(spec, 1.0) is not None


@pytest.mark.parametrize("sign", ["spool", "log.txt", "metrics.jsonl", "checkpoints/7", "run/a"])
def test_every_sign_of_life_counts(spec: Spec, sign: str) -> None:
    path = spec.folder / sign
    path.parent.mkdir(exist_ok=True)
    stalls = Stalls(60.0)
    assert stalls.look(spec, 0.0) is None
    assert stalls.look(spec, 59.0) is None
    path.write_bytes(b"a")
    assert stalls.look(spec, 59.0) is None
    assert stalls.look(spec, 59.0) is None
    assert stalls.look(spec, 2.0) is not None


def test_what_a_command_saves_counts(spec: Spec) -> None:
    saved = spec.files / "checkpoints"
    saved.mkdir()
    stalls = Stalls(60.0)
    assert stalls.look(spec, 0.0) is None
    assert stalls.look(spec, 59.0) is None
    (saved / "step-1").mkdir()
    assert stalls.look(spec, 59.0) is None


def test_slow_trials_are_expected_to_be_slow(spec: Spec) -> None:
    stalls = Stalls()
    stalls.look(spec, 0.0)
    stalls.look(spec, 300.0)
    spec.spool.write_bytes(b"a")
    assert stalls.look(spec, 300.0) is None
    assert stalls.look(spec, 2900.0) is None
    warning = stalls.look(spec, 200.0)
    assert isinstance(warning, str)
    assert "for 52 min" in warning


def test_who_speaks_and_falls_silent_again_is_warned_of_again(spec: Spec) -> None:
    stalls = Stalls()
    assert stalls.look(spec, 0.0) is None
    assert isinstance(stalls.look(spec, 1000.0), str)
    spec.spool.write_bytes(b"a")
    assert stalls.look(spec, 1.0) is None
    assert stalls.look(spec, 9000.0) is None
    assert isinstance(stalls.look(spec, 1001.0), str)


def test_an_attempt_that_has_ended_is_forgotten(spec: Spec) -> None:
    stalls = Stalls(60.0)
    stalls.look(spec, 0.0)
    stalls.look(spec, 59.0)
    stalls.forget(spec)
    stalls.look(spec, 0.0)
    assert stalls.look(spec, 59.0) is None


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf")])
def test_a_timeout_that_is_none(timeout: float) -> None:
    told = f"the stall timeout must be a finite number of seconds above 0, got {timeout:g}"
    with pytest.raises(StudyError, match=re.escape(told)):
        Stalls(timeout)


@pytest.mark.parametrize("place", ["run/model.pt", "checkpoints/7/model.pt"])
def test_a_file_that_is_written_over_in_place_counts(spec: Spec, place: str) -> None:
    path = spec.folder / place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a")
    stalls = Stalls(60.0)
    stalls.look(spec, 0.0)
    for at in range(1, 20):
        assert [stalls.look(spec, 10.0) for _ in range(5)] == [None] * 5
        os.utime(path, ns=(at, at))
    assert [stalls.look(spec, 10.0) for _ in range(6)] == [None] * 6
    assert isinstance(stalls.look(spec, 10.0), StopRequest)


def test_files_are_walked_over_rarely_and_not_without_end(
    spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stalling, "_MOST_FILES", 3)
    (spec.folder / "run").mkdir()
    for number in range(9):
        (spec.folder / "run" / str(number)).touch()
    seen: list[str] = []
    below = stalling._below

    def counted(folder: Path) -> Iterator[tuple[str, int, int]]:
        for found in below(folder):
            seen.append(found[0])
            yield found

    monkeypatch.setattr(stalling, "_below", counted)
    stalls = Stalls(60.0)
    for _ in range(100):
        stalls.look(spec, 0.01)
    assert seen == []
    assert isinstance(stalls.look(spec, 60.0), StopRequest)
    assert len(seen) == 3


def test_row_26_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    program = program_in(tmp_path, HANGS)
    executor = Processes(TERMS, [Slot()], stall_timeout=0.5)
    ended = outcome(run(executor, program, [attempt_in(tmp_path)]))
    assert ended.kind.value == "crashed"
    assert ended.reason.startswith("stalled: no log, output or checkpoint for 1 s")


def test_row_26_by_default_a_note_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalling, "WARN_SECONDS", 0.5)
    monkeypatch.setattr(stalling, "_UNUSUAL", 1)
    text = HANGS.replace("600", "4")
    events = run(Processes(TERMS, [Slot()]), program_in(tmp_path, text), [attempt_in(tmp_path)])
    assert outcome(events).kind.value == "complete"
    (note,) = notes(events)
    assert note.startswith("no log, output or checkpoint for ")


def test_row_21_time_in_which_nobody_looked_is_no_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the machine was suspended for a quarter of an hour between any two looks."""
    looks = itertools.count()
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: 1000.0 * next(looks)))
    program = program_in(tmp_path, HANGS.replace("600", "1"))
    executor = Processes(TERMS, [Slot()], stall_timeout=300.0)
    ended = outcome(run(executor, program, [attempt_in(tmp_path)]))
    assert ended.kind.value == "complete"
