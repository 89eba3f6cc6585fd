"""What ever longer trainings of the study's own say of its steps, in words."""

from __future__ import annotations

import math
from typing import Final

from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import listed
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.commands import anew, look, other
from tunebook.procedures.steps.gains import Gain, lost
from tunebook.procedures.steps.longer import FACTORS, SEEDS, Longer, Rung
from tunebook.procedures.steps.rates import FAR, Rates
from tunebook.procedures.steps.words import FIRST_GUESS
from tunebook.procedures.subjects import Subject

LONGER: Final = Question(
    "probe-steps-longer",
    "How many steps does the study's own training need?",
    "number-of-steps",
)
METHOD: Final = (
    "the study's own schedule, regularisation and learning rate, on the same seeds at every "
    "length; the fewest steps over which no more gain above one standard error of the paired "
    "differences; lost seeds decide only where more of them are beyond luck (Fisher's exact test, "
    "5%). Where more steps do nothing, one answer in three is longer than the guess all "
    f"the same, and one probe in ten tries 8 times as many. A rate that is {FAR:g} times above or "
    "below the fastest of the sweep is tried beside that, for the guess, and trained longer "
    "where it is better by two standard errors of the paired differences"
)
MAY_HELP: Final = "more steps may still help"


def answer(subject: Subject, made: Longer) -> Finding:
    """The fewest steps beyond which the study's own training gains nothing above noise."""
    if not made.rungs:
        return _unknown(
            f"At most {shown(made.longest)} steps are allowed, which leaves no room for twice the "
            f"first guess, {shown(made.guess)}: {MAY_HELP}.",
            f"Allow more: {anew(subject, longest=4 * made.guess)}",
        )
    if not made.is_known:
        return _unknown(
            f"Too few trials of the study's own configuration came to an end, of {_each(made)}: "
            f"{MAY_HELP}.",
            f"Look at one of them: {look(subject, made.records)}. If it diverged, look for a "
            f"learning rate that works first: {other(subject, 'stability')}.",
        )
    have, steps = subject.steps, made.steps
    parts = (
        _conclusion(subject, made),
        _results(subject, made),
        _lost(made),
        _chosen(subject, made),
    )
    advice = [_further(subject, made)] if made.may_gain else []
    verdict = Verdict.WATCH if made.may_gain else Verdict.GOOD
    if have is not None and have < steps:
        verdict = Verdict.WATCH
        advice.insert(0, f"Give trials {shown(steps)} steps; they have {shown(have)}.")
    if made.rates is not None and made.rates.is_other:
        advice.insert(
            0,
            f"Tune {subject.name('learning_rate')} first: {shown(made.rates.better)} is better "
            f"than {shown(made.rates.start)}.",
        )
    numbers = {"guess": float(made.guess), "steps": float(steps), "total": float(made.total)}
    sentence = " ".join(part for part in parts if part)
    return Finding(LONGER, verdict, sentence, " ".join(advice), numbers=numbers, method=METHOD)


def because(subject: Subject, made: Longer) -> str:
    """Why a trial should have these steps, for the study file."""
    if not made.is_known:
        return FIRST_GUESS
    at = ""
    if made.rates is not None and made.rates.is_other:
        name, rates = subject.name("learning_rate"), made.rates
        at = f", at {name} {shown(rates.better)} instead of {shown(rates.start)}"
    if made.may_gain:
        return f"The longest training that was tried was the best{at}: {MAY_HELP}."
    return f"The fewest steps beyond which longer training gained nothing above noise{at}."


def _conclusion(subject: Subject, made: Longer) -> str:
    """The answer, which comes before what it rests on."""
    have, place, last = subject.steps, made.enough, len(made.rungs) - 1
    has = have is not None and have >= made.steps
    if not made.may_gain:
        found = made.gain(place, place + 1)
        own = f", which has {shown(have or 0)}" if has else ""
        return (
            f"{shown(made.steps)} steps are enough for the study's own training{own}: twice as "
            f"many {_gain(found)}."
        )
    own = f" The study has {shown(have or 0)}." if has else ""
    return (
        f"The study's own training still gains at {shown(made.steps)} steps, the most that were "
        f"tried: the last doubling {_gain(made.gain(last - 1, last), 's')}, and {MAY_HELP}.{own}"
    )


