"""Does a warm-up let training use higher learning rates, and how short may it be?"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.edits import Edit, SetBudget, SetParameter
from tunebook.core.evidence import Reading
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.results import Results
from tunebook.core.space import Fixed
from tunebook.core.study import Budget, Study
from tunebook.diagnosis.phrases import shown
from tunebook.procedures import remedy_pictures as pictures
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.edge import Edge, find_edge
from tunebook.procedures.edge import tried as tried_in
from tunebook.procedures.edge_words import edge_finding, not_to_be_cured
from tunebook.procedures.needs import MAX_STEPS, Need
from tunebook.procedures.remedies import (
    Comparison,
    Variant,
    compared,
    rate_edit,
    tuned_again,
)
from tunebook.procedures.subjects import Subject

QUESTION: Final = Question(
    "probe-warmup",
    "Does a warm-up let training use higher learning rates, and how short may it be?",
    "learning-rate-warmup",
)
GAIN: Final = Question(
    "probe-warmup-gain", "Is training with the warm-up better?", "learning-rate-warmup"
)
NEEDS: Final = (
    Need("learning_rate", "which it sweeps"),
    Need("warmup_steps", "which it varies"),
    Need("train_loss", "in which instability shows"),
    Need(MAX_STEPS, "of which a warm-up is a share"),
)
# Peak rates, in multiples of the smallest unstable rate: which comes first, which after one that
# is stable and brings nothing, and which after one that no warm-up makes stable.
FIRST: Final = 10
HIGHER: Final = {10: 100}
LOWER: Final = {10: 3, 3: 1}
# The longest warm-up, and that from which on the whole run should be longer, as shares of it.
LONGEST, LONG = 0.1, 0.05
ORDERS: Final = 3
# A look at fewer steps than these tells nothing of stability.
LEAST_STEPS: Final = 100
SHORT_STEPS: Final = 1000


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one length of warm-up at a peak rate."""

    steps: int
    readings: tuple[Reading, ...]
    trouble: str

    @property
    def is_stable(self) -> bool:
        return not self.trouble


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """Find the edge of stability, the shortest warm-up beyond it, and what that brings."""
    total = int(subject.steps or 0)
    seeds = int(options.get("seeds") or 5)
    short = min(total, int(options.get("steps") or SHORT_STEPS))
    edge = yield from find_edge(subject, goal=QUESTION.text, steps=short)
    if edge.best is None or edge.unstable is None:
        return not_to_be_cured(QUESTION, edge, "warm-up")
    answer = None
    highest: tuple[float, tuple[Tried, ...]] | None = None
    factor: int | None = FIRST
    while factor is not None:
        peak = float(f"{factor * edge.unstable:.2g}")
        tried = yield from _lengths(subject, edge, factor, peak, total)
        shortest = next((one for one in tried if one.is_stable), None)
        if shortest is None:
            highest = highest or (peak, tried)
            factor = LOWER.get(factor)
            continue
        variant, rate = yield from _tuned(subject, factor, edge.best, peak, shortest.steps, total)
        before = Variant({str(subject.knobs.learning_rate): edge.best}, total)
        found = yield from compared(
            subject, f"compare-{factor}u", before, variant, seeds=seeds, goal=GAIN.text
        )
        answer = _cured(subject, edge, peak, tried, shortest.steps, rate, found)
        factor = None if found.is_better else HIGHER.get(factor)
    return answer if answer is not None else _not_cured(edge, *(highest or (0.0, ())))


