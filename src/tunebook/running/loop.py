"""The loop of a study: proposals go to an executor, its events go to the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tunebook.core.errors import StoreFull, StoreLocked
from tunebook.core.events import Decision, Event, Tick, Wait
from tunebook.core.protocols import Executor, Program, Sampler, Store
from tunebook.core.study import Study
from tunebook.core.trials import Attempt, Code, RetryPolicy
from tunebook.running.breaker import Breaker
from tunebook.running.interrupts import Interrupts
from tunebook.running.ledger import Ledger
from tunebook.running.patience import Patient
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
    notice: Callable[[str], None] = lambda _: None,
    room: Callable[[], bool] = lambda: True,
) -> Ending:
    """Run a study that the store knows, until every setting has all its trials.

    An event is shown to `watch` once it is durable in the store, and not before. While the store
    cannot be written, or there is no `room`, the study waits.
    """
    store = Patient(store, notice, leaving=lambda: interrupts.count > 0)
    ledger = Ledger(store.results(study.name, metrics=()), policy, code)
    # These may have died with the machine, or have run other code: no sign of a broken program.
    left_behind = {attempt.token for attempt in ledger.unfinished()}
    listening = _Listening(store, interrupts, notice)
    found = proposals(study, sampler, store, ledger, code, lambda: breaker.tripped, room)

    def decide(event: Event) -> Decision:
        return interrupts.decision if isinstance(event, Tick) else Decision.GO_ON

    for event in executor.run(program, listening.attempts(found), decide):
        if isinstance(event, Tick):
            # Where every trial waits for room none is proposed, and nobody else would tell.
            room()
        if listening.append(event):
            ledger.note(event)
            if not isinstance(event, Tick) and event.attempt.token not in left_behind:
                breaker.note(event)
            watch(event)
    # An executor that leaves proposals untaken was interrupted, by a signal or in its own process.
    return Ending(interrupts.count > 0 or not listening.all_taken, breaker.reason)


class _Listening:
    """Takes events into the book, until the user leaves while it cannot be written.

    To keep later events without that one would leave a hole: the spools have them all, for the next
    run.
    """

    def __init__(self, store: Store, interrupts: Interrupts, notice: Callable[[str], None]) -> None:
        self.all_taken = False
        self._store = store
        self._interrupts = interrupts
        self._notice = notice
        self._deaf = False

    def attempts(self, found: Iterator[Attempt | Wait]) -> Iterator[Attempt | Wait]:
        """Proposals, of which none comes once the user has left."""
        try:
            yield from found
            self.all_taken = True
        except (StoreFull, StoreLocked):
            if self._interrupts.count == 0:
                raise
            self._deaf = True

    def append(self, event: Event) -> bool:
        try:
            return not self._deaf and self._store.append(event)
        except (StoreFull, StoreLocked):
            if self._interrupts.count == 0:
                raise
            self._deaf = True
        self._notice("Leaving: what trials tell from now on is taken into the book by the next run")
        return False
