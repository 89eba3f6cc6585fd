"""Are the best trials still improving at the end, or did they saturate early?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Claim, Finding, Question, Verdict
from tunebook.diagnosis.combining import BEST_FEW, p_of_best
from tunebook.diagnosis.decay import ONLY_THE_DECAY, decays
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, undecided, unknown
from tunebook.diagnosis.phrases import best_trial, percent, shown
from tunebook.diagnosis.questions import IMPROVING, SATURATED
from tunebook.diagnosis.signals import all_equal, losses_of
from tunebook.stats.curves import detrend, end_slope, fit_ar1, saturation_step

# The end of a curve whose slope is judged, and the training it is continued for in thought.
END = 0.25
LONGER = 0.25
# A further quarter worth this many differences of interest makes short training a problem.
FAR_TOO_SHORT = 3.0
# An error of the slope takes 8 points, which should not be more than half of the training.
LEAST_POINTS = 16
# Saturated early: what came after this share of the training gained nothing of interest.
EARLY = 1 / 3
# The points about that share whose mean stands for the curve there, and those for its end.
AROUND = (0.25, 0.40)
LATE = 0.7
COMPUTED = "See that the metric is computed, and from what the trial has learnt."


@dataclass(frozen=True, eq=False)
class BestCurve:
    """The objective of one of the best trials, lower being better."""

    reading: Reading
    steps: Floats
    losses: Floats

    @property
    def number(self) -> int:
        return self.reading.number


@dataclass(frozen=True, slots=True)
class Pace:
    """What a quarter more training would gain a trial at its final pace, and the error of that."""

    gain: float
    error: float


def improving(evidence: Evidence) -> Finding:
    """Whether a quarter more training, at the final pace, would gain more than is of interest."""
    interest = difference_of_interest(evidence)
    known = [arm for arm in evidence.arms if _few(evidence, arm)]
    if equal := all_equal(evidence):
        return unknown(IMPROVING, equal, COMPUTED)
    if interest is None or not known:
        return _too_short(IMPROVING, evidence)
    claims = [_improving(evidence, arm, interest) for arm in known]
    doubts = [_perhaps(evidence, arm, interest) for arm in known]
    most = max((claim.numbers["gain"] for claim in claims), default=0.0)
    return finding(
        IMPROVING,
        [*claims, *(doubt for doubt in doubts if doubt is not None)],
        f"At the final pace a quarter more training would gain {shown(max(most, 0.0))} in the best "
        f"trials, not more than the difference of interest, {shown(interest)}.",
        method=f"the slope of {evidence.objective.metric.name} over the last {percent(END)} of the "
        f"points of the best {BEST_FEW} trials of each setting, its error with correlated noise, "
        "against the difference of interest",
        numbers={"difference": interest},
    )


def saturated(evidence: Evidence) -> Finding:
    """Whether the last two thirds of the training gained less than is of interest."""
    interest = difference_of_interest(evidence)
    known = [arm for arm in evidence.arms if _few(evidence, arm)]
    if equal := all_equal(evidence):
        return unknown(SATURATED, equal, COMPUTED)
    if interest is None or not known:
        return _too_short(SATURATED, evidence)
    claims = [_saturated(evidence, arm, interest) for arm in known]
    latest = max(claim.numbers["share"] for claim in claims)
    return finding(
        SATURATED,
        claims,
        f"The best trials come within {shown(interest)} of their final level after "
        f"{percent(latest)} of the training at the latest.",
        method="the mean about a third of the training against the mean of the end, their errors "
        f"with correlated noise, against the difference of interest, in the best {BEST_FEW} trials "
        "of each setting",
        numbers={"difference": interest},
    )


def _improving(evidence: Evidence, arm: Arm, interest: float) -> Claim:
    few = _few(evidence, arm)
    best, gain = few[0], _pace(few[0]).gain
    where = best_trial(evidence, arm, best.number)
    decaying = decays(evidence, best.reading, END)
    return Claim(
        f"In {where} {evidence.objective.metric.name} still improves at the end: a quarter more "
        f"training at that pace would gain {shown(gain)}, and {shown(interest)} is of interest."
        + (f" {ONLY_THE_DECAY}" if decaying else ""),
        Verdict.PROBLEM if gain > FAR_TOO_SHORT * interest and not decaying else Verdict.WATCH,
        p=p_of_best([_p_improving(one.steps, one.losses, interest) for one in few]),
        advice=f"Train longer: try {_length(evidence, best, 2.0)} with the decay of the learning "
        "rate planned for them, and tune again.",
        subject=where,
        trials=(best.number,),
        numbers={"gain": gain},
    )


def _perhaps(evidence: Evidence, arm: Arm, interest: float) -> Claim | None:
    """A gain that would be of interest, if it is one."""
    best = _few(evidence, arm)[0]
    pace = _pace(best)
    if pace.gain <= interest:
        return None
    return undecided(
        f"Whether {best_trial(evidence, arm, best.number)} still improves at the end cannot be "
        f"told: a quarter more training at the final pace would gain {shown(pace.gain)}, with a "
        f"standard error of {shown(pace.error)}, and {shown(interest)} is of interest.",
        f"Train the best configuration for {_length(evidence, best, 1 + LONGER)}, or evaluate more "
        "often at the end.",
        trials=(best.number,),
    )


def _pace(best: BestCurve) -> Pace:
    slope, length = end_slope(best.steps, best.losses, END), _quarter(best.steps)
    return Pace(-slope.per_step * length, slope.error * length) if slope else Pace(0.0, 0.0)


def _length(evidence: Evidence, best: BestCurve, factor: float) -> str:
    """So many times the training of a trial, in the unit in which it is set."""
    knobs = evidence.study.knobs
    given = best.reading.record.trial.config.get(knobs.steps or "")
    if isinstance(given, bool) or not isinstance(given, int | float):
        given = float(best.steps[-1])
    return f"{factor * given:,.0f} {knobs.steps_unit}"


def _saturated(evidence: Evidence, arm: Arm, interest: float) -> Claim:
    few = _few(evidence, arm)
    best = few[0]
    where = best_trial(evidence, arm, best.number)
    settled = saturation_step(best.steps, best.losses, interest)
    step = float(best.steps[-1]) if settled is None else settled
    share = min(step / float(best.steps[-1]), 1.0) if best.steps[-1] > 0 else 1.0
    return Claim(
        f"{where[0].upper()}{where[1:]} is within {shown(interest)} of its final level from step "
        f"{step:,.0f} on, {percent(share)} of the training.",
        Verdict.WATCH,
        # The sentence is about the best trial, whatever the others do.
        p=p_of_best([_p_saturated(one.steps, one.losses, interest) for one in few])
        if share <= EARLY
        else 1.0,
        advice=f"Train for about half of the {_length(evidence, best, 1.0)}, with the decay "
        "planned for them, and spend the rest on more trials.",
        subject=where,
        trials=(best.number,),
        numbers={"step": step, "share": share},
    )


def _p_improving(steps: Floats, losses: Floats, interest: float) -> float:
    """The p-value of a gain, in a quarter more training, above what is of interest.

    Tilted by what is of interest, a curve that still falls improves by more than that.
    """
    tilted = end_slope(steps, losses + interest / _quarter(steps) * steps, END)
    return tilted.falling if tilted else 1.0


def _quarter(steps: Floats) -> float:
    return LONGER * float(steps[-1] - min(steps[0], 0.0))


def _p_saturated(steps: Floats, losses: Floats, interest: float) -> float:
    """The chance of so small a gain since the first third, if the true gain were of interest."""
    share = (steps - min(steps[0], 0.0)) / max(float(steps[-1] - min(steps[0], 0.0)), 1e-300)
    around, late = (share >= AROUND[0]) & (share <= AROUND[1]), share >= LATE
    if not around.any() or late.sum() < 3:
        return 1.0
    settled = losses[share >= EARLY]
    noise = fit_ar1(detrend(settled, 1), fitted=2)
    if noise is None:
        return 1.0
    # So many independent points is a run of correlated ones worth.
    worth = (1 - noise.rho) / (1 + noise.rho)
    error = noise.sd * math.sqrt(
        1 / max(around.sum() * worth, 1.0) + 1 / max(late.sum() * worth, 1.0)
    )
    missing = interest - float(losses[around].mean() - losses[late].mean())
    if error == 0.0:
        return 0.0 if missing > 0 else 1.0
    freedom = max(len(settled) * worth - 2.0, 2.0)
    return float(special.stdtr(freedom, -missing / error))


def _few(evidence: Evidence, arm: Arm) -> list[BestCurve]:
    """The best trials of a setting, best first, whose curve has a slope with an error."""
    found = (BestCurve(r, *losses_of(evidence, r)) for r in arm.ranked[:BEST_FEW])
    return [c for c in found if len(c.steps) >= LEAST_POINTS and np.ptp(c.steps) > 0]


def _too_short(question: Question, evidence: Evidence) -> Finding:
    return unknown(
        question,
        f"No best trial has {LEAST_POINTS} points of {evidence.objective.metric.name}.",
        f"Evaluate at least {LEAST_POINTS} times in a trial, at regular steps.",
    )
