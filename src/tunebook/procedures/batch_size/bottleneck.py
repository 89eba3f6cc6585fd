"""What limits the throughput of a training program, as far as its times show it."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.study import Study
from tunebook.diagnosis.phrases import percent
from tunebook.procedures.batch_size.throughput_words import rate_text, seconds_text, size_text
from tunebook.procedures.batch_size.tried import Fate, Tried, Trying
from tunebook.stats.throughput import AffineTime, Saturation

QUESTION: Final = Question("probe-bottleneck", "What limits the throughput?", "batch-size")
# From this share on, a part of a step is what limits it; from half on, it is a problem.
NOTABLE: Final = 0.2
_MOST: Final = 0.5
# Throughput that falls this far below its highest has run into memory.
_FALLEN: Final = 0.1
_PROCESSES: Final = re.compile(r"--n(?:proc|procs)[-_]per[-_]node(?:=(\d+))?\Z")
SAY_DATA: Final = (
    'Wrap what fetches a batch, `with run.timing("data"): batch = next(batches)`, and probe again.'
)


class Limit(StrEnum):
    """What a program's steps wait for."""

    INPUT = "input"
    SYNCHRONISATION = "synchronisation"
    CAPACITY = "memory capacity"
    BANDWIDTH = "memory"
    FIXED = "fixed cost per step"
    COMPUTE = "compute per example"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of all sizes together, and the size that is recommended.

    `fitted` is the line through the times of all sizes, whether they follow it or not.
    """

    trying: Trying
    fitted: AffineTime | None
    saturation: Saturation
    recommended: Tried

    @property
    def line(self) -> AffineTime | None:
        """The line, if times follow it: of another one nothing may be read."""
        return self.fitted if self.fitted is not None and self.fitted.fits else None

    @property
    def timed(self) -> tuple[Tried, ...]:
        return tuple(tried for tried in self.trying.fitting if tried.times is not None)

    def above(self, part: str) -> Tried | None:
        """The first size above the recommended one that tells how long it waits for a part.

        What makes throughput stop shows there: a loader that prefetches keeps up until then.
        """
        larger = (tried for tried in self.timed if tried.size > self.recommended.size)
        return next((tried for tried in larger if part in tried.waits), None)


def processes(study: Study) -> int:
    """How many processes a study's command starts by `torchrun` or a program like it."""
    arguments = study.command.arguments if study.command is not None else ()
    for argument, following in itertools.pairwise((*arguments, "")):
        found = _PROCESSES.match(argument)
        if found:
            given = found[1] or following
            return int(given) if given.isdigit() else 1
    return 1


def limit(measured: Measured, several: bool) -> Limit:
    """What limits the throughput at the recommended size, and from there on."""
    best, trying = measured.recommended, measured.trying
    if _waiting(measured, "data") is not None:
        return Limit.INPUT
    if _waiting(measured, "sync") is not None:
        return Limit.SYNCHRONISATION
    if trying.is_busy:
        return Limit.UNKNOWN
    rises = measured.saturation.stops_at is None and best is trying.fitting[-1]
    if rises and any(tried.fate is Fate.OUT_OF_MEMORY for tried in trying.tried):
        return Limit.CAPACITY
    if _falls(measured):
        # A loader that slows down looks alike, from outside.
        return Limit.BANDWIDTH if "data" in measured.timed[-1].waits else Limit.UNKNOWN
    if measured.line is None:
        # Whatever the shape: more examples take as much longer, and do not wait.
        return Limit.COMPUTE if measured.above("data") and "data" in best.waits else Limit.UNKNOWN
    if fixed_share(measured.line, best.size) >= _MOST:
        return Limit.UNKNOWN if several and "sync" not in best.waits else Limit.FIXED
    return Limit.COMPUTE if "data" in best.waits else Limit.UNKNOWN


def _waiting(measured: Measured, part: str) -> Tried | None:
    """The size that shows that waiting for a part limits the throughput."""
    seen = [measured.recommended, measured.above(part)]
    seen += [measured.timed[-1]] if _falls(measured) else []
    return next((one for one in seen if one and one.waits.get(part, 0.0) >= NOTABLE), None)


def fixed_share(line: AffineTime, size: float) -> float:
    """The share of a step's time that does not grow with the batch."""
    return line.fixed.estimate / line.seconds(size)


def bottleneck(measured: Measured, study: Study) -> Finding:
    """The finding that names it."""
    several = processes(study)
    found = limit(measured, several > 1)
    best, line = measured.recommended, measured.line
    at = f"at a batch size of {size_text(best.size)}"
    numbers = {f"share_{part}": share for part, share in best.waits.items()}
    if line is not None:
        numbers["fixed_share"] = fixed_share(line, best.size)
    match found:
        case Limit.INPUT | Limit.SYNCHRONISATION:
            part = "data" if found is Limit.INPUT else "sync"
            seen = _waiting(measured, part) or best
            waiting = seen.waits[part]
            sentence = f"{found.capitalize()}: {_waiting_text(measured, part, seen)}"
            if seen is not best:
                numbers[f"share_{part}_above"] = waiting
            problem = waiting >= _MOST and seen is best
            verdict, advice = Verdict.PROBLEM if problem else Verdict.WATCH, _ADVICE[found]
        case Limit.CAPACITY:
            verdict, advice = Verdict.WATCH, _ADVICE[found]
            sentence = (
                f"Memory capacity: throughput still rises {at}, and twice that runs out of memory."
            )
        case Limit.BANDWIDTH:
            verdict, advice = Verdict.WATCH, _ADVICE[found]
            share = percent(measured.timed[-1].waits["data"])
            sentence = f"Memory: {_fallen_text(measured)}, where waiting for data takes {share}."
        case Limit.FIXED | Limit.COMPUTE:
            waited = best.waits.get("data")
            waits = "" if waited is None else f" Waiting for data takes {percent(waited)}."
            sentence = f"{found.capitalize()}: {_parts_text(measured)}{waits}"
            verdict, advice = Verdict.GOOD, _ADVICE[found]
        case _:
            verdict, (sentence, advice) = Verdict.UNKNOWN, _open_text(measured, several)
    return Finding(
        QUESTION,
        verdict,
        sentence,
        advice,
        numbers=numbers,
        method="a step's time as a fixed part and one in proportion to the batch, and what the "
        "program says of its waiting",
    )


