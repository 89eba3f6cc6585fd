"""The probe of variance, whose predictions are judged by fresh seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from scipy import special

from measuring import claim
from probed.bench import Bench, Row, answer_of, results_of
from tunebook.stats.samples import PooledSd
from tunebook.stats.variance import seeds_needed

# Differences that one would like to see.
DIFFERENCES = {"digits": 0.004, "mnist1d": 0.004}


def variance(bench: Bench, task: str) -> Row:
    difference = DIFFERENCES[task]
    study = bench.study(task)
    made, minutes = bench.probe("variance", study, difference=difference)
    spread, needed = (answer_of(made, key).numbers for key in ("probe-variance", "probe-seeds"))
    fresh = results_of(bench.by_hand(task, seeds=4 * bench.seeds))
    sd = statistics.stdev(fresh)
    sure = seeds_needed(PooledSd(spread["sd"], spread["low"], spread["high"], 1), difference)
    most = sure.high if sure is not None and sure.high is not None else 2
    powers = {n: power(fresh, difference, n) for n in (int(needed["needed"]), most)}
    shown = ", ".join(f"{value:.2f} with {n}" for n, value in powers.items())
    name = f"variance on {task}"
    claims = (
        claim(f"{name}: sd of fresh seeds over the upper end", "<=", 1.0, [sd / spread["high"]]),
        claim(f"{name}: sd of fresh seeds over the lower end", ">=", 1.0, [sd / spread["low"]]),
        claim(f"{name}: power with the most seeds it names", ">=", 0.8, [powers[most]]),
    )
    return Row(
        "variance",
        task,
        [minutes],
        "sd",
        f"{spread['low']:.2g} to {spread['high']:.2g}; power {shown} seeds",
        sd,
        spread["sd"],
        (),
        claims,
    )


def power(values: Sequence[float], difference: float, seeds: int, samples: int = 4000) -> float:
    """How often so many seeds of each show a difference: a one-sided t-test at 5%, resampled."""
    seeds = max(seeds, 2)
    drawn = np.random.default_rng(0).choice(np.array(values), size=(2, samples, seeds))
    gap = drawn[0].mean(axis=1) - drawn[1].mean(axis=1) + difference
    error = np.sqrt((drawn[0].var(axis=1, ddof=1) + drawn[1].var(axis=1, ddof=1)) / seeds)
    cut = float(special.stdtrit(2 * seeds - 2, 0.95))
    return float(np.mean(gap > cut * error))
