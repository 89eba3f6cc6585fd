"""Is following the advice of a probe at least as good as the hand-picked values of the tasks?

Each probe is asked about bundled tasks as somebody would ask who has not tuned them: the study has
the task's `defaults`, without what the probe is to find. Where that is a learning rate, it begins
at a tenth of the hand-picked one; a batch size begins at 16; a warm-up or a threshold of clipping
is left out. The probe runs through the public function, two trials at a time. Where it answers that
it should begin elsewhere, or train for longer, that is done, and its time counts. Then both are
trained with fresh seeds that no probe has used, as many steps each:

batch-size   examples a second at the size it names, beside the hand-picked size
to-goal      seconds of training to a goal at a constant rate, for the size and rate it names
steps        the result after as many steps as it names, beside the hand-picked number of them
stability    the result at the best learning rate it names
warmup       the result with what it proposes, for tasks with and without a hand-picked warm-up
clipping     the same
variance     advises no change: its interval is to hold the standard deviation of fresh seeds, and
             as many seeds as it names for a difference are to show it in four of five samples

A ratio above 1 says that the advice is better. Where the probe keeps the hand-picked values it is
exactly 1. Half of all ratios between equals are below 1: the table says what is within noise, two
standard errors of the paired differences.

    .venv/bin/python benchmarks/procedures.py
    .venv/bin/python benchmarks/procedures.py stability warmup --tasks digits --seeds 10

The last line is JSON with the raw value of every seed.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import tunebook
from tunebook.app.probing import Probed
from tunebook.core.domains import Value
from tunebook.core.edits import edited
from tunebook.core.findings import Finding, Verdict
from tunebook.core.objective import Objective
from tunebook.core.results import Results, TrialRecord
from tunebook.core.space import Space
from tunebook.core.study import Budget, Study
from tunebook.stats.samples import PooledSd
from tunebook.stats.variance import seeds_needed
from tunebook.training import tasks
from tunebook.training.task import BundledTask

MINUTES_GOAL = 5.0
# Half of what the tasks state, where a run takes seconds: the same for both sides.
STEPS = {"mnist1d": 750, "digits": 500, "characters": 500}
# Which tasks a probe is asked about, in the order in which they are run.
ASKED = {
    "batch-size": ("digits", "mnist1d"),
    "to-goal": ("digits", "mnist1d"),
    "steps": ("digits", "mnist1d"),
    "stability": ("digits", "mnist1d"),
    "warmup": ("digits", "mnist1d", "characters"),
    "clipping": ("digits", "mnist1d", "characters"),
    "variance": ("digits", "mnist1d"),
}
NAIVE_SIZE = 16
# Levels of the objective that constant rates reach, and differences that one would like to see.
GOALS = {"digits": 0.08, "mnist1d": 0.1}
DIFFERENCES = {"digits": 0.01, "mnist1d": 0.01}
FRESH_SEED, ROUNDS = 20_000, 3
TIMED_EXAMPLES = 60_000


@dataclass(frozen=True)
class Row:
    """What following a probe brought on one task: ratios above 1 are better than by hand."""

    probe: str
    task: str
    minutes: float
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
            Space.of(fixed={**bundled.defaults, **changes}),
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
        return tunebook.run(fresh, workers=workers, folder=self.folder, quiet=True)

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
    bench: Bench, probe: str, task: str, minutes: float, advice: str, advised: Study, by_hand: Study
) -> Row:
    """The row of a probe whose advice is judged by the result of training."""
    same = advised.space == by_hand.space and advised.budget == by_hand.budget
    assert by_hand.budget is not None
    one = results_of(bench.by_hand(task, int(by_hand.budget.amount)))[: bench.seeds]
    other = one if same else results_of(bench.trained(advised))
    # An error of 0 is one of less than half an example in ten thousand.
    ratios = [
        1.0 if a == b else max(a, 5e-5) / max(b, 5e-5) for a, b in zip(one, other, strict=True)
    ]
    what = bundle(task).facts.metric.name
    middle = statistics.median
    return Row(probe, task, minutes, what, advice, middle(one), middle(other), tuple(ratios))


def stability(bench: Bench, task: str) -> Row:
    rate = float(str(bundle(task).defaults["learning_rate"]))
    study = bench.study(task, learning_rate=rate / 10)
    made, minutes = bench.probe("stability", study)
    finding = answer_of(made, "probe-stability")
    for _ in range(ROUNDS - 1):
        if finding.verdict is not Verdict.UNKNOWN or "best" not in finding.numbers:
            break
        given = {"learning_rate": finding.numbers["best"]}
        made, more = bench.probe("stability", study, given=given)
        finding, minutes = answer_of(made, "probe-stability"), minutes + more
    best = finding.numbers.get("best", rate / 10)
    return results_row(
        bench,
        "stability",
        task,
        minutes,
        f"learning rate {best:g}, by hand {rate:g}",
        bench.study(task, learning_rate=best),
        bench.study(task),
    )


def steps(bench: Bench, task: str) -> Row:
    defaults, by_hand = bundle(task).defaults, bench.steps or bundle(task).facts.steps
    rate = float(str(defaults["learning_rate"]))
    study = bench.study(task, by_hand, learning_rate=rate / 10)
    made, minutes = bench.probe("steps", study)
    after = proposed(study, made)
    assert after.budget is not None
    named = int(after.budget.amount)
    return results_row(
        bench,
        "steps",
        task,
        minutes,
        f"{named} steps, by hand {by_hand}",
        bench.study(task, named),
        bench.study(task, by_hand),
    )


def remedy(probe: str, knob: str, bench: Bench, task: str) -> Row:
    by_hand = bench.study(task)
    study = bench.study(task, **{knob: None if probe == "clipping" else 0})
    made, minutes = bench.probe(probe, study)
    after = proposed(study, made)
    changes = [f"{e.name} {e.source}" for e in made.answer.edits if hasattr(e, "name")]  # type: ignore[union-attr]
    advice = ", ".join(changes).replace("fixed at ", "") or f"no {probe}"
    if knob in bundle(task).defaults:
        advice += f", by hand {bundle(task).defaults[knob]}"
    elif not changes:
        after = by_hand
    return results_row(bench, probe, task, minutes, advice, after, by_hand)


def seconds_per_step(record: TrialRecord) -> float:
    """Between the first and the last point of the curve: the first steps warm up."""
    curve = record.curves["train/loss"]
    first = len(curve) // 4
    passed = float(curve.seconds[-1] - curve.seconds[first])
    return passed / float(curve.steps[-1] - curve.steps[first])


def timed(bench: Bench, task: str, sizes: Sequence[int]) -> dict[int, list[float]]:
    """Seconds of a step at each size, one trial at a time, each size in turn."""
    found: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(bench.seeds):
        for size in found:
            steps = min(max(TIMED_EXAMPLES // size, 40), 600)
            quiet = {"eval_every": steps, "checkpoint_every": steps, "keep_best": 0}
            study = bench.study(
                task, steps, batch_size=size, log_every=max(steps // 20, 1), **quiet
            )
            found[size] += map(seconds_per_step, bench.trained(study, 1, workers=1).trials)
    return found


def batch_size(bench: Bench, task: str) -> Row:
    by_hand = int(str(bundle(task).defaults["batch_size"]))
    study = bench.study(task, batch_size=NAIVE_SIZE)
    made, minutes = bench.probe("batch-size", study)
    named = int(str(proposed(study, made).space["batch_size"].source.value))  # type: ignore[union-attr]
    times = timed(bench, task, [by_hand, named])
    rates = {size: [size / seconds for seconds in found] for size, found in times.items()}
    ratios = [b / a for a, b in zip(rates[by_hand], rates[named], strict=True)]
    middle = {size: statistics.median(found) for size, found in rates.items()}
    return Row(
        "batch-size",
        task,
        minutes,
        "examples/s",
        f"batch size {named}, by hand {by_hand}",
        middle[by_hand],
        middle[named],
        tuple(ratios),
    )


def to_goal(bench: Bench, task: str) -> Row:
    defaults, goal = bundle(task).defaults, GOALS[task]
    by_hand = int(str(defaults["batch_size"])), float(str(defaults["learning_rate"]))
    budget = bench.budget(task)
    study = bench.study(task, budget)
    made, minutes = bench.probe("batch-size", study, to_goal=True, goal=goal)
    named = int(str(proposed(study, made).space["batch_size"].source.value))  # type: ignore[union-attr]
    rate = _rate_at(answer_of(made, "probe-critical-batch"), named, by_hand)
    times = timed(bench, task, list(dict.fromkeys([by_hand[0], named])))
    steps = {pair: _steps_to(bench, task, goal, budget, *pair) for pair in (by_hand, (named, rate))}
    seconds = {
        (size, lr): [n * t for n, t in zip(found, times[size], strict=True)]
        for (size, lr), found in steps.items()
    }
    one, other = seconds[by_hand], seconds[named, rate]
    ratios = [1.0 if a == b else a / b for a, b in zip(one, other, strict=True)]
    return Row(
        "to-goal",
        task,
        minutes,
        "seconds",
        f"batch size {named} at {rate:g}, by hand {by_hand[0]} at {by_hand[1]:g}",
        statistics.median(one),
        statistics.median(other),
        tuple(ratios),
    )


def _rate_at(finding: Finding, size: int, by_hand: tuple[int, float]) -> float:
    """The rate that the probe found best at a size, or at the nearest one, in proportion to the
    root of the size, as it looks for rates itself."""
    known = {
        int(name.rpartition("_")[2]): rate
        for name, rate in finding.numbers.items()
        if name.startswith("rate_at_")
    } or dict([by_hand])
    near = min(known, key=lambda other: abs(math.log(other / size)))
    return float(f"{known[near] * math.sqrt(size / near):.2g}")


def _steps_to(
    bench: Bench, task: str, goal: float, budget: int, size: int, rate: float
) -> list[float]:
    """The first evaluation that meets the goal, of each fresh seed; infinite where none does."""
    most = math.ceil(budget * max(int(str(bundle(task).defaults["batch_size"])) / size, 1.0))
    study = bench.study(
        task,
        most,
        batch_size=size,
        learning_rate=rate,
        schedule="constant",
        eval_every=max(most // 100, 1),
    )
    found = []
    for record in sorted(bench.trained(study).trials, key=lambda r: r.trial.number):
        curve = record.curves[bundle(task).facts.metric.name]
        met = curve.steps[curve.values <= goal]
        found.append(float(met[0]) if len(met) else math.inf)
    return found


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
        minutes,
        "sd",
        f"{spread['low']:.2g} to {spread['high']:.2g}; power {shown} seeds",
        sd,
        spread["sd"],
        (),
        claims,
    )


def power(values: Sequence[float], difference: float, seeds: int, samples: int = 4000) -> float:
    """How often so many seeds of each show a difference: a one-sided t-test at 5%, resampled."""
    from scipy import special

    seeds = max(seeds, 2)
    drawn = np.random.default_rng(0).choice(np.array(values), size=(2, samples, seeds))
    gap = drawn[0].mean(axis=1) - drawn[1].mean(axis=1) + difference
    error = np.sqrt((drawn[0].var(axis=1, ddof=1) + drawn[1].var(axis=1, ddof=1)) / seeds)
    cut = float(special.stdtrit(2 * seeds - 2, 0.95))
    return float(np.mean(gap > cut * error))


def claim(text: str, op: str, goal: float, values: Sequence[float]) -> dict[str, object]:
    return {"claim": text, "op": op, "goal": goal, "values": [round(v, 4) for v in values]}


CASES: Mapping[str, Callable[[Bench, str], Row]] = {
    "batch-size": batch_size,
    "to-goal": to_goal,
    "steps": steps,
    "stability": stability,
    "warmup": functools.partial(remedy, "warmup", "warmup_steps"),
    "clipping": functools.partial(remedy, "clipping", "clip_norm"),
    "variance": variance,
}


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"\n{'probe':<11}{'task':<12}{'minutes':>7}  {'what':<12}{'by hand':>10}{'advised':>10}"
        f"{'ratio':>8}  {'':<13}advice"
    )
    for row in rows:
        ratio = f"{statistics.median(row.ratios):8.3f}" if row.ratios else f"{'':>8}"
        standing = row.standing if row.ratios else ""
        print(
            f"{row.probe:<11}{row.task:<12}{row.minutes:>7.1f}  {row.what:<12}{row.by_hand:>10.4g}"
            f"{row.advised:>10.4g}{ratio}  {standing:<13}{row.advice}"
        )


def claims_of(rows: Sequence[Row]) -> list[dict[str, object]]:
    found = []
    for probe in dict.fromkeys(row.probe for row in rows):
        own = [row for row in rows if row.probe == probe]
        found.append(claim(f"{probe}: minutes", "<=", MINUTES_GOAL, [row.minutes for row in own]))
        for row in own:
            text = f"{probe} on {row.task}: {row.what}, how many times as good as by hand"
            found += [claim(text, ">=", 1.0, row.ratios)] if row.ratios else []
            found += row.claims
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("probes", nargs="*", metavar="PROBE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--tasks", nargs="+", default=list(STEPS), help=f"of {', '.join(STEPS)}")
    parser.add_argument("--seeds", type=int, default=5, help="fresh seeds of each side: 5")
    parser.add_argument("--steps", type=int, help="steps of a trial, to try this out")
    asked = parser.parse_args()
    for given, known in ((asked.probes, CASES), (asked.tasks, STEPS)):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), asked.seeds, asked.steps)
        for probe in asked.probes or CASES:
            for task in (task for task in ASKED[probe] if task in asked.tasks):
                print(f"{probe} on {task}", flush=True)
                rows.append(CASES[probe](bench, task))
                print_table(rows[-1:])
    print_table(rows)
    print(json.dumps({"claims": claims_of(rows)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
