"""The gradient-noise scale, roughly, from gradient norms that trials logged at several sizes.

The expected square of a gradient over a batch of B is |G|^2 + tr(S) / B: the true gradient's and
the noise of single examples. Their ratio tr(S) / |G|^2 is a batch size, of the order of the
critical one. After McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, app. A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunebook.core.curves import Curve

# Where in a trial norms are looked at: this share of its steps before a place.
WINDOW: Final = 0.2
FEWEST_SIZES: Final = 2


@dataclass(frozen=True, slots=True)
class NoiseScale:
    """An estimate, with the smallest and largest that leaving out one size gives."""

    size: float
    low: float
    high: float


def mean_square(norms: Curve | None, until: float, share: float = WINDOW) -> float | None:
    """The mean squared gradient norm over the last steps until a place; None without points."""
    if norms is None:
        return None
    inside = (norms.steps <= until) & (norms.steps >= (1.0 - share) * until)
    values = norms.values[inside & np.isfinite(norms.values)]
    return float(np.mean(values**2)) if len(values) else None


def noise_scale(squares: Mapping[float, float]) -> NoiseScale | None:
    """The noise scale from mean squares by batch size; None where they show no gradient or noise.

    >>> noise_scale({8.0: 1 + 100 / 8, 512.0: 1 + 100 / 512}).size
    100.0
    """
    if len(squares) < FEWEST_SIZES:
        return None
    whole = _ratio(squares)
    if whole is None:
        return None
    others = [whole]
    if len(squares) > FEWEST_SIZES:
        left = ({s: y for s, y in squares.items() if s != out} for out in squares)
        others += [ratio for part in left if (ratio := _ratio(part)) is not None]
    return NoiseScale(whole, min(others), max(others))


def _ratio(squares: Mapping[float, float]) -> float | None:
    """By least squares of relative errors: each size is known equally well."""
    sizes, values = np.array(list(squares)), np.array(list(squares.values()))
    if np.any(values <= 0.0):
        return None
    basis = np.column_stack([1.0 / values, 1.0 / (sizes * values)])
    (gradient, noise), *_ = np.linalg.lstsq(basis, np.ones(len(values)), rcond=None)
    if gradient <= 0.0 or noise <= 0.0:
        return None
    ratio = float(noise / gradient)
    return float(f"{ratio:.12g}") if math.isfinite(ratio) else None
