"""The scrambled Sobol sequence of scipy.

Its points are best at powers of two. A later scipy may draw other points for a study; those
already claimed are in the store and stay as they are.
"""

from __future__ import annotations

import functools

from numpy.random import default_rng
from scipy.stats.qmc import Sobol

from tunebook.core.curves import Floats
from tunebook.core.hashing import derive_seed

_BLOCK = 256


def sobol_unit(seed: int, name: str, dimension: int, index: int) -> float:
    """The coordinate in [0, 1) of point `index` along the parameter `name`."""
    number, offset = divmod(index, _BLOCK)
    return float(_block(seed, name, dimension, number)[offset])


@functools.lru_cache(maxsize=1024)
def _block(seed: int, name: str, dimension: int, number: int) -> Floats:
    """A column of consecutive points, since a new engine for each point would be slow.

    Sobol's dimensions are scrambled independently of one another. So each parameter can have an
    engine of its own, seeded by its name, and only its own column is taken.
    """
    engine = Sobol(dimension + 1, rng=default_rng(derive_seed(seed, "sobol", name)))
    if number:
        engine.fast_forward(number * _BLOCK)
    column: Floats = engine.random(_BLOCK)[:, dimension].copy()
    return column
