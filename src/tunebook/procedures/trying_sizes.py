"""Trying batch sizes, ever larger ones, until memory runs out: a few steps each."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import Cause, OutcomeKind
from tunebook.procedures.subjects import Subject
from tunebook.procedures.timing import logging_interval, seconds_per_step, waiting_share
from tunebook.stats.step_times import StepTimes, step_times
from tunebook.stats.throughput import DRIFT, saturation

STAGE: Final = "sizes"
MEMORY: Final = "memory/bytes"
PARTS: Final = ("data", "sync")
# Sizes of one study; the next ones are chosen when these are known.
_CHUNK: Final = 4
_PILOT_STEPS: Final = 32
# A machine is never quite quiet: sizes are tried in turn, twice.
_REPEATS: Final = 2
# Repeated trials of a size that differ by more leave its time unknown.
BUSY: Final = 0.15
# A size is timed for about so long, over at least so many points of its curves.
_SECONDS: Final = 2.0
_POINTS: Final = 16
_MOST_STEPS: Final = 2000
# A size whose few steps would take longer than this is not tried.
_LONGEST_SECONDS: Final = 60.0
# Where throughput has stopped rising, larger sizes need only be shown to fit.
_FIT_STEPS: Final = 3


class Fate(StrEnum):
    """What became of a batch size."""

    FITS = "fits"
    OUT_OF_MEMORY = "out of memory"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Tried:
    """A batch size with the times of its steps, if they could be told, and what it needed.

    `waits` has the share of a step that a part of it took, by part, where the program says so.
    """

    size: int
    fate: Fate
    # The one whose steps were least disturbed, if there are several.
    record: TrialRecord
    times: StepTimes | None = None
    memory: float | None = None
    waits: dict[str, float] = field(default_factory=dict)
    # The medians of all its trials, and the number of training examples if the loop tells it.
    medians: tuple[float, ...] = ()
    examples: int | None = None

    @property
    def throughput(self) -> float | None:
        return self.size / self.times.median.estimate if self.times else None


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sizes to try, for how many steps (None: by time), under which limit in bytes."""

    sizes: tuple[int, ...]
    steps: int | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Trying:
    """All sizes that were tried, in rising order, and why none larger was, in words."""

    tried: tuple[Tried, ...]
    ended: str
    # What repeated trials of one size differ by, in logs.
    drift: float = DRIFT

    @property
    def fitting(self) -> tuple[Tried, ...]:
        """Those below the first that does not fit: a larger one that does is no rule."""
        first = next((t.size for t in self.tried if t.fate is not Fate.FITS), math.inf)
        return tuple(t for t in self.tried if t.size < first)

    @property
    def is_busy(self) -> bool:
        """Whether the machine had other things to do, so that times say little."""
        return self.drift > BUSY

    @property
    def timed(self) -> dict[float, StepTimes]:
        return {float(t.size): t.times for t in self.fitting if t.times is not None}


@dataclass(frozen=True, slots=True)
class Pace:
    """What trials have shown so far: steps between points, seconds of a step, units of a step."""

    interval: int = 1
    size: int = 1
    seconds: float = 0.0
    # How much of the study's own unit (steps, epochs, tokens) one example is; None: steps.
    unit: float | None = None

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
        return _ended({first.size: first, **found}, _why_ended(first))
    most = first.examples or math.inf
    rest = [size for size in sizes if size == sizes[0] or size <= most]
    for number in range(1, len(sizes) + 1):
        chunk, steps = _next_chunk(found, rest, plan, pace)
        if not chunk:
            seconds = pace.expected(rest[0])
            ended = f"a step of {rest[0]:,} would take about {seconds:.2g} s"
            return _ended(found, ended)
        name = f"{STAGE}-{number}"
        amount, repeats = pace.amount(steps, chunk[-1]), 1 if steps == _FIT_STEPS else _REPEATS
        results = yield _study(subject, name, chunk, amount, steps, plan, repeats)
        tried = _read(subject, results, steps)
        found |= {one.size: one for one in tried}
        rest = rest[len(chunk) :]
        failed = next((one for one in tried if one.fate is not Fate.FITS), None)
        if failed is not None:
            return _ended(found, _why_ended(failed))
        if not rest:
            break
        pace = _learnt(pace, tried)
    too_large = [one for one in found.values() if one.fate is not Fate.FITS]
    if too_large:
        return _ended(found, _why_ended(min(too_large, key=lambda one: one.size)))
    if sizes[-1] > most:
        return _ended(found, f"there are {most:,} training examples")
    return _ended(found, f"{sizes[-1]:,} is the largest that was to be tried")