def _results(subject: Subject, made: Longer) -> str:
    """`With its schedule, ... the mean valid/error is 0.07 after 100 steps and 0.05 after 200`."""
    name, rate = subject.knobs.learning_rate, _rate(subject, made)
    told = [f"{_mean(rung, made)} after {shown(rung.steps)}" for rung in made.rungs]
    told[0] += " steps"
    return (
        f"With its schedule, its regularisation and {name} {shown(rate)}, the mean "
        f"{made.metric.name} is {listed(told, most=len(FACTORS))}, on {SEEDS} seeds."
    )


def _lost(made: Longer) -> str:
    """`1 of 4 trainings of 200 steps and 2 of 4 of 400 came to nothing.`"""
    told: list[str] = []
    for rung in made.rungs:
        losses = rung.losses(made.metric)
        of = f"of {shown(rung.steps)}" if told else f"trainings of {shown(rung.steps)} steps"
        if lost(losses):
            told.append(f"{lost(losses)} of {len(losses)} {of}")
    return f"{listed(told, most=len(FACTORS))} came to nothing." if told else ""


def _chosen(subject: Subject, made: Longer) -> str:
    """How the learning rate was chosen, where that was to be chosen."""
    rates = made.rates
    if rates is None:
        return ""
    name, fastest, start = subject.name("learning_rate"), shown(rates.fastest), shown(rates.start)
    return (
        f"At {name} {fastest} the training set was fitted fastest; over {shown(rates.steps)} steps "
        f"the mean is {_result(rates, rates.fastest, made)} at {fastest} and "
        f"{_result(rates, rates.start, made)} at the start's {start}, {_taken(rates)}."
    )


def _taken(rates: Rates) -> str:
    if rates.gain is None:
        return f"and too few trials tell which is better: {shown(rates.start)} was kept"
    if not rates.differ:
        return f"which do not differ beyond noise: {shown(rates.start)} was kept"
    return f"so {shown(rates.better)} was {'taken' if rates.is_other else 'kept'}"


def _result(rates: Rates, rate: float, made: Longer) -> str:
    loss = rates.mean(rate)
    return (
        shown(loss if made.metric.better == "lower" else -loss)
        if math.isfinite(loss)
        else "nothing"
    )


def _further(subject: Subject, made: Longer) -> str:
    last = made.rungs[-1].steps
    if last < FACTORS[-1] * made.guess:
        return f"Allow more: {anew(subject, longest=2 * last)}."
    return "Run the study, then ask again: when its good trials are best tells whether to go on."


def _gain(gain: Gain | None, ending: str = "") -> str:
    """`gain 0.02 (standard error 0.01)`; the ending of the verb is that of its subject."""
    if gain is None:
        return f"prove{ending} nothing"
    if math.isinf(gain.mean):
        have = "has" if ending else "have"
        return f"{have} {'fewer' if gain.mean > 0 else 'more'} trials that come to nothing"
    word = "gain" if gain.mean >= 0 else "lose"
    return f"{word}{ending} {shown(abs(gain.mean))} (standard error {shown(gain.error)})"


def _mean(rung: Rung, made: Longer) -> str:
    values = [r.value for r in rung.readings if r.value is not None]
    return shown(sum(values) / len(values)) if values else "nothing"


def _each(made: Longer) -> str:
    tried = listed([f"{rung.steps:,}" for rung in made.rungs], most=len(FACTORS))
    return f"{SEEDS} each of {tried} steps"


def _rate(subject: Subject, made: Longer) -> float:
    return subject.number("learning_rate") if made.rates is None else made.rates.better


def _unknown(sentence: str, advice: str) -> Finding:
    return Finding(LONGER, Verdict.UNKNOWN, sentence, advice, method=METHOD)
