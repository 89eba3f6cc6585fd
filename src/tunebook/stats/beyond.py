"""Would the next value of a parameter be better still, by how results have changed so far?

Results `(k,)` are losses, lower is better, at values in increasing order. A loss that falls ever
less towards the best value is a bowl, whose bottom is near; one that goes on falling until
something cuts it off promises more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.arrays import Floats
from tunebook.stats.tails import tail_p

# A parabola needs so many results.
FEWEST = 3
_DRAWS = 40_000


def gain_beyond(at: ArrayLike, losses: ArrayLike, best: int, beyond: float) -> float:
    """By how much the loss at `beyond` is below that at the best of values, by a parabola.

    It goes through the results at the value with the number `best` and the two before it.

    >>> gain_beyond([0, 1, 2], [3.0, 2.0, 1.0], best=2, beyond=3)
    1.0
    >>> gain_beyond([0, 1, 2], [4.0, 1.0, 0.0], best=2, beyond=3)
    -1.0
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (at, losses))
    return float(_weights(x, best, beyond) @ y[best - FEWEST + 1 : best + 1])


def gain_beyond_p(
    at: ArrayLike, losses: ArrayLike, error: float, freedom: int, beyond: float, seed: int = 0
) -> float:
    """The chance of such a gain at `beyond` where results are all the same but for noise.

    `error` is the standard error of a result with its degrees of freedom. The best value is the
    one with the lowest result, which luck makes lower than it is: the null is drawn with that
    choice, among as many values. 1 where fewer than two values are below the best one.

    >>> gain_beyond_p([0, 1, 2, 3], [8.0, 6.0, 4.0, 2.0], error=0.1, freedom=4, beyond=4) < 0.01
    True
    >>> gain_beyond_p([0, 1, 2, 3], [9.0, 4.0, 1.0, 0.0], error=0.1, freedom=4, beyond=4) > 0.9
    True
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (at, losses))
    best = int(np.argmin(y))
    if best < FEWEST - 1:
        return 1.0
    gain = gain_beyond(x, y, best, beyond)
    if error == 0.0:
        return 0.0 if gain > 0.0 else 1.0
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((_DRAWS, len(y)))
    chosen = drawn[np.argmin(drawn, axis=1) == best]
    spread = np.sqrt(rng.chisquare(freedom, len(chosen)) / freedom)
    gains = chosen[:, best - FEWEST + 1 : best + 1] @ _weights(x, best, beyond)
    return tail_p(gain / error, gains / spread)


def _weights(x: Floats, best: int, beyond: float) -> Floats:
    """What each of three results adds to the gain: Lagrange's polynomials, with the sign turned."""
    near = x[best - FEWEST + 1 : best + 1]
    found = [
        np.prod([(beyond - other) / (own - other) for other in near if other != own])
        for own in near
    ]
    return np.asarray(np.array([0.0, 0.0, 1.0]) - np.array(found))
