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
from coordination import COMPLETE, CRASHED, FAILED, PREEMPTED, points, small_study
from tunebook.core.curves import Curve
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
    *(COMPLETE, FAILED, CRASHED, PREEMPTED),
    Outcome(OutcomeKind.STOPPED, "stopped by a rule"),
    Outcome(OutcomeKind.CANCELLED, "cancelled"),
    Outcome(OutcomeKind.INFEASIBLE, "error became nan", Cause.DIVERGED),
    Outcome(OutcomeKind.INFEASIBLE, "out of memory", Cause.OUT_OF_MEMORY),
)
chance = st.integers(0, 10**6)
T = TypeVar("T")


@dataclass
class Process:
    """The process of an attempt, and all it has said."""

    attempt: Attempt
    said: list[Event] = field(default_factory=list)
    step: int = -1
    saved: int | None = None
    alive: bool = True

    def log(self, count: int) -> None:
        self.said.append(points(self.attempt, self.step + 1, self.step + count, len(self.said)))
        self.step += count

    def end(self, outcome: Outcome) -> None:
        self.said.append(Finished(self.attempt, outcome, 1.0))
        self.alive = False


class Coordinator:
    """What dies with the coordinator: its ledger, its proposals, and how far it has read."""

    def __init__(self, machine: Machine) -> None:
        study = machine.study
        self.store = open_store(machine.folder)
        self.store.create(study)
        self.ledger = Ledger(self.store.results(study.name), POLICY, machine.code)
        self.proposals = proposals(
            study, sampler_for(study), self.store, self.ledger, machine.code, lambda: False
        )
        self.read: dict[str, int] = {}

    def tell(self, event: Event) -> bool:
        """As the loop does: only what the store accepts is noted."""
        accepted = self.store.append(event)
        if accepted:
            self.ledger.note(event)
        return accepted


