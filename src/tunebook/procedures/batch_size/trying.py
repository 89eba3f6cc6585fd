"""Trying batch sizes, ever larger ones, until memory runs out: a few steps each."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.objective import Metric, Objective
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.procedures.batch_size.timing import (
    finest_metric,
    least_apart,
    logging_interval,
    points,
    seconds_per_step,
)
from tunebook.procedures.batch_size.tried import (
    Fate,
    Tried,
    Trying,
    drift_of,
    read_sizes,
    why_ended,
)
from tunebook.procedures.subjects import Subject
from tunebook.stats.throughput import saturation

STAGE: Final = "sizes"
# Sizes of one study; the next ones are chosen when these are known.
_CHUNK: Final = 4
_PILOT_STEPS: Final = 32
# Points whose times come in bunches need more steps to be told apart: so many times, so often.
_LONGER, _MOST_LONGER = 8, 3
# A program that breaks this often in a row pauses a study.
_BREAKS: Final = 5
# A machine is never quite quiet: sizes are tried in turn, twice.
_REPEATS: Final = 2
# Fewer points than this are no sign of how often a program logs.
_FEW: Final = 8
# A size is timed for about so long, over at least so many points of its curves.
_SECONDS: Final = 2.0
_POINTS: Final = 16
# Times that are known to be late are far apart: fewer of them, or a trial would take too long.
_COARSE_POINTS: Final = 10
_MOST_STEPS: Final = 2000
# A size whose few steps would take longer than this is not tried.
_LONGEST_SECONDS: Final = 60.0
# Where throughput has stopped rising, larger sizes need only be shown to fit.
_FIT_STEPS: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sizes to try, for how many steps (None: by time), under which limit in bytes."""

    sizes: tuple[int, ...]
    steps: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """What trials have shown so far: steps between points, seconds of a step, units of a step."""

    interval: int = 1
    size: int = 1
    seconds: float = 0.0
    # How much of the study's own unit (steps, epochs, tokens) one example is; None: steps.
    unit: float | None = None
    # What short trials log, where the objective is not among it: one without a result has failed.
    judged: str | None = None
    # How many seconds apart times of logging must be to count.
    apart: float = 0.0

    def expected(self, size: int) -> float:
        """The seconds of a step at a larger size, if nothing is gained by it."""
        return self.seconds * max(size / self.size, 1.0)

    def amount(self, steps: int, size: int) -> int:
        """So many steps in the study's own unit."""
        return steps if self.unit is None else max(math.ceil(steps * size * self.unit), 1)