def powers(smallest: int, largest: int) -> tuple[int, ...]:
    """Sizes from the smallest on, each twice the one before.

    >>> powers(8, 100)
    (8, 16, 32, 64)
    """
    return tuple(smallest * 2**i for i in range(int(math.log2(max(largest / smallest, 1))) + 1))


def _ended(found: dict[int, Tried], why: str) -> Trying:
    tried = tuple(found[size] for size in sorted(found))
    return Trying(tried, why, _drift(tried))


def _drift(tried: Sequence[Tried]) -> float:
    """The error of a size's time beyond the noise of its steps, from repeated trials."""
    logs = [np.log(one.medians) for one in tried if len(one.medians) > 1]
    if not logs:
        return DRIFT
    variance = float(np.mean([np.var(values, ddof=1) for values in logs]))
    # The least disturbed of two is known about as well as their mean.
    return max(math.sqrt(variance / 2.0), DRIFT)


def _pilot(subject: Subject, plan: Plan) -> Generator[Study, Results, tuple[Tried, Pace]]:
    """A short trial of the smallest size: how often it logs, and how long its steps take."""
    size, whole = plan.sizes[0], subject.steps or _PILOT_STEPS
    unit = subject.knobs.steps_unit
    steps = min(plan.steps or _PILOT_STEPS, whole) if unit == "steps" else _PILOT_STEPS
    amount = {"epochs": 1, "tokens": max(whole // 50, 1)}.get(unit, steps)
    results = yield _study(subject, f"{STAGE}-pilot-{size}", [size], amount, steps, plan)
    tried = _read(subject, results, steps)[0]
    curves = tried.record.curves
    if tried.fate is not Fate.OUT_OF_MEMORY and len(seconds_per_step(curves)) < 2 and whole > steps:
        # It logs less often than that: a whole trial shows how often.
        amount = whole
        results = yield _study(subject, f"{STAGE}-whole-{size}", [size], whole, whole, plan)
        tried = _read(subject, results, whole)[0]
        curves = tried.record.curves
    times = seconds_per_step(curves)
    last = max((int(curve.steps[-1]) for curve in curves.values() if len(curve)), default=0)
    return tried, Pace(
        logging_interval(curves) or 1 if subject.study.task is None else 1,
        size,
        float(np.median(times)) if len(times) else 0.0,
        None if unit == "steps" or last < 1 else amount / (last * size),
    )


def _next_chunk(
    found: dict[int, Tried], rest: Sequence[int], plan: Plan, pace: Pace
) -> tuple[list[int], int]:
    """The next sizes, as far as their few steps end in time, and the number of steps."""
    timed = {float(t.size): t.times for t in found.values() if t.times is not None}
    stopped = saturation(timed, drift=_drift(tuple(found.values()))).stops_at is not None
    fewest = _FIT_STEPS if stopped else _POINTS * pace.interval
    chosen = rest[:_CHUNK]
    if plan.steps is None:
        within = [size for size in chosen if fewest * pace.expected(size) <= _LONGEST_SECONDS]
        # Whatever is known of a pilot's pace, the smallest size is timed.
        chosen = within if within or found else chosen[:1]
    if not chosen or plan.steps is not None or stopped:
        return list(chosen), plan.steps or fewest
    middle = pace.expected(chosen[len(chosen) // 2])
    wanted = int(_SECONDS / middle) if middle > 0.0 else fewest
    return list(chosen), max(min(wanted, _MOST_STEPS), fewest)


def _study(
    subject: Subject,
    name: str,
    sizes: Sequence[int],
    amount: int,
    steps: int,
    plan: Plan,
    repeats: int = 1,
) -> Study:
    knobs, fix = subject.knobs, dict[str, Value]()
    if subject.study.task is not None:
        # Out of the way of the clock, and points enough.
        fix |= {"log_every": max(steps // _POINTS, 1), "checkpoint_every": steps, "keep_best": 0}
    if knobs.eval_interval is not None:
        fix[knobs.eval_interval] = steps
    if knobs.accumulation is not None:
        fix[knobs.accumulation] = 1
    assert knobs.batch_size is not None
    resources = subject.study.resources
    return subject.stage(
        name,
        {knobs.batch_size: list(sizes)},
        fix,
        replicates=repeats,
        goal="Which batch sizes fit into memory, and how long do their steps take?",
        steps=amount,
        resources=replace(resources, memory=plan.memory) if plan.memory else resources,
    )


def _read(subject: Subject, results: Results, steps: int) -> tuple[Tried, ...]:
    name = subject.knobs.batch_size
    assert name is not None
    every = [_tried(int(str(r.trial.config[name])), r, steps) for r in results.trials]
    sizes = sorted({tried.size for tried in every})
    return tuple(_together([one for one in every if one.size == size]) for size in sizes)


def _together(same: Sequence[Tried]) -> Tried:
    """Trials of one size: the one that does not fit, or the fastest with what all needed."""
    bad = next((one for one in same if one.fate is not Fate.FITS), None)
    if bad is not None:
        return bad
    timed = [one for one in same if one.times is not None]
    best = min(timed or same, key=lambda one: one.times.median.estimate if one.times else 0.0)
    memory = max((one.memory for one in same if one.memory is not None), default=None)
    medians = tuple(one.times.median.estimate for one in timed if one.times is not None)
    return replace(best, memory=memory, medians=medians)


def _tried(size: int, record: TrialRecord, steps: int) -> Tried:
    fate = _fate(record, steps)
    if fate is not Fate.FITS:
        return Tried(size, fate, record)
    memory = record.curves.get(MEMORY)
    shares = {part: waiting_share(record.curves, part) for part in PARTS}
    examples = record.curves.get("train/examples")
    return Tried(
        size,
        fate,
        record,
        step_times(seconds_per_step(record.curves)),
        float(memory.values.max()) if memory is not None and len(memory) else None,
        {part: share for part, share in shares.items() if share is not None},
        examples=int(examples.values[-1]) if examples is not None and len(examples) else None,
    )


def _fate(record: TrialRecord, steps: int) -> Fate:
    outcome = record.outcome
    if outcome is None or outcome.kind is OutcomeKind.COMPLETE or outcome.cause is Cause.DIVERGED:
        return Fate.FITS
    if outcome.cause is Cause.OUT_OF_MEMORY:
        return Fate.OUT_OF_MEMORY
    # One that made its steps, and failed for want of an evaluation, has shown what it takes.
    last = max((int(c.steps[-1]) for c in record.curves.values() if len(c)), default=-1)
    return Fate.FITS if last + 1 >= steps else Fate.FAILED


def _learnt(pace: Pace, tried: Sequence[Tried]) -> Pace:
    last = tried[-1]
    times = seconds_per_step(last.record.curves)
    if not len(times):
        return pace
    return replace(pace, size=last.size, seconds=float(np.median(times)))


def _why_ended(tried: Tried) -> str:
    reason = tried.record.outcome.reason if tried.record.outcome else ""
    said = " ".join(reason.split())
    if tried.fate is Fate.OUT_OF_MEMORY:
        return f"{tried.size:,} ran out of memory ({said})"
    return f"{tried.size:,} failed ({said})"
