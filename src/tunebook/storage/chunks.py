"""Arrays as small bytes, and back without the loss of a bit.

Numbers of one curve resemble one another: their first bytes are nearly equal, their last ones
noise. So steps and times become differences, the bytes are shuffled (all first bytes, then all
second ones, and so on), and zlib finds what repeats. Error rates, which take few values, shrink
more unshuffled, and pure noise does not shrink: each chunk is kept in the shortest of three ways,
which its first byte tells.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from tunebook.core.curves import Floats, Ints
from tunebook.core.errors import StoreError

_WIDTH = 8
_LEVEL = 1  # higher levels cost several times as much for one or two percent
_MILLISECONDS = 1000

_PLAIN, _SMALLER, _SHUFFLED = b"\x00", b"\x01", b"\x02"


class DamagedPoints(StoreError):
    """Bytes that do not hold the points that they should."""


def pack_floats(values: Floats) -> bytes:
    """Any float64, bit for bit: NaN, infinity, -0.0 and subnormals included.

    >>> unpack_floats(pack_floats(np.array([0.5, np.nan, -0.0])), 3)
    array([ 0.5,  nan, -0. ])
    """
    return _squeeze(np.asarray(values, dtype="<f8"))


def unpack_floats(packed: bytes, count: int) -> Floats:
    return _expand(packed, count).view("<f8")


def pack_ints(values: Ints) -> bytes:
    """Whole numbers as differences from the one before; a difference may wrap around."""
    return _squeeze(np.diff(np.asarray(values, dtype="<i8"), prepend=np.int64(0)))


def unpack_ints(packed: bytes, count: int) -> Ints:
    return np.cumsum(_expand(packed, count).view("<i8"), dtype=np.int64)


def pack_seconds(seconds: Floats) -> bytes:
    """Times to the millisecond."""
    return pack_ints(np.rint(np.asarray(seconds) * _MILLISECONDS).astype(np.int64))


def unpack_seconds(packed: bytes, count: int) -> Floats:
    return unpack_ints(packed, count) / _MILLISECONDS


def _squeeze(numbers: NDArray[np.generic]) -> bytes:
    plain = np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, _WIDTH)
    return min(
        _SHUFFLED + zlib.compress(plain.T.tobytes(), _LEVEL),
        _SMALLER + zlib.compress(plain.tobytes(), _LEVEL),
        _PLAIN + plain.tobytes(),
        key=len,
    )


def _expand(packed: bytes, count: int) -> NDArray[np.uint8]:
    """The bytes of so many numbers."""
    way, content = packed[:1], packed[1:]
    try:
        content = content if way == _PLAIN else zlib.decompress(content)
        numbers = np.frombuffer(content, dtype=np.uint8).reshape(_WIDTH, count)
    except (zlib.error, ValueError):
        raise DamagedPoints(
            f"stored points are damaged ({len(packed)} bytes do not hold {count} numbers)"
        ) from None
    return np.ascontiguousarray(numbers.T if way == _SHUFFLED else numbers).reshape(-1)
