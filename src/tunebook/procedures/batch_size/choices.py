"""Which batch size to take, and whether the present one can stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tunebook.core.edits import Edit, SetParameter
from tunebook.core.findings import Verdict
from tunebook.core.space import Derived, Fixed
from tunebook.diagnosis.phrases import times
from tunebook.procedures.batch_size.bottleneck import Measured
from tunebook.procedures.batch_size.goal_words import goal_verdict
from tunebook.procedures.batch_size.goals import Goal
from tunebook.procedures.batch_size.size_words import unfit
from tunebook.procedures.batch_size.throughput_words import rate_text, size_text
from tunebook.procedures.batch_size.to_goal import Reached
from tunebook.procedures.batch_size.tried import Tried
from tunebook.procedures.commands import look
from tunebook.procedures.subjects import Subject

# Two sizes whose throughput differs by less are as fast as one another.
_ALIKE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Choice:
    """The batch size to take: the one that reaches a goal soonest or, without one, the smallest
    about as fast as the fastest."""

    current: int
    size: int
    # Whether the present size is that one, or as good.
    alike: bool
    # Whether the study searches the batch size.
    searched: bool
    # Its throughput, in that of the present size, where that is why to take it and is known.
    faster: float | None = None
    # The goal that it reaches soonest.
    goal: Goal | None = None
    # Why the present size cannot be taken, in words.
    unfit: str = ""
    # Why it is not known which size to take, and what to do about that.
    unknown: str = ""

    @property
    def stays(self) -> bool:
        """Whether the study can stay as it is."""
        return self.alike and not self.searched and not self.unknown


def choose(subject: Subject, measured: Measured, reached: Reached | None) -> Choice:
    """By the goal, where it was reached; else by throughput."""
    current, size = int(subject.number("batch_size")), measured.recommended.size
    source = subject.study.space[subject.name("batch_size")].source
    searched = not isinstance(source, Fixed | Derived)
    broke = measured.trying.broke_by(current)
    if broke is not None:
        # Sizes below it are what is left, and no reason to go down to one of them.
        return Choice(current, size, False, searched, unknown=_broke_text(subject, broke))
    why = unfit(measured.trying, current)
    soonest = reached.soonest_size if reached is not None else None
    if reached is not None and soonest is not None:
        if goal_verdict(reached) is not Verdict.UNKNOWN:
            alike = soonest == current or reached.is_soon
            return Choice(current, soonest, alike, searched, goal=reached.goal, unfit=why)
    if why:
        # Its throughput would be that of a line through sizes that fit.
        return Choice(current, size, False, searched, unfit=why)
    if soonest is not None:
        return Choice(current, size, False, searched, unknown=_open_text(current))
    now, then = _throughput(measured, current), _throughput(measured, size)
    faster = then / now if now and then else None
    alike = size == current or (faster is not None and abs(faster - 1.0) <= _ALIKE)
    return Choice(current, size, alike, searched, faster)


def size_advice(name: str, choice: Choice) -> str:
    """What to do about the batch size itself."""
    if choice.unknown:
        return choice.unknown
    size, now, faster = size_text(choice.size), size_text(choice.current), choice.faster
    if choice.stays and choice.goal is not None and choice.size != choice.current:
        return f"{name} can stay at {now}, which may reach the goal as soon as {size}."
    if choice.stays and choice.goal is not None:
        return f"{name} can stay at {now}, which reaches the goal soonest."
    if choice.stays:
        # A size above the one that is proposed stays for being at hand, not for being better.
        smaller = f": {size} is about as fast" if choice.size < choice.current else ""
        return f"{name} can stay at {now}{smaller}."
    why = f" {choice.unfit[0].upper()}{choice.unfit[1:]}." if choice.unfit else ""
    if choice.goal is not None:
        return f"Set {name} to {size}, which reaches the goal soonest.{why}"
    if choice.searched:
        return f"Set {name} to {size}, for all trials."
    much = f", {times(faster)} the examples per second" if faster and faster > 1 else ""
    return f"Set {name} to {size} (now {now}{much}).{why}"


def edits(subject: Subject, measured: Measured, choice: Choice) -> tuple[Edit, ...]:
    """The change to the study, if there is to be one."""
    if measured.trying.is_busy or choice.stays or choice.unknown:
        return ()
    if choice.goal is not None:
        because = f"it reaches {choice.goal.text} soonest"
    else:
        rate = rate_text(measured.recommended.throughput or 0.0)
        because = f"it is the smallest about as fast as the fastest, {rate} examples a second"
    return (SetParameter(subject.name("batch_size"), Fixed(choice.size), because),)


def _broke_text(subject: Subject, broke: Tried) -> str:
    return (
        f"Whether a batch size of {size_text(broke.size)} or more fits is not known, as no trial "
        f"of it worked. Look at one, {look(subject, [broke.record])}; then probe again with "
        "--retry-failed."
    )


def _open_text(current: int) -> str:
    return (
        "Which batch size reaches the goal soonest is not known, so that none is proposed (now "
        f"{size_text(current)})."
    )


def _throughput(measured: Measured, size: int) -> float | None:
    """Examples per second at a size: as it was timed, or by the line through the others."""
    tried = next((t for t in measured.trying.fitting if t.size == size), None)
    if tried is not None and tried.throughput is not None:
        return tried.throughput
    return measured.line.throughput(size) if measured.line is not None else None
