"""How often a remedy is adopted that brings nothing, and one that helps, over how many seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from tunebook.core.objective import Metric
from tunebook.procedures.remedies.comparing import (
    FIRST,
    LEVEL,
    SEEDS,
    Comparison,
    Outcomes,
    is_settled,
)
from tunebook.stats.arrays import Floats
from tunebook.stats.sequential import Looks, looks_up_to

_ERROR = Metric("error")
# Results of one arm by seed, of so many standard deviations of a seed; infinite for a lost one.
Draw: TypeAlias = Callable[[np.random.Generator], Floats]


def _normal(rng: np.random.Generator) -> Floats:
    return rng.standard_normal(SEEDS)


def _scattered(rng: np.random.Generator) -> Floats:
    return 3.0 * _normal(rng)


def _skewed(rng: np.random.Generator) -> Floats:
    return np.exp(0.75 * _normal(rng))


def _coarse(rng: np.random.Generator) -> Floats:
    return np.round(_normal(rng))


def _heavy(rng: np.random.Generator) -> Floats:
    return rng.standard_t(3, SEEDS)


def _failing(rng: np.random.Generator) -> Floats:
    return np.where(rng.random(SEEDS) < 0.2, np.inf, _normal(rng))


def _tight(rng: np.random.Generator) -> Floats:
    return 0.3 * _normal(rng) + np.exp(0.75**2 / 2.0)


def _sometimes_bad(rng: np.random.Generator) -> Floats:
    return _normal(rng) + 10.0 * (rng.random(SEEDS) < 0.1) - 1.0


# Without the remedy and with it, and what it gains.
# Those of equal means, of which one has outliers that few seeds seldom show.
UNLIKE: dict[str, tuple[Draw, Draw, float]] = {
    "equal means, skewed with it alone": (_tight, _skewed, 0.0),
    "equal means, one seed in ten worse by 10 sd with it alone": (_normal, _sometimes_bad, 0.0),
}
CASES: dict[str, tuple[Draw, Draw, float]] = {
    "normal": (_normal, _normal, 0.0),
    "three times the scatter with it": (_normal, _scattered, 0.0),
    "three times the scatter without": (_scattered, _normal, 0.0),
    "skewed (log-normal, sd 0.75)": (_skewed, _skewed, 0.0),
    "heavy tails (t, 3)": (_heavy, _heavy, 0.0),
    "coarse (rounded to 1 sd)": (_coarse, _coarse, 0.0),
    "one in five comes to nothing": (_failing, _failing, 0.0),
    **{f"gain of {gain} sd": (_normal, _normal, gain) for gain in (0.5, 1.0, 1.5, 2.0, 3.0)},
    "gain of 1.5 sd, coarse": (_coarse, _coarse, 1.5),
    **UNLIKE,
}


def adoptions(studies: int, first_seed: int) -> Iterator[dict[str, Any]]:
    """Comparisons as the probes of remedies make them, look by look."""
    looks = looks_up_to(SEEDS, LEVEL, FIRST)
    for name, (before, after, gain) in CASES.items():
        adopted, held, seeds = 0, 0, []
        for seed in range(studies):
            rng = np.random.default_rng(first_seed + seed)
            found = in_turn(before(rng), after(rng) - gain, looks)
            adopted += found.is_better
            held += found.gain is not None and gain in found.gain
            seeds.append(len(found.before.values) + found.before.lost)
        yield {
            "kind": "adoption",
            "what": name,
            "gain": gain,
            "alike": name not in UNLIKE,
            "level": looks.level,
            "studies": studies,
            "adopted": adopted,
            "held": held,
            "seeds": round(float(np.mean(seeds)), 1),
        }


def in_turn(before: Floats, after: Floats, looks: Looks) -> Comparison:
    """What is found of results, infinite where they came to nothing, as more and more are seen."""
    found = Comparison(_ERROR, Outcomes(()), Outcomes(()), looks.level)
    for size in looks.sizes:
        arms = (_outcomes(arm[:size]) for arm in (before, after))
        found = Comparison(_ERROR, *arms, looks.level)
        if is_settled(found, looks):
            break
    return found


def _outcomes(results: Floats) -> Outcomes:
    ended = np.isfinite(results)
    return Outcomes(tuple(results[ended].tolist()), int(np.sum(~ended)))
