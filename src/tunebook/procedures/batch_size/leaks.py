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
from tunebook.core.trials import Cause
from tunebook.procedures.batch_size.throughput_words import bytes_text
from tunebook.procedures.batch_size.tried import MEMORY, Tried
from tunebook.procedures.subjects import Subject
from tunebook.stats.growth import FEWEST, Growth, growth

QUESTION: Final = Question("probe-memory", "Does memory keep growing?", "batch-size")
STAGE: Final = "memory"
# So long a trial has points enough, at one look every fifth of a second.
_SECONDS: Final = 12.0
_MOST_STEPS: Final = 100_000
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
    wanted = int(_SECONDS / size.times.median.estimate)
    steps = min(max(wanted, 2 * FEWEST * interval), _MOST_STEPS)
    results = yield _study(subject, STAGE, size.size, steps, limit)
    seen = _looks(results)
    if 0 < seen < FEWEST:
        # Its steps were faster than when they were timed.
        longer = min(steps * math.ceil(1.5 * FEWEST / seen), _MOST_STEPS)
        results = yield _study(subject, f"{STAGE}-2", size.size, longer, limit)
    return results.trials[0] if results.trials else None


def _looks(results: Results) -> int:
    return max((len(r.curves[MEMORY]) for r in results.trials if MEMORY in r.curves), default=0)


def _study(subject: Subject, stage: str, size: int, steps: int, limit: int | None) -> Study:
    fix = dict[str, Value]()
    if subject.study.task is not None:
        fix |= {"log_every": max(steps // (8 * FEWEST), 1), "checkpoint_every": steps}
    if subject.knobs.eval_interval is not None:
        fix[subject.knobs.eval_interval] = max(steps // 4, 1)
    assert subject.knobs.batch_size is not None
    resources = subject.study.resources
    return subject.stage(
        stage,
        {subject.knobs.batch_size: [size]},
        fix,
        goal=QUESTION.text,
        steps=steps,
        resources=replace(resources, memory=limit) if limit else resources,
    )


def leak(record: TrialRecord | None, steps: int | None, limit: int | None) -> Finding:
    """What a trial's memory does over its steps, and what that means for a run of so many."""
    curve = record.curves.get(MEMORY) if record is not None else None
    if record is None or curve is None or len(curve) < FEWEST:
        points = len(curve) if curve is not None else 0
        few = f"Memory was seen at {counted(points, 'step')}, too few to tell."
        if record is not None and _ran_out(record):
            return Finding(QUESTION, Verdict.PROBLEM, f"{few} {_RAN_OUT}", _LESS)
        return Finding(
            QUESTION,
            Verdict.UNKNOWN,
            few,
            "It is looked at when a program logs: log every step, run.log({...}, step=step), for "
            "at least ten seconds.",
        )
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