class Machine(RuleBasedStateMachine):
    """Books under every order of events."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tunebook-machine-"))
        self.study = small_study(2)
        self.code = Code("0" * 40)
        self.processes: dict[str, Process] = {}
        self.acknowledged: dict[str, Outcome] = {}
        self.told: dict[str, dict[int, float]] = {}
        self.resumed: dict[str, Resumed] = {}
        self.clock = 0.0
        real = time.time
        self.patch = mock.patch("time.time", lambda: real() + self.clock)
        self.patch.start()
        self.coordinator: Coordinator | None = Coordinator(self)
        self.reader = open_store(self.folder, readonly=True)

    @property
    def now(self) -> Coordinator:
        assert self.coordinator is not None
        return self.coordinator

    def living(self) -> list[Process]:
        return [process for process in self.processes.values() if process.alive]

    def results(self) -> Results:
        return self.reader.results(self.study.name)

    @precondition(lambda self: self.coordinator and len(self.now.read) < ROOM)
    @rule()
    def take_a_proposal(self) -> None:
        self.took_a_proposal()

    def took_a_proposal(self) -> bool:
        """A coordinator that has nothing more to propose, nor to wait for, ends."""
        proposed = next(self.now.proposals, None)
        if isinstance(proposed, Attempt):
            if proposed.folder not in self.processes:
                self.processes[proposed.folder] = self.started(proposed)
            self.now.read[proposed.folder] = 0
            return True
        assert (proposed is None) == (self.now.ledger.running == 0)
        if proposed is None:
            self.leave()
        return False

    @precondition(lambda self: self.coordinator)
    @rule()
    def die_between_claim_and_start(self) -> None:
        next(self.now.proposals, None)
        self.leave()

    def started(self, attempt: Attempt) -> Process:
        """A new process; it resumes from the furthest checkpoint of its trial."""
        process = Process(attempt, [Started(attempt, "here", 1)])
        earlier = [
            p for p in self.processes.values() if p.attempt.trial.number == attempt.trial.number
        ]
        assert not any(p.alive for p in earlier), "a trial runs twice at the same time"
        saved = [(p.saved, p.attempt.number) for p in earlier if p.saved is not None]
        if saved:
            step, source = max(saved)
            process.said.append(Resumed(attempt, source, step))
            process.step = step
        return process

    @precondition(lambda self: self.living())
    @rule(which=chance, count=st.integers(1, 3), saves=st.booleans())
    def log(self, which: int, count: int, saves: bool) -> None:
        process = _choose(self.living(), which)
        process.log(count)
        if saves:
            process.saved = process.step

    @precondition(lambda self: self.living())
    @rule(which=chance, outcome=st.sampled_from(OUTCOMES))
    def finish(self, which: int, outcome: Outcome) -> None:
        _choose(self.living(), which).end(outcome)

    @precondition(lambda self: self.living())
    @rule(which=chance)
    def kill_a_process(self, which: int) -> None:
        _choose(self.living(), which).alive = False

    @precondition(lambda self: self.coordinator and self.now.read)
    @rule(which=chance, most=st.integers(1, 4))
    def read(self, which: int, most: int) -> None:
        self.read_on(_choose(sorted(self.now.read), which), most)

    def read_on(self, folder: str, most: int) -> None:
        """The coordinator reads, or finds that there is no one left to say anything."""
        process, begin = self.processes[folder], self.now.read[folder]
        said = process.said[begin : begin + most]
        if not said and not process.alive:
            said = [Finished(process.attempt, CRASHED, 1.0)]
        for event in said:
            # Nobody but this coordinator has ended the attempt: it is never refused.
            assert self.now.tell(event)
            self.remember(event)
        self.now.read[folder] = begin + len(said)
        if folder in self.acknowledged:
            del self.now.read[folder]

    def remember(self, event: Event) -> None:
        match event:
            case Finished(attempt, outcome, _):
                assert attempt.folder not in self.acknowledged
                self.acknowledged[attempt.folder] = outcome
            case Logged(attempt, blocks, _):
                for block in blocks:
                    told = zip(block.steps.tolist(), block.values[0].tolist(), strict=True)
                    self.told.setdefault(attempt.folder, {}).update(told)
            case Resumed(attempt):
                self.resumed[attempt.folder] = event

    @precondition(lambda self: self.coordinator)
    @rule()
    def kill_the_coordinator(self) -> None:
        self.leave()

    def leave(self) -> None:
        self.now.store.close()
        self.coordinator = None

    @precondition(lambda self: not self.coordinator)
    @rule(changed=st.booleans(), more=st.booleans())
    def start_a_coordinator(self, changed: bool = False, more: bool = False) -> None:
        if changed:
            self.code = Code(f"{int(self.code.commit or 0) + 1:040}")
        if more and self.study.trials < 4:
            self.study = replace(self.study, trials=self.study.trials + 1)
        self.coordinator = Coordinator(self)

    @rule(hours=st.sampled_from([-3, 3, 24 * 365]))
    def the_clock_jumps(self, hours: int) -> None:
        self.clock += 3600.0 * hours

    @precondition(lambda self: self.coordinator and self.acknowledged)
    @rule(which=chance, outcome=st.sampled_from(OUTCOMES))
    def a_ghost_speaks(self, which: int, outcome: Outcome) -> None:
        """What comes from an attempt that has ended is refused, whatever it is."""
        attempt = self.processes[_choose(sorted(self.acknowledged), which)].attempt
        before = self.results().trials
        assert not self.now.tell(Finished(attempt, outcome, 1.0))
        assert not self.now.tell(points(attempt, 0, 9, 10**6))
        assert not self.now.tell(Resumed(attempt, 1, 0))
        assert not self.now.tell(Noted(attempt, "here I am"))
        assert self.results().trials == before

    @precondition(lambda self: self.coordinator and self.now.read)
    @rule(which=chance)
    def hear_something_twice(self, which: int) -> None:
        folder = _choose(sorted(self.now.read), which)
        before = self.results().trials
        for event in self.processes[folder].said[: self.now.read[folder]]:
            assert self.now.tell(event)
        assert self.results().trials == before

    @invariant()
    def all_is_well(self) -> None:
        oracle.check(self.folder)
        results = self.results()
        for record in results:
            for attempt in record.attempts:
                # What was acknowledged is stored, and nothing else has an outcome.
                assert attempt.outcome == self.acknowledged.get(attempt.folder)
            curve = record.curves.get("error", Curve.of([], []))
            stored = dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
            assert stored == self.in_force(record.attempts[-1].folder)
        if self.coordinator is not None:
            anew = Ledger(results, POLICY, self.code)
            assert self.now.ledger.unfinished() == anew.unfinished()
            assert self.now.ledger.running == anew.running

    def in_force(self, folder: str) -> dict[int, float]:
        """What was told of an attempt, after what it continues."""
        own = self.told.get(folder, {})
        resumed = self.resumed.get(folder)
        if resumed is None:
            return own
        source = str(Path(folder).with_name(str(resumed.source)))
        kept = {s: v for s, v in self.in_force(source).items() if s <= resumed.step}
        return kept | own

    def teardown(self) -> None:
        """Whatever happened, running on completes the study: exactly N trials for each setting."""
        try:
            if self.coordinator is None:
                self.start_a_coordinator()
            while self.coordinator is not None:
                while self.coordinator and len(self.now.read) < ROOM and self.took_a_proposal():
                    pass
                for folder in sorted(self.now.read) if self.coordinator else ():
                    if self.processes[folder].alive:
                        self.processes[folder].end(COMPLETE)
                    while folder in self.now.read:
                        self.read_on(folder, 10**9)
            self.all_is_well()
            self.the_study_is_complete()
        finally:
            self.patch.stop()
            if self.coordinator is not None:
                self.leave()
            self.reader.close()
            shutil.rmtree(self.folder)

    def the_study_is_complete(self) -> None:
        results = self.results()
        for setting in self.study.space.settings():
            records = [record for record in results if record.trial.setting == setting]
            assert sorted(r.trial.index for r in records) == list(range(self.study.trials))
            for record in records:
                ended = [attempt.ended for attempt in record.attempts]
                assert ended[-1].outcome is not None
                assert not POLICY.wants_another(ended, self.code)


def _choose(items: list[T], which: int) -> T:
    return items[which % len(items)]


def test_any_order_of_events_leaves_a_book_that_is_right() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=12, stateful_step_count=30))


@pytest.mark.long
def test_any_long_order_of_events_leaves_a_book_that_is_right() -> None:
    run_state_machine_as_test(Machine, settings=settings(max_examples=300, stateful_step_count=80))
