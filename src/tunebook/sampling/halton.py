"""The scrambled Halton sequence: quasi-random numbers from a hash, with random access.

Dimension k counts in the k-th prime: the digits of the index, mirrored at the radix point, are the
digits of the number. At every position the digits are permuted at random (Owen, "A randomized
Halton algorithm in R", 2017), which breaks the stripes that large primes otherwise show. Nothing
here depends on a library, so no version of one ever moves a point.
"""

from __future__ import annotations

import functools
import math

from tunebook.core.hashing import permutation

# As many as a space may have parameters: 7919 is the thousandth prime.
_LARGEST_PRIME = 7919
_PRECISION = 2**53


def halton_unit(seed: int, name: str, dimension: int, index: int) -> float:
    """The coordinate in [0, 1) of point `index` along the parameter `name`.

    >>> [halton_unit(0, "learning_rate", 0, index) < 0.5 for index in range(4)]
    [False, True, False, True]
    """
    base = primes()[dimension]
    orders = _digit_orders(seed, name, base)
    numerator = 0
    for order in orders:
        index, digit = divmod(index, base)
        numerator = numerator * base + order[digit]
    denominator: int = base ** len(orders)
    # Rounded down, in whole numbers: a quotient of floats could round up to 1.0.
    return (numerator * _PRECISION // denominator) / _PRECISION


@functools.cache
def primes() -> tuple[int, ...]:
    """The base of each dimension."""
    return tuple(
        number
        for number in range(2, _LARGEST_PRIME + 1)
        if all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
    )


@functools.lru_cache(maxsize=1024)
def _digit_orders(seed: int, name: str, base: int) -> tuple[tuple[int, ...], ...]:
    """The order of the digits at each position that 53 bits can tell apart."""
    orders: list[tuple[int, ...]] = []
    while base ** len(orders) < _PRECISION:
        orders.append(permutation(base, seed, name, len(orders)))
    return tuple(orders)