def lengths(total: int) -> tuple[int, ...]:
    """Warm-ups over orders of magnitude, shortest first; the longest is a tenth of the run.

    >>> lengths(10_000)
    (10, 100, 1000)
    """
    longest = max(int(LONGEST * total), 1)
    return tuple(sorted({max(longest // 10**power, 1) for power in range(ORDERS)}))


def _lengths(
    subject: Subject, edge: Edge, factor: int, peak: float, total: int
) -> Generator[Study, Results, tuple[Tried, ...]]:
    """Warm up to the peak rate and train on for twice as long, until a length stays stable."""
    rate, warmup = str(subject.knobs.learning_rate), str(subject.knobs.warmup_steps)
    tried: list[Tried] = []
    for length in lengths(total):
        body = max(2 * length, LEAST_STEPS)
        results = yield subject.stage(
            f"warmup-{factor}u-{length}",
            {warmup: [length]},
            {rate: peak},
            goal=QUESTION.text,
            steps=_steps(subject, body, length),
            replicates=3,
        )
        readings = tried_in(subject, results)
        why = edge.first_trouble(readings, body + length)
        tried.append(Tried(length, readings, why))
        if not why:
            break
    return tuple(tried)


def _tuned(
    subject: Subject, factor: int, best: float, peak: float, length: int, total: int
) -> Generator[Study, Results, tuple[Variant, float]]:
    warmup, name = str(subject.knobs.warmup_steps), str(subject.knobs.learning_rate)
    variant = Variant({warmup: length}, _steps(subject, total, length))
    again = yield from tuned_again(subject, f"tune-{factor}u", variant, best, peak, goal=GAIN.text)
    rate = again.best if again.best is not None else best
    return Variant({**variant.fix, name: rate}, variant.steps), rate


def _steps(subject: Subject, body: int, warmup: int) -> int:
    """The steps to ask for: the reference loop puts the warm-up in front of them by itself."""
    return body if subject.study.task is not None else body + warmup


def _cured(
    subject: Subject,
    edge: Edge,
    peak: float,
    tried: tuple[Tried, ...],
    length: int,
    rate: float,
    found: Comparison,
) -> Answer:
    total = int(subject.steps or 0)
    sentence = (
        f"Training is unstable from a learning rate of {shown(edge.unstable or 0)} on "
        f"({edge.trouble_at(edge.unstable or 0)}). After a warm-up of {length} steps it is stable "
        f"at {shown(peak)} too."
    )
    shorter = [str(one.steps) for one in tried if not one.is_stable]
    if shorter:
        sentence += f" {', '.join(shorter)} steps are too short."
    numbers = {"warmup": float(length), "unstable": edge.unstable or 0.0, "peak": peak}
    cure = Finding(
        QUESTION,
        Verdict.WATCH if found.is_better else Verdict.GOOD,
        sentence,
        _advice(subject, length, rate, found),
        numbers=numbers,
        trials=tuple(r.number for one in tried for r in one.readings),
        method="rise of the training loss above its lowest level, against AR(1) noise",
    )
    gain = Finding(
        GAIN,
        Verdict.WATCH if found.is_better else Verdict.GOOD,
        f"At its best learning rate, {shown(rate)}, with the warm-up against "
        f"{shown(edge.best or 0)} without: {found}.",
        "" if found.is_better else "Leave the warm-up out: it does not pay.",
        numbers={"p": found.p} if found.p is not None else {},
        method="Welch's one-sided test over fresh seeds, at 2.5%",
    )
    because = f"the shortest warm-up with which a learning rate of {shown(peak)} is stable"
    edits: list[Edit] = []
    if found.is_better:
        edits.append(SetParameter(str(subject.knobs.warmup_steps), Fixed(length), because))
        edits += rate_edit(subject, rate, "with the warm-up, higher rates are stable")
        edits += _longer(subject, length, total)
    return Answer(
        (cure, gain, edge_finding(edge)),
        (
            *pictures.curves(edge, QUESTION, _named(tried)),
            *pictures.strip(GAIN, found),
            *pictures.rates(edge),
        ),
        tuple(edits),
        (str(subject.knobs.learning_rate),) if edits else (),
    )


def _longer(subject: Subject, length: int, total: int) -> list[Edit]:
    """The run grows by the warm-up; where that is a large share of it, by more."""
    if subject.knobs.steps is not None:
        return []
    if length > LONG * total:
        steps = round(length / LONG)
        return [SetBudget(Budget(steps), f"the warm-up of {length} steps is over 5% of {total}")]
    if subject.study.task is None:
        return [SetBudget(Budget(total + length), "the warm-up comes on top of the steps")]
    return []


def _advice(subject: Subject, length: int, rate: float, found: Comparison) -> str:
    if not found.is_better:
        return "Training at such rates is no better than without: keep what you have."
    name = subject.knobs.warmup_steps
    return (
        f"Set {name} to {length}, prepend it to the schedule, and tune the learning rate again "
        f"around {shown(rate)}."
    )


def _not_cured(edge: Edge, peak: float, tried: tuple[Tried, ...]) -> Answer:
    longest = max((one.steps for one in tried), default=0)
    why = tried[-1].trouble if tried else ""
    sentence = (
        f"Training is unstable from a learning rate of {shown(edge.unstable or 0)} on, and no "
        f"warm-up of up to {longest} steps makes {shown(peak)}, or any rate down to that, stable "
        f"({why})."
    )
    advice = (
        "Try clipping, which cures what warm-up cannot: tunebook probe clipping. After that: "
        "another optimiser, normalisation inside the residual, residual branches that begin at "
        "zero; a lower learning rate last."
    )
    finding = Finding(QUESTION, Verdict.WATCH, sentence, advice)
    drawn = (*pictures.curves(edge, QUESTION, _named(tried)), *pictures.rates(edge))
    return Answer((finding, edge_finding(edge)), drawn)


def _named(tried: tuple[Tried, ...]) -> dict[str, tuple[Reading, ...]]:
    return {f"a warm-up of {one.steps} steps": one.readings for one in tried}
