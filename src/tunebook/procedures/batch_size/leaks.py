"""Does a training program's memory keep growing?"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace
from typing import Final

import numpy as np

from tunebook.core.domains import Value
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted
from tunebook.core.results import Results, TrialRecord
from tunebook.core.study import Study
from tunebook.core.trials import Cause, OutcomeKind
from tunebook.execution.run import MEMORY_SECONDS
from tunebook.procedures.batch_size.throughput_words import bytes_text
from tunebook.procedures.batch_size.tried import MEMORY, Tried
from tunebook.procedures.subjects import Subject
from tunebook.stats.growth import FEWEST, Growth, growth

QUESTION: Final = Question("probe-memory", "Does memory keep growing?", "batch-size")
STAGE: Final = "memory"
# So long a trial has points enough, at one look every fifth of a second.
_SECONDS: Final = 12.0
# So long it should have been at least, for the looks that are needed.
_FEWEST_SECONDS: Final = MEMORY_SECONDS * FEWEST
# A trial that proved faster than when it was timed is followed by a longer one, so often.
_TIMES: Final = 3
# More points of every metric would weigh on the book.
_MOST_STEPS: Final = 2_000_000
_ALARM: Final = 0.01
# Growth over the whole run that is worth a word: of what it has, and at least so much.
_SHARE: Final = 0.1
_LEAST: Final = 32 * 2**20
_RAN_OUT: Final = "The trial itself ran out of memory."
_LESS: Final = "Take a smaller batch size, or give trials more memory with --memory."


def watch_memory(
    subject: Subject, size: Tried, interval: int, limit: int | None
) -> Generator[Study, Results, TrialRecord | None]:
    """A longer trial of one size, for `yield from`; None where its pace is not known."""
    if size.times is None or subject.knobs.steps_unit != "steps":
        return None
    steps = 2 * FEWEST * interval
    seconds = size.times.median.estimate
    for number in range(1, _TIMES + 1):
        steps = min(max(steps, math.ceil(_SECONDS / seconds)), _MOST_STEPS)
        name = STAGE if number == 1 else f"{STAGE}-{number}"
        results = yield _study(subject, name, size.size, steps, limit)
        (record,) = results.trials
        looks, lasted = _watched(record)
        # What ended early, or was not looked at however long it took, is not to be had by length.
        if not 0 < looks < FEWEST or steps == _MOST_STEPS or _has_failed(record):
            break
        seconds = lasted / steps if lasted > 0.0 else seconds
        steps *= math.ceil(1.5 * FEWEST / looks)
    return record


def _watched(record: TrialRecord) -> tuple[int, float]:
    """At how many steps its memory was seen, and the seconds from its first point to its last."""
    curve = record.curves.get(MEMORY)
    logged = [own.seconds for own in record.curves.values() if len(own)]
    last, first = (max(s[-1] for s in logged), min(s[0] for s in logged)) if logged else (0, 0)
    return (len(curve) if curve is not None else 0), float(last - first)


def _has_failed(record: TrialRecord) -> bool:
    return record.outcome is not None and record.outcome.kind is not OutcomeKind.COMPLETE


def _study(subject: Subject, stage: str, size: int, steps: int, limit: int | None) -> Study:
    fix = dict[str, Value]()
    if subject.study.task is not None:
        fix |= {"log_every": max(steps // (8 * FEWEST), 1), "checkpoint_every": steps}
    if subject.knobs.eval_interval is not None:
        fix[subject.knobs.eval_interval] = max(steps // 4, 1)
    resources = subject.study.resources
    return subject.stage(
        stage,
        {subject.name("batch_size"): [size]},
        fix,
        goal=QUESTION.text,
        steps=steps,
        resources=replace(resources, memory=limit) if limit else resources,
    )


def leak(record: TrialRecord | None, steps: int | None, limit: int | None) -> Finding:
    """What a trial's memory does over its steps, and what that means for a run of so many."""
    if record is None:
        return Finding(
            QUESTION,
            Verdict.UNKNOWN,
            "Memory was not watched: the study does not count steps.",
            "Write 'max_steps: 2000', or name a parameter that counts steps under knobs.",
        )
    curve = record.curves.get(MEMORY)
    if curve is None or len(curve) < FEWEST:
        return _too_few(record)
    now = float(np.median(curve.values[-5:]))
    whole = steps or int(curve.steps[-1])
    least = max(_SHARE * now, _LEAST) / whole
    found = growth(curve.steps, curve.values, least=least)
    assert found is not None
    numbers = {
        "bytes_per_step": found.per_step.estimate,
        "bytes_per_step_low": found.per_step.low,
        "bytes_per_step_high": found.per_step.high,
        "bytes": now,
        "p": found.p,
    }
    method = "increases between block medians after warm-up, without the two largest and smallest"
    seen, ran_out = int(curve.steps[-1]), _ran_out(record)
    if found.p <= _ALARM:
        verdict, sentence, advice = _growing(found, now, seen, whole, limit)
    else:
        verdict, sentence, advice = Verdict.GOOD, _calm(now, seen, ran_out), ""
    if ran_out:
        # Whatever the curve says: what ended it may have come between two looks.
        verdict, sentence, advice = Verdict.PROBLEM, f"{sentence} {_RAN_OUT}", advice or _LESS
    return Finding(QUESTION, verdict, sentence, advice, numbers=numbers, method=method)


