"""What do the bundled tasks reach with their hand-picked defaults?

Each task is trained by the reference loop with its `defaults` for the number of steps that its
facts state (and those of warmup, which come in front), over several seeds, on the CPU with one
thread a run. The result of a run is its last evaluation, not the best one. The stated result is to
be no better than the median over the seeds.

    .venv/bin/python benchmarks/tasks.py             # all of them, on two cores
    .venv/bin/python benchmarks/tasks.py digits --seeds 3

The last line is JSON with the raw value of every seed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

import torch

from measuring import claim, print_claims
from tunebook.core.domains import Value
from tunebook.core.errors import TunebookError
from tunebook.core.space import Config
from tunebook.core.study import Budget
from tunebook.training import tasks
from tunebook.training.distribution import ALONE
from tunebook.training.loop import fit
from tunebook.training.task import BundledTask

SEEDS = {"mnist1d": 5, "digits": 5, "fashion_mnist": 3, "characters": 3}


@dataclass
class QuietRun:
    """A run that remembers the latest value of each metric; checkpoints go to a passing folder."""

    params: Config
    seed: int
    budget: Budget
    folder: Path
    should_stop: bool = False
    latest: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Value:
        return self.params[name]

    def log(self, metrics: Mapping[str, object], step: int | None = None) -> None:
        self.latest |= {name: float(value) for name, value in metrics.items()}  # type: ignore[arg-type]

    @contextmanager
    def checkpoint(self, step: int) -> Iterator[Path]:
        place = self.folder / f"checkpoint-{step}"
        place.mkdir()
        yield place

    def resume(self) -> Path | None:
        return None

    def infeasible(self, reason: str) -> NoReturn:
        raise RuntimeError(reason)

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        yield


def trained(name: str, seed: int) -> tuple[float, float]:
    """The last value of a task's metric with one seed, and the seconds it took."""
    torch.set_num_threads(1)
    task: BundledTask = getattr(tasks, name)
    task.data(task.defaults)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = QuietRun(task.defaults, seed, Budget(task.facts.steps), Path(folder))
        fit(task, run, ALONE)
    return run.latest[task.facts.metric.name], time.perf_counter() - began


def steps_of(task: BundledTask) -> str:
    """The stated steps, and those of warmup, which come in front of them."""
    warmup = task.defaults.get("warmup_steps", 0)
    return f"{warmup}+{task.facts.steps}" if warmup else f"{task.facts.steps}"


def claim_of(name: str, values: list[float]) -> dict[str, object]:
    task: BundledTask = getattr(tasks, name)
    metric = task.facts.metric
    op = "<=" if metric.better == "lower" else ">="
    text = f"{name}: {metric.name} after {steps_of(task)} steps"
    return claim(text, op, task.facts.reached, values)


def print_row(name: str, values: list[float], seconds: list[float]) -> None:
    task: BundledTask = getattr(tasks, name)
    facts = task.facts
    spread = statistics.stdev(values) if len(values) > 1 else float("nan")
    print(
        f"{name:<14}{facts.metric.name:<13}{facts.chance:>7.3g}{facts.reached:>9.3g}"
        f"{statistics.mean(values):>10.4f}{spread:>9.4f}{len(values):>7}{steps_of(task):>9}"
        f"{statistics.mean(seconds):>9.1f}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(SEEDS)}")
    parser.add_argument("--seeds", type=int, help="how many; else 5 for small tasks and 3")
    parser.add_argument("--workers", type=int, default=2, help="runs at once: 2")
    asked = parser.parse_args()
    unknown = set(asked.tasks) - set(SEEDS)
    if unknown:
        parser.error(f"no task is named {', '.join(sorted(unknown))}; there are {', '.join(SEEDS)}")
    claims = []
    print(
        f"{'task':<14}{'metric':<13}{'chance':>7}{'stated':>9}{'reached':>10}{'spread':>9}"
        f"{'seeds':>7}{'steps':>9}{'seconds':>9}"
    )
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        for name in asked.tasks or SEEDS:
            seeds = range(asked.seeds or SEEDS[name])
            try:
                found = list(pool.map(trained, [name] * len(seeds), seeds))
            except TunebookError as error:
                print(f"{name:<14}not run: {error}", flush=True)
                continue
            values, seconds = ([pair[k] for pair in found] for k in (0, 1))
            print_row(name, values, seconds)
            claims.append(claim_of(name, values))
    print_claims(claims)
    return 0 if len(claims) == len(asked.tasks or SEEDS) else 1


if __name__ == "__main__":
    sys.exit(main())
