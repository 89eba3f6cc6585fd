"""Rows from everywhere become the points of a run; nothing that is written ends a trial."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attempts import curve, notes, outcome, read, spec_in
from tunebook.core.commands import Command
from tunebook.core.curves import columns
from tunebook.core.events import Event, Logged, Resumed
from tunebook.core.trials import Outcome, OutcomeKind
from tunebook.execution import here
from tunebook.execution.collecting import Collector, Earlier
from tunebook.execution.run import TrialEnded

DONE = Outcome(OutcomeKind.COMPLETE, "finished")


def told(folder: Path, *lines: object, number: int = 1, command: Any = None) -> list[Event]:
    """The events of an attempt whose script has written lines to the file of `tunebook.log`."""
    begun = here.begin(spec_in(folder, number=number))
    assert begun is not None
    file = folder / f"told-{number}"
    collector = Collector(
        begun.run, command or Command(("x",)), {}, folder, told=file, earlier=Earlier.of(begun.run)
    )
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("".join(f"{line}\n" for line in text))
    try:
        collector.read_files(last=True)
        collector.end()
        begun.run.end(DONE)
    except TrialEnded:
        pass
    finally:
        begun.release()
    return read(spec_in(folder, number=number))


def test_rows_are_logged(tmp_path: Path) -> None:
    events = told(
        tmp_path,
        {"tunebook": "log", "step": 3, "metrics": {"loss": 1.0, "step": 2.0}},
        {"step": 4, "loss": 0.5},
        "no json",
        {"tunebook": "note", "text": "hello"},
        {"tunebook": "something new"},
        {"step": 5},
    )
    assert curve(events) == [(3, 1.0), (4, 0.5)]
    assert notes(events) == ["hello"]


def test_a_row_has_the_time_at_which_it_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are read in bunches: that is no time of theirs. A clock that is wrong is not asked."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "time", lambda: 4900.0 + clock[0])
    begun = here.begin(spec_in(tmp_path))
    assert begun is not None
    collector = Collector(begun.run, Command(("x",)), {}, tmp_path, told=tmp_path / "told")
    given = [5001.0, 5001.003, 5900.0, 1.0, float("nan"), "late", None]
    lines = [
        json.dumps({"tunebook": "log", "step": step, "metrics": {"loss": 1.0}, "at": at})
        for step, at in enumerate(given)
    ]
    (tmp_path / "told").write_text("\n".join(lines))
    clock[0] = 107.0
    collector.read_files(last=True)
    begun.run.end(DONE)
    begun.release()
    (blocks,) = (event.blocks for event in read(spec_in(tmp_path)) if isinstance(event, Logged))
    assert columns(blocks)["loss"].seconds == pytest.approx([1.0, 1.003, 7.0, 7.0, 7.0, 7.0, 7.0])


def test_without_steps_each_metric_is_counted(tmp_path: Path) -> None:
    events = told(tmp_path, {"loss": 1}, {"error": 2}, {"loss": 3}, {"loss": 4, "error": 5})
    assert curve(events) == [(0, 1.0), (1, 3.0), (2, 4.0)]
    assert curve(events, "error") == [(0, 2.0), (2, 5.0)]


def test_a_step_that_is_none_is_not_counted(tmp_path: Path) -> None:
    events = told(
        tmp_path,
        {"step": 3, "loss": 1},
        {"step": -1, "loss": 2},
        {"step": "none", "loss": 3},
        {"step": 4, "loss": 4},
    )
    assert curve(events) == [(3, 1.0), (4, 4.0)]
    assert notes(events) == [
        "'loss' came with the step -1, but steps are whole numbers from 0 on; points with another "
        "step are left out"
    ]


def test_a_damaged_event_file_is_noted(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    begun = here.begin(spec_in(tmp_path))
    assert begun is not None
    command = Command(("x",), tensorboard=(str(folder),))
    collector = Collector(begun.run, command, {}, tmp_path, told=tmp_path / "told")
    (folder / "events.out.tfevents.1").write_bytes(b"\xff" * 40)
    (folder / "events.out.tfevents.2").write_bytes(bytes(40))
    collector.read_files()
    collector.read_files(last=True)
    begun.run.end(DONE)
    begun.release()
    assert notes(read(spec_in(tmp_path))) == [
        f"events.out.tfevents.{number}: the record at byte 0 {what}; the rest of the file is left "
        "out"
        for number, what in ((1, "has a damaged length"), (2, "is zero"))
    ]


def test_a_configuration_that_cannot_work(tmp_path: Path) -> None:
    events = told(tmp_path, {"tunebook": "infeasible", "reason": "too wide"}, {"loss": 1})
    assert (outcome(events).kind.value, outcome(events).reason) == ("infeasible", "too wide")
    assert curve(events) == []


def test_who_asks_is_told_when_all_is_on_the_disk(tmp_path: Path) -> None:
    told(tmp_path, {"loss": 1}, {"tunebook": "sync", "answer": "../abc"})
    assert (tmp_path / "heard-abc").exists()


def test_what_was_resumed_is_recorded_once(tmp_path: Path) -> None:
    told(tmp_path, {"step": 0, "loss": 1}, {"step": 1, "loss": 2})
    fact = {"tunebook": "resumed", "attempt": 1, "step": 0, "logged": ["loss"]}
    future = {**fact, "attempt": 7}
    events = told(tmp_path, future, fact, {"step": 1, "loss": 3}, number=2)
    assert [(e.source, e.step) for e in events if isinstance(e, Resumed)] == [(1, 0)]


def test_the_last_attempt_that_logged_anything(tmp_path: Path) -> None:
    told(tmp_path, {"step": 4, "loss": 1}, {"step": 5, "error": 1})
    told(tmp_path, number=2)
    begun = here.begin(spec_in(tmp_path, number=3))
    assert begun is not None
    assert Earlier.of(begun.run) == Earlier(1, 5, ("loss", "error"))
    begun.run.end(DONE)
    begun.release()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["step", "a", "tunebook", "reason", "attempt", "metrics"]),
            st.none() | st.integers() | st.floats() | st.sampled_from(["log", "resumed", "note"]),
        )
        | st.text(max_size=5),
        max_size=5,
    )
)
def test_nothing_that_is_written_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("told")
    assert outcome(told(folder, *lines)) == DONE
