"""Which setting wins, and how sure is it?

A winner is confident only if sample paths of every setting's optimum say so, fresh seeds (where
there are any) agree, no rival has more left to gain than the lead is worth, and all were
evaluated equally often. Otherwise the answer is unknown, with what would make it known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.domains import Float, Int
from tunebook.core.evidence import Arm, Evidence, Reading
from tunebook.core.findings import Finding
from tunebook.core.representation import listed
from tunebook.core.space import Parameter, Role
from tunebook.core.trials import Replicate
from tunebook.diagnosis.effects import difference_of_interest, least_loss
from tunebook.diagnosis.fairness import unequal_looks
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import percent, shown
from tunebook.diagnosis.questions import WINNER
from tunebook.diagnosis.ranges import place
from tunebook.diagnosis.shortage import no_result
from tunebook.diagnosis.surfaces import LEAST_MODELLED, Tuned, tuned
from tunebook.stats.optima import Optimum
from tunebook.stats.winner import Contest

# The chance of having the best optimum that makes a winner.
CONFIDENT = 0.95
# A rival may have left to gain, beyond what the winner has, this share of the lead.
OF_THE_LEAD = 0.5
# Fresh seeds of one configuration, and configurations of one setting, that can confirm a winner.
FRESH_SEEDS = 3
FRESH_CONFIGURATIONS = 3
# Settings whose optima differ by less than the difference of interest, so surely, are equal.
TIED = 0.9
# Buckets of a continuous scientific parameter where the study names no number.
BUCKETS = 4
_METHOD = "sample paths of the optimum of each setting from Gaussian processes"


def winner(evidence: Evidence) -> Finding:
    """The setting with the best optimum, nuisances tuned away, if there is a confident one."""
    if evidence.best is None:
        return unknown(WINNER, *no_result(evidence))
    models = tuned(evidence)
    if len(evidence.study.space.settings()) < 2:
        buckets = [
            p
            for p in evidence.study.space.by_role(Role.SCIENTIFIC)
            if isinstance(p.source, Float | Int)
            and models is not None
            and p in models.arms[0].parameters
        ]
        if buckets and models is not None:
            return _best_bucket(evidence, models, buckets[0])
        return _best_trial(evidence, models)
    perfect = _at_the_end(evidence)
    if len(perfect) > 1:
        return _all_perfect(evidence, perfect)
    poor = [s for s in evidence.study.space.settings() if not _is_modelled(models, s)]
    if models is None or poor:
        return unknown(
            WINNER,
            f"{listed([str(s) for s in poor])} {'has' if len(poor) == 1 else 'have'} fewer than "
            f"{LEAST_MODELLED} results.{_so_far(evidence)}",
            f"Run every setting with at least {LEAST_MODELLED} trials that work.",
        )
    return _contested(evidence, models)


def _at_the_end(evidence: Evidence) -> list[Arm]:
    """The settings whose best trials reach the end of the objective's scale."""
    least = least_loss(evidence)
    return [arm for arm in evidence.arms if arm.ranked and arm.measured.losses.min() <= least]


def _all_perfect(evidence: Evidence, arms: Sequence[Arm]) -> Finding:
    names = listed([str(arm.setting) for arm in arms])
    best = [arm.ranked[0] for arm in arms]
    calm = (
        f"{names} are equally good: the best trial of each has {evidence.objective.metric.name} "
        f"{shown(best[0].value or 0.0)}, which cannot be bettered."
    )
    return finding(WINNER, [], calm, trials=tuple(r.number for r in best))


