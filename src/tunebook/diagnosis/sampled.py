"""Has the space been sampled enough?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Arm, Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.dimensions import TRIALS_FOR_EACH
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import of_setting
from tunebook.diagnosis.questions import SAMPLED_ENOUGH
from tunebook.diagnosis.shortage import more_trials, no_result
from tunebook.diagnosis.surfaces import LEAST_MODELLED, tuned
from tunebook.diagnosis.tables import filled
from tunebook.stats.best_of_k import expected_best, quantile_best

# The best tried point may fall short of the optimum by a few differences of interest in any study
# that is worth its cost; five of them are half of what separates the best from the median trial.
SHORT = 5.0
# Short of that, it is open where a few good trials stand against a better point that is worth so
# many of them, or fewer if the last doubling of the trials gained as much. That is no alarm: it
# holds for one in seven simulated studies that were sampled enough.
OPEN = 3.0
OPEN_IN_BOTH = 2.0
# A region in which so many trials lie has been found, and not only hit.
FOUND = 3
# The three sizes of the gains behind "how many more" must differ: an eighth of the trials is two.
LEAST_FOR_MORE = 16
RESAMPLES = 200
# An estimate of "how many more" that spans more than this factor is none.
WIDEST = 5.0
# Nobody runs a thousand times the trials: beyond, the number only has to stay one.
MOST_DOUBLINGS = 10.0


@dataclass(frozen=True, slots=True)
class Density:
    """How well one setting was sampled. Gains are in units of the objective."""

    arm: Arm
    tried: Arm
    trials: int
    good: int
    half: int
    halving: float
    remaining: float


def sampled_enough(evidence: Evidence) -> Finding:
    """The best of k trials, the number of good ones, and what a better point would still gain."""
    models, interest = tuned(evidence), difference_of_interest(evidence)
    if models is None or interest is None:
        return _too_few(evidence)
    seen = [
        _density(arm, remaining, interest)
        for arm, remaining in zip(models.arms, models.contest.remaining_gains, strict=True)
    ]
    claims = [
        _claim(evidence, one, interest)
        for one in seen
        if one.remaining > SHORT * interest and one.good < FOUND
    ]
    sparse = [one for one in seen if one.trials < _needed(one)]
    if sparse and not claims:
        return _sparse(evidence, min(sparse, key=lambda one: one.trials / _needed(one)))
    unsettled = [one for one in seen if _is_open(one, interest)]
    if unsettled and not claims:
        return _unsettled(evidence, max(unsettled, key=lambda one: one.remaining), interest)
    worst = max(seen, key=lambda one: one.remaining)
    return finding(
        SAMPLED_ENOUGH,
        claims,
        _said(evidence, worst, interest),
        numbers=_numbers(worst, interest),
        method="U-statistics of the best of k, as if points were random; sample paths of a "
        "Gaussian process for what remains",
    )


def _too_few(evidence: Evidence) -> Finding:
    most = max((len(arm.measured) for arm in evidence.arms), default=0)
    if not most:
        return unknown(SAMPLED_ENOUGH, *no_result(evidence))
    return unknown(
        SAMPLED_ENOUGH,
        f"{counted(most, 'result')} {'tells' if most == 1 else 'tell'} nothing of how good the "
        "space is.",
        more_trials(evidence, max(LEAST_MODELLED - most, 1)),
    )


def _is_open(one: Density, interest: float) -> bool:
    """Whether a good region was hit at most, and something may be gained by going on."""
    both = min(one.remaining, one.halving) > OPEN_IN_BOTH * interest
    return one.good < FOUND and (one.remaining > OPEN * interest or both)


def _unsettled(evidence: Evidence, one: Density, interest: float) -> Finding:
    said, advice = _only(evidence, one, interest), _going_on(evidence, one, interest)
    return unknown(SAMPLED_ENOUGH, said, advice, numbers=_numbers(one, interest))


def _needed(one: Density) -> int:
    """Different points without which a space is not seen at all."""
    return max(LEAST_MODELLED, TRIALS_FOR_EACH * len(one.arm.parameters))


def _sparse(evidence: Evidence, one: Density) -> Finding:
    searched = counted(len(one.arm.parameters), "searched parameter")
    return unknown(
        SAMPLED_ENOUGH,
        f"{counted(one.trials, 'different point')}{of_setting(evidence, one.arm)} "
        f"{'is' if one.trials == 1 else 'are'} too few to tell for {searched}.",
        f"Run at least {_needed(one) - one.trials} more{of_setting(evidence, one.arm)}, or search "
        "fewer parameters.",
        numbers={"trials": one.trials, "needed": _needed(one)},
    )


def _density(arm: Arm, remaining: float, interest: float) -> Density:
    tried = _tried(arm)
    losses = _losses(tried)
    good = int(np.count_nonzero(losses <= losses.min() + interest))
    half = max(len(losses) // 2, 1)
    before, after = quantile_best(losses, [max(half // 2, 1), half]).tolist()
    halving = before - after if math.isfinite(before) and math.isfinite(after) else math.nan
    return Density(arm, tried, len(losses), good, half, halving, remaining)


def _tried(arm: Arm) -> Arm:
    """Different points that no result has chosen: a point that was run again is no new one.

    A study of guided trials alone has no such points: its results stand for what they are.
    """
    judged = arm.sampled.judged if arm.sampled.measured.readings else arm.judged
    if not arm.parameters:
        return judged
    _, first = np.unique(filled(judged.points), axis=0, return_index=True)
    return replace(judged, readings=tuple(judged.readings[row] for row in np.sort(first)))


def _losses(tried: Arm) -> Floats:
    """Their results; infeasible ones are worth nothing."""
    infeasible = [r.standing is Standing.INFEASIBLE for r in tried.readings]
    return np.where(infeasible, np.inf, tried.losses)


def _said(evidence: Evidence, one: Density, interest: float) -> str:
    gained = ""
    if math.isfinite(one.halving):
        before = max(one.half // 2, 1)
        gained = (
            f"; going from {before} to {counted(one.half, 'trial')} improves the median best by "
            f"{_rough(one.halving)} (as if random)"
        )
    return (
        f"{one.good} of {counted(one.trials, 'trial')}{of_setting(evidence, one.arm)} "
        f"{'lies' if one.good == 1 else 'lie'} within {_rough(interest)} of the best{gained}, and "
        f"a model of the results expects {_rough(one.remaining)} more from the best point there is."
    )


def _rough(gain: float) -> str:
    return f"{gain:.2g}"


def _only(evidence: Evidence, one: Density, interest: float) -> str:
    return f"Only {_said(evidence, one, interest)}"


def _claim(evidence: Evidence, one: Density, interest: float) -> Claim:
    return Claim(
        _only(evidence, one, interest),
        Verdict.WATCH,
        advice=_going_on(evidence, one, interest),
        subject=str(one.arm.setting),
        trials=tuple(r.number for r in one.tried.ranked[: one.good]),
        numbers=_numbers(one, interest),
    )


def _going_on(evidence: Evidence, one: Density, interest: float) -> str:
    more = trials_needed(_losses(one.tried), interest, len(one.arm.parameters))
    where = of_setting(evidence, one.arm)
    if more is None:
        return (
            f"Run as many trials{where} again and look anew: how many more it takes cannot be told."
        )
    return (
        f"Run about {more[1] - one.trials} more trials{where} ({more[0] - one.trials} to "
        f"{more[2] - one.trials}): then twice as many gain less than {_rough(interest)}."
    )


def _numbers(one: Density, interest: float) -> dict[str, float]:
    return {
        "trials": one.trials,
        "good trials": one.good,
        "remaining gain": one.remaining,
        "difference of interest": interest,
    }


def trials_needed(
    losses: Floats, interest: float, dimensions: int, seed: int = 0
) -> tuple[int, int, int] | None:
    """How many trials it takes until twice as many gain less: an estimate within its interval.

    Near a quadratic optimum the best of k falls like k^(-2/g), g being the number of parameters
    that matter: each doubling gains a fixed share of what the one before gained. The share is
    taken from the last two doublings that the sample can tell of, between those of one parameter
    and of all, with its interval from resampling. None where that is too wide.
    """
    finite = losses[np.isfinite(losses)]
    if len(finite) < LEAST_FOR_MORE or not dimensions:
        return None
    random = np.random.default_rng(seed)
    drawn = finite[random.integers(len(finite), size=(RESAMPLES, len(finite)))]
    # Infeasible trials cost as much as others: the same share of further ones will be.
    scale = len(losses) / len(finite)
    middle = _size(finite, interest, dimensions)
    sizes = np.sort([_size(one, interest, dimensions) for one in drawn])
    low, high = max(float(sizes[RESAMPLES // 10]), len(finite)), float(sizes[-RESAMPLES // 10])
    if middle <= len(finite) or high > WIDEST * low:
        return None
    low, high = min(low, middle), max(high, middle)
    return math.ceil(scale * low), math.ceil(scale * middle), math.ceil(scale * high)


def _size(finite: Floats, interest: float, dimensions: int) -> float:
    """The number of trials from which a doubling gains less than `interest`."""
    n = len(finite)
    few, some, many = expected_best(finite, [n // 8, n // 4, n // 2]).tolist()
    before, after = few - some, some - many
    if after <= interest:
        return n / 2
    slowest = 2.0 ** (-2.0 / dimensions)
    share = min(max(after / before if before > 0 else 1.0, 0.25), slowest)
    # The doubling from a quarter to a half gained too much; so many more until one does not.
    doublings = math.log(interest / after) / math.log(share)
    return n / 2 * float(2.0 ** min(doublings, MOST_DOUBLINGS))
