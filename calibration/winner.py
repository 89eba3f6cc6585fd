"""How often a confident winner is wrong: made-up surfaces and complete tables of real results.

`python calibration/winner.py` prints, for each kind of study, the share in which a setting is
named with confidence although the others are as good (made-up), or although its exact optimum is
worse by more than the noise of a trial (tables), and how often a true winner is named.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from tunebook.stats.winner import Contest, Contestant, contest

Array = NDArray[np.float64]
DATA = Path(__file__).parents[2] / "shared" / "data"
SEED = 1_000_000  # development used seeds below
CONFIDENT = 0.95

# Surfaces of the distance from an optimum of height 0.
SHAPES: dict[str, Callable[[Array], Array]] = {
    "bowl": lambda away: np.sum(away**2, axis=1),
    "ridge": lambda away: away[:, 0] ** 2 + 0.05 * np.sum(away[:, 1:] ** 2, axis=1),
    "cliff": lambda away: np.sum(away**2, axis=1) + 5.0 * (away[:, 0] > 0.15),
    "plateau": lambda away: np.maximum(np.sum(away**2, axis=1) - 0.05, 0.0),
    "hole": lambda away: 1.0 - np.exp(-np.sum(away**2, axis=1) / 0.08),
    "log": lambda away: np.log1p(50.0 * np.sum(away**2, axis=1)) / 4.0,
    "tail": lambda away: np.expm1(6.0 * np.sum(away**2, axis=1)),
    "wedge": lambda away: np.sum(np.abs(away), axis=1) / 2.0,
}


@dataclass(frozen=True)
class Study:
    """Settings with their trials, and by how much each one's optimum is worse than the best."""

    settings: tuple[Contestant, ...]
    shortfall: Array
    tolerance: float


@dataclass(frozen=True)
class Made:
    """Made-up studies of one kind: `handicap` raises the second setting."""

    shape: str
    dimensions: tuple[int, ...]
    trials: int = 30
    noise: float = 0.05
    handicap: float = 0.0

    def __str__(self) -> str:
        dims = " v ".join(map(str, self.dimensions))
        return f"{self.shape:8} {dims:9} n={self.trials:<3} noise {self.noise:<5} +{self.handicap}"

    def study(self, seed: int) -> Study:
        random = np.random.default_rng(seed)
        most = max(self.dimensions)
        shared = qmc.Halton(most, rng=random).random(self.trials)
        centre = random.uniform(0.2, 0.8, most)
        settings = []
        for place, d in enumerate(self.dimensions):
            clean = SHAPES[self.shape](shared[:, :d] - centre[:d])
            noisy = clean + self.noise * random.standard_normal(self.trials)
            settings.append(Contestant(shared[:, :d], noisy + self.handicap * (place > 0)))
        shortfall = np.array([0.0] + [self.handicap] * (len(settings) - 1))
        return Study(tuple(settings), shortfall, 0.0)


