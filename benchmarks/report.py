"""How long does a full report take, from a real book to the HTML file?

A study of two settings and four searched parameters is written into a book through the store, with
1,000 points of four metrics in each trial. Each repeat is the command as a user gives it, in a
process of its own: start, load, findings, pictures, page.

    .venv/bin/python benchmarks/report.py            1,000 trials, then 3,000 and 10,000
    .venv/bin/python benchmarks/report.py 200 600    other sizes

The last line is JSON with the raw values of every repeat; where the time goes is told above it.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measuring import claim, print_claims
from tunebook.charts.gallery import figures
from tunebook.core.curves import Block
from tunebook.core.domains import Float
from tunebook.core.events import Event, Finished, Logged, Started
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.protocols import Proposal
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Budget, Study
from tunebook.core.trials import NO_CODE, Attempt, FromSequence, Outcome, OutcomeKind
from tunebook.diagnosis.diagnosing import examine
from tunebook.diagnosis.gathering import gather
from tunebook.report import html
from tunebook.report.making import assemble
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store

SIZES, POINTS, REPEATS = (1_000, 3_000, 10_000), 1_000, 3
SECONDS_GOAL, BYTES_GOAL, GROWTH_GOAL = 5.0, 5e6, 1.25
METRICS = ("valid/error", "valid/loss", "train/loss", "grad_norm")
NAMES = ("learning_rate", "weight_decay", "dropout", "smoothing")


def study_of(trials: int) -> Study:
    return Study(
        "large",
        Space.of(
            scientific={"variant": ["a", "b"]},
            nuisance={
                "learning_rate": Float(1e-4, 1e-1, log=True),
                "weight_decay": Float(1e-6, 1e-2, log=True),
                "dropout": Float(0, 0.5, limit="low"),
                "smoothing": Float(0, 0.3, limit="low"),
            },
            fixed={"batch_size": 128},
        ),
        Objective(Metric("valid/error")),
        goal="Is variant b better?",
        trials=trials // 2,
        budget=Budget(10 * POINTS),
        knobs=Knobs(
            learning_rate="learning_rate",
            batch_size="batch_size",
            train_loss="train/loss",
            grad_norm="grad_norm",
            valid_examples=10_000,
            chance=0.9,
        ),
    )


def events(study: Study, attempt: Attempt, rng: np.random.Generator) -> list[Event]:
    """A trial from its start to its end; those with the highest learning rates diverge."""
    place = study.space.encode(attempt.trial.config)
    at = np.array([place[name] for name in NAMES])
    level = 0.1 + 0.3 * (1 - np.exp(-np.sum(((at - 0.5) / [0.5, 1.0, 0.7, 3.0]) ** 2)))
    level += 0.004 * rng.normal()
    share = np.arange(1, POINTS + 1) / POINTS
    falling = np.exp(-8 * share)
    noise = rng.normal(size=(4, POINTS))
    values = np.array(
        [
            level + (0.9 - level) * falling + 0.002 * noise[0],
            3 * level + 2 * falling + 0.01 * noise[1],
            level + 2 * falling + 0.03 * noise[2],
            np.exp(0.2 * noise[3]),
        ]
    )
    steps = np.arange(10, 10 * POINTS + 1, 10)
    outcome = Outcome(OutcomeKind.COMPLETE, "finished")
    if at[0] > 0.93:
        end = POINTS // 10
        steps, values = steps[:end], values[:, :end]
        values[0, -1] = np.nan
        outcome = Outcome(OutcomeKind.INFEASIBLE, "valid/error is NaN")
    block = Block(METRICS, steps, 0.01 * steps, values)
    return [
        Started(attempt, "here", 1),
        Logged(attempt, (block,), 1),
        Finished(attempt, outcome, 100.0),
    ]


def write_book(folder: Path, trials: int) -> None:
    study = study_of(trials)
    rng = np.random.default_rng(0)
    with open_store(folder) as store:
        study = store.create(study)
        sampler = sampler_for(study)
        waiting: list[Event] = []
        for index in range(study.trials):
            for setting in study.space.settings():
                point = sampler.propose(study, setting, index, lambda: Results(study))
                origin = FromSequence(index)
                proposal = Proposal(setting, point.config, study.trial_seed(index), origin)
                waiting += events(study, store.claim(study.name, proposal, NO_CODE), rng)
            if len(waiting) > 300 or index == study.trials - 1:
                store.append_all(waiting)
                waiting = []


def command(book: Path) -> tuple[float, int]:
    """Seconds of `tunebook report --html`, and the bytes of what it wrote."""
    page = book / "report.html"
    tunebook = str(Path(sys.executable).with_name("tunebook"))
    began = time.perf_counter()
    subprocess.run(
        [tunebook, "report", "large", "--dir", str(book), "--html", str(page)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began, page.stat().st_size


def stages(book: Path) -> dict[str, float]:
    """Seconds of each part, in this process."""
    clock = [time.perf_counter()]
    with open_store(book, readonly=True) as store:
        results = store.results("large")
    clock.append(time.perf_counter())
    evidence = gather(results)
    findings = examine(evidence)
    clock.append(time.perf_counter())
    pictures = figures(evidence)
    clock.append(time.perf_counter())
    html.page(assemble(evidence, findings, pictures))
    clock.append(time.perf_counter())
    parts = np.diff(clock)
    return dict(zip(("load", "findings", "pictures", "page"), map(float, parts), strict=True))


def measure(trials: int) -> tuple[list[float], list[int]]:
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder)
        write_book(book, trials)
        found = [command(book) for _ in range(REPEATS)]
        spent = stages(book)
    seconds, sizes = [round(s, 3) for s, _ in found], [size for _, size in found]
    shares = ", ".join(f"{name} {value:.2f}" for name, value in spent.items())
    middle = statistics.median(seconds)
    print(f"{trials:>6} trials: {middle:6.2f} s, {sizes[0] / 1e6:.2f} MB  ({shares})", flush=True)
    return seconds, sizes


def main(sizes: tuple[int, ...]) -> int:
    found = {trials: measure(trials) for trials in sizes}
    first, last = sizes[0], sizes[-1]
    each = {trials: [s / trials for s in seconds] for trials, (seconds, _) in found.items()}
    growth = [b / statistics.median(each[first]) for b in each[last]]
    page = f"report of {first} trials x {POINTS} points x {len(METRICS)} metrics"
    claims = [
        claim(f"seconds of a {page}", "<=", SECONDS_GOAL, found[first][0]),
        claim(f"bytes of a {page}", "<=", BYTES_GOAL, found[first][1]),
        claim(
            f"seconds for a trial at {last} trials over those at {first}",
            "<=",
            GROWTH_GOAL,
            growth,
            3,
        ),
    ]
    print_claims(claims)
    return 0


if __name__ == "__main__":
    sys.exit(main(tuple(map(int, sys.argv[1:])) or SIZES))
