"""Is the variance between equal trials known?"""

from __future__ import annotations

import math
from collections import defaultdict

from tunebook.core.domains import Value
from tunebook.core.evidence import Evidence, Reading
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted
from tunebook.diagnosis.effects import difference_of_interest
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import shown
from tunebook.diagnosis.questions import TRIAL_VARIANCE
from tunebook.diagnosis.shortage import no_result
from tunebook.stats.samples import PooledSd, detectable_difference, pooled_sd

# Two equal trials bound their sd to a factor of 70; three to one of 12, four to 6.
LEAST_FREEDOM = 2
# Enough for an interval within a factor of 5.
SEEDS_TO_RUN = 5
# One-sided 5% and power 80%: z = 1.645 and 0.842.
QUANTILES = 1.645 + 0.842
# Beyond it no number of seeds would be run; the square must stay a number.
MOST_RATIO = 1e6


def trial_variance(evidence: Evidence) -> Finding:
    """What equal configurations with different seeds differ by, and how many seeds that needs."""
    noise = trial_noise(evidence)
    best = evidence.best
    if best is None:
        return unknown(TRIAL_VARIANCE, *no_result(evidence))
    if noise is None or noise.freedom < LEAST_FREEDOM:
        seen = "Only two trials share" if noise is not None else "No two trials share"
        return unknown(
            TRIAL_VARIANCE,
            f"{seen} a configuration, so how much of a difference is luck is not known.",
            f"Run the best configuration (trial {best.number}) with {SEEDS_TO_RUN} seeds.",
            numbers={} if noise is None else {"sd": noise.sd},
        )
    groups = replicated(evidence)
    runs = sum(len(group) for group in groups)
    metric = evidence.objective.metric.name
    sentence = (
        f"Equal trials differ in {metric} with a standard deviation of {shown(noise.sd)} "
        f"({shown(noise.low)} to {shown(noise.high)}, from {counted(runs, 'trial')})."
    )
    interest = difference_of_interest(evidence)
    claims = []
    if all(r.value == group[0].value for group in groups for r in group):
        claims.append(_seedless(runs, metric))
    elif interest is not None and noise.sd > interest:
        claims.append(_large(sentence, noise, interest))
    elif interest is not None:
        sentence += (
            f" To see a difference of {shown(interest)}, compare the means of "
            f"{seeds_needed(noise.sd, interest)} seeds."
        )
    return finding(
        TRIAL_VARIANCE,
        claims,
        sentence,
        method="the pooled standard deviation within groups of equal configurations",
        numbers={"sd": noise.sd, "low": noise.low, "high": noise.high},
    )


def _seedless(runs: int, metric: str) -> Claim:
    return Claim(
        f"{counted(runs, 'trial')} with equal configurations and different seeds have exactly "
        f"equal {metric}: the program seems to ignore its seed.",
        Verdict.WATCH,
        advice="Use run.seed for the initialisation and the order of the data.",
    )


def _large(sentence: str, noise: PooledSd, interest: float) -> Claim:
    """Equal trials that differ by more than what one wants to see between unequal ones."""
    needed = seeds_needed(noise.sd, interest)
    visible = detectable_difference(noise.sd, SEEDS_TO_RUN, sides=1) or 0.0
    return Claim(
        f"{sentence} That is more than the difference of interest, {shown(interest)}.",
        Verdict.WATCH,
        advice=f"Compare configurations by the means of several seeds: {SEEDS_TO_RUN} of each show "
        f"a difference of {shown(visible)}, and for {shown(interest)} it takes {needed:,}.",
        numbers={"sd": noise.sd, "difference": interest, "seeds": needed},
    )


def trial_noise(evidence: Evidence) -> PooledSd | None:
    """The standard deviation of results between equal configurations; None without any."""
    return pooled_sd([[r.value or 0.0 for r in group] for group in replicated(evidence)])


def replicated(evidence: Evidence) -> tuple[tuple[Reading, ...], ...]:
    """Measured trials in groups of two or more with one configuration and different seeds."""
    knobs = evidence.study.knobs
    seeds = {knobs.seed_init, knobs.seed_data, knobs.seed_split} - {None}
    groups: dict[tuple[tuple[str, Value], ...], dict[object, Reading]] = defaultdict(dict)
    for reading in evidence.ranked:
        trial = reading.record.trial
        shared = tuple(sorted((k, v) for k, v in trial.config.items() if k not in seeds))
        own = (trial.seed, *(trial.config.get(str(name)) for name in sorted(map(str, seeds))))
        groups[shared].setdefault(own, reading)
    return tuple(tuple(group.values()) for group in groups.values() if len(group) > 1)


def seeds_needed(sd: float, difference: float) -> int:
    """Seeds of each arm that show a true difference: one-sided 5%, power 80%.

    >>> seeds_needed(sd=0.004, difference=0.004), seeds_needed(sd=0.001, difference=0.01)
    (13, 2)
    """
    return max(2, math.ceil(2 * min(QUANTILES * sd / difference, MOST_RATIO) ** 2))
