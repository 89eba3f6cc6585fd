"""Which parameters matter: shares of variance, effects with their uncertainty, interactions.

Both come from a Gaussian process fitted to the setting with most results. Shares describe what was
seen; whether a parameter matters at all is for a test to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunebook.charts.figures import Axis, Bars, Figure, Intervals, Panel, Rule, Tiles
from tunebook.charts.selection import setting_text, spread
from tunebook.charts.wording import limited, sentences
from tunebook.core.domains import Choice
from tunebook.core.errors import StudyError
from tunebook.core.evidence import Arm, Evidence
from tunebook.core.representation import listed, number, one_line
from tunebook.stats.gaussian_process import fit, shortened_tail
from tunebook.stats.importance import Effect, Importance, importance

LEAST_TRIALS = 8
MOST_TRIALS = 128
MOST_PARAMETERS = 12
# Shares of less than this are not worth a word.
_SMALL = 0.05
_LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Shares:
    """What was found for the parameters of one setting, in their order."""

    arm: Arm
    names: tuple[str, ...]
    found: Importance
    note: str = ""


def shares(evidence: Evidence) -> Shares | None:
    """Importance in the setting with most results; None where too few were measured."""
    arms = sorted(evidence.arms, key=lambda arm: -len(arm.measured.sampled))
    if not arms or len(arms[0].measured.sampled) < LEAST_TRIALS:
        return None
    arm = arms[0]
    kept = Arm(
        arm.setting,
        arm.parameters,
        spread(arm.measured.sampled.readings, MOST_TRIALS),
        arm.objective,
        arm.study,
    )
    try:
        points = kept.points
    except StudyError:  # values outside the space, as imported studies have them
        return None
    everywhere = np.flatnonzero(~np.isnan(points).any(axis=0))[:MOST_PARAMETERS]
    # Squares of larger results overflow; `<=` is false for NaN.
    if not len(everywhere) or not (np.abs(kept.losses) <= _LARGEST).all():
        return None
    used = [arm.parameters[i] for i in everywhere]
    categories = [isinstance(p.source, Choice) for p in used]
    process = fit(points[:, everywhere], shortened_tail(kept.losses), categories=categories)
    names = tuple(one_line(p.name) for p in used)
    return Shares(arm, names, importance(process), _note(evidence, arm, len(kept), names))


def importance_bars(evidence: Evidence, known: Shares | None = None) -> Figure | None:
    """Shares of the variance, and how far the result moves along each parameter."""
    found = known or shares(evidence)
    if found is None:
        return None
    order = np.argsort(-found.found.total, kind="stable")
    names = tuple(found.names[i] for i in order)
    total, first = found.found.total[order], found.found.first[order]
    effects = [found.found.effects[i] for i in order]
    rows = np.arange(len(names), dtype=np.float64)
    table, cut = limited(
        ("parameter", "alone", "with interactions", "effect", "plus or minus"),
        [
            (name, f"{100 * a:.0f}%", f"{100 * t:.0f}%", number(size), number(error))
            for name, a, t, (size, error) in zip(
                names, first, total, map(effect_size, effects), strict=True
            )
        ],
    )
    return Figure(
        "importance",
        "Importance of the parameters",
        _sentence(evidence, names, total, effects),
        (_share_panel(names, rows, first, total), _effect_panel(evidence, names, rows, effects)),
        table,
        sentences(
            found.note,
            "Changes are means over the other parameters; whiskers are two standard errors.",
            cut,
        ),
    )


def interactions(evidence: Evidence, known: Shares | None = None) -> Figure | None:
    """The share of variance that each pair has beyond what both do alone."""
    found = known or shares(evidence)
    if found is None or len(found.names) < 2:
        return None
    pairs, names = found.found.pairs, found.names
    shown = pairs + np.diag(found.found.first)
    labels = tuple(tuple(f"{share:.0%}" for share in row) for row in shown)
    ranked = sorted(
        ((pairs[i, j], names[i], names[j]) for i in range(len(names)) for j in range(i)),
        reverse=True,
    )
    table, cut = limited(
        ("parameter", "and", "share of variance"),
        [(b, a, f"{100 * s:.1f}%") for s, a, b in ranked],
    )
    share, one, other = ranked[0]
    largest = f"{other} and {one} interact most: {share:.0%} of the variance is theirs together."
    none = f"No pair has more than {max(share, 0.01):.0%} of the variance together."
    return Figure(
        "interactions",
        "Interactions of pairs",
        largest if share >= _SMALL else none,
        (
            Panel(
                Axis("", "category", categories=names),
                Axis("", "category", categories=names),
                (Tiles(shown, labels),),
            ),
        ),
        table,
        sentences("On the diagonal, what each does alone.", found.note, cut),
    )


def effect_size(effect: Effect) -> tuple[float, float]:
    """By how much the result moves along a parameter, and two standard errors of that."""
    low, high = int(np.argmin(effect.mean)), int(np.argmax(effect.mean))
    error = float(np.hypot(effect.deviation[low], effect.deviation[high]))
    return float(np.ptp(effect.mean)), 2 * error


def _share_panel(
    names: tuple[str, ...], rows: np.ndarray, first: np.ndarray, total: np.ndarray
) -> Panel:
    alone = np.minimum(first, total)
    x = Axis("", "category", categories=names)
    percent = Axis("share of the variance, %", low=0.0)
    labels = tuple(
        f"{n}: {a:.0%} alone, {t:.0%} with interactions"
        for n, a, t in zip(names, first, total, strict=True)
    )
    left, right = rows - 0.35, rows + 0.35
    return Panel(
        x,
        percent,
        (
            Bars(left, right, 100 * alone, np.zeros(len(rows)), 0, "alone", labels),
            Bars(left, right, 100 * total, 100 * alone, 1, "in interactions", labels),
        ),
        "Shares of the variance",
    )


def _effect_panel(
    evidence: Evidence, names: tuple[str, ...], rows: np.ndarray, effects: list[Effect]
) -> Panel:
    sizes, errors = np.array([effect_size(effect) for effect in effects]).T
    metric = one_line(evidence.objective.metric.name)
    return Panel(
        Axis("", "category", categories=names),
        Axis(f"change of {metric}", low=0.0),
        (
            Rule(effects[0].noise, "y", "noise of one trial"),
            Intervals(rows, sizes, np.maximum(sizes - errors, 0.0), sizes + errors, 0, "effect"),
        ),
        "Change along each parameter",
    )


def _sentence(
    evidence: Evidence, names: tuple[str, ...], total: np.ndarray, effects: list[Effect]
) -> str:
    size, error = effect_size(effects[0])
    metric = one_line(evidence.objective.metric.name)
    if total[0] < _SMALL:
        return "No parameter has a visible share of the variance."
    text = (
        f"{names[0]} has {total[0]:.0%} of the variance and moves {metric} by {number(size)} "
        f"± {number(error)}; the noise of one trial is {number(effects[0].noise)}."
    )
    little = [name for name, share in zip(names, total, strict=True) if share < _SMALL]
    return sentences(text, f"Less than 5%: {listed(little, most=4)}." if little else "")


def _note(evidence: Evidence, arm: Arm, kept: int, names: tuple[str, ...]) -> str:
    known = len(arm.measured.sampled)
    lacking = [one_line(p.name) for p in arm.parameters if one_line(p.name) not in names]
    where = f" with {setting_text(arm.setting)}" if len(evidence.arms) > 1 else ""
    return sentences(
        f"From a Gaussian process of {kept} of {known} trials{where}."
        if kept < known
        else f"From a Gaussian process of {known} trials{where}.",
        f"Left out, for not every trial has them: {listed(lacking, most=4)}." if lacking else "",
    )
