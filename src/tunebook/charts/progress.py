"""How results came in: the best so far over trials, and the best that k trials would give."""

from __future__ import annotations

import numpy as np

from tunebook.charts.figures import Axis, Band, Figure, Line, Mark, Panel
from tunebook.charts.ranges import value_axis
from tunebook.charts.scatter import scatter, scatter_note
from tunebook.charts.selection import (
    best_text,
    groups,
    infeasible_text,
    setting_text,
    spread,
    without_value,
)
from tunebook.charts.wording import limited, metric_label, sentences
from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Reading, Standing
from tunebook.core.representation import counted, number
from tunebook.stats.best_of_k import BestOfK, best_of_k

# The band's cost grows with the square of the trials; the picture does not change any more.
MOST_FOR_BAND = 400


def best_so_far(evidence: Evidence) -> Figure | None:
    """Every result by trial number, and the best until then in each setting."""
    if not evidence.ranked:
        return None
    several = len(evidence.arms) > 1
    lines = [
        _stairs(arm, group, several)
        for arm, group in zip(evidence.arms, groups(evidence).values(), strict=True)
        if arm.ranked
    ]
    rows = [
        (str(record.number), setting_text(arm.setting), number(record.value))
        for arm in evidence.arms
        for record in _records(arm)
    ]
    table, cut = limited(("trial", "setting", "best so far"), rows)
    y = value_axis(metric_label(evidence.objective), [r.value or 0.0 for r in evidence.ranked])
    panel = Panel(
        Axis("trial"), y, (*scatter(evidence, lambda reading: float(reading.number)), *lines)
    )
    return Figure(
        "best-so-far",
        "Best result so far",
        sentences(_progress(evidence), infeasible_text(evidence)),
        (panel,),
        table,
        sentences(scatter_note(evidence), without_value(evidence), cut),
    )


def best_of_k_plot(evidence: Evidence) -> Figure | None:
    """The median best of k trials in each setting, with a simultaneous band."""
    found = [
        (arm, group, curve)
        for arm, group in zip(evidence.arms, groups(evidence).values(), strict=True)
        if (curve := curve_of(arm)) is not None and np.isfinite(curve.quantile[-1])
    ]
    if not found:
        return None
    several = len(evidence.arms) > 1
    marks: list[Mark] = []
    for arm, group, curve in found:
        marks += curve_marks(arm, curve, group, setting_text(arm.setting) if several else "")
    rows = [
        (setting_text(arm.setting), *row) for arm, _, curve in found for row in _table(arm, curve)
    ]
    columns = ("setting", "trials", "median best", "band from", "to", "mean best")
    table, cut = limited(columns, rows)
    return Figure(
        "best-of-k",
        "Best of k trials",
        " ".join(_gain(arm, curve, several) for arm, _, curve in found[:3]),
        (Panel(Axis("k, trials"), best_axis(evidence, marks), tuple(marks)),),
        table,
        sentences(*band_notes(evidence), cut),
    )


def curve_of(arm: Arm) -> BestOfK | None:
    """The best of k of trials that were not chosen by results; infeasible ones count as worst."""
    judged = spread(arm.sampled.judged.readings, MOST_FOR_BAND)
    loss = arm.objective.metric.loss
    return best_of_k([np.inf if r.value is None else loss(r.value) for r in judged])


def curve_marks(arm: Arm, curve: BestOfK, group: int, name: str) -> list[Mark]:
    """The band and the line of a curve, in the metric's own direction."""
    k = curve.ks.astype(np.float64)
    losses = arm.losses[np.isfinite(arm.losses)]
    low, high = np.clip([curve.low, curve.high], losses.min(), losses.max())
    if arm.objective.metric.better == "higher":
        low, high = -high, -low
    median = _turned(arm, np.where(np.isfinite(curve.quantile), curve.quantile, np.nan))
    text = f"median best of k {name}".strip()
    return [
        Band(k, low, high, group, "" if name else "95% band"),
        Line(k, median, group, name or "median", text, "strong"),
    ]


def best_axis(evidence: Evidence, marks: list[Mark]) -> Axis:
    lines = [mark.y for mark in marks if isinstance(mark, Line)]
    label = metric_label(evidence.objective)
    return value_axis(label, np.concatenate(lines))


def band_notes(evidence: Evidence) -> tuple[str, ...]:
    """What the band means, and which trials it rests on."""
    most = max((len(arm.sampled.judged) for arm in evidence.arms), default=0)
    adaptive = sum(not r.is_sampled for r in evidence.readings)
    chosen = "1 trial was" if adaptive == 1 else f"{adaptive} trials were"
    return (
        "The band holds for all k at once with 95% confidence, and ends at the best and the worst "
        "result seen; points are taken as if random, infeasible trials as worst.",
        f"It rests on {MOST_FOR_BAND} of {most} trials, evenly." if most > MOST_FOR_BAND else "",
        f"{chosen} chosen by results or repeated, and left out." if adaptive else "",
    )


def _stairs(arm: Arm, group: int, several: bool) -> Line:
    """The best until each trial of an arm, to its last."""
    records = _records(arm)
    numbers = [*(record.number for record in records), arm.readings[-1].number]
    values = [*(record.value for record in records), records[-1].value]
    where = f" of {setting_text(arm.setting)}" if several else ""
    return Line(
        np.array(numbers, dtype=np.float64),
        np.array(values, dtype=np.float64),
        group,
        "" if several else "best so far",
        f"best so far{where}",
        "strong",
        steps=True,
    )


def _records(arm: Arm) -> list[Reading]:
    """The trials that were better than all before them."""
    found: list[Reading] = []
    metric = arm.objective.metric
    for reading in arm.readings:
        if reading.value is not None:
            if not found or metric.is_better(reading.value, found[-1].value or 0.0):
                found.append(reading)
    return found


def _progress(evidence: Evidence) -> str:
    best = evidence.best
    assert best is not None
    judged = evidence.only(Standing.MEASURED, Standing.INFEASIBLE)
    after = sum(reading.number > best.number for reading in judged)
    since = f"{counted(after, 'trial')} since then found nothing better"
    return f"The best is {best_text(evidence)}; {since if after else 'it is the latest result'}."


def _gain(arm: Arm, curve: BestOfK, several: bool) -> str:
    ks, middle = curve.ks, _turned(arm, curve.quantile)
    where = f" with {setting_text(arm.setting)}" if several else ""
    text = f"The median best of {ks[-1]} trials{where} is {number(middle[-1])}"
    half = int(np.searchsorted(ks, ks[-1] / 2))
    if len(ks) < 2 or not np.isfinite(middle[half]):
        return f"{text}."
    gained = number(abs(middle[half] - middle[-1]))
    return f"{text}, {gained} better than that of {ks[half]}."


def _table(arm: Arm, curve: BestOfK) -> list[tuple[str, ...]]:
    places = spread(range(len(curve.ks)), 12)
    columns = [_turned(arm, c) for c in (curve.quantile, curve.low, curve.high, curve.expected)]
    return [(str(curve.ks[i]), *(number(float(column[i])) for column in columns)) for i in places]


def _turned(arm: Arm, losses: Floats) -> Floats:
    return losses if arm.objective.metric.better == "lower" else -losses
