"""The loop of a study: proposals go to an executor, its events go to the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tunebook.core.events import Decision, Event, Tick
from tunebook.core.protocols import Executor, Program, Sampler, Store
from tunebook.core.study import Study
from tunebook.core.trials import Code, RetryPolicy
from tunebook.running.breaker import Breaker
from tunebook.running.interrupts import Interrupts
from tunebook.running.ledger import Ledger
from tunebook.running.proposals import proposals


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of a study ended: done, interrupted, or paused for a reason."""

    interrupted: bool = False
    paused: str | None = None

    @property
    def done(self) -> bool:
        return not self.interrupted and self.paused is None


def run_study(
    study: Study,
    program: Program,
    *,
    store: Store,
    sampler: Sampler,
    executor: Executor,
    code: Code,
    policy: RetryPolicy,
    breaker: Breaker,
    interrupts: Interrupts,
    watch: Callable[[Event], None],
) -> Ending:
    """Run a study that the store knows, until every setting has all its trials.

    An event is shown to `watch` once it is durable in the store, and not before.
    """
    ledger = Ledger(store.results(study.name, metrics=()), policy, code)

    def decide(event: Event) -> Decision:
        return interrupts.decision if isinstance(event, Tick) else Decision.GO_ON

    attempts = proposals(study, sampler, store, ledger, code, paused=lambda: breaker.tripped)
    for event in executor.run(program, attempts, decide):
        if store.append(event):
            ledger.note(event)
            breaker.note(event)
            watch(event)
    # An inline run that was interrupted, and any that left trials undone, is not done.
    return Ending(interrupts.count > 0, breaker.reason)
