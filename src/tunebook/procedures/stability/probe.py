"""Does instability keep the learning rate below its best?

A sweep finds the best rate. Then a short training at twice that rate is looked at step by step,
since evaluation at a few steps misses what goes wrong early and comes back; five and ten times the
rate are a double check.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.findings import Question
from tunebook.core.results import Results
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.stability import words
from tunebook.procedures.stability.courses import course, shown_by, usual
from tunebook.procedures.stability.pictures import picture
from tunebook.procedures.stability.seen import Seen
from tunebook.procedures.subjects import Subject
from tunebook.procedures.sweeps import (
    Sweep,
    by_value,
    orders,
    promise,
    readings_of,
    sweep,
    worse_by,
)

QUESTION: Final = Question(
    "probe-stability",
    "Does instability keep the learning rate below its best?",
    "optimization-failures",
)
NEEDS: Final = (
    Need("learning_rate", "to sweep it"),
    Need(MAX_STEPS, "to train for few of them"),
    Need("eval_interval", "to evaluate at every step", required=False),
    Need("train_loss", "to see it rise", required=False),
    Need("grad_norm", "to see gradients that are far out", required=False),
    Need("schedule", "to keep the rate of the short trainings constant", required=False),
)
STEPS: Final = 500
SEEDS: Final = 3
# Multiples of the best rate: that rate itself for comparison, the test, and the double check.
MULTIPLES: Final = (1, 2, 5, 10)
# The reference loop evaluates on so many examples where it does so at every step.
SAMPLE: Final = 500
# Worse beyond noise: standard errors of a difference.
WORSE: Final = 2.0


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """A sweep to the best rate, then short trainings at multiples of it, seen at every step."""
    steps = _steps(subject, options)
    seeds = int(options.get("seeds") or SEEDS)
    rate = subject.name("learning_rate")
    made = yield from sweep(
        subject,
        "sweep",
        rate,
        orders(subject.number("learning_rate"), 1, 1, 3),
        goal="Which learning rate is best in a short training?",
        steps=steps,
        replicates=seeds,
    )
    best = made.best
    if best is None or made.boundary is not None:
        return Answer((words.undecided(QUESTION, subject, made),), picture(QUESTION, subject, made))
    results = yield subject.stage(
        "short",
        {rate: [_round(best * multiple) for multiple in MULTIPLES]},
        _every_step(subject),
        goal="How does training go at multiples of the best learning rate?",
        steps=steps,
        replicates=seeds,
    )
    seen = _look(subject, made, best, results, steps)
    lacking = words.lacking(subject, results)
    if seen is None:
        finding = words.unseen(QUESTION, subject, made, readings_of(results))
        return Answer((finding, *lacking), picture(QUESTION, subject, made))
    finding, edits = words.answer(QUESTION, subject, seen)
    figures = picture(QUESTION, subject, made, seen.results, seen.metric)
    return Answer((finding, *lacking), figures, edits)


def _look(subject: Subject, made: Sweep, best: float, results: Results, steps: int) -> Seen | None:
    """How the short trainings went; None where too few points show it."""
    found = by_value(results, made.parameter)
    near = dict(zip(MULTIPLES, sorted(found), strict=True))
    readings = {multiple: found[value] for multiple, value in near.items()}
    metric = shown_by(
        [r for several in readings.values() for r in several],
        subject.knobs,
        subject.study.objective.metric,
    )
    compared = usual(readings[1], metric) if metric is not None else None
    if metric is None or compared is None:
        return None
    courses = {
        multiple: tuple(
            one for r in several if (one := course(r, metric, compared, steps)) is not None
        )
        for multiple, several in readings.items()
    }
    if not courses[2]:
        return None
    difference = worse_by(subject.study.objective.metric, readings[2], readings[1])
    worse = difference > WORSE * math.sqrt(2.0) * (made.noise or 0.0)
    return Seen(made, best, courses, readings, metric, promise(made, 2.0), worse)


def _steps(subject: Subject, options: Mapping[str, Value]) -> int:
    wanted = int(options.get("steps") or STEPS)
    return min(wanted, subject.steps) if subject.steps else wanted


def _every_step(subject: Subject) -> dict[str, Value]:
    """Evaluate at every step, at a constant rate: a decay that is squeezed into few steps would
    hide what the first steps of a whole training do."""
    fix = subject.constant_rate()
    if subject.knobs.eval_interval is not None:
        fix[subject.knobs.eval_interval] = 1
    if subject.study.task is not None:
        given = subject.config.get("valid_sample")
        fix["valid_sample"] = min(int(given), SAMPLE) if isinstance(given, int) else SAMPLE
    return fix


def _round(value: float) -> float:
    return float(f"{value:.3g}")
