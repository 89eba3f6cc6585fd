"""What a sweep of learning rates says of stability, and what a remedy brings, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tunebook.charts.figures import Figure
from tunebook.core.evidence import Reading
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted
from tunebook.core.results import TrialRecord
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.answers import Answer
from tunebook.procedures.commands import anew, look, other
from tunebook.procedures.remedies import pictures
from tunebook.procedures.remedies.comparing import METHOD, WORSE, Comparison, Outcomes
from tunebook.procedures.remedies.edge import Edge
from tunebook.procedures.subjects import Subject
from tunebook.stats.stability import FEWEST

QUESTION: Final = Question(
    "probe-edge", "From which learning rate on is training unstable?", "optimization-failures"
)
NO_HARM: Final = "But results level off before that rate: a higher one would hardly help."
_BUG: Final = "Look for a bug in the program first."


@dataclass(frozen=True, slots=True)
class InVain:
    """What a remedy came to at a rate that is worse than the best one, and that it does not cure.

    `but` says why results as good as the best ones do not count, where they are.
    """

    at: float
    remedied: str
    readings: tuple[Reading, ...]
    method: str
    but: str = ""


def edge_finding(subject: Subject, edge: Edge) -> Finding:
    """The best rate, and the smallest at which training is unstable."""
    rates, best, unstable = edge.sweep.values, edge.best, edge.unstable
    if not rates:
        count = counted(len(edge.sweep.broken), "learning rate")
        sentence = f"The trials of all of {count} broke for reasons that are not theirs."
        advice = look_and_retry(subject, edge.sweep.records)
        return Finding(QUESTION, Verdict.UNKNOWN, sentence, advice)
    if best is None:
        sentence = f"No learning rate from {shown(rates[0])} to {shown(rates[-1])} works."
        return Finding(QUESTION, Verdict.PROBLEM, sentence, _BUG)
    numbers = {"best": best}
    if edge.trouble_at(best):
        numbers |= {} if unstable is None else {"unstable": unstable}
        sentence = (
            f"{shown(best)} is the best learning rate, and training is unstable there already: "
            f"{edge.trouble_at(best)}."
        )
        return Finding(QUESTION, Verdict.WATCH, sentence, numbers=numbers)
    if unstable is None:
        told = edge.usual is not None
        sentence = f"{shown(best)} is the best learning rate; " + (
            f"training is stable up to {shown(rates[-1])}."
            if told
            else f"up to {shown(rates[-1])}, trials come to a result, but how is not seen."
        )
        verdict = Verdict.GOOD if told else Verdict.UNKNOWN
        return Finding(QUESTION, verdict, sentence, numbers=numbers)
    sentence = (
        f"{shown(best)} is the best learning rate, and training is unstable from "
        f"{shown(unstable)} on: {edge.trouble_at(unstable)}."
    )
    numbers["unstable"] = unstable
    return Finding(QUESTION, Verdict.GOOD, sentence, numbers=numbers)


def not_to_be_cured(
    subject: Subject, question: Question, edge: Edge, remedied: str, tried: InVain | None = None
) -> Answer:
    """The answer where a remedy has nothing to cure, or nothing can be told.

    `tried` is what came of it all the same, at a rate that is worse than the best.
    """
    best, rates = edge.best, edge.sweep.values
    figures: tuple[Figure, ...] = ()
    if best is None:
        sentence = f"No learning rate worked, so there is nothing to compare {remedied} with."
        finding = Finding(question, Verdict.UNKNOWN, sentence, _BUG)
    elif edge.sweep.boundary is not None:
        side = "lowest" if edge.sweep.boundary == "low" else "highest"
        finding = Finding(
            question,
            Verdict.UNKNOWN,
            f"The best learning rate, {shown(best)}, is the {side} that was tried: there is no "
            f"telling what {remedied} would add to a well tuned one.",
            f"Begin there: {anew(subject, {edge.sweep.parameter: best})}",
        )
    elif edge.usual is None:
        finding = Finding(
            question,
            Verdict.UNKNOWN,
            f"At the best learning rate, {shown(best)}, no loss falls or has {FEWEST} values in "
            f"{edge.steps} steps: what goes wrong is not seen.",
            f"Log {subject.knobs.train_loss} at every step.",
        )
    elif trouble := edge.trouble_at(best):
        finding = Finding(
            question,
            Verdict.WATCH,
            f"Training is unstable at the best learning rate already, {shown(best)} ({trouble}): "
            f"that is not what {remedied} is for, which opens higher rates.",
            f"Clip gradients, which cures outliers among them: {other(subject, 'clipping')}",
            numbers={"best": best},
        )
    else:
        stable = (
            f"Training is stable up to {shown(rates[-1])}"
            if edge.unstable is None
            else f"Training is unstable only from a learning rate of {shown(edge.unstable)} on"
        )
        finding = Finding(
            question,
            Verdict.GOOD,
            f"{stable}, and is best at {shown(best)}: there is nothing for {remedied} to cure.",
            numbers={"best": best},
        )
        if tried is not None:
            finding = _tried_in_vain(subject, finding, edge, tried)
            drawn = {tried.remedied: tried.readings}
            figures = pictures.curves(edge, question, tried.at, tried.at, drawn)
    return Answer((finding, edge_finding(subject, edge)), (*figures, *pictures.rates(edge)))


def _tried_in_vain(subject: Subject, finding: Finding, edge: Edge, tried: InVain) -> Finding:
    """The finding that there is nothing to cure, with what was tried all the same."""
    evidence = replace(
        finding,
        numbers={**finding.numbers, "worse": tried.at},
        trials=tuple(reading.number for reading in tried.readings),
        method=tried.method,
    )
    if math.isnan(edge.score(tried.readings)):
        sentence = (
            f"Nothing is unstable next to the best learning rate, {shown(edge.best or 0.0)}, but "
            f"{shown(tried.at)} is worse, and the trials of {tried.remedied} there broke: whether "
            "it helps is not known."
        )
        advice = look_and_retry(subject, [reading.record for reading in tried.readings])
        return replace(evidence, verdict=Verdict.UNKNOWN, sentence=sentence, advice=advice)
    said = (
        f" At {shown(tried.at)}, where results are worse, {tried.remedied} comes to "
        f"{edge.told(tried.readings)} on average{tried.but}; without it, the best rate has "
        f"{edge.told(edge.at_best)}."
    )
    return replace(evidence, sentence=finding.sentence + said)


def look_and_retry(subject: Subject, records: Sequence[TrialRecord]) -> str:
    """What to do about trials that broke."""
    return f"Look at one of them, {look(subject, records)}; then probe again with --retry-failed."


def undecided(subject: Subject, found: Comparison) -> str:
    """What to do where a comparison decides nothing."""
    if found.is_seedless:
        return (
            "Let the program use its seed for the initialisation and the data; then begin anew: "
            f"{anew(subject)}"
        )
    return look_and_retry(subject, found.records)


def not_adopted(subject: Subject, found: Comparison) -> str:
    """What to do where a remedy is not better beyond luck: ask more seeds if it nearly is."""
    if found.after.lost:
        trainings = counted(len(found.after.values) + found.after.lost, "training")
        return f"Of {trainings} with it {found.after.lost} came to nothing: keep what you have."
    if found.is_of_rate:
        return (
            "At its learning rate, training without it is about as good: tune the rate again, and "
            "leave the rest as it is."
        )
    if found.gain is None or found.gain.estimate <= 0.0:
        return "Training with it is no better: keep what you have."
    if found.p is not None and found.p <= WORSE and found.is_at_end:
        return f"That gain may be luck, and more seeds can tell: {more_seeds(subject, found)}"
    return "It is not shown to be better: keep what you have."


def more_seeds(subject: Subject, found: Comparison) -> str:
    """The command that begins anew with twice the seeds."""
    return anew(subject, seeds=2 * max(found.most or 0, found.size))


def paying(found: Comparison) -> Verdict:
    """Something to change if a remedy is better, nothing if it is not."""
    if found.p is None or found.half_tuned is not None:
        return Verdict.UNKNOWN
    return Verdict.WATCH if found.wins else Verdict.GOOD


def tune_first(subject: Subject, found: Comparison, rate: float, before: float) -> str:
    """What to do where the worse of two was not tuned to an end; nothing where it was."""
    if found.half_tuned is None:
        return ""
    own = rate if found.half_tuned is found.after else before
    name = subject.name("learning_rate")
    return (
        f"The best learning rate of the one that is not better is an end of what was tried, and "
        f"one beyond may turn this round. Begin there: {anew(subject, {name: own})}"
    )


def gain_finding(
    question: Question, found: Comparison, remedied: str, than: str, rate: float, before: float
) -> Finding:
    """What a remedy brings at its best rate, beside what it is compared with at its own."""
    numbers = {"rate": rate, "rate_before": before}
    if found.p is not None:
        numbers |= {"p": found.p, "level": found.level}
    if found.gain is not None:
        numbers["gain"] = found.gain.estimate
    return Finding(
        question,
        paying(found),
        f"A learning rate of {shown(rate)}{_at_end(found.after)} with {remedied} against "
        f"{shown(before)}{_at_end(found.before)} with {than}: {found}.",
        numbers=numbers,
        method=METHOD,
    )


def _at_end(outcomes: Outcomes) -> str:
    if outcomes.end is None:
        return ""
    return f" (the {'lowest' if outcomes.end == 'low' else 'highest'} that was tried)"
