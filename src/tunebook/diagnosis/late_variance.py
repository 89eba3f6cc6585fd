"""Does the metric vary much from step to step at the end?"""

from __future__ import annotations

import math

from scipy import special

from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, undecided, unknown
from tunebook.diagnosis.phrases import best_trial, shown, times
from tunebook.diagnosis.questions import LATE_VARIANCE
from tunebook.diagnosis.replication import LEAST_FREEDOM, trial_noise
from tunebook.diagnosis.signals import all_equal, losses_of
from tunebook.stats.curves import late_noise

# The last part of the curve that counts as late, the fewest points in it, and the fewest in all:
# late is never more than half of the training.
LATE = 0.3
LEAST_LATE = 8
LEAST_POINTS = 2 * LEAST_LATE
# Noise of twice what is of interest hides it even from the mean of several points.
LOUD = 2.0
# A sum of squared successive differences is worth two thirds as many independent squares.
WORTH = 2 / 3


def late_variance(evidence: Evidence) -> Finding:
    """Step-to-step noise of the best trials against what one wants to see."""
    interest = difference_of_interest(evidence)
    known = [
        (arm, arm.best, noise)
        for arm in evidence.arms
        if arm.best
        and len(losses := losses_of(evidence, arm.best)[1]) >= LEAST_POINTS
        and (noise := late_noise(losses, LATE)) is not None
    ]
    metric = evidence.objective.metric.name
    if equal := all_equal(evidence):
        return unknown(LATE_VARIANCE, equal, "See that the metric is computed.")
    if interest is None or not known:
        return unknown(
            LATE_VARIANCE,
            f"No best trial has {LEAST_POINTS} points of {metric}.",
            f"Evaluate at least {LEAST_POINTS} times in a trial, at regular steps.",
        )
    scale, what = _scale(evidence, interest)
    loudest = max(noise for _, _, noise in known)
    return finding(
        LATE_VARIANCE,
        [
            *(_claim(evidence, arm, best, noise, scale, what) for arm, best, noise in known),
            *(
                _perhaps(evidence, arm, best, noise, scale, what)
                for arm, best, noise in known
                if noise > scale
            ),
        ],
        f"Late in the best trials {metric} varies by {shown(loudest)} from one evaluation to the "
        f"next, and {what} is {shown(scale)}.",
        method=f"von Neumann's successive differences over the last {LATE:.0%} of the points, "
        "detrended",
        numbers={"noise": loudest, "scale": scale},
    )


def _claim(
    evidence: Evidence, arm: Arm, best: Reading, noise: float, scale: float, what: str
) -> Claim:
    where = best_trial(evidence, arm, best.number)
    freedom = _freedom(evidence, best)
    return Claim(
        f"Late in {where} {evidence.objective.metric.name} varies by {shown(noise)} from one "
        f"evaluation to the next, {times(noise / scale)} {what} ({shown(scale)}).",
        Verdict.PROBLEM if noise > LOUD * scale else Verdict.WATCH,
        p=float(special.chdtrc(freedom, freedom * (noise / scale) ** 2)),
        advice="Decay the learning rate or average the weights at the end; a larger batch or more "
        "validation examples help too.",
        subject=where,
        trials=(best.number,),
        numbers={"noise": noise},
    )


def _perhaps(
    evidence: Evidence, arm: Arm, best: Reading, noise: float, scale: float, what: str
) -> Claim:
    error = noise / math.sqrt(2.0 * _freedom(evidence, best))
    return undecided(
        f"Whether {evidence.objective.metric.name} varies too much late in "
        f"{best_trial(evidence, arm, best.number)} cannot be told: by {shown(noise)} from one "
        f"evaluation to the next, with a standard error of {shown(error)}, and {what} is "
        f"{shown(scale)}.",
        "Evaluate more often at the end of a trial.",
        trials=(best.number,),
    )


def _freedom(evidence: Evidence, best: Reading) -> float:
    """The independent squares that the noise of a trial is worth."""
    points = max(LEAST_LATE, math.ceil(LATE * len(losses_of(evidence, best)[1])))
    return WORTH * (points - 2)


def _scale(evidence: Evidence, interest: float) -> tuple[float, str]:
    """What noise is measured by: the difference of interest, or the luck of equal trials.

    Step-to-step noise below the luck between seeds does not matter: the luck has to be averaged
    away in any case.
    """
    equal = trial_noise(evidence)
    if equal is not None and equal.freedom >= LEAST_FREEDOM and equal.sd > interest:
        return equal.sd, "the standard deviation between equal trials"
    return interest, "the difference of interest"
