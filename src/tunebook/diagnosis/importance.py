"""Which parameters matter, which interact, which could be fixed; and whether anything matters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tunebook.core.curves import Floats
from tunebook.core.evidence import Evidence, Standing
from tunebook.core.findings import Claim, Finding, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.space import Role
from tunebook.diagnosis.infeasible import located
from tunebook.diagnosis.judging import finding, unknown
from tunebook.diagnosis.phrases import percent, shown
from tunebook.diagnosis.questions import IMPORTANCE, NOTHING_MATTERS
from tunebook.diagnosis.shortage import more_trials, no_result
from tunebook.diagnosis.surfaces import Whole, whole
from tunebook.diagnosis.weights import LEAST_TRIALS, PERMUTATIONS, SIGNIFICANT, Weight, weigh
from tunebook.stats.importance import anything_matters

# Above this p-value there is no sign of an effect.
NO_SIGN = 0.2
# A model that predicts so much of the variance has seen that something matters, whatever single
# tests say; only one that predicts less than half may have seen nothing.
PREDICTED = 0.7
UNPREDICTED = 0.5
# A parameter with less of the variance than this, interactions included, hardly matters.
SMALL = 0.05
# Two parameters interact where this share of the variance is due to both together.
INTERACT = 0.05
# A sentence names so many pairs; the picture shows the others.
MOST_PAIRS = 2
# That nothing matters is said only with so many results, and so many for each parameter: fewer
# often fail to show what does matter.
LEAST_FOR_NOTHING = 24
TRIALS_FOR_NOTHING = 5


def nothing_matters(evidence: Evidence) -> Finding:
    """Whether results depend on what was searched, or look like repetitions of one trial."""
    data = whole(evidence)
    if not evidence.ranked:
        return unknown(NOTHING_MATTERS, *no_result(evidence))
    if len(data.losses) < LEAST_TRIALS:
        return unknown(
            NOTHING_MATTERS,
            f"{counted(len(data.losses), 'result')} cannot show that nothing matters.",
            more_trials(evidence, LEAST_TRIALS - len(data.losses)),
        )
    if not data.names:
        return finding(NOTHING_MATTERS, [], "No parameter varies.")
    p, predicted = _anything(evidence, data)
    spread = float(np.ptp(np.quantile(data.losses, [0.1, 0.9])))
    numbers = {"p": p, "spread": spread, "predicted": predicted}
    method = (
        "permutation of the results over the points, and of each parameter given the others; the "
        "share of the variance that a model predicts"
    )
    if p <= SIGNIFICANT or predicted >= PREDICTED:
        how = f"p = {p:.2g}" if p <= SIGNIFICANT else f"a model predicts {percent(predicted)} of it"
        calm = f"Results depend on what was searched{_among(evidence)} ({how})."
        return finding(NOTHING_MATTERS, [], calm, numbers=numbers, method=method)
    deciding = located(evidence).names
    if deciding:
        calm = f"Whether a trial works depends on {listed(deciding)}."
        return finding(NOTHING_MATTERS, [], calm, numbers=numbers, method=method)
    enough = max(LEAST_FOR_NOTHING, TRIALS_FOR_NOTHING * len(data.names))
    if p <= NO_SIGN or predicted >= UNPREDICTED or len(data.losses) < enough:
        return unknown(
            NOTHING_MATTERS,
            f"{counted(len(data.losses), 'result')} of {counted(len(data.names), 'parameter')} do "
            f"not show whether anything matters{_among(evidence)} (p = {p:.2g}).",
            "Run more trials, or search fewer parameters.",
            numbers=numbers,
        )
    claim = Claim(
        f"Nothing searched matters: {listed(data.names)} leave no mark on "
        f"{evidence.objective.metric.name}{_among(evidence)} (p = {p:.2g}), and most results "
        f"lie within {shown(spread)} of one another.",
        Verdict.WATCH,
        advice="Take the cheapest configuration and search something else: wider ranges, the "
        "learning rate, the model or the data; and check that the program reads its parameters.",
        numbers=numbers,
    )
    return finding(NOTHING_MATTERS, [claim], "", method=method)


def which_matter(evidence: Evidence) -> Finding:
    """Shares of the variance, interactions, and what could be fixed. It raises no alarm."""
    data = whole(evidence)
    if not evidence.ranked:
        return unknown(IMPORTANCE, *no_result(evidence))
    if len(data.losses) < LEAST_TRIALS:
        return unknown(
            IMPORTANCE,
            f"{counted(len(data.losses), 'result')} cannot show which parameters matter.",
            more_trials(evidence, LEAST_TRIALS - len(data.losses)),
        )
    if not data.names:
        return finding(IMPORTANCE, [], "No parameter varies.")
    if np.ptp(data.losses) == 0.0:
        return unknown(IMPORTANCE, "All results are equal.", "Check what the program logs.")
    model = weigh(evidence, data)
    weights, pairs = model.weights, model.pairs
    numbers = {f"share of {one.name}": one.share for one in weights}
    weighty = sorted((one for one in weights if one.matters), key=lambda one: -one.share)
    if not weighty:
        return _none_stands_out(evidence, len(data.losses), numbers)
    interacting = _interacting(data, pairs, {one.name for one in weighty})
    sentences = [
        f"{_leaders(weighty)}{_among(evidence)}",
        *(f"{one} and {other} interact ({percent(share)})" for one, other, share in interacting),
        *_could_be_fixed(evidence, weights),
        *_beside_the_question(evidence, data, pairs, weighty),
    ]
    return finding(
        IMPORTANCE,
        [],
        ". ".join(sentences) + ".",
        numbers=numbers,
        method="a permutation test for each parameter given the others; shares of the variance of "
        "a Gaussian process",
    )


def _none_stands_out(evidence: Evidence, results: int, numbers: dict[str, float]) -> Finding:
    """Unknown. Where a part of the space does not work, its ranges are wide enough."""
    said = f"No parameter stands out from the noise in {counted(results, 'result')}"
    deciding = located(evidence).names
    if deciding:
        said += f"{_among(evidence)}; whether one works depends on {listed(deciding)}"
    elif evidence.only(Standing.INFEASIBLE):
        said += _among(evidence)
    advice = "Run more trials." if deciding else "Run more trials, or widen the ranges."
    return unknown(IMPORTANCE, f"{said}.", advice, numbers=numbers)


def _among(evidence: Evidence) -> str:
    """Infeasible trials have no result, so shares of the variance leave them out."""
    return " among the trials that work" if evidence.only(Standing.INFEASIBLE) else ""


def _anything(evidence: Evidence, data: Whole) -> tuple[float, float]:
    """The p-value of "nothing matters" from two tests, of all at once and of the clearest one;
    and the share of the variance that a model predicts."""
    if np.ptp(data.losses) == 0.0:
        return 1.0, 0.0
    together = anything_matters(
        data.points, data.losses, categories=data.categories, permutations=PERMUTATIONS
    )
    model = weigh(evidence, data)
    return min(1.0, 2 * together, *(2 * one.p for one in model.weights)), model.predicted


def _interacting(data: Whole, pairs: Floats, weighty: set[str]) -> list[tuple[str, str, float]]:
    """Pairs of parameters that interact, the strongest first; both must matter."""
    found = [
        (data.names[i], data.names[j], float(pairs[i, j]))
        for i, j in itertools.combinations(range(len(data.names)), 2)
        if pairs[i, j] >= INTERACT and {data.names[i], data.names[j]} <= weighty
    ]
    return sorted(found, key=lambda pair: -pair[2])[:MOST_PAIRS]


def _leaders(weighty: Sequence[Weight]) -> str:
    if len(weighty) == 1:
        return f"{weighty[0].name} alone matters ({percent(weighty[0].share)} of the variance)"
    names = [f"{one.name} ({percent(one.share)})" for one in weighty]
    return f"{listed(names, most=4)} matter, by their shares of the variance"


def _could_be_fixed(evidence: Evidence, weights: Sequence[Weight]) -> list[str]:
    """Nuisance parameters without a sign of an effect, with the value of the best trial."""
    idle = [
        one.name
        for one in weights
        if one.p > NO_SIGN and one.share < SMALL and _role(evidence, one.name) is Role.NUISANCE
    ]
    best = evidence.best
    if not idle or best is None:
        return []
    config = best.record.trial.config
    values = [f"{name} at {_plain(config[name])}" for name in idle if name in config]
    return (
        [f"No effect is seen of {listed(idle)}: one could fix {listed(values)}"] if values else []
    )


def _beside_the_question(
    evidence: Evidence, data: Whole, pairs: Floats, weighty: Sequence[Weight]
) -> list[str]:
    """Nuisance parameters that matter, but alike for every scientific value."""
    asked = [i for i, name in enumerate(data.names) if _role(evidence, name) is Role.SCIENTIFIC]
    if not asked:
        return []
    names = [one.name for one in weighty if _role(evidence, one.name) is Role.NUISANCE]
    alike = [n for n in names if np.all(pairs[data.names.index(n), asked] < INTERACT)]
    if not alike:
        return []
    question = listed([data.names[i] for i in asked])
    return [f"{listed(alike)} act{'s' if len(alike) == 1 else ''} alike for every {question}"]


def _role(evidence: Evidence, name: str) -> Role:
    return evidence.study.space[name].role


def _plain(value: object) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)
