"""Any order of claims, points, ends, deaths and restarts leaves a book that is right.

The store, the ledger, the proposals and the sampler are real. Processes are played: each has its
list of things said, as a spool has, which outlives whoever reads it.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from unittest import mock

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
from coordination import COMPLETE, CRASHED, FAILED, PREEMPTED, small_study
from tunebook.core.curves import Block, Curve
from tunebook.core.events import Event, Finished, Logged, Noted, Resumed, Started
from tunebook.core.results import Results
from tunebook.core.trials import Attempt, Cause, Code, Outcome, OutcomeKind, RetryPolicy
from tunebook.running.ledger import Ledger
from tunebook.running.proposals import proposals
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store

ROOM = 3
POLICY = RetryPolicy()
OUTCOMES = (
    *(COMPLETE, FAILED),
    *(CRASHED, PREEMPTED) * 3,
    Outcome(OutcomeKind.STOPPED, "stopped by a rule"),
    Outcome(OutcomeKind.CANCELLED, "cancelled"),
    Outcome(OutcomeKind.INFEASIBLE, "error became nan", Cause.DIVERGED),
    Outcome(OutcomeKind.INFEASIBLE, "out of memory", Cause.OUT_OF_MEMORY),
)
T = TypeVar("T")
chance = st.integers(0, 99)


def choose(items: list[T], which: int) -> T:
    return items[which % len(items)]


@dataclass
class Process:
    """The process of an attempt, and all it has said."""

    attempt: Attempt
    said: list[Event] = field(default_factory=list)
    step: int = -1
    saved: int | None = None
    alive: bool = True

    def log(self, count: int) -> None:
        """Points whose values tell who logged them."""
        steps = range(self.step + 1, self.step + count + 1)
        rows = [(step, 0.0, [self.attempt.number + step / 1000]) for step in steps]
        self.said.append(Logged(self.attempt, (Block.of(["error"], rows),), len(self.said)))
        self.step += count

    def end(self, outcome: Outcome) -> None:
        self.said.append(Finished(self.attempt, outcome, 1.0))
        self.alive = False


class Coordinator:
    """What dies with a coordinator: its ledger, its proposals, and how far it has read."""

    def __init__(self, machine: Machine) -> None:
        study = machine.study
        self.store = open_store(machine.folder)
        self.store.create(study)
        self.ledger = Ledger(self.store.results(study.name), POLICY, machine.code)
        self.proposals = proposals(
            study, sampler_for(study), self.store, self.ledger, machine.code, lambda: False
        )
        self.read: dict[str, int] = {}

    @property
    def has_room(self) -> bool:
        return len(self.read) < ROOM

    def tell(self, event: Event) -> bool:
        """As the loop does: only what the store accepts is noted."""
        accepted = self.store.append(event)
        if accepted:
            self.ledger.note(event)
        return accepted


class Machine(RuleBasedStateMachine):
    """A study whose processes and coordinators live and die in any order.

    There is always a coordinator: one that reads nothing may as well be dead.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tunebook-machine-"))
        self.study = small_study(2)
        self.code = Code("0")
        self.processes: dict[str, Process] = {}
        # What the store was told and accepted, by the folder of the attempt.
        self.ended: dict[str, Outcome] = {}
        self.points: dict[str, dict[int, float]] = {}
        self.resumed: dict[str, Resumed] = {}
        self.clock = 0.0
        real = time.time
        self.patch = mock.patch("time.time", lambda: real() + self.clock)
        self.patch.start()
        self.coordinator = Coordinator(self)
        self.reader = open_store(self.folder, readonly=True)

    def living(self) -> list[Process]:
        return [process for process in self.processes.values() if process.alive]

    def results(self) -> Results:
        return self.reader.results(self.study.name)

    @precondition(lambda self: self.coordinator.has_room)
    @rule(most=st.integers(1, ROOM))
    def take_proposals(self, most: int) -> None:
        for _ in range(most):
            if not self.coordinator.has_room or not self.took_a_proposal():
                break

    def took_a_proposal(self) -> bool:
        proposed = next(self.coordinator.proposals, None)
        if not isinstance(proposed, Attempt):
            # It waits for what runs; where nothing does, it has come to its end.
            assert (proposed is None) == (self.coordinator.ledger.running == 0)
            return False
        if proposed.folder not in self.processes:
            self.processes[proposed.folder] = self.started(proposed)
        self.coordinator.read[proposed.folder] = 0
        return True

    def started(self, attempt: Attempt) -> Process:
        """A new process; it resumes from the furthest checkpoint of its trial."""
        process = Process(attempt, [Started(attempt, "here", 1)])
        trial = attempt.trial.number
        earlier = [p for p in self.processes.values() if p.attempt.trial.number == trial]
        assert not any(p.alive for p in earlier), "a trial runs twice at the same time"
        saved = [(p.saved, p.attempt.number) for p in earlier if p.saved is not None]
        if saved:
            process.step, source = max(saved)
            process.said.append(Resumed(attempt, source, process.step))
        return process

    @precondition(lambda self: self.living())
    @rule(which=chance, count=st.integers(1, 3), saves=st.booleans())
    def log(self, which: int, count: int, saves: bool) -> None:
        process = choose(self.living(), which)
        process.log(count)
        if saves:
            process.saved = process.step

    @precondition(lambda self: self.living())
    @rule(which=chance, outcome=st.sampled_from(OUTCOMES))
    def finish(self, which: int, outcome: Outcome) -> None:
        choose(self.living(), which).end(outcome)

    @precondition(lambda self: self.living())
    @rule(which=chance)
    def kill_a_process(self, which: int) -> None:
        choose(self.living(), which).alive = False

    @precondition(lambda self: self.coordinator.read)
    @rule(which=chance, most=st.integers(1, 4))
    def read_some(self, which: int, most: int) -> None:
        self.read(choose(sorted(self.coordinator.read), which), most)

    @precondition(lambda self: self.coordinator.read)
    @rule()
    def read_all(self) -> None:
        for folder in sorted(self.coordinator.read):
            self.read(folder)

    def read(self, folder: str, most: int = 10**9) -> None:
        """The coordinator reads on, or finds that there is no one left to say anything."""
        process, begin = self.processes[folder], self.coordinator.read[folder]
        said = process.said[begin : begin + most]
        if not said and not process.alive:
            said = [Finished(process.attempt, CRASHED, 1.0)]
        for event in said:
            assert self.coordinator.tell(event)
            self.remember(event)
        self.coordinator.read[folder] = begin + len(said)
        if folder in self.ended:
            del self.coordinator.read[folder]

    def remember(self, event: Event) -> None:
        match event:
            case Finished(attempt, outcome, _):
                assert attempt.folder not in self.ended
                self.ended[attempt.folder] = outcome
            case Logged(attempt, (block,), _):
                points = zip(block.steps.tolist(), block.values[0].tolist(), strict=True)
                self.points.setdefault(attempt.folder, {}).update(points)
            case Resumed(attempt):
                self.resumed[attempt.folder] = event

    @rule(
        claims=st.booleans(),
        changed=st.booleans(),
        more=st.booleans(),
        hours=st.sampled_from([0, 3, -3, 24 * 365]),
    )
    def the_coordinator_dies(self, claims: bool, changed: bool, more: bool, hours: int) -> None:
        """And another takes its place, perhaps with other code, more trials, or another clock."""
        if claims and self.coordinator.has_room:
            next(self.coordinator.proposals, None)  # its process is never started
        self.coordinator.store.close()
        if changed:
            self.code = Code(f"{self.code.commit}+")
        if more and self.study.trials < 4:
            self.study = replace(self.study, trials=self.study.trials + 1)
        self.clock += 3600.0 * hours
        self.coordinator = Coordinator(self)

    @precondition(lambda self: self.ended)
    @rule(which=chance, outcome=st.sampled_from(OUTCOMES))
    def a_ghost_speaks(self, which: int, outcome: Outcome) -> None:
        """What comes from an attempt that has ended is refused, whatever it is."""
        attempt = self.processes[choose(sorted(self.ended), which)].attempt
        block = Block.of(["error"], [(step, 0.0, [0.0]) for step in range(9)])
        before = self.results().trials
        assert not self.coordinator.tell(Finished(attempt, outcome, 1.0))
        assert not self.coordinator.tell(Logged(attempt, (block,), 10**6))
        assert not self.coordinator.tell(Resumed(attempt, 1, 0))
        assert not self.coordinator.tell(Noted(attempt, "here I am"))
        assert self.results().trials == before

    @precondition(lambda self: self.coordinator.read)
    @rule(which=chance)
    def something_is_told_twice(self, which: int) -> None:
        folder = choose(sorted(self.coordinator.read), which)
        before = self.results().trials
        for event in self.processes[folder].said[: self.coordinator.read[folder]]:
            assert self.coordinator.tell(event)
        assert self.results().trials == before

    @invariant()
    def all_is_well(self) -> None:
        oracle.check(self.folder)
        results = self.results()
        for record in results:
            for attempt in record.attempts:
                # What was acknowledged is stored, and nothing else has an outcome.
                assert attempt.outcome == self.ended.get(attempt.folder)
            curve = record.curves.get("error", Curve.of([], []))
            stored = dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
            assert stored == self.in_force(record.attempts[-1].folder)
        anew = Ledger(results, POLICY, self.code)
        assert self.coordinator.ledger.unfinished() == anew.unfinished()
        assert self.coordinator.ledger.running == anew.running

    def in_force(self, folder: str) -> dict[int, float]:
        """The points of an attempt, after those of the one that it continues."""
        own = self.points.get(folder, {})
        resumed = self.resumed.get(folder)
        if resumed is None:
            return own
        source = str(Path(folder).with_name(str(resumed.source)))
        kept = {s: v for s, v in self.in_force(source).items() if s <= resumed.step}
        return kept | own

    def teardown(self) -> None:
        """Whatever happened, running on completes the study: exactly N trials for each setting."""
        try:
            self.run_on()
            self.all_is_well()
            results = self.results()
            for setting in self.study.space.settings():
                records = [record for record in results if record.trial.setting == setting]
                assert sorted(r.trial.index for r in records) == list(range(self.study.trials))
                for record in records:
                    attempts = [attempt.ended for attempt in record.attempts]
                    assert attempts[-1].outcome is not None
                    assert not POLICY.wants_another(attempts, self.code)
        finally:
            self.patch.stop()
            self.coordinator.store.close()
            self.reader.close()
            shutil.rmtree(self.folder)

    def run_on(self) -> None:
        """Let the coordinator come to its end while every process that lives completes."""
        while True:
            self.take_proposals(ROOM)
            if not self.coordinator.read:
                assert self.coordinator.ledger.running == 0
                return
            for folder in sorted(self.coordinator.read):
                if self.processes[folder].alive:
                    self.processes[folder].end(COMPLETE)
                while folder in self.coordinator.read:
                    self.read(folder)


def test_any_order_of_events_leaves_a_book_that_is_right() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=12, stateful_step_count=50))


@pytest.mark.long
def test_any_long_order_of_events_leaves_a_book_that_is_right() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=120, stateful_step_count=60))
