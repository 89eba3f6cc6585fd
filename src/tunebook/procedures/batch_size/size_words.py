"""What batch sizes fit and how fast they are, in words."""

from __future__ import annotations

import math

from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted, listed
from tunebook.diagnosis.phrases import percent
from tunebook.procedures.batch_size.bottleneck import Measured
from tunebook.procedures.batch_size.throughput_words import rate_text, seconds_text, size_text
from tunebook.procedures.batch_size.tried import Fate, Trying, said_of
from tunebook.procedures.commands import look
from tunebook.procedures.needs import remedy
from tunebook.procedures.subjects import Subject
from tunebook.stats.throughput import STOPPED


def sizes_text(measured: Measured) -> str:
    """Which sizes fit, where throughput stops rising, and what a step costs."""
    trying, best, line = measured.trying, measured.recommended, measured.fitted
    fitting = trying.fitting
    text = f"Batch sizes from {size_text(fitting[0].size)} to {size_text(fitting[-1].size)} fit"
    text += f"; {trying.ended}.{_broken_text(trying)}"
    rate = f"{rate_text(best.throughput or 0.0)} examples per second"
    following = next((g for g in measured.saturation.gains if g.smaller == best.size), None)
    if following is None:
        text += f" Throughput rises up to {size_text(best.size)}, with {rate}."
    elif measured.saturation.stops_at != best.size and following.per_doubling.estimate > STOPPED:
        # Neighbours are too noisy to show it.
        text += (
            f" Throughput stops rising at about {size_text(best.size)}, with {rate}, as all sizes "
            "together have it."
        )
    else:
        gain = following.per_doubling
        text += (
            f" Throughput stops rising at {size_text(best.size)}, with {rate}: "
            f"{size_text(following.larger)} brings {_signed(gain.estimate)} "
            f"({_signed(gain.low)} to {_signed(gain.high)})."
        )
    if line is not None and line.fits:
        text += (
            f" A step takes {seconds_text(line.fixed.estimate)} and "
            f"{seconds_text(line.per_example.estimate)} for each example."
        )
    elif line is not None:
        text += (
            f" Times of steps follow no line t0 + t1 B: it is off by {percent(line.largest)} at "
            f"{size_text(line.at)}."
        )
    if trying.is_busy:
        text += (
            f" But repeated trials of one size differ by {percent(math.expm1(trying.drift))}: the "
            "machine was busy with other things."
        )
    return text


def unfit(trying: Trying, size: int) -> str:
    """Why a size cannot be taken: memory runs out there, or may; nothing where it fits."""
    beyond = trying.beyond
    if beyond is None or beyond.fate is not Fate.OUT_OF_MEMORY or size <= trying.fitting[-1].size:
        return ""
    if size >= beyond.size:
        return f"{size_text(size)} does not fit"
    return f"{size_text(size)} was not shown to fit, and {size_text(beyond.size)} does not"


def _broken_text(trying: Trying) -> str:
    """Which trials broke beside others that fit, with the reason of the first."""
    if not trying.broken:
        return ""
    records = [record for tried in trying.broken for record in tried.broken]
    sizes = listed([size_text(tried.size) for tried in trying.broken])
    broke = f"{counted(len(records), 'trial')} broke, at {sizes} ({said_of(records[0])})"
    return f" {broke}, beside one that fits: that one counts."


def untimed(question: Question, subject: Subject, trying: Trying) -> Finding:
    """The finding about sizes of which none could be timed."""
    if not trying.fitting:
        memory = any(tried.fate is Fate.OUT_OF_MEMORY for tried in trying.tried)
        return Finding(
            question,
            Verdict.PROBLEM,
            f"No batch size works: {trying.ended}.",
            f"Look at it, {look(subject, [tried.record for tried in trying.tried])}; "
            + ("give it more memory with --memory." if memory else "mend the program."),
        )
    return Finding(
        question,
        Verdict.UNKNOWN,
        f"Batch sizes up to {size_text(trying.fitting[-1].size)} fit, but none could be timed: "
        f"their trials logged too few points; {trying.ended}.",
        "Log every step, run.log({'train/loss': loss}, step=step), or "
        f"{remedy('eval_interval', subject.study)}; --steps gives trials more steps.",
    )


def _signed(share: float) -> str:
    return f"{100 * share:+.0f}%"
