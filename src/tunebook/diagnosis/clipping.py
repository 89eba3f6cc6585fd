"""Is clipping too aggressive?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, percent, shown
from tunebook.diagnosis.questions import CLIPPING
from tunebook.diagnosis.signals import Signal, signal, to_log
from tunebook.stats.instability import gradient_norms

# With more than half of the updates clipped, the threshold sets the size of the steps.
MOST_CLIPPED = 0.5
# Norms logged after clipping sit on the threshold, give or take rounding in low precision.
ROUNDING = 1e-2


@dataclass(frozen=True, slots=True)
class Norms:
    """The gradient norms of a best trial before any blow-up: how many, how many clipped, and the
    90th percentile, which is the first threshold to try. `threshold` is None where none is set."""

    arm: Arm
    trial: int
    count: int
    to_try: float
    threshold: float | None
    clipped: float


def clipping(evidence: Evidence) -> Finding:
    """The share of logged updates whose gradient norm reached the threshold, in the best trials."""
    metric = signal(evidence, "grad_norm")
    if metric is None:
        return unknown(
            CLIPPING,
            "No gradient norm is logged, so the share of clipped updates is not known.",
            to_log(evidence, "grad_norm"),
        )
    found = [_norms(evidence, arm, arm.best, metric) for arm in evidence.arms if arm.best]
    known = [norms for norms in found if norms is not None]
    if not known:
        return unknown(
            CLIPPING,
            f"The best trials logged too few values of {metric.metric}.",
            f"Log {metric.metric} at regular steps; every step costs little.",
        )
    name, first = evidence.study.knobs.clipping, known[0].to_try
    if name is None:
        return unknown(
            CLIPPING,
            "No knob says which parameter is the clipping threshold. The 90th percentile of "
            f"{metric.metric} in the best trial is {shown(first)}.",
            "Name it under knobs: clipping. Where nothing is clipped yet, "
            f"{shown(first)} is a threshold to try.",
            numbers={"to_try": first},
        )
    return finding(
        CLIPPING,
        [_claim(evidence, n, name, metric) for n in known if n.clipped > MOST_CLIPPED],
        _calm(known, metric),
        method=f"the share of logged {metric.metric} at or above {name}, before any blow-up, in "
        "the best trial of each setting",
        numbers={"to_try": first, "share": max(norms.clipped for norms in known)},
    )


def _norms(evidence: Evidence, arm: Arm, best: Reading, metric: Signal) -> Norms | None:
    curve = best.curve(metric.metric)
    usual = gradient_norms(curve.steps, curve.values) if curve is not None else None
    if curve is None or usual is None:
        return None
    end = len(curve) if usual.blow_up is None else int(np.searchsorted(curve.steps, usual.blow_up))
    threshold = _threshold(best, evidence.study.knobs.clipping)
    reached = 0.0
    if threshold is not None:
        reached = float(np.mean(curve.values[:end] >= threshold * (1 - ROUNDING)))
    return Norms(arm, best.number, end, usual.percentile_90, threshold, reached)


def _threshold(reading: Reading, name: str | None) -> float | None:
    """The threshold of a trial; 0, infinity and what is no number mean that nothing is clipped."""
    value = reading.record.trial.config.get(name) if name else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < np.inf else None


def _claim(evidence: Evidence, norms: Norms, name: str, metric: Signal) -> Claim:
    threshold = norms.threshold or 0.0
    # Where nothing lies above the threshold, the norms were logged after clipping.
    hidden = norms.to_try <= threshold * (1 + ROUNDING)
    instead = (
        f"log {metric.metric} before clipping, so that its 90th percentile can be the threshold"
        if hidden
        else f"try {name} = {shown(norms.to_try)}, the 90th percentile of the norms"
    )
    return Claim(
        f"In {best_trial(evidence, norms.arm, norms.trial)} {percent(norms.clipped)} of "
        f"{norms.count:,} logged updates reach {name} = {shown(threshold)}: clipping sets the size "
        "of most steps.",
        Verdict.PROBLEM,
        advice=f"Lower the learning rate and {instead}.",
        subject=str(norms.arm.setting),
        trials=(norms.trial,),
        numbers={"share": norms.clipped, "threshold": threshold, "to_try": norms.to_try},
    )


def _calm(known: Sequence[Norms], metric: Signal) -> str:
    if all(norms.threshold is None for norms in known):
        return (
            f"Nothing is clipped in the best trials. The 90th percentile of {metric.metric}, a "
            f"threshold to try if gradients get out of hand, is {shown(known[0].to_try)}."
        )
    most = max(norms.clipped for norms in known)
    return f"In the best trials at most {percent(most)} of the logged updates are clipped."
