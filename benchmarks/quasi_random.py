"""How evenly do our points cover a space, beside scipy's, Optuna's default and random ones?

The measure is scipy's centred discrepancy (`qmc.discrepancy(method="CD")`, which is the square of
the distance to the uniform distribution; lower is better) of the first 16 to 256 points, in 2 to 8
dimensions and in a conditional space: two settings that share 3 parameters, of which the second
has 3 more ("3+3"). Each setting is judged on its own trials.

Sizes are powers of two, where Sobol points are best, and round numbers, which people ask for.
Optuna's default is an unscrambled Sobol sequence after one random point. In flat spaces it is worse
than our Halton for few points and dimensions and better from 6 dimensions and 64 points on; it
falls behind where a setting has parameters of its own, which Optuna draws at random unless its
first trial had them. "Far better" is taken to mean a discrepancy at least 1.5 times smaller: the
goal of every ratio to Optuna, reached or not.

    make bench-setup
    .venv/bin/python benchmarks/quasi_random.py

The last line is JSON with the raw value of every repeat, each over its own seeds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from measuring import claim, peer, print_claims, require_peers
from tunebook.core.domains import Float
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Sampling, SamplingMethod, Study
from tunebook.sampling import sampler_for

DIMENSIONS = (2, 4, 6, 8)
FAR = 1.5
SHARED, EXTRA = 3, 3
SIZES = (16, 20, 32, 50, 64, 100, 128, 200, 256)
REPEATS, SEEDS = 5, 16

UNIT = Float(0.0, 1.0)

Points = NDArray[np.float64]
# The points of each setting of a space: its number and the seed are given.
Source = Callable[[int, int], list[Points]]


def spaces() -> list[Space]:
    """The flat spaces, then the conditional one."""
    flat = [Space.of(nuisance={f"x{n}": UNIT for n in range(d)}) for d in DIMENSIONS]
    extra = [f"extra{n}" for n in range(EXTRA)]
    conditional = Space.of(
        scientific={"arm": [0, 1]},
        nuisance={f"shared{n}": UNIT for n in range(SHARED)} | dict.fromkeys(extra, UNIT),
        when={name: {"arm": 1} for name in extra},
    )
    return [*flat, conditional]


SPACES = spaces()
# The dimensions of each setting of each space, and what the table calls them.
SHAPES = [[len(space.searched(setting)) for setting in space.settings()] for space in SPACES]
LABELS = [f"{d} dimensions" for d in DIMENSIONS] + ["conditional, 3", "conditional, 3+3"]


def ours(method: SamplingMethod) -> Source:
    """Our points, through the sampler that a study uses."""

    def points(number: int, seed: int) -> list[Points]:
        space = SPACES[number]
        study = Study(
            "quasi_random",
            space,
            Objective(Metric("loss")),
            sampling=Sampling(method),
            seed=seed,
        )
        sampler = sampler_for(study)
        found = []
        for setting in space.settings():
            names = [parameter.name for parameter in space.searched(setting)]
            configs = [
                sampler.propose(study, setting, index, lambda: Results(study)).config
                for index in range(SIZES[-1])
            ]
            found.append(np.array([[config[name] for name in names] for config in configs]))
        return found

    return points


def scipys(engine: type[qmc.QMCEngine]) -> Source:
    """The points of one of scipy's engines, a new one for each setting."""

    def points(number: int, seed: int) -> list[Points]:
        return [
            engine(d, rng=np.random.default_rng([seed, arm])).random(SIZES[-1])
            for arm, d in enumerate(SHAPES[number])
        ]

    return points


def random(number: int, seed: int) -> list[Points]:
    return [
        np.random.default_rng([seed, arm]).random((SIZES[-1], d))
        for arm, d in enumerate(SHAPES[number])
    ]


def optunas(seeds: int) -> Source:
    """The points of Optuna's QMCSampler, from an environment of its own."""
    asked = {
        "seeds": list(range(seeds)),
        "dimensions": DIMENSIONS,
        "shared": SHARED,
        "extra": EXTRA,
        "size": SIZES[-1],
    }
    answer = json.loads(peer("optuna_qmc.py", told=json.dumps(asked)))
    by_seed = [[[points] for points in answer["flat"][str(d)]] for d in DIMENSIONS]
    by_seed.append(answer["conditional"])
    return lambda number, seed: [np.array(points) for points in by_seed[number][seed]]


def measure(source: Source) -> NDArray[np.float64]:
    """The discrepancies, averaged over the seeds of a repeat: `(repeats, rows, sizes)`."""
    found = [
        [
            [qmc.discrepancy(points[:size], method="CD") for size in SIZES]
            for number in range(len(SPACES))
            for points in source(number, seed)
        ]
        for seed in range(REPEATS * SEEDS)
    ]
    every = np.array(found).reshape(REPEATS, SEEDS, len(LABELS), len(SIZES))
    means: NDArray[np.float64] = every.mean(axis=1)
    return means


def ratios(
    above: NDArray[np.float64], below: NDArray[np.float64], rows: slice = slice(None)
) -> list[float]:
    """For each repeat, the geometric mean of a ratio over rows of the table and sizes."""
    logs = np.log(above[:, rows] / below[:, rows]).mean(axis=(1, 2))
    return [round(float(ratio), 4) for ratio in np.exp(logs)]


def print_table(measured: dict[str, NDArray[np.float64]]) -> None:
    print(f"{'centred discrepancy':<24}" + "".join(f"{name:>9}" for name in measured))
    for row, label in enumerate(LABELS):
        for column, size in enumerate(SIZES):
            values = [array[:, row, column].mean() for array in measured.values()]
            cells = "".join(f"{value:9.5f}" for value in values)
            print(f"{label:<18}{size:>6}{cells}")


def main() -> int:
    require_peers()
    measured = {
        "halton": measure(ours("halton")),
        "sobol": measure(ours("sobol")),
        "scipy H": measure(scipys(qmc.Halton)),
        "scipy S": measure(scipys(qmc.Sobol)),
        "optuna": measure(optunas(REPEATS * SEEDS)),
        "random": measure(random),
    }
    halton, sobol, scipy_halton, scipy_sobol, optuna, plain = measured.values()
    flat, conditional = slice(0, len(DIMENSIONS)), slice(len(DIMENSIONS), None)
    larger = slice(-1, None)
    claims = [
        ("our Halton / scipy's Halton", "<=", 1.05, ratios(halton, scipy_halton)),
        ("our Halton / scipy's Sobol", "<=", 1.6, ratios(halton, scipy_sobol)),
        ("our Sobol / scipy's Sobol", "<=", 1.05, ratios(sobol, scipy_sobol)),
        ("Optuna's / our Halton, flat", ">=", FAR, ratios(optuna, halton, flat)),
        ("Optuna's / our Halton, conditional", ">=", FAR, ratios(optuna, halton, conditional)),
        ("Optuna's / our Halton, 3+3 alone", ">=", FAR, ratios(optuna, halton, larger)),
        ("Optuna's / our Sobol, flat", ">=", FAR, ratios(optuna, sobol, flat)),
        ("Optuna's / our Sobol, conditional", ">=", FAR, ratios(optuna, sobol, conditional)),
        ("random / our Halton", ">=", 5.0, ratios(plain, halton)),
    ]
    print_table(measured)
    print("\nratios: geometric means over spaces and sizes, the median of", REPEATS, "repeats")
    for text, op, goal, values in claims:
        print(f"{text:<50}{np.median(values):7.2f}   goal {op} {goal:g}")
    print_claims(claim(*one) for one in claims)
    return 0


if __name__ == "__main__":
    sys.exit(main())
