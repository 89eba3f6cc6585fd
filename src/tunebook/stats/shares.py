"""Two shares of few: is the first lower beyond luck?"""

from __future__ import annotations

import math


def fewer_p(first: int, of_first: int, second: int, of_second: int) -> float:
    """Fisher's exact one-sided p-value: small where the share of the first is the lower one.

    >>> fewer_p(0, 5, 5, 5)  # 1 of 252 ways
    0.003968253968253968
    """
    every = first + second
    ways = (math.comb(of_first, k) * math.comb(of_second, every - k) for k in range(first + 1))
    return sum(ways) / math.comb(of_first + of_second, every)
