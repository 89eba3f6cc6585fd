"""Which batch sizes are feasible, how fast is each, and which one to take?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.study import Study
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.batch_size import pictures as pictures_batch
from tunebook.procedures.batch_size.bottleneck import Measured, bottleneck, processes
from tunebook.procedures.batch_size.choices import Choice, choose, edits, size_advice
from tunebook.procedures.batch_size.goal_words import goal_finding
from tunebook.procedures.batch_size.goals import Goal
from tunebook.procedures.batch_size.leaks import leak, watch_memory
from tunebook.procedures.batch_size.size_words import sizes_text, untimed
from tunebook.procedures.batch_size.timing import logging_interval
from tunebook.procedures.batch_size.to_goal import Reached, reach_goal
from tunebook.procedures.batch_size.tried import Tried, Trying
from tunebook.procedures.batch_size.trying import Plan, powers, try_sizes
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.options import LARGEST, memory_limit
from tunebook.procedures.subjects import Subject
from tunebook.stats.throughput import STOPPED, AffineTime, affine_time, saturation
from tunebook.training.knobs import REGULARISERS

QUESTION: Final = Question(
    "probe-batch-size",
    "Which batch sizes are feasible, and where does throughput stop rising?",
    "batch-size",
)
NEEDS: Final = (
    Need("batch_size", "to vary it"),
    Need(MAX_STEPS, "to make trials short"),
    Need("eval_interval", "to keep evaluations out of the timing", required=False),
    Need("accumulation", "to switch it off while timing", required=False),
    Need("learning_rate", "to tune it again at each size, for --to-goal", required=False),
    Need("target", "the goal, for --to-goal without --goal", required=False),
    Need("grad_norm", "for the gradient-noise scale", required=False),
)
SMALLEST: Final = 8


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Sizes by powers of two under a limit of memory; with a goal, the steps to it as well."""
    goal = Goal.of(subject, options) if options.get("to_goal") or "goal" in options else None
    plan = _plan(subject, options)
    trying = yield from try_sizes(subject, plan)
    if not trying.timed:
        finding = untimed(QUESTION, subject, trying)
        return Answer((finding,), pictures_batch.throughput(trying, None, None))
    measured = _measured(trying)
    watched = _nearest(trying, _current(subject)) or measured.recommended
    interval = logging_interval(watched.record.curves) or 1
    record = yield from watch_memory(
        subject, watched, 1 if subject.study.task else interval, plan.memory
    )
    reached: Reached | None = None
    if goal is not None:
        reached = yield from reach_goal(subject, goal, measured)
    return _answer(subject, plan, measured, (leak(record, subject.steps, plan.memory),), reached)


def _answer(
    subject: Subject,
    plan: Plan,
    measured: Measured,
    findings: tuple[Finding, ...],
    reached: Reached | None,
) -> Answer:
    choice = choose(subject, measured, reached)
    changes = edits(subject, measured, choice)
    retune = _retune(subject.study) if changes else ()
    found = [
        _finding(subject, measured, choice, retune),
        bottleneck(measured, subject.study),
        *findings,
    ]
    pictures = pictures_batch.throughput(measured.trying, measured.line, measured.recommended.size)
    if reached is not None:
        found.insert(0, goal_finding(reached))
        pictures = (*pictures_batch.to_goal(reached), *pictures)
    return Answer(tuple(found), pictures, changes, retune)


def _plan(subject: Subject, options: Mapping[str, Value]) -> Plan:
    current = max(_current(subject), 1)
    several = processes(subject.study) if subject.knobs.batch_size_per == "global" else 1
    usual = max(min(SMALLEST, _power(current)), several)
    smallest = int(_number(options, "smallest") or usual)
    largest = int(_number(options, "largest") or max(LARGEST, smallest))
    if largest < smallest:
        raise StudyError(
            f"the largest batch size, {largest}, is below the smallest, {smallest}; "
            "give --largest a larger value or --smallest a smaller one"
        )
    steps, given = _number(options, "steps"), options.get("memory")
    memory = memory_limit(given) if given is not None else subject.study.resources.memory
    limit = memory or _number(options, "free_memory")
    return Plan(
        powers(smallest, largest),
        int(steps) if steps else None,
        int(limit) if limit else None,
    )