def _contested(evidence: Evidence, models: Tuned) -> Finding:
    contest, interest = models.contest, difference_of_interest(evidence)
    leader = contest.leader
    chance = contest.chances[leader]
    numbers = {
        f"chance of {arm.setting}": p for arm, p in zip(models.arms, contest.chances, strict=True)
    }
    tied = interest is not None and _is_tie(contest.optima, interest)
    if tied and interest is not None:
        names = [str(arm.setting) for arm in models.arms]
        calm = (
            f"{listed(names)} are equally good: their best results differ by less than "
            f"{shown(interest)}.{_so_far(evidence)}"
        )
        return finding(WINNER, [], calm, numbers=numbers, method=_METHOD)
    doubts = _doubts(evidence, models)
    if chance >= CONFIDENT and not doubts:
        calm = (
            f"{models.arms[leader].setting} wins with a probability of {_sure(chance)}, "
            f"by about {shown(_lead(models))}.{_so_far(evidence)}"
        )
        best = models.arms[leader].best
        trials = () if best is None else (best.number,)
        return finding(WINNER, [], calm, numbers=numbers, method=_METHOD, trials=trials)
    why = doubts[0] if chance >= CONFIDENT else f"{models.arms[leader].setting} leads, but wins "
    if chance < CONFIDENT:
        why += f"with a probability of {percent(chance)} only."
    return unknown(WINNER, f"{why}{_so_far(evidence)}", _advice(models), numbers=numbers)


def _doubts(evidence: Evidence, models: Tuned) -> list[str]:
    """What keeps a likely winner from being a confident one."""
    name = models.arms[models.contest.leader].setting
    doubts = [claim.sentence for claim in unequal_looks(evidence)]
    rival = _undertuned(models)
    if rival is not None:
        gain = models.contest.remaining_gains[rival]
        doubts.append(
            f"{name} leads by {shown(_lead(models))}, but {models.arms[rival].setting} is "
            f"under-tuned: {shown(gain)} is left to gain."
        )
    if chance_of_equals(models.contest) > 1 - CONFIDENT:
        end = f"{evidence.objective.metric.name} {shown(abs(least_loss(evidence)))}"
        doubts.append(f"{name} leads, but a rival may reach {end} too, which ends the scale.")
    fresh = [_fresh_best(arm, evidence) for arm in models.arms]
    known = [value for value in fresh if value is not None]
    own = fresh[models.contest.leader]
    if len(known) == len(fresh) and own is not None and own > min(known):
        better = models.arms[fresh.index(min(known))].setting
        doubts.append(f"{name} leads in the search, but on fresh seeds {better} is better.")
    return doubts


def chance_of_equals(contest: Contest) -> float:
    """The chance that the leader and a rival both reach the end of the scale, and are equal."""
    optima, leader = contest.optima, contest.leader
    random = np.random.default_rng(0)
    drawn = np.stack([random.permutation(one.values) for one in optima])
    rivals = np.delete(drawn, leader, axis=0)
    return float(np.mean(drawn[leader] == rivals.min(axis=0)))


def _undertuned(models: Tuned) -> int | None:
    """A rival with more to gain, beyond what the leader has, than the lead allows."""
    gains, lead = models.contest.remaining_gains, _lead(models)
    leader = models.contest.leader
    rivals = [i for i in range(len(gains)) if i != leader]
    most = max(rivals, key=lambda i: gains[i])
    return most if gains[most] - gains[leader] > OF_THE_LEAD * lead else None


def _lead(models: Tuned) -> float:
    """By how much the leader's optimum is expected to be better than the next one."""
    expected = [float(np.mean(one.values)) for one in models.contest.optima]
    leader = models.contest.leader
    return min(v for i, v in enumerate(expected) if i != leader) - expected[leader]


def _is_tie(optima: Sequence[Optimum], interest: float) -> bool:
    """Whether all optima lie within the difference of interest, surely enough."""
    random = np.random.default_rng(0)
    drawn = np.stack([random.permutation(one.values) for one in optima])
    return float(np.mean(np.ptp(drawn, axis=0) <= interest)) >= TIED


def _fresh_best(arm: Arm, evidence: Evidence) -> float | None:
    """The best mean over fresh seeds of a setting's top configurations; None without enough.

    The run that chose a configuration is not among its seeds: it was chosen for being lucky.
    """
    loss = evidence.objective.metric.loss
    seeds: dict[int, list[float]] = defaultdict(list)
    for reading in arm.measured.readings:
        origin = reading.record.trial.origin
        if isinstance(origin, Replicate) and reading.value is not None:
            seeds[origin.of].append(loss(reading.value))
    means = [float(np.mean(values)) for values in seeds.values() if len(values) >= FRESH_SEEDS]
    enough = min(FRESH_CONFIGURATIONS, len(arm.measured) - sum(map(len, seeds.values())))
    return min(means) if means and len(means) >= enough else None


