"""Does the optimum lie beyond an edge of the search space?"""

from __future__ import annotations

import numpy as np

from tunebook.stats.gaussian_process import GaussianProcess
from tunebook.stats.kernels import Array
from tunebook.stats.optima import DRAWS, quasi_random

REACH = 0.2
_INSIDE = 10
_BEYOND = 3
_OTHERS = 20


def probability_beyond(
    process: GaussianProcess,
    dimension: int,
    edge: float,
    *,
    upper: bool,
    reach: float = REACH,
    paths: int = 512,
    seed: int = 0,
) -> float:
    """P(the marginal optimum lies beyond `edge` on its upper or lower side).

    Sample paths are minimised over the other coordinates as a function of this one, inside the
    edge and up to `reach` beyond it; the answer is the share of paths whose least value is taken
    beyond. `edge` is that of the feasible set, in the unit of the cube.
    """
    if process.categories[dimension]:
        raise ValueError(f"dimension {dimension} is a category: it has no edge")
    random = np.random.default_rng(seed)
    inside = np.linspace(0.0 if upper else 1.0, edge, _INSIDE)
    sign = 1.0 if upper else -1.0
    beyond = edge + sign * reach * np.arange(1, _BEYOND + 1) / _BEYOND
    line = np.concatenate([inside, beyond])
    others = _others(process, random)
    grid = np.repeat(others, len(line), axis=0)
    grid[:, dimension] = np.tile(line, len(others))
    share = 0.0
    for one in process.draws(DRAWS, random):
        drawn = one.sample(grid, paths // DRAWS, random).reshape(-1, len(others), len(line))
        share += float(np.mean(np.argmin(drawn.min(axis=1), axis=1) >= _INSIDE)) / DRAWS
    return share


def _others(process: GaussianProcess, random: np.random.Generator) -> Array:
    """Good places of the other coordinates: the best tried ones and the best of a sequence."""
    tried = process.points[np.argsort(process.mean(process.points), kind="stable")]
    spread = quasi_random(process, 256, random)
    spread = spread[np.argsort(process.mean(spread), kind="stable")]
    return np.concatenate([tried[: _OTHERS // 2], spread[: _OTHERS // 2]])
