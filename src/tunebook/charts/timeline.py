"""How attempts ended, trial by trial, and how long they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from tunebook.charts.figures import Axis, Figure, Panel, Points
from tunebook.charts.ranges import value_axis
from tunebook.charts.selection import spread
from tunebook.charts.wording import limited, sentences
from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.representation import counted, listed, number, one_line
from tunebook.core.results import RUNNING, AttemptRecord
from tunebook.core.trials import OutcomeKind

Tried: TypeAlias = tuple[Reading, AttemptRecord]

BY_VALUE = "infeasible by its value"
KINDS = (
    OutcomeKind.COMPLETE.value,
    OutcomeKind.INFEASIBLE.value,
    BY_VALUE,
    OutcomeKind.STOPPED.value,
    OutcomeKind.FAILED.value,
    OutcomeKind.CRASHED.value,
    OutcomeKind.PREEMPTED.value,
    OutcomeKind.CANCELLED.value,
    RUNNING,
)
MOST_OF_KIND = 400
_CROSSED = (OutcomeKind.INFEASIBLE.value, BY_VALUE)


def outcome_timeline(evidence: Evidence) -> Figure | None:
    """Attempts by the number of their trial: a row for each way to end, and their seconds."""
    attempts = [(r, a) for r in evidence.readings for a in r.record.attempts]
    if not attempts:
        return None
    by_kind: dict[str, list[Tried]] = {}
    for reading, attempt in attempts:
        by_kind.setdefault(_kind(reading, attempt), []).append((reading, attempt))
    kinds = tuple(kind for kind in KINDS if kind in by_kind)
    kept = {kind: spread(by_kind[kind], MOST_OF_KIND) for kind in kinds}
    seconds = [attempt.seconds for _, attempt in attempts]
    panels = [_outcomes(kept), *([_seconds(kept)] if max(seconds) > 0 else [])]
    table, cut = limited(
        ("outcome", "attempts", "median seconds", "most common reason"),
        [_row(kind, by_kind[kind]) for kind in kinds],
    )
    drawn = sum(map(len, kept.values()))
    return Figure(
        "timeline",
        "How the trials ended",
        _sentence(evidence, {kind: len(by_kind[kind]) for kind in kinds}, sum(seconds)),
        tuple(panels),
        table,
        sentences(
            f"{drawn} of {len(attempts)} attempts are drawn, evenly within each outcome."
            if drawn < len(attempts)
            else "",
            cut,
        ),
    )


def _outcomes(kept: Mapping[str, Sequence[Tried]]) -> Panel:
    rows = [
        _points(kind, tried, np.full(len(tried), float(row)))
        for row, (kind, tried) in enumerate(kept.items())
    ]
    y = Axis("", "category", categories=tuple(kept))
    return Panel(Axis("trial"), y, tuple(rows), "Outcomes")


def _seconds(kept: Mapping[str, Sequence[Tried]]) -> Panel:
    times = {kind: np.array([a.seconds for _, a in tried]) for kind, tried in kept.items()}
    every = np.concatenate(list(times.values()))
    axis = value_axis("seconds of an attempt", every[every > 0])
    if axis.scale == "linear":
        axis = replace(axis, low=0.0)
    points = [_points(kind, kept[kind], times[kind]) for kind in kept]
    return Panel(Axis("trial"), axis, tuple(points), "Seconds")


def _kind(reading: Reading, attempt: AttemptRecord) -> str:
    if attempt.outcome is None:
        return RUNNING
    last = attempt is reading.record.attempts[-1]
    complete = attempt.outcome.kind is OutcomeKind.COMPLETE
    if last and complete and reading.standing is Standing.INFEASIBLE:
        return BY_VALUE
    return attempt.outcome.kind.value


def _points(kind: str, chosen: Sequence[Tried], y: Floats) -> Points:
    return Points(
        np.array([reading.number for reading, _ in chosen], dtype=np.float64),
        y,
        KINDS.index(kind),
        kind,
        tuple(f"trial {r.number}, attempt {a.number}: {_reason(r, a)}" for r, a in chosen),
        hollow=kind == RUNNING,
        crosses=kind in _CROSSED,
    )


def _reason(reading: Reading, attempt: AttemptRecord) -> str:
    if attempt.outcome is None:
        return RUNNING
    by_value = _kind(reading, attempt) == BY_VALUE
    return one_line(reading.why if by_value else attempt.outcome.reason)


def _row(kind: str, found: Sequence[Tried]) -> tuple[str, ...]:
    reasons = [_reason(reading, attempt) for reading, attempt in found]
    common = max(dict.fromkeys(reasons), key=reasons.count)
    middle = float(np.median([attempt.seconds for _, attempt in found]))
    return kind, str(len(found)), number(middle), common


def _sentence(evidence: Evidence, counts: dict[str, int], seconds: float) -> str:
    total = sum(counts.values())
    trials = counted(len(evidence.readings), "trial")
    again = f" in {counted(total, 'attempt')}" if total != len(evidence.readings) else ""
    ways = listed([f"{count} {kind}" for kind, count in counts.items()], most=len(counts))
    took = f"; together they took {_duration(seconds)}" if seconds > 0 else ""
    return f"{trials}{again}: {ways}{took}."


def _duration(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds)} seconds"