def _advice(models: Tuned) -> str:
    """More trials for the setting that could still gain most."""
    gains = models.contest.remaining_gains
    most = int(np.argmax(gains))
    arm = models.arms[most]
    return (
        f"Run {len(arm.judged)} more trials of {arm.setting}: it has {shown(gains[most])} left to "
        "gain, more than the others."
    )


def _best_trial(evidence: Evidence, models: Tuned | None) -> Finding:
    """One setting: the best trial, with what it is worth once its luck is taken off."""
    best = evidence.best
    if best is None:
        return unknown(WINNER, *no_result(evidence))
    calm = f"There is one setting, so none can win.{_so_far(evidence)}"
    if models is None:
        return finding(WINNER, [], calm, trials=(best.number,))
    optimum = models.contest.optima[0]
    found = optimum.values + optimum.gains
    sign = 1.0 if evidence.objective.metric.better == "lower" else -1.0
    value, error = sign * float(found.mean()), float(found.std())
    calm += f" Run again, the best known point is expected at {shown(value)} ± {shown(error)}."
    numbers = {"expected": value, "error": error}
    return finding(WINNER, [], calm, numbers=numbers, method=_METHOD, trials=(best.number,))


def _best_bucket(evidence: Evidence, models: Tuned, parameter: Parameter) -> Finding:
    """A continuous scientific parameter: in which bucket of its range the optimum lies."""
    arm, optimum = models.arms[0], models.contest.optima[0]
    column = arm.parameters.index(parameter)
    count = parameter.buckets or BUCKETS
    chances = bucket_chances(optimum.places[:, column], count)
    best = int(np.argmax(chances))
    words = _bucket(parameter, best, count)
    numbers = {_bucket(parameter, i, count): float(p) for i, p in enumerate(chances)}
    sure = _sure(float(chances[best]))
    said = f"the best {parameter.name} lies {words} with a probability of {sure}"
    if chances[best] >= CONFIDENT:
        calm = f"{said[:1].upper()}{said[1:]}.{_so_far(evidence)}"
        return finding(WINNER, [], calm, numbers=numbers, method=_METHOD)
    return unknown(
        WINNER,
        f"No bucket of {parameter.name} wins: {said}.{_so_far(evidence)}",
        f"Run {len(arm.judged)} more trials, or fewer buckets: neighbours may be equally good.",
        numbers=numbers,
    )


def bucket_chances(places: Floats, count: int) -> Floats:
    """The share of optima `(m,)` in each of `count` equal parts of the unit interval.

    >>> bucket_chances(np.array([0.1, 0.2, 0.6, 1.0]), 2).tolist()
    [0.5, 0.5]
    """
    inside = np.minimum((np.asarray(places) * count).astype(int), count - 1)
    return np.bincount(inside, minlength=count) / len(inside)


def _bucket(parameter: Parameter, index: int, count: int) -> str:
    domain = parameter.source
    if not isinstance(domain, Float | Int):
        return parameter.name
    return f"from {place(domain, index / count)} to {place(domain, (index + 1) / count)}"


def _sure(chance: float) -> str:
    """A chance from sample paths: they cannot tell 99.5% from certainty.

    >>> _sure(0.97), _sure(1.0)
    ('97%', 'over 99%')
    """
    return percent(chance) if chance < 0.99 else "over 99%"


def _is_modelled(models: Tuned | None, setting: object) -> bool:
    return models is not None and any(arm.setting == setting for arm in models.arms)


def _so_far(evidence: Evidence) -> str:
    best: Reading | None = evidence.best
    if best is None or best.value is None:
        return ""
    setting = best.record.trial.setting
    where = f" of {setting}" if setting.values else ""
    metric = evidence.objective.metric.name
    return f" The best trial ({best.number}{where}) has {metric} {shown(best.value)}."
