"""Any history of a store, against a model of what it has acknowledged."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts import oracle
from contracts.store_contract import (
    CODE,
    FOR_GOOD,
    STUDY,
    TRIED_AGAIN,
    every_event,
    logged,
    proposal,
)
from tunebook.core.errors import StoreError
from tunebook.core.events import Finished, Logged, Noted, Resumed
from tunebook.core.trials import Attempt, Outcome
from tunebook.storage import blocks, claims, ingestion
from tunebook.storage.sqlite import open_store

STEPS = st.lists(st.integers(0, 30), max_size=4)


@dataclass
class Try:
    """What an attempt was told to remember, and what was acknowledged."""

    attempt: Attempt
    events: list[Logged] = field(default_factory=list)
    points: dict[int, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    resumed: tuple[int, int] | None = None
    outcome: Outcome | None = None


class Histories(RuleBasedStateMachine):
    """One book, a few trials, and everything that may happen to them in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        # Small limits, so that short histories meet them.
        self.patch.setattr(blocks, "FULL", 3)
        self.patch.setattr(ingestion, "MOST_PARTS", 3)
        self.store = open_store(self.folder)
        self.store.create(STUDY)
        self.trials: dict[tuple[int, int], list[Try]] = {}
        self.count = 0

    def teardown(self) -> None:
        self.store.close()
        self.patch.undo()
        shutil.rmtree(self.folder)

    @property
    def all(self) -> list[Try]:
        return [attempt for tries in self.trials.values() for attempt in tries]

    @property
    def open(self) -> list[Try]:
        return [attempt for attempt in self.all if attempt.outcome is None]

    @property
    def closed(self) -> list[Try]:
        return [attempt for attempt in self.all if attempt.outcome is not None]

    @rule(index=st.integers(0, 1), arm=st.integers(0, 1))
    def claim(self, index: int, arm: int) -> None:
        tries = self.trials.get((index, arm), [])
        if tries and tries[-1].outcome not in TRIED_AGAIN:
            with pytest.raises(StoreError, match="cannot be tried again"):
                self.store.claim("depth", proposal(index, arm), CODE)
            return
        attempt = self.store.claim("depth", proposal(index, arm), CODE)
        assert attempt.number == len(tries) + 1
        self.trials.setdefault((index, arm), []).append(Try(attempt))

    @precondition(lambda self: self.open)
    @rule(data=st.data(), steps=STEPS)
    def log(self, data: st.DataObject, steps: list[int]) -> None:
        chosen = data.draw(st.sampled_from(self.open))
        self.count += 1
        event = logged(chosen.attempt, steps, len(chosen.events) + 1, [self.count] * len(steps))
        assert self.store.append(event)
        chosen.events.append(event)
        for step in steps:
            chosen.points = {s: v for s, v in chosen.points.items() if s < step}
            chosen.points[step] = self.count

    @precondition(lambda self: any(attempt.events for attempt in self.open))
    @rule(data=st.data())
    def read_a_spool_again(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from([a for a in self.open if a.events]))
        assert self.store.append_all(chosen.events) == (True,) * len(chosen.events)

    @precondition(lambda self: any(a.attempt.number > 1 for a in self.open))
    @rule(data=st.data(), step=st.integers(0, 30))
    def resume(self, data: st.DataObject, step: int) -> None:
        chosen = data.draw(st.sampled_from([a for a in self.open if a.attempt.number > 1]))
        source = data.draw(st.integers(1, chosen.attempt.number - 1))
        assert self.store.append(Resumed(chosen.attempt, source, step))
        chosen.resumed = (source, step)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), text=st.sampled_from(["slow", "hot"]))
    def note(self, data: st.DataObject, text: str) -> None:
        chosen = data.draw(st.sampled_from(self.open))
        assert self.store.append(Noted(chosen.attempt, text))
        if text not in chosen.notes:
            chosen.notes.append(text)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), outcome=st.sampled_from((*FOR_GOOD, *TRIED_AGAIN * 3)))
    def finish(self, data: st.DataObject, outcome: Outcome) -> None:
        chosen = data.draw(st.sampled_from(self.open))
        assert self.store.append(Finished(chosen.attempt, outcome, 1.5))
        chosen.outcome = outcome

    @precondition(lambda self: self.closed)
    @rule(data=st.data())
    def write_too_late(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.closed))
        assert not any(self.store.append_all(every_event(chosen.attempt)))

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.folder)
        assert self.store.create(STUDY) == STUDY

    @rule(now=st.floats(-1e9, 1e10))
    def jump_of_the_clock(self, now: float) -> None:
        self.patch.setattr(claims.time, "time", lambda: now)

    @invariant()
    def the_book_is_sound(self) -> None:
        oracle.check(self.folder)

    @invariant()
    def what_was_acknowledged_is_there(self) -> None:
        found = {}
        for record in self.store.results("depth"):
            curve = record.curves.get("error")
            points = (
                dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)) if curve else {}
            )
            found[record.trial.number] = (
                [(a.token, a.outcome, a.notes, a.offset) for a in record.attempts],
                points,
            )
        assert found == {
            tries[0].attempt.trial.number: (
                [(a.attempt.token, a.outcome, tuple(a.notes), len(a.events)) for a in tries],
                in_force(tries, len(tries)),
            )
            for tries in self.trials.values()
        }


def in_force(tries: list[Try], number: int) -> dict[int, float]:
    """The points of a trial as its attempts make them, up to one of them."""
    own = tries[number - 1].points
    resumed = tries[number - 1].resumed
    if resumed is None:
        return own
    limit = min([resumed[1] + 1, *own])
    earlier = in_force(tries, resumed[0])
    return {step: value for step, value in earlier.items() if step < limit} | own


def test_any_history_is_remembered() -> None:
    few = settings(max_examples=10, stateful_step_count=25)
    run_state_machine_as_test(Histories, settings=few)


@pytest.mark.long
def test_row_27_many_long_histories_are_remembered() -> None:
    many = settings(max_examples=300, stateful_step_count=60)
    run_state_machine_as_test(Histories, settings=many)
