"""Is the best learning rate at the edge of stability?

Instability is a problem only when it forces a smaller learning rate than would be best: when rates
above an edge diverge, the best trials crowd below it, and the loss still falls towards it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.edges import Edge, edge_of, out_of_memory, rate_of
from tunebook.diagnosis.gathering import has_diverged
from tunebook.diagnosis.judging import finding, undecided, unknown
from tunebook.diagnosis.onset import Manner, manner_of
from tunebook.diagnosis.phrases import best_trial, of_setting, shown, times
from tunebook.diagnosis.questions import STABILITY

# Fewer measured trials show no trend towards an edge.
LEAST_MEASURED = 5


def stability(evidence: Evidence) -> Finding:
    """Whether divergence above an edge keeps the learning rate below its best."""
    name = evidence.study.knobs.learning_rate
    if name is None:
        return unknown(
            STABILITY,
            "No knob says which parameter is the learning rate.",
            "Name it under knobs: learning_rate.",
        )
    tried = [arm for arm in evidence.arms if _varies(arm, name)]
    if not tried:
        return unknown(
            STABILITY,
            f"No setting has {LEAST_MEASURED} measured trials, replicates aside, of which {name} "
            "differs.",
            f"Search {name} on a log scale, up to rates that diverge.",
        )
    found = [edge for arm in tried if (edge := edge_of(arm, name)) is not None]
    return finding(
        STABILITY,
        [
            *(_claim(evidence, edge, name) for edge in found),
            *(_undecided(evidence, edge, name) for edge in found if edge.is_undecided),
        ],
        _calm(evidence, tried, found, name),
        method="rates of infeasible trials against the others by rank sums; the slope at the edge "
        "of a surface that is a parabola in every parameter",
        numbers={} if not found else {"edge": found[0].rate, "best": found[0].best_rate},
    )


def _claim(evidence: Evidence, edge: Edge, name: str) -> Claim:
    manner = manner_of(evidence, edge.beyond)
    where = best_trial(evidence, edge.arm, edge.best.number)
    return Claim(
        f"{counted(len(edge.beyond), 'trial')}{of_setting(evidence, edge.arm)} with {name} above "
        f"{shown(edge.rate)} {_ended(evidence, edge, manner)}, and {where} has "
        f"{shown(edge.best_rate)}, {_below(edge)}: results still improve towards the edge, so "
        "instability keeps the rate below its best.",
        Verdict.PROBLEM,
        p=edge.p,
        advice=_advice(manner, edge),
        subject=str(edge.arm.setting),
        trials=(edge.best.number, *(r.number for r in edge.beyond)),
        numbers={"edge": edge.rate, "best": edge.best_rate},
    )


def _undecided(evidence: Evidence, edge: Edge, name: str) -> Claim:
    return undecided(
        f"The best {name}{of_setting(evidence, edge.arm)}, {shown(edge.best_rate)}, is "
        f"{_below(edge, shown(edge.rate))}, above which "
        f"{counted(len(edge.beyond), 'trial')} {_ended(evidence, edge)}: whether results still "
        "improve towards that edge cannot be told.",
        f"Run more trials with {name} between {shown(edge.rate / 5)} and {shown(edge.rate)}, or "
        "try higher rates with a warmup or clipped gradients.",
        trials=(edge.best.number, *(r.number for r in edge.beyond)),
    )


def _ended(evidence: Evidence, edge: Edge, manner: Manner | None = None) -> str:
    """What became of the trials beyond an edge: diverged is said only if all of them did."""
    if all(has_diverged(evidence, reading) for reading in edge.beyond):
        return f"diverged{_how(manner)}"
    return "is infeasible" if len(edge.beyond) == 1 else "are infeasible"


def _below(edge: Edge, what: str = "it") -> str:
    factor = edge.rate / edge.best_rate
    return f"{times(factor) if factor >= 1.05 else 'just'} below {what}"


def _how(manner: Manner | None) -> str:
    match manner:
        case "early":
            return " early in training"
        case "sudden":
            return " after a steady fall of the loss"
        case None:
            return ""


def _advice(manner: Manner | None, edge: Edge) -> str:
    higher = f"try rates up to {shown(10 * edge.rate)}"
    match manner:
        case "early":
            return f"Add a warmup, the shortest that is stable, and {higher} with it."
        case "sudden":
            return f"Clip gradients at the 90th percentile of their norms, and {higher} then."
        case None:
            return f"Add a warmup or clip gradients, and {higher}."


def _calm(evidence: Evidence, tried: Sequence[Arm], found: Sequence[Edge], name: str) -> str:
    if found:
        nearest = min(found, key=lambda edge: edge.rate / edge.best_rate)
        return (
            f"{counted(len(nearest.beyond), 'trial')} with {name} above {shown(nearest.rate)} "
            f"{_ended(evidence, nearest)}, but the best"
            f"{of_setting(evidence, nearest.arm)}, {shown(nearest.best_rate)}, is "
            f"{_below(nearest)}, and rates nearer the edge are not clearly better."
        )
    higher, broken, highest = 0, 0, 0.0
    for arm in tried:
        least = rate_of(arm.best, name) if arm.best else None
        for reading in arm.judged.readings:
            rate = rate_of(reading, name) or 0.0
            highest = max(highest, rate)
            if least is not None and rate > least and not out_of_memory(reading):
                higher += 1
                broken += reading.standing is Standing.INFEASIBLE
    if not broken:
        return (
            f"No trial with a higher {name} than the best diverged: {shown(highest)} was the "
            "highest."
        )
    return (
        f"{broken} of the {counted(higher, 'trial')} with a higher {name} than the best "
        f"{'is' if broken == 1 else 'are'} infeasible, but no rate up to {shown(highest)} parts "
        "them from the others."
    )


def _varies(arm: Arm, name: str) -> bool:
    rates = [rate_of(r, name) for r in arm.sampled.measured.readings]
    return len(rates) >= LEAST_MEASURED and len(set(rates) - {None}) > 1
