"""The circuit breaker: a program that breaks at once is not tried a hundred times."""

from __future__ import annotations

from tunebook.core.events import Event, Finished
from tunebook.core.trials import OutcomeKind

QUICK_SECONDS = 60.0
_BROKEN = (OutcomeKind.FAILED, OutcomeKind.CRASHED)


class Breaker:
    """Counts quick failures in a row; an attempt that works, or is only infeasible, resets it."""

    def __init__(self, most: int = 5) -> None:
        self._most = most
        self._reasons: list[str] = []

    def note(self, event: Event) -> None:
        if not isinstance(event, Finished):
            return
        kind = event.outcome.kind
        if kind in _BROKEN and event.seconds < QUICK_SECONDS:
            self._reasons.append(event.outcome.reason)
        elif kind not in (OutcomeKind.PREEMPTED, OutcomeKind.CANCELLED):
            self._reasons.clear()

    @property
    def tripped(self) -> bool:
        return len(self._reasons) >= self._most

    @property
    def reason(self) -> str | None:
        """One sentence, once it has tripped."""
        if not self.tripped:
            return None
        return (
            f"Paused: {len(self._reasons)} attempts in a row broke within {QUICK_SECONDS:g} s, "
            f"the last with {self._reasons[-1]}."
        )