_ADVICE: Final = {
    Limit.INPUT: "Make batches beside the computation: more loader processes, prefetching, less "
    "work for each example, or data in memory. Then probe again: a larger batch does not help.",
    Limit.SYNCHRONISATION: "Synchronise less or faster: larger buckets, fewer and larger batches "
    "for each process, overlap with the backward pass, a faster connection.",
    Limit.CAPACITY: "Mixed precision, activation checkpointing or a device with more memory would "
    "let throughput rise further. Gradient accumulation would not: it brings no throughput.",
    Limit.BANDWIDTH: "Stay below that size: beyond it, caches or memory bandwidth give out, or "
    "the machine swaps.",
    Limit.FIXED: "A larger batch takes hardly longer, as long as most of a step is fixed cost. "
    "Compilation, fused optimisers and fewer host calls in each step lower that cost.",
    Limit.COMPUTE: "The device is busy: only a faster one, lower precision or a cheaper model "
    "brings more examples in a second.",
}


def _waiting_text(measured: Measured, part: str, seen: Tried) -> str:
    """How long a step waits for a part, at the size that shows it."""
    best = measured.recommended
    spends = f"a step spends {percent(seen.waits[part])} waiting for " + (
        "data" if part == "data" else "other processes"
    )
    if seen is not best and seen is not measured.above(part):
        return f"{_fallen_text(measured)}, where {spends}."
    text = f"at a batch size of {size_text(seen.size)} {spends}."
    if seen is best:
        return text
    own = f", and {percent(best.waits[part])} there" if part in best.waits else ""
    return f"{text} Throughput stops rising at {size_text(best.size)} for that{own}."


def _parts_text(measured: Measured) -> str:
    """What of a step grows with the batch, as a sentence."""
    line, best = measured.line, measured.recommended
    if line is None:
        return f"from a batch size of {size_text(best.size)} on, steps take longer as batches grow."
    fixed, whole = (seconds_text(t) for t in (line.fixed.estimate, line.seconds(best.size)))
    share = percent(fixed_share(line, best.size))
    at = f"at a batch size of {size_text(best.size)}"
    return f"{fixed} of the {whole} of a step ({share}) do not grow with the batch, {at}."


def _falls(measured: Measured) -> bool:
    """Whether throughput falls clearly beyond its highest, by more than noise."""
    timed = measured.timed
    rates = [t.throughput or 0.0 for t in timed]
    if len(rates) < 2 or max(rates) == rates[-1]:
        return False
    top = timed[rates.index(max(rates))].times
    last = timed[-1].times
    if top is None or last is None:
        return False
    slowest_top = max(rates) * top.median.estimate / top.median.high
    fastest_last = rates[-1] * last.median.estimate / last.median.low
    return fastest_last < (1.0 - _FALLEN) * slowest_top


def _fallen_text(measured: Measured) -> str:
    last = measured.timed[-1]
    top = max(measured.timed, key=lambda t: t.throughput or 0.0)
    return (
        f"throughput falls from {rate_text(top.throughput or 0)} examples per second at "
        f"{size_text(top.size)} to {rate_text(last.throughput or 0)} at {size_text(last.size)}"
    )


def _open_text(measured: Measured, several: int) -> tuple[str, str]:
    """What cannot be told, and what would tell it."""
    line, best = measured.line, measured.recommended
    if measured.trying.is_busy:
        return (
            "The machine was busy with other things: times do not say what limits them.",
            "Probe again, with --again, when it has nothing else to do.",
        )
    if _falls(measured):
        fallen = _fallen_text(measured)
        return (
            f"{fallen[0].upper()}{fallen[1:]}; whether the loader or memory slows down, the "
            "program does not say.",
            SAY_DATA,
        )
    if line is None:
        return _without_line(measured)
    share = fixed_share(line, best.size)
    if share >= _MOST:
        return (
            f"{percent(share)} of a step at {size_text(best.size)} does not depend on the batch; "
            f"whether that is the host or the synchronisation of {several} processes, its times "
            "do not say.",
            'Wrap the synchronisation, `with run.timing("sync"): ...`, or probe with '
            "--nproc-per-node=1 beside it.",
        )
    return (
        f"An example costs {seconds_text(line.per_example.estimate)}; whether that is computing "
        "or waiting for data, the program does not say.",
        SAY_DATA,
    )


def _without_line(measured: Measured) -> tuple[str, str]:
    """The same where no line says what a step and what an example costs."""
    fitted, best = measured.fitted, measured.recommended
    advice = SAY_DATA if "data" not in best.waits else "Probe again, with more steps by --steps."
    if fitted is None:
        return "Too few sizes could be timed to say what limits them.", advice
    return (
        f"Times of steps follow no line, off by {percent(fitted.largest)} at "
        f"{size_text(fitted.at)}, and do not say what limits them.",
        advice,
    )
