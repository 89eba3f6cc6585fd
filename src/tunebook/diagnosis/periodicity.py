"""Is the validation metric periodic? A rhythm points to the data: shuffling, or a leak."""

from __future__ import annotations

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import best_trial, shown
from tunebook.diagnosis.questions import PERIODICITY
from tunebook.diagnosis.shortage import no_result
from tunebook.diagnosis.signals import losses_of
from tunebook.stats.periodicity import Rhythm, strongest_period

# The beginning falls too steeply for any trend to follow; a rhythm shows in what comes after.
BEGINNING = 1 / 3
# Fewer points have no rhythm, and more than this many late ones tell nothing new.
LEAST_POINTS = 24
MOST_POINTS = 512
# A rhythm with a smaller amplitude, in differences of interest, misleads nobody.
LEAST_AMPLITUDE = 0.5
# Points are regular if nearly all lie within a tenth of the usual interval of one another.
REGULAR = 0.9
TOLERANCE = 0.1


def periodicity(evidence: Evidence) -> Finding:
    """The strongest rhythm of the best trials against correlated noise."""
    interest = difference_of_interest(evidence)
    known = [
        (arm, arm.best, len(late), rhythm)
        for arm in evidence.arms
        if arm.best
        and len(late := _late(*losses_of(evidence, arm.best))[1]) >= LEAST_POINTS
        and (rhythm := strongest_period(late)) is not None
    ]
    metric = evidence.objective.metric.name
    if not evidence.ranked:
        return unknown(PERIODICITY, *no_result(evidence))
    if interest is None or not known:
        return unknown(
            PERIODICITY,
            f"No best trial has {LEAST_POINTS} points of {metric} at regular steps after the first "
            "third of its training.",
            "Evaluate more often, at regular steps.",
        )
    return finding(
        PERIODICITY,
        [_claim(evidence, *one, interest) for one in known],
        f"{metric} shows no rhythm in the best trials.",
        method="the spectrum of the detrended metric against that of AR(1) noise",
    )


def _claim(
    evidence: Evidence, arm: Arm, best: Reading, points: int, rhythm: Rhythm, interest: float
) -> Claim:
    where = best_trial(evidence, arm, best.number)
    interval = float(np.median(np.diff(losses_of(evidence, best)[0])))
    period = rhythm.period * interval
    # Frequencies are told apart by one cycle over the points.
    cycles = points / rhythm.period
    shortest, longest = (points / (cycles + half) * interval for half in (0.5, -0.5))
    return Claim(
        f"In {where} {evidence.objective.metric.name} swings by {shown(rhythm.amplitude)} with a "
        f"period of about {shown(period)} steps ({shown(shortest)} to {shown(longest)}).",
        Verdict.PROBLEM,
        p=rhythm.p if rhythm.amplitude >= LEAST_AMPLITUDE * interest else 1.0,
        advice="Compare this with the length of an epoch, and look at how the data are shuffled "
        "and at what is carried over from one evaluation to the next.",
        subject=where,
        trials=(best.number,),
        numbers={"period": period, "amplitude": rhythm.amplitude},
    )


def _late(steps: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """The regular points after the beginning; nothing where they are not regular."""
    if len(steps) < LEAST_POINTS:
        return steps[:0], losses[:0]
    kept = steps >= steps[0] + BEGINNING * (steps[-1] - steps[0])
    steps, losses = steps[kept][-MOST_POINTS:], losses[kept][-MOST_POINTS:]
    apart = np.diff(steps)
    usual = float(np.median(apart)) if len(apart) else 0.0
    if not len(apart) or np.mean(np.abs(apart - usual) <= TOLERANCE * usual) < REGULAR:
        return steps[:0], losses[:0]
    return steps, losses
