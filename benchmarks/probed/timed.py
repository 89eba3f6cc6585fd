"""Probes whose advice is judged by the clock: batch sizes, with a goal and without."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from probed.bench import Bench, Row, answer_of, bundle, proposed
from tunebook.core.findings import Finding
from tunebook.core.results import TrialRecord

NAIVE_SIZE = 16
TIMED_EXAMPLES = 60_000
# Levels of the objective that constant rates reach.
GOALS = {"digits": 0.08, "mnist1d": 0.1}


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
        [minutes],
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
        [minutes],
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
    """The first evaluation that meets the goal, of each seed; twice the steps where none does."""
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
        found.append(float(met[0]) if len(met) else 2.0 * most)
    return found