def try_sizes(subject: Subject, plan: Plan) -> Generator[Study, Results, Trying]:
    """Try sizes from the smallest on; for `yield from` in a procedure."""
    sizes, found = plan.sizes, dict[int, Tried]()
    first, pace = yield from _pilot(subject, plan)
    while first.fate is Fate.OUT_OF_MEMORY and sizes[0] > 1:
        # The smallest asked for is too large already: go down instead.
        found[first.size] = first
        sizes = (sizes[0] // 2,)
        first, pace = yield from _pilot(subject, replace(plan, sizes=sizes))
    if first.fate is not Fate.FITS:
        return _ended({first.size: first, **found}, why_ended(first))
    most = first.examples or math.inf
    rest = [size for size in sizes if size == sizes[0] or size <= most]
    for number in range(1, len(sizes) + 1):
        chunk, steps, repeats = _next_chunk(found, rest, plan, pace)
        if not chunk:
            seconds = pace.expected(rest[0])
            ended = f"a step of {rest[0]:,} would take about {seconds:.2g} s"
            return _ended(found, ended)
        name = f"{STAGE}-{number}"
        amount = pace.amount(steps, chunk[-1])
        results = yield _study(subject, name, chunk, amount, steps, plan, repeats, pace.judged)
        tried = read_sizes(subject, results, steps)
        found |= {one.size: one for one in tried}
        rest = rest[len(chunk) :]
        failed = next((one for one in tried if one.fate is not Fate.FITS), None)
        if failed is not None:
            return _ended(found, why_ended(failed))
        if not rest:
            break
        pace = _learnt(subject, pace, tried[-1])
    too_large = [one for one in found.values() if one.fate is not Fate.FITS]
    if too_large:
        return _ended(found, why_ended(min(too_large, key=lambda one: one.size)))
    if sizes[-1] > most:
        return _ended(found, f"there are {most:,} training examples")
    return _ended(found, "larger ones were not tried")


def powers(smallest: int, largest: int) -> tuple[int, ...]:
    """Sizes from the smallest on, each twice the one before.

    >>> powers(8, 100)
    (8, 16, 32, 64)
    """
    return tuple(smallest * 2**i for i in range(int(math.log2(max(largest / smallest, 1))) + 1))


def _ended(found: dict[int, Tried], why: str) -> Trying:
    tried = tuple(found[size] for size in sorted(found))
    return Trying(tried, why, drift_of(tried))


def _pilot(subject: Subject, plan: Plan) -> Generator[Study, Results, tuple[Tried, Pace]]:
    """A short trial of the smallest size: how often it logs, and how long its steps take."""
    size, whole = plan.sizes[0], subject.steps or _PILOT_STEPS
    unit, apart = subject.knobs.steps_unit, least_apart(subject.study)
    steps = min(plan.steps or _PILOT_STEPS, whole) if unit == "steps" else _PILOT_STEPS
    amount = {"epochs": 1, "tokens": max(whole // 50, 1)}.get(unit, steps)

    def trial(name: str, repeats: int = 1) -> Generator[Study, Results, Tried]:
        stage = f"{STAGE}-{name}-{size}"
        results = yield _study(subject, stage, [size], amount, steps, plan, repeats)
        return read_sizes(subject, results, steps)[0]

    def untimed(one: Tried) -> bool:
        return len(seconds_per_step(one.record.curves, apart)) < 2

    tried = yield from trial("pilot")
    seldom = untimed(tried) and points(tried.record.curves) < _FEW
    if tried.fate is not Fate.OUT_OF_MEMORY and seldom and whole > steps:
        # It logs less often than that: a whole trial shows how often.
        steps = amount = whole
        tried = yield from trial("whole")
    for number in range(2, 2 + _MOST_LONGER):
        bunched = tried.fate is Fate.FITS and points(tried.record.curves) >= _FEW
        if plan.steps is not None or unit != "steps" or not bunched or not untimed(tried):
            break
        # It logs often, and its lines come many at once.
        steps = amount = _LONGER * steps
        tried = yield from trial(f"pilot-{number}")
    if tried.fate is Fate.FAILED:
        # Whether it always does: if so, the study pauses, as any that breaks.
        tried = yield from trial("again", _BREAKS)
    curves = tried.record.curves
    times = seconds_per_step(curves, apart)
    last = max((int(curve.steps[-1]) for curve in curves.values() if len(curve)), default=0)
    return tried, Pace(
        _interval(subject, tried, apart),
        size,
        float(np.median(times)) if len(times) else 0.0,
        None if unit == "steps" or last < 1 else amount / (last * size),
        None if subject.study.objective.metric.name in curves else finest_metric(curves),
        apart,
    )


def _next_chunk(
    found: dict[int, Tried], rest: Sequence[int], plan: Plan, pace: Pace
) -> tuple[list[int], int, int]:
    """The next sizes, as far as their few steps end in time; their steps, and how often to try."""
    timed = {float(t.size): t.times for t in found.values() if t.times is not None}
    stopped = saturation(timed, drift=drift_of(tuple(found.values()))).stops_at is not None
    wanted_points = _COARSE_POINTS if pace.apart else _POINTS
    fewest = max(_FIT_STEPS, pace.interval) if stopped else wanted_points * pace.interval
    # Where times are coarse, the smallest of few sizes must be timed for long enough.
    chosen = rest[: 2 if pace.apart else _CHUNK]
    if plan.steps is None:
        within = [size for size in chosen if fewest * pace.expected(size) <= _LONGEST_SECONDS]
        # Whatever is known of a pilot's pace, the smallest size is timed.
        chosen = within if within or found else chosen[:1]
    if not chosen or plan.steps is not None or stopped:
        return list(chosen), plan.steps or fewest, 1 if stopped else _REPEATS
    usual = pace.expected(chosen[0 if pace.apart else len(chosen) // 2])
    seconds = max(_SECONDS, wanted_points * pace.apart)
    wanted = int(seconds / usual) if usual > 0.0 else fewest
    return list(chosen), max(min(wanted, _MOST_STEPS), fewest), _REPEATS


def _study(
    subject: Subject,
    name: str,
    sizes: Sequence[int],
    amount: int,
    steps: int,
    plan: Plan,
    repeats: int = 1,
    judged: str | None = None,
) -> Study:
    knobs, fix = subject.knobs, dict[str, Value]()
    if subject.study.task is not None:
        # Out of the way of the clock, and points enough.
        fix |= {"log_every": max(steps // _POINTS, 1), "checkpoint_every": steps, "keep_best": 0}
    if knobs.eval_interval is not None:
        fix[knobs.eval_interval] = steps
    if knobs.accumulation is not None:
        fix[knobs.accumulation] = 1
    resources = subject.study.resources
    return subject.stage(
        name,
        {subject.name("batch_size"): list(sizes)},
        fix,
        replicates=repeats,
        objective=None if judged is None else Objective(Metric(judged), "last"),
        goal="Which batch sizes fit into memory, and how long do their steps take?",
        steps=amount,
        resources=replace(resources, memory=plan.memory) if plan.memory else resources,
    )


def _interval(subject: Subject, tried: Tried, apart: float) -> int:
    """How many steps a program's times of logging are apart; the reference loop is told."""
    if subject.study.task is not None:
        return 1
    return logging_interval(tried.record.curves, apart) or 1


def _learnt(subject: Subject, pace: Pace, last: Tried) -> Pace:
    times = seconds_per_step(last.record.curves, pace.apart)
    if not len(times):
        return pace
    interval = _interval(subject, last, pace.apart)
    return replace(pace, interval=interval, size=last.size, seconds=float(np.median(times)))
