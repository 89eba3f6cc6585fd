"""P(marginal optimum beyond the upper edge), by where the optimum truly is.

`python calibration/boundary.py` prints quantiles of the probability and the share of studies in
which it reaches 0.8, for quadratic surfaces whose first parameter is strong or weak against the
noise. An optimum at 0.75 must stay below 0.8; one well beyond the edge should rise above.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from tunebook.stats.edges import probability_beyond
from tunebook.stats.gaussian_process import fit, shortened_tail

SEED = 1_000_000  # development used seeds below
ALARM = 0.8


@dataclass(frozen=True)
class Kind:
    """A bowl whose first coordinate has its optimum at `optimum`; `strength` is its curvature."""

    optimum: float
    dimensions: int
    trials: int
    strength: float = 1.0
    noise: float = 0.05

    def __str__(self) -> str:
        return (
            f"optimum {self.optimum:<5} d={self.dimensions} n={self.trials:<3} "
            f"strength {self.strength:<4}"
        )

    def probability(self, seed: int) -> float:
        random = np.random.default_rng(seed)
        points = qmc.Halton(self.dimensions, rng=random).random(self.trials)
        away = points - random.uniform(0.3, 0.7, self.dimensions)
        away[:, 0] = np.sqrt(self.strength) * (points[:, 0] - self.optimum)
        losses = np.sum(away**2, axis=1) + self.noise * random.standard_normal(self.trials)
        return probability_beyond(
            fit(points, shortened_tail(losses)), 0, 1.0, upper=True, seed=seed
        )


KINDS = tuple(
    Kind(optimum, d, n, strength)
    for strength, optimum, (d, n) in itertools.product(
        (1.0, 0.2), (0.5, 0.75, 0.9, 1.0, 1.25, 2.0), ((2, 16), (2, 32), (4, 32), (6, 64))
    )
) + tuple(Kind(0.5, d, n, 0.0) for d, n in ((2, 16), (4, 32)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    for kind in KINDS:
        found = [kind.probability(options.seed + place) for place in range(options.studies)]
        low, middle, high = np.quantile(found, [0.1, 0.5, 0.9])
        alarms = float(np.mean(np.array(found) >= ALARM))
        print(
            f"{kind}  10% {low:.2f}  50% {middle:.2f}  90% {high:.2f}  alarms {alarms:6.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
