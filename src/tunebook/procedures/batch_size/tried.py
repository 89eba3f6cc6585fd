"""What became of batch sizes that were tried: whether they fit, their times and their memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import numpy as np

from tunebook.core.results import Results, TrialRecord
from tunebook.core.trials import Cause, OutcomeKind
from tunebook.procedures.batch_size.timing import least_apart, seconds_per_step, waiting_share
from tunebook.procedures.subjects import Subject
from tunebook.stats.step_times import StepTimes, step_times
from tunebook.stats.throughput import DRIFT

MEMORY: Final = "memory/bytes"
PARTS: Final = ("data", "sync")
# Repeated trials of a size that differ by more leave its time unknown.
BUSY: Final = 0.15


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
    # Trials of a size that fits which broke for reasons of their own.
    broken: tuple[TrialRecord, ...] = ()

    @property
    def throughput(self) -> float | None:
        return self.size / self.times.median.estimate if self.times else None


@dataclass(frozen=True, slots=True)
class Trying:
    """All sizes that were tried, in rising order, and why none larger was, in words."""

    tried: tuple[Tried, ...]
    ended: str
    # What repeated trials of one size differ by, in logs.
    drift: float = DRIFT

    @property
    def beyond(self) -> Tried | None:
        """The smallest size that was not shown to fit, if any was tried."""
        return next((tried for tried in self.tried if tried.fate is not Fate.FITS), None)

    @property
    def fitting(self) -> tuple[Tried, ...]:
        """Those below the first that does not fit: a larger one that does is no rule."""
        first = self.beyond.size if self.beyond is not None else math.inf
        return tuple(t for t in self.tried if t.size < first)

    @property
    def broken(self) -> tuple[Tried, ...]:
        """Sizes that fit, some of whose trials broke."""
        return tuple(tried for tried in self.fitting if tried.broken)

    def broke_by(self, size: int) -> Tried | None:
        """The size at which nothing but broken trials ended the search, at or below one.

        They say nothing of memory: whether that one fits, and how fast it is, is not known.
        """
        beyond = self.beyond
        ended = beyond is not None and beyond.fate is Fate.FAILED and beyond.size <= size
        return beyond if ended else None

    @property
    def is_busy(self) -> bool:
        """Whether the machine had other things to do, so that times say little."""
        return self.drift > BUSY

    @property
    def timed(self) -> dict[float, StepTimes]:
        return {float(t.size): t.times for t in self.fitting if t.times is not None}


def read_sizes(subject: Subject, results: Results, steps: int) -> tuple[Tried, ...]:
    name, apart = subject.name("batch_size"), least_apart(subject.study)
    every = [_tried(int(str(r.trial.config[name])), r, steps, apart) for r in results.trials]
    sizes = sorted({tried.size for tried in every})
    return tuple(_together([one for one in every if one.size == size]) for size in sizes)


def _together(same: Sequence[Tried]) -> Tried:
    """Trials of one size: the one that ran out of memory, or the fastest with what all needed.

    One that broke beside one that fits says nothing of the size.
    """
    fitting = [one for one in same if one.fate is Fate.FITS]
    over = next((one for one in same if one.fate is Fate.OUT_OF_MEMORY), None)
    if over is not None or not fitting:
        return over or same[0]
    timed = [one for one in fitting if one.times is not None]
    best = min(timed or fitting, key=lambda one: one.times.median.estimate if one.times else 0.0)
    memory = max((one.memory for one in fitting if one.memory is not None), default=None)
    medians = tuple(one.times.median.estimate for one in timed if one.times is not None)
    broken = tuple(one.record for one in same if one.fate is Fate.FAILED)
    return replace(best, memory=memory, medians=medians, broken=broken)


def _tried(size: int, record: TrialRecord, steps: int, apart: float) -> Tried:
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
        step_times(seconds_per_step(record.curves, apart)),
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


def drift_of(tried: Sequence[Tried]) -> float:
    """The error of a size's time beyond the noise of its steps, from repeated trials."""
    logs = [np.log(one.medians) for one in tried if len(one.medians) > 1]
    if not logs:
        return DRIFT
    variance = float(np.mean([np.var(values, ddof=1) for values in logs]))
    # The least disturbed of two is known about as well as their mean.
    return max(math.sqrt(variance / 2.0), DRIFT)


def why_ended(tried: Tried) -> str:
    said = said_of(tried.record)
    if tried.fate is Fate.OUT_OF_MEMORY:
        return f"{tried.size:,} ran out of memory ({said})"
    return f"{tried.size:,} failed ({said})"


def said_of(record: TrialRecord) -> str:
    """What is said of the end of a trial, in one line."""
    return " ".join(record.outcome.reason.split()) if record.outcome is not None else ""
