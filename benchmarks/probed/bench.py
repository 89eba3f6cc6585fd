"""The book of the benchmark of procedures: studies of tasks, their fresh seeds, and its rows."""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import tunebook
from tunebook.app.probing import Probed
from tunebook.core.domains import Value
from tunebook.core.edits import edited
from tunebook.core.findings import Finding
from tunebook.core.objective import Objective
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Budget, Study
from tunebook.training import tasks
from tunebook.training.task import BundledTask

# Fewer than the tasks state, where a run takes seconds: the same for both sides. A warm-up may have
# a tenth of them: with fewer for characters, its hand-picked 50 would be out of a probe's reach.
STEPS = {"mnist1d": 500, "digits": 500, "characters": 500}
# Evaluations take long on this task, and only the one at the end counts.
EVALUATED = {"characters": {"eval_every": 1000}}
FRESH_SEED = 20_000
# Results of trainings are compared over so many times the seeds, where a training takes a second
# and results differ by whole examples of few.
MORE_SEEDS = {"digits": 4}


@dataclass(frozen=True)
class Row:
    """What following a probe brought on one task: ratios above 1 are better than by hand."""

    probe: str
    task: str
    # Of each time it was asked.
    minutes: Sequence[float]
    what: str
    advice: str
    by_hand: float
    advised: float
    ratios: tuple[float, ...]
    claims: tuple[dict[str, object], ...] = ()

    @property
    def standing(self) -> str:
        """Better, worse, or within two standard errors of the paired differences."""
        logs = np.log(self.ratios)
        if not np.any(logs):
            return "the same"
        error = float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
        mean = float(np.mean(logs))
        if abs(mean) <= 2.0 * error:
            return "within noise"
        return "better" if mean > 0 else "WORSE"


@dataclass
class Bench:
    """The book of a benchmark, and what has been trained by hand-picked values so far."""

    folder: Path
    seeds: int
    steps: int | None = None
    known: dict[tuple[str, int], Results] = field(default_factory=dict)
    names: Iterator[int] = field(default_factory=itertools.count)

    def budget(self, task: str) -> int:
        return self.steps or STEPS[task]

    def study(self, task: str, steps: int | None = None, **changes: Value) -> Study:
        """A study of a task's defaults, all fixed, but for some changes."""
        bundled = bundle(task)
        return Study(
            f"{task}-{next(self.names)}",
            Space.of(fixed={**bundled.defaults, **EVALUATED.get(task, {}), **changes}),
            Objective(bundled.facts.metric, "last"),
            task=f"tunebook.training.tasks:{task}",
            budget=Budget(steps or self.budget(task)),
        )

    def trained(self, study: Study, seeds: int | None = None, workers: int = 2) -> Results:
        """Fresh seeds of a study, the same ones in the same order for every study."""
        fresh = replace(
            study,
            name=f"{study.name}.fresh-{next(self.names)}",
            trials=seeds or self.seeds,
            seed=FRESH_SEED,
        )
        results = tunebook.run(fresh, workers=workers, folder=self.folder, quiet=True)
        if len(results) < fresh.trials or any(r.outcome is None for r in results):
            raise SystemExit(f"{fresh.name} was interrupted")
        return results

    def by_hand(self, task: str, steps: int | None = None, seeds: int | None = None) -> Results:
        """Fresh seeds of the hand-picked values: trained once for each number of steps."""
        key = task, steps or self.budget(task)
        if key not in self.known or len(self.known[key]) < (seeds or self.seeds):
            self.known[key] = self.trained(self.study(task, steps), seeds)
        return self.known[key]

    def probe(self, name: str, study: Study, **options: Value) -> tuple[Probed, float]:
        """A probe from its beginning to its end, and the minutes it took."""
        began = time.perf_counter()
        given = options.pop("given", None)
        made = tunebook.probe(
            name,
            study,
            given=given,  # type: ignore[arg-type]
            workers=2,
            again=given is not None,
            folder=self.folder,
            quiet=True,
            **options,
        )
        if made.answer is None:
            raise SystemExit(f"the probe {name} of {study.name} has not come to its end: {made}")
        minutes = (time.perf_counter() - began) / 60.0
        for finding in made.answer.findings:
            print(f"    {finding.verdict}: {finding.sentence} {finding.advice}", flush=True)
        return made, minutes


def bundle(task: str) -> BundledTask:
    found: BundledTask = getattr(tasks, task)
    return found


def answer_of(made: Probed, key: str) -> Finding:
    return next(finding for finding in made.findings if finding.question.key == key)


def proposed(study: Study, made: Probed) -> Study:
    """The study with the proposed changes; without any, as it was."""
    return edited(study, made.answer.edits if made.answer else ())


def results_of(results: Results) -> list[float]:
    """The result of every seed, in order; infinite for one that came to nothing."""
    metric = results.study.objective.metric
    assert metric.better == "lower"
    found = {record.trial.number: measure.value for record, measure in results.ranked()}
    numbers = sorted(record.trial.number for record in results.trials)
    return [found.get(number, math.inf) for number in numbers]


def results_row(
    bench: Bench,
    probe: str,
    task: str,
    minutes: Sequence[float],
    advice: str,
    advised: Study,
    by_hand: Study,
) -> Row:
    """The row of a probe whose advice is judged by the result of training."""
    same = advised.space == by_hand.space and advised.budget == by_hand.budget
    seeds = bench.seeds * MORE_SEEDS.get(task, 1)
    one = results_of(bench.by_hand(task, budget_of(by_hand), seeds))[:seeds]
    other = one if same else results_of(bench.trained(advised, seeds))
    # An error of 0 is one of less than half an example in ten thousand.
    ratios = [
        1.0 if a == b else max(a, 5e-5) / max(b, 5e-5) for a, b in zip(one, other, strict=True)
    ]
    what = bundle(task).facts.metric.name
    middle = statistics.median
    return Row(probe, task, minutes, what, advice, middle(one), middle(other), tuple(ratios))


def budget_of(study: Study) -> int:
    assert study.budget is not None
    return int(study.budget.amount)
