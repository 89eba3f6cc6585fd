"""Positions from values, the ends of an axis, and its ticks.

An axis that says only what it is becomes a `Ruler`, whose ends are settled by the data. Every
drawing uses the same rulers, so that the page, the file and the terminal show the same ticks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.charts.figures import Axis, Scale
from tunebook.core.curves import Floats

_PADDING = 0.04
# Closer together than this part of their size, values are one value: ticks between them could
# not be told apart by their texts.
_CONSTANT = 1e-10
_HUGE = 1e300
_TINY = 1e-300
_SUFFIXES = {0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


@dataclass(frozen=True, slots=True)
class Tick:
    """A value to be marked, and its text."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Ruler:
    """An axis with its ends settled: `low < high`, both finite, positive on a log scale."""

    scale: Scale
    low: float
    high: float
    categories: tuple[str, ...] = ()

    def positions(self, values: ArrayLike) -> Floats:
        """Places along the axis: 0 at its low end, 1 at its high end, any shape.

        NaN has no place, nor has a negative value on a log scale; infinity, and zero on a log
        scale, are infinitely far out.

        >>> Ruler("log", 1e-4, 1.0).positions([1e-4, 0.01, 1.0, 0.0])
        array([ 0. ,  0.5,  1. , -inf])
        """
        given = np.asarray(values, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.scale == "log":
                start, end = math.log10(self.low), math.log10(self.high)
                return np.asarray((np.log10(given) - start) / (end - start))
            # Halves, so that the distance of two huge values of opposite sign stays finite.
            start, end = self.low / 2, self.high / 2
            return np.asarray((given / 2 - start) / (end - start))

    def ticks(self, at_most: int) -> tuple[Tick, ...]:
        """Round values between the ends, rising; categories are all named."""
        if self.scale == "category":
            return tuple(Tick(float(i), name) for i, name in enumerate(self.categories))
        if self.scale == "log":
            return _log_ticks(self.low, self.high, max(at_most, 2))
        return _linear_ticks(self.low, self.high, max(at_most, 2))


def ruler(axis: Axis, values: Iterable[ArrayLike], firm: Iterable[ArrayLike] = ()) -> Ruler:
    """The axis with ends that hold all finite values, with a little room beside them.

    `firm` values are held as well, and an end that falls on one has no room: bars stand on
    the axis. Ends that the axis gives are kept.

    >>> ruler(Axis("loss", low=0.0), [[1.0, 2.0, float("nan")]])
    Ruler(scale='linear', low=0.0, high=2.08, categories=())
    """
    if axis.scale == "category":
        return Ruler("category", -0.5, max(len(axis.categories), 1) - 0.5, axis.categories)
    log = axis.scale == "log"
    fixed = _usable(firm, log)
    data = np.concatenate([_usable(values, log), fixed])
    given = _given(axis.low, log), _given(axis.high, log)
    low, high = _ends(data, given, log)
    room = _PADDING * (high - low)
    if given[0] is None and low not in fixed:
        low -= room
    if given[1] is None and high not in fixed:
        high += room
    return Ruler("log", _power(low), _power(high)) if log else Ruler("linear", low, high)


def short(value: float) -> str:
    """A number in as few characters as four digits need.

    >>> [short(v) for v in (0.0001, 0.001, 0.25, 10_000.0, 2.5e6, 1e20, 0.0)]
    ['1e-4', '0.001', '0.25', '10k', '2.5M', '1e20', '0']
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return f"{value:g}"
    digits, exponent = f"{value:.3e}".split("e")
    power = int(exponent)
    if -3 <= power < 4:
        return f"{value:.4g}"
    if 4 <= power < 15:
        thousands = power // 3 * 3
        return f"{value / 10.0**thousands:.4g}{_SUFFIXES[thousands]}"
    return f"{digits.rstrip('0').rstrip('.')}e{power}"


def _usable(arrays: Iterable[ArrayLike], log: bool) -> Floats:
    """All values that can be an end: finite and not absurdly large; logarithms on a log scale."""
    flat = [np.asarray(array, dtype=np.float64).ravel() for array in arrays]
    joined = np.concatenate(flat) if flat else np.empty(0)
    if log:
        return np.log10(joined[(joined >= _TINY) & (joined <= _HUGE)])
    return np.asarray(joined[np.abs(joined) <= _HUGE])


def _given(end: float | None, log: bool) -> float | None:
    """An end that the axis gives and its scale can hold; its logarithm on a log scale."""
    usable = _usable([] if end is None else [end], log)
    return float(usable[0]) if len(usable) else None


def _ends(data: Floats, given: tuple[float | None, float | None], log: bool) -> tuple[float, float]:
    """Two different ends around the data, without room; logarithms on a log scale."""
    low, high = given
    start = low if low is not None else float(data.min()) if len(data) else high
    end = high if high is not None else float(data.max()) if len(data) else low
    if start is None or end is None:
        return 0.0, 1.0
    if start > end:
        # Ends given the wrong way round are turned; an end that the data give follows the other.
        both = low is not None and high is not None
        start, end = (end, start) if both else (start, start) if low is not None else (end, end)
    size = max(abs(start), abs(end))
    if end - start > _CONSTANT * (1.0 if log else size):
        return start, end
    half = 0.5 if log else 0.05 * size if size > _TINY else 0.5
    free = (low is None) == (high is None)
    return (
        start - half if free or low is None else start,
        end + half if free or high is None else end,
    )


def _power(exponent: float) -> float:
    return float(10.0 ** min(max(exponent, -307.0), 307.0))


def _linear_ticks(low: float, high: float, at_most: int) -> tuple[Tick, ...]:
    """Multiples of 1, 2 or 5 times a power of ten, as many as allowed."""
    low, high = sorted((low, high))
    width = high / 2 - low / 2
    start = math.floor(math.log10(width)) - 1
    for power in range(start, start + 4):
        for unit in (1, 2, 5):
            step = float(f"{unit}e{power}")
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first < at_most:
                counts = [k * unit for k in range(first, last + 1)]
                return _texts(counts, power)
    return ()


def _texts(counts: list[int], power: int) -> tuple[Tick, ...]:
    """Ticks at `count * 10**power`: exact decimals, all texts with the same number of them."""
    values = [float(f"{count}e{power}") for count in counts]
    biggest = max((abs(value) for value in values), default=0.0)
    size = math.floor(math.log10(biggest)) if biggest else 0
    thousands = size // 3 * 3 if 4 <= size < 15 else 0
    decimals = max(0, thousands - power)
    if (-4 < size < 15 and decimals <= 2) or -4 < size < 4:
        scale = 10.0**thousands
        suffix = _SUFFIXES[thousands]
        texts = [f"{v / scale:.{decimals}f}{suffix}" if v else "0" for v in values]
    elif -4 < size < 15:
        texts = [f"{v:.{max(0, -power)}f}" for v in values]
    else:
        texts = [_scientific(count, power) for count in counts]
    return tuple(Tick(value, text) for value, text in zip(values, texts, strict=True))


def _scientific(count: int, power: int) -> str:
    """`count * 10**power` with one digit before the point: 12e-6 is 1.2e-5."""
    if count == 0:
        return "0"
    digits = str(abs(count))
    power += len(digits) - 1
    rest = digits[1:].rstrip("0")
    return f"{'-' if count < 0 else ''}{digits[0]}{'.' + rest if rest else ''}e{power}"


def _log_ticks(low: float, high: float, at_most: int) -> tuple[Tick, ...]:
    """Decades, every few of them where they are many, with 2 and 5 where they are few."""
    low, high = sorted((low, high))
    slack = 1e-9
    first = math.ceil(math.log10(low) - slack)
    last = math.floor(math.log10(high) + slack)
    decades = last - first + 1
    if decades > at_most:
        stride = math.ceil(decades / at_most)
        powers = range(-(-first // stride) * stride, last + 1, stride)
        return tuple(_decade(1, power) for power in powers)
    for units in ((1, 2, 5), (1, 3)):
        ticks = [
            _decade(unit, power)
            for power in range(first - 1, last + 1)
            for unit in units
            if low * (1 - slack) <= float(f"{unit}e{power}") <= high * (1 + slack)
        ]
        if decades <= 3 and 3 <= len(ticks) <= at_most:
            return tuple(ticks)
    if decades >= 2:
        return tuple(_decade(1, power) for power in range(first, last + 1))
    return _linear_ticks(low, high, at_most)


def _decade(unit: int, power: int) -> Tick:
    value = float(f"{unit}e{power}")
    return Tick(value, short(value))
