"""Numbers from names: the only source of randomness in a study's plan.

A hash, rather than a generator of numpy or Python, so that no library version ever moves a point.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

_SEPARATOR = b"\x1f"


def digest(*parts: object) -> bytes:
    """32 bytes that depend on the text of every part and on their order."""
    joined = _SEPARATOR.join(str(part).encode() for part in parts)
    return hashlib.blake2b(joined, digest_size=32).digest()


def derive_seed(*parts: object) -> int:
    """A seed in [0, 2**31), accepted by torch, numpy and Python alike.

    >>> derive_seed(0, "initialisation") == derive_seed(0, "initialisation")
    True
    """
    return int.from_bytes(digest(*parts)[:4], "big") >> 1


def derive_unit(*parts: object) -> float:
    """A number in [0, 1) with 53 random bits."""
    return float((int.from_bytes(digest(*parts)[:8], "big") >> 11) / 2**53)


def permutation(size: int, *parts: object) -> tuple[int, ...]:
    """A random order of `range(size)`: Fisher-Yates over a stream of hashes, free of modulo bias.

    >>> sorted(permutation(5, "any", "name"))
    [0, 1, 2, 3, 4]
    """
    words = _words(*parts)
    order = list(range(size))
    for last in range(size - 1, 0, -1):
        chosen = _below(last + 1, words)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


def _words(*parts: object) -> Iterator[int]:
    block = 0
    while True:
        content = digest(*parts, block)
        for start in range(0, len(content), 4):
            yield int.from_bytes(content[start : start + 4], "big")
        block += 1


def _below(bound: int, words: Iterator[int]) -> int:
    limit = 2**32 - 2**32 % bound
    return next(word for word in words if word < limit) % bound