@dataclass(frozen=True)
class Table:
    """A complete grid: codes (n, d) of every configuration and its losses (n, seeds)."""

    name: str
    names: tuple[str, ...]
    categories: NDArray[np.bool_]
    codes: NDArray[np.intp]
    losses: Array

    def study(self, seed: int, trials: int, unequal: bool) -> Study:
        """Two values of one parameter as settings, the same configurations sampled in each.

        In an unequal study the second setting has one of its nuisance parameters fixed.
        """
        random = np.random.default_rng(seed)
        column = int(random.integers(len(self.names)))
        nuisance = [other for other in range(len(self.names)) if other != column]
        fixed = int(random.choice(nuisance)) if unequal else column
        levels = random.permutation(np.unique(self.codes[:, column]))[:2]
        rows = [np.flatnonzero(self.codes[:, column] == level) for level in levels]
        # The grid is complete and sorted: rows of equal places are paired.
        chosen = random.choice(len(rows[0]), trials, replace=False)
        picked = [inside[chosen] for inside in rows]
        if unequal:
            level = random.choice(np.unique(self.codes[:, fixed]))
            rows[1] = rows[1][self.codes[rows[1], fixed] == level]
            picked[1] = random.choice(rows[1], trials, replace=False)
        free = [nuisance, [other for other in nuisance if other != fixed]]
        settings = [self._trials(*pair, random) for pair in zip(picked, free, strict=True)]
        best, noise = np.transpose([self._optimum(inside) for inside in rows])
        return Study(tuple(settings), best - np.min(best), float(np.mean(noise)))

    def _trials(
        self, rows: NDArray[np.intp], columns: list[int], random: np.random.Generator
    ) -> Contestant:
        """One seed's losses of these rows."""
        top = np.where(self.categories, 1, np.max(self.codes, axis=0))
        losses = self.losses[rows, random.integers(self.losses.shape[1], size=len(rows))]
        points = (self.codes[rows] / top)[:, columns]
        return Contestant(points, losses, self.categories[columns])

    def _optimum(self, rows: NDArray[np.intp]) -> tuple[float, float]:
        """The least mean over seeds, and the noise of one loss among the best rows."""
        means = self.losses[rows].mean(axis=1)
        good = rows[np.argsort(means)[: max(20, len(rows) // 50)]]
        noise = np.sqrt(np.mean(np.var(self.losses[good], axis=1, ddof=1)))
        return float(means.min()), float(noise)


def tables(data: Path) -> Iterator[Table]:
    """The tables in the folder, read with polars."""
    import polars

    for path in sorted((data / "hpo_tabular").glob("*.parquet")):
        frame = polars.read_parquet(path)
        names = tuple(name for name in frame.columns if "_seed" not in name)
        metric = "val_loss_seed" if "val_loss_seed0" in frame.columns else "val_acc_seed"
        values = frame.select([name for name in frame.columns if name.startswith(metric)])
        losses = values.to_numpy().astype(float) * (1.0 if metric == "val_loss_seed" else -1.0)
        columns = [np.unique(frame[name].to_list(), return_inverse=True)[1] for name in names]
        categories = np.array([frame[name].dtype == polars.String for name in names])
        codes = np.stack(columns, axis=1)
        order = np.lexsort(codes.T[::-1])
        yield Table(path.stem, names, categories, codes[order], losses[order])


@dataclass
class Count:
    """Verdicts of one kind of study."""

    studies: int = 0
    named: int = 0
    wrong: int = 0
    right: int = 0

    def add(self, result: Contest, study: Study) -> None:
        leader = result.leader
        confident = result.chances[leader] >= CONFIDENT
        equal = float(np.max(study.shortfall)) == 0.0
        self.studies += 1
        self.named += confident
        self.wrong += confident and (equal or study.shortfall[leader] > study.tolerance)
        self.right += confident and not equal and study.shortfall[leader] == 0.0

    def __str__(self) -> str:
        named, wrong, right = (n / self.studies for n in (self.named, self.wrong, self.right))
        return f"{self.studies:5}  named {named:6.1%}  wrong {wrong:6.1%}  right {right:6.1%}"


MADE = tuple(
    [Made("bowl", d, noise=noise) for d in ((2, 4), (2, 2), (4, 4)) for noise in (0.02, 0.1)]
    + [Made(shape, d) for shape in SHAPES if shape != "bowl" for d in ((2, 4), (3, 3))]
    + [Made("bowl", d, handicap=0.15) for d in ((2, 4), (4, 2), (2, 2), (4, 4))]
    + [Made("bowl", d, handicap=0.3) for d in ((2, 4), (4, 2), (2, 2), (4, 4))]
)


def judged(studies: Iterable[tuple[int, Study]]) -> Count:
    """The verdicts on studies, each with its seed."""
    count = Count()
    for seed, study in studies:
        count.add(contest(study.settings, seed=seed), study)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=["made", "tables"])
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.studies)
    if options.only != "tables":
        for made in MADE:
            count = judged((seed, made.study(seed)) for seed in seeds)
            print(f"{made!s:45} {count}", flush=True)
    if options.only != "made" and options.data.exists():
        kinds = itertools.product(tables(options.data), (False, True), (16, 32, 64))
        for table, unequal, trials in kinds:
            count = judged((seed, table.study(seed, trials, unequal)) for seed in seeds)
            title = f"{table.name:26} {'unequal' if unequal else 'equal':8} n={trials}"
            print(f"{title:45} {count}", flush=True)


if __name__ == "__main__":
    main()
