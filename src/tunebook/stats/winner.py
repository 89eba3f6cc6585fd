"""Which of several settings has the best optimum: equal trials are not equal tuning.

Two opinions are asked. Sample paths of a Gaussian process for each setting say how likely each
is to have the best optimum. They believe in smooth surfaces, and in calibration they named wrong
winners where a sharp dip had been found in two dimensions and missed in four. So the leader must
also pass a test without a model, `luck`: would a rival as good as the leader, searched in its own
dimensions, have been unlikely to find as little? Without that evidence no chance exceeds 0.9.

With equal true optima, 2 against 4 or equally many dimensions and 30 paired trials, a chance of
0.95 occurred in 0 to 3 of 60 studies of each kind: bowls, ridges, cliffs, plateaus, narrow holes,
logarithmic dips, wedges and long tails. `calibration/winner.py` prints the figures, for complete
tables of real results too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tunebook.stats.gaussian_process import fit, shortened_tail
from tunebook.stats.kernels import Array
from tunebook.stats.optima import Optimum, optimum

_MOST_UNPROVEN = 0.9
_PAIRINGS = 20_000


@dataclass(frozen=True, slots=True)
class Contestant:
    """The trials of one setting: points (n, d), losses (n,), and which columns are categories."""

    points: ArrayLike
    losses: ArrayLike
    categories: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """For each setting, in their order: the chance to have the best optimum, and what remains.

    `lucks` holds, for each rival of the leader, the probability that a setting as good as the
    leader would have found as little as this one did; 0 for the leader itself.
    """

    chances: tuple[float, ...]
    remaining_gains: tuple[float, ...]
    optima: tuple[Optimum, ...]
    lucks: tuple[float, ...]

    @property
    def leader(self) -> int:
        return int(np.argmax(self.chances))

    def bounded(self, least: float) -> Contest:
        """The same where no loss can be below `least`. Who is ahead does not change by that."""
        optima = tuple(found.bounded(least) for found in self.optima)
        gains = tuple(found.remaining_gain for found in optima)
        return replace(self, optima=optima, remaining_gains=gains)


def contest(settings: Sequence[Contestant], seed: int = 0) -> Contest:
    """P(best) of each setting, tempered by luck, and the expected remaining gain of each.

    Losses may be infinite but not NaN; their bad tail is shortened at one place for all settings.
    Trials should be sampled without a look at results: an adaptive search of one setting only is
    not compared fairly by `luck`.

    >>> line = np.linspace(0, 1, 16)[:, None]
    >>> bowl = (line[:, 0] - 0.4) ** 2
    >>> result = contest([Contestant(line, bowl + 0.3), Contestant(line, bowl)])
    >>> result.leader, result.chances[1] > 0.95
    (1, True)
    """
    losses = [np.asarray(setting.losses, dtype=float) for setting in settings]
    ends = np.cumsum([len(values) for values in losses])[:-1]
    shortened = np.split(shortened_tail(np.concatenate(losses)), ends)
    optima = tuple(
        optimum(fit(setting.points, values, categories=setting.categories), seed=seed + place)
        for place, (setting, values) in enumerate(zip(settings, shortened, strict=True))
    )
    chances = _chances([found.values for found in optima], np.random.default_rng(seed))
    leader = int(np.argmax(chances))
    lucks = tuple(
        0.0 if place == leader else luck(settings[leader], rival)
        for place, rival in enumerate(settings)
    )
    gains = tuple(found.remaining_gain for found in optima)
    return Contest(_tempered(chances, leader, max(lucks)), gains, optima, lucks)


def luck(leader: Contestant, rival: Contestant) -> float:
    """P(a rival as good as the leader finds nothing better than this rival's best loss).

    Suppose that losses depend on the distance from an optimum alike in both settings. If a share
    s of the leader's trials beats the rival's best, they lie in a ball of that volume; a ball of
    the same radius in the rival's dimensions has the volume `c s**(rival's d / leader's d)`, which
    all its n trials missed. A rival of fewer dimensions is treated as one of equally many.

    >>> one = Contestant(np.zeros((10, 2)), np.arange(10.0))
    >>> other = Contestant(np.zeros((10, 2)), np.arange(10.0) + 4.5)
    >>> luck(one, other) == (1 - 0.5) ** 10
    True
    """
    ahead, behind = np.asarray(leader.losses), np.asarray(rival.losses)
    share = float(np.mean(ahead < np.min(behind)))
    few, many = (max(np.shape(one.points)[1], 1) for one in (leader, rival))
    if share > 0.0 and many > few:
        ratio = many / few
        constant = math.exp(_log_volume(many) - ratio * _log_volume(few))
        share = min(constant * share**ratio, share)
    return float((1.0 - share) ** len(behind))


def _log_volume(d: int) -> float:
    """The logarithm of the volume of the unit ball in d dimensions."""
    return d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)


def _chances(values: Sequence[Array], random: np.random.Generator) -> Array:
    # Paths of different settings are independent: more pairings than paths cost nothing.
    drawn = np.stack([random.choice(one, _PAIRINGS) for one in values])
    wins = np.bincount(np.argmin(drawn, axis=0), minlength=len(values))
    return np.asarray(wins / _PAIRINGS)


def _tempered(chances: Array, leader: int, luck: float) -> tuple[float, ...]:
    """The leader's chance without what may be luck; the others share it out by their chances."""
    most = max(1.0 - luck, _MOST_UNPROVEN) if len(chances) > 1 else 1.0
    if chances[leader] <= most:
        return tuple(map(float, chances))
    # One path at least for each rival, so that there is something to share by.
    others = np.maximum(chances, 1.0 / _PAIRINGS)
    others[leader] = 0.0
    shared = (1.0 - most) * others / np.sum(others)
    shared[leader] = most
    return tuple(map(float, shared))