def _too_few(record: TrialRecord) -> Finding:
    looks, seconds = _watched(record)
    few = f"Memory was seen at {counted(looks, 'step')}, too few to tell."
    if _ran_out(record):
        return Finding(QUESTION, Verdict.PROBLEM, f"{few} {_RAN_OUT}", _LESS)
    if not _has_failed(record) and 0.0 < seconds < _FEWEST_SECONDS:
        steps = max(int(own.steps[-1]) for own in record.curves.values() if len(own))
        few += (
            f" Steps are too fast: memory is looked at every {MEMORY_SECONDS:g} s, and "
            f"{counted(steps, 'step')} took {seconds:.2g} s."
        )
        advice = (
            "Probe a larger batch size or model, whose steps take longer (--set), or let the "
            "program count several updates as one step."
        )
    else:
        advice = (
            "It is looked at when a program logs: log more often, every step if you can, "
            "run.log({...}, step=step)."
        )
    return Finding(QUESTION, Verdict.UNKNOWN, few, advice)


def _ran_out(record: TrialRecord) -> bool:
    return record.outcome is not None and record.outcome.cause is Cause.OUT_OF_MEMORY


def _calm(now: float, seen: int, ran_out: bool) -> str:
    steps = counted(seen, "step")
    if ran_out:
        return f"Memory was at {bytes_text(now)} after {steps}, without steady growth."
    return f"Memory stays at {bytes_text(now)} over {steps}."


def _growing(
    found: Growth, now: float, seen: int, whole: int, limit: int | None
) -> tuple[Verdict, str, str]:
    slope = found.per_step.estimate
    at_end = now + slope * max(whole - seen, 0)
    sentence = (
        f"Memory grows by {bytes_text(slope)} a step ({bytes_text(found.per_step.low)} to "
        f"{bytes_text(found.per_step.high)}): a run of {counted(whole, 'step')} will need "
        f"{bytes_text(at_end)}."
    )
    verdict = Verdict.WATCH
    if limit is not None:
        last = seen + math.floor(max(limit - now, 0.0) / slope)
        if last < whole:
            verdict = Verdict.PROBLEM
            sentence += f" With {bytes_text(limit)} it runs out after about {last:,} steps."
        else:
            sentence += f" {bytes_text(limit)} would last for about {last:,} steps."
    advice = (
        "Look for what each step keeps: losses appended with their graph (use loss.item()), "
        "growing lists and caches, hooks that are added again, workers that copy what they touch."
    )
    return verdict, sentence, advice
