"""Which of several settings has the best optimum: equal trials are not equal tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.gaussian_process import fit, shortened_tail
from tunebook.stats.kernels import Array
from tunebook.stats.optima import Optimum, optimum


@dataclass(frozen=True, slots=True)
class Contestant:
    """The trials of one setting: points (n, d), losses (n,), and which columns are categories."""

    points: ArrayLike
    losses: ArrayLike
    categories: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """For each setting, in their order: chance to have the best optimum, and what remains."""

    chances: tuple[float, ...]
    remaining_gains: tuple[float, ...]
    optima: tuple[Optimum, ...]

    @property
    def leader(self) -> int:
        return int(np.argmax(self.chances))


def contest(settings: Sequence[Contestant], seed: int = 0) -> Contest:
    """P(best) of each setting from independent sample paths of their optima."""
    losses = [np.asarray(setting.losses, dtype=float) for setting in settings]
    cut = np.split(shortened_tail(np.concatenate(losses)), np.cumsum([len(x) for x in losses])[:-1])
    optima = tuple(
        optimum(fit(setting.points, values, categories=setting.categories), seed=seed + place)
        for place, (setting, values) in enumerate(zip(settings, cut, strict=True))
    )
    chances = _chances([found.values for found in optima], np.random.default_rng(seed))
    return Contest(chances, tuple(found.remaining_gain for found in optima), optima)


def _chances(values: Sequence[Array], random: np.random.Generator) -> tuple[float, ...]:
    # Paths of different settings are independent: more pairings than paths cost nothing.
    drawn = np.stack([random.choice(one, 20_000) for one in values])
    wins = np.bincount(np.argmin(drawn, axis=0), minlength=len(values))
    return tuple(float(share) for share in wins / drawn.shape[1])