def _measured(trying: Trying) -> Measured:
    found = saturation(trying.timed, drift=trying.drift)
    timed = [tried for tried in trying.fitting if tried.times is not None]
    line = affine_time(trying.timed, drift=trying.drift)
    # Noise can hide the stop from neighbours: nothing larger than the smallest about as fast as the
    # fastest, nor than where the line through all of them stops.
    top = max(tried.throughput or 0.0 for tried in timed)
    ends = [t.size for t in timed if (t.throughput or 0.0) >= (1.0 - STOPPED) * top][:1]
    ends += [int(found.stops_at)] if found.stops_at is not None else []
    if line is not None and line.fits:
        ends += [t.size for t in timed if _doubling(line, t.size) < STOPPED][:1]
    recommended = next(tried for tried in timed if tried.size == min(ends))
    return Measured(trying, line, found, recommended)


def _doubling(line: AffineTime, size: float) -> float:
    """By what share throughput grows when a size is doubled."""
    return line.throughput(2.0 * size) / line.throughput(size) - 1.0


def _finding(
    subject: Subject, measured: Measured, choice: Choice, retune: tuple[str, ...]
) -> Finding:
    trying, line = measured.trying, measured.line
    verdict = Verdict.GOOD if choice.stays else Verdict.WATCH
    if trying.is_busy or choice.unknown:
        verdict = Verdict.UNKNOWN
    numbers = {
        "recommended": float(measured.recommended.size),
        "largest_fitting": float(trying.fitting[-1].size),
    }
    if line is not None:
        numbers |= {"seconds_fixed": line.fixed.estimate}
        numbers |= {"seconds_per_example": line.per_example.estimate}
    return Finding(
        QUESTION,
        verdict,
        sizes_text(measured),
        _advice(subject, trying, choice, retune),
        numbers=numbers,
        method="medians of step times after warm-up, one trial at a time; t(B) = t0 + t1 B; a "
        "doubling that brings less than a tenth is no rise",
    )


def _advice(subject: Subject, trying: Trying, choice: Choice, retune: tuple[str, ...]) -> str:
    name = subject.name("batch_size")
    parts = []
    if trying.is_busy:
        parts.append("Probe again, with --again, when the machine has nothing else to do.")
    else:
        parts.append(size_advice(name, choice))
    if choice.searched:
        parts.append(
            f"The study searches {name}: do not choose it by validation error. With all else "
            "tuned again, sizes end alike; what differs is the time."
        )
    if retune:
        parts.append(
            f"Then tune again: {', '.join(retune)}. Larger batches may need more regularisation."
        )
    if subject.value("accumulation") not in (None, 1, 0):
        parts.append("Gradient accumulation brings no throughput: it was off while timing.")
    if subject.knobs.batch_size_per == "device":
        parts.append("Sizes and throughput are those of one device or process.")
    parts.append("This holds for this model, optimiser and machine: probe again after a change.")
    return " ".join(parts)


def _retune(study: Study) -> tuple[str, ...]:
    """What must be tuned again after a change of the batch size."""
    knobs = study.knobs
    named = [knobs.learning_rate, knobs.warmup_steps]
    searched = [p.name for p in study.space if p.is_sampled]
    regularisers = [name for name in REGULARISERS if name in study.space]
    steps = knobs.steps or ("max_steps" if study.budget is not None else None)
    names = [*named, *searched, *regularisers, steps]
    return tuple(dict.fromkeys(n for n in names if n is not None and n != knobs.batch_size))


def _nearest(trying: Trying, size: int) -> Tried | None:
    """The size that was timed nearest to one, and not above it."""
    below = [t for t in trying.fitting if t.times is not None and t.size <= size]
    return below[-1] if below else None


def _current(subject: Subject) -> int:
    return int(subject.number("batch_size"))


def _power(size: int) -> int:
    """The power of two at or below a size."""
    return 1 << (max(size, 1).bit_length() - 1)


def _number(options: Mapping[str, Value], name: str) -> float | None:
    value = options.get(name)
    return float(value) if isinstance(value, int | float) else None
