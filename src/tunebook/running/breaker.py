"""The circuit breaker: a program that breaks at once is not tried a hundred times."""

from __future__ import annotations

from tunebook.core.events import Event, Finished
from tunebook.core.trials import OutcomeKind

QUICK_SECONDS = 60.0
_BROKEN = (OutcomeKind.FAILED, OutcomeKind.CRASHED)
_NO_SIGN = (OutcomeKind.PREEMPTED, OutcomeKind.CANCELLED)


class Breaker:
    """Counts quick failures in a row; an attempt that works, or is only infeasible, ends the row.

    Once tripped it stays so: what still runs may end well, but nothing more is started.

    A program that `has_worked` is not broken: None where that excuses nothing, as in most studies.
    In the stages of a probe, which goes on purpose to values at which programs break, its errors
    count only until an attempt of the probe has worked; crashes, the machine's, do always.
    """

    def __init__(self, most: int = 5, *, has_worked: bool | None = None) -> None:
        self._most = most
        self._has_worked = has_worked
        self._row = 0
        self._reason: str | None = None

    def note(self, event: Event) -> None:
        if not isinstance(event, Finished) or event.outcome.kind in _NO_SIGN:
            return
        if event.outcome.kind not in _BROKEN or event.seconds >= QUICK_SECONDS:
            self._row = 0
            if self._has_worked is not None and event.outcome.kind is OutcomeKind.COMPLETE:
                self._has_worked = True
            return
        if self._has_worked and event.outcome.kind is OutcomeKind.FAILED:
            return
        self._row += 1
        if self._row == self._most:
            last = " ".join(event.outcome.reason.split())
            self._reason = (
                f"Paused: {self._row} attempts in a row broke within {QUICK_SECONDS:g} s, "
                f"the last one: {last}."
            )

    @property
    def tripped(self) -> bool:
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """One sentence, once it has tripped."""
        return self._reason
