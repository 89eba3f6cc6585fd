"""What a sweep at constant rates and the best steps of a study say of the steps, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tunebook.charts.figures import Figure
from tunebook.charts.steps import best_steps
from tunebook.core.edits import Edit, SetBudget, SetParameter
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted, listed
from tunebook.core.space import Fixed
from tunebook.core.study import Budget
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.phrases import shown
from tunebook.diagnosis.step_budget import step_budget
from tunebook.procedures.commands import anew, look
from tunebook.procedures.needs import remedy
from tunebook.procedures.phrases import kept_schedule
from tunebook.procedures.steps.fitted import Fitted
from tunebook.procedures.steps.fitting import NONE
from tunebook.procedures.subjects import Subject

HISTOGRAM: Final = Question(
    "probe-steps-best",
    "At which of its steps were the study's good trials best?",
    "number-of-steps",
)
METHOD: Final = (
    "constant learning rates without regularisation; the step from which the metric stays at its "
    "level (an error of 0 allows 1 example in 1,000), between two evaluations, over all seeds of "
    "the fastest rate"
)
FIRST_GUESS: Final = "The fewest steps in which the training set was fitted: a first guess."
# What is true of every number of steps that was found so.
NEVER_TUNE: Final = "Never tune the number of steps itself."
RAISES: Final = (
    "Augmentation, dropout and smaller batches raise the steps needed; in doubt, train longer."
)
# Parameters of the reference loop that plan the decay, and are planned anew with its steps.
DECAY: Final = ("decay_steps", "lr_floor", "lr_power")
# Steps by which a training that is too short is lengthened at first, and one that is far too long
# shortened.
LONGER, SHORTER = 1.5, 0.25


def answer(question: Question, subject: Subject, found: Fitted) -> tuple[Finding, int | None]:
    """The steps that the training set takes, and the first guess that they make."""
    made, fit = found.sweep, found.fit
    name = made.parameter
    if not made.values:
        return _unknown(
            question,
            f"No trial logged {fit.metric}: all of {counted(len(made.broken), 'rate')} broke, or "
            "the program does not log it.",
            f"Look at one of them: {look(subject, made.records)}. To have it logged, "
            f"{remedy('train_error', subject.study)}.",
        )
    tried = f"from {shown(made.values[0])} to {shown(made.values[-1])}"
    if made.best is None:
        return _unknown(
            question,
            f"No {name} {tried} works.",
            "Look for a bug first; else begin lower: "
            + anew(subject, {name: made.values[0] / 100}),
        )
    if found.interval is None:
        told, _ = _not_fitted(question, subject, found)
        return replace(told, sentence=f"{told.sentence}{_broken(found)}"), None
    if made.boundary is not None:
        side = "lowest" if made.boundary == "low" else "highest"
        return _unknown(
            question,
            f"The fastest {name}, {shown(made.best)}, is the {side} of those tried, {tried}: a "
            f"{'lower' if side == 'lowest' else 'higher'} one may need fewer steps.",
            f"Begin there: {anew(subject, {name: made.best})}",
        )
    low, high = found.interval
    guess = rounded_up(high)
    kept = kept_schedule(subject)
    sentence = (
        f"Without regularisation and at a {'' if kept else 'constant '}{name} of "
        f"{shown(made.best)}, the training set is fitted ({fit.words}) after "
        f"{_between(low, high)} steps: {shown(guess)} steps are a first guess for a trial."
        f"{_broken(found)}{_caveat(subject)}{kept}"
    )
    have = subject.steps
    if have is not None and high > have:
        verdict = Verdict.WATCH
        advice = f"Give trials no fewer; they have {shown(have)}. {RAISES}"
    else:
        verdict = Verdict.GOOD
        sentence += f" The study's {shown(have)} are enough for that." if have else ""
        advice = RAISES
    numbers = {"rate": made.best, "after": low, "until": high, "guess": float(guess)}
    return Finding(question, verdict, sentence, advice, numbers=numbers, method=METHOD), guess


def histogram(subject: Subject) -> Finding | None:
    """Whether the study's good trials were best early or late, where it has results."""
    if subject.seen is None or not len(subject.seen):
        return None
    found = step_budget(gather(subject.seen))
    told = f"In {subject.study.name}, {found.sentence[0].lower()}{found.sentence[1:]}"
    # The trials are those of the study, not of the probe.
    return replace(found, question=HISTOGRAM, sentence=told, trials=(), claims=())


def never_tuned(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, of which the first that knows something says what is true of all."""
    first = next((one for one in findings if one.verdict is not Verdict.UNKNOWN), None)
    return tuple(
        replace(one, advice=f"{one.advice} {NEVER_TUNE}".strip()) if one is first else one
        for one in findings
    )


def histogram_picture(subject: Subject) -> tuple[Figure, ...]:
    """The best steps of the study's trials."""
    made = best_steps(gather(subject.seen)) if subject.seen is not None else None
    return () if made is None else (replace(made, key=HISTOGRAM.key),)


def edits(
    subject: Subject, guess: int | None, later: Finding | None, because: str = FIRST_GUESS
) -> tuple[Edit, ...]:
    """The steps to give a trial: by the study's own results where they tell, else as advised.

    A study that has more than these keeps them until its results say that they are too many: in
    doubt, longer.
    """
    have, knobs = subject.steps, subject.knobs
    if knobs.steps_unit != "steps":
        return ()
    steps = guess
    if have is not None and guess is not None and guess <= have:
        steps = None
    if later is not None and later.verdict is Verdict.GOOD:
        return ()
    if later is not None and later.verdict is Verdict.WATCH and have:
        steps = max(rounded_up(LONGER * have), guess or 0)
        because = "Good trials were best at the end of their training."
    elif later is not None and later.verdict is Verdict.PROBLEM and have:
        steps = max(rounded_up(SHORTER * have), min(guess or 0, have))
        because = "Good trials were best in the first tenth of their training."
    if steps is None or steps == have:
        return ()
    if knobs.steps is not None:
        return (SetParameter(knobs.steps, Fixed(steps), because),)
    return (SetBudget(Budget(steps), because),)


def retune(subject: Subject) -> tuple[str, ...]:
    """What is planned for a number of steps, and must be tuned again for another."""
    names = (subject.knobs.learning_rate, *DECAY)
    return tuple(name for name in names if name is not None and name in subject.study.space)


def rounded_up(steps: float) -> int:
    """Two digits, upwards.

    >>> rounded_up(38), rounded_up(412), rounded_up(12_001)
    (38, 420, 13000)
    """
    size = int(10 ** max(math.floor(math.log10(max(steps, 1))) - 1, 0))
    return math.ceil(steps / size - 1e-9) * size


def _not_fitted(question: Question, subject: Subject, found: Fitted) -> tuple[Finding, None]:
    made, fit = found.sweep, found.fit
    fitting, known = found.fitting
    steps, rate = counted(found.most, "step"), shown(made.best or 0)
    more = f"Give it more: {anew(subject, max_steps=2 * found.most)}"
    if fitting:
        return _unknown(
            question,
            f"At the best {made.parameter}, {rate}, {fitting} of {counted(known, 'trial')} fit the "
            f"training set ({fit.words}) in {steps}, the others do not: more steps are needed.",
            more,
        )
    if found.left <= NONE:
        return _unknown(
            question,
            f"At the best {made.parameter}, {rate}, the training set is fitted ({fit.words}) at "
            f"times within {steps}, but not for good: more steps are needed.",
            more,
        )
    ends = (
        f"No {made.parameter} from {shown(made.values[0])} to {shown(made.values[-1])} fits the "
        f"training set in {steps}; the best, {rate}, ends at {fit.metric} "
        f"{shown(fit.level + found.left)}"
    )
    if found.course == "falling":
        return _unknown(question, f"{ends}, and still falls: more steps are needed.", more)
    if made.boundary is not None:
        side = "lower" if made.boundary == "low" else "higher"
        return _unknown(
            question,
            f"{ends}, and a {side} rate may do better.",
            f"Begin there: {anew(subject, {made.parameter: made.best or 0.0})}",
        )
    if found.course == "unclear":
        return _unknown(
            question,
            f"{ends}; whether it falls any further is not clear: more steps may be needed.",
            more,
        )
    return _unknown(
        question,
        f"Not applicable: {ends}, and falls no further.",
        "Choose the steps by when good trials are best: run the study, then ask again. Or give a "
        "level that can be reached, by --loss.",
    )


def _unknown(question: Question, sentence: str, advice: str) -> tuple[Finding, None]:
    return Finding(question, Verdict.UNKNOWN, sentence, advice, method=METHOD), None


def _broken(found: Fitted) -> str:
    broken, of = found.broken
    return f" Left out: {broken} of {of} trials at that rate, which broke." if broken else ""


def _between(low: float, high: float) -> str:
    return f"{shown(low)} to {shown(high)}" if low < high else shown(high)


def _caveat(subject: Subject) -> str:
    """What could not be switched off, and how to tell."""
    wanted = {"no_regularisation": "regularisation", "schedule": "schedule"}
    if subject.study.task is None:
        wanted["no_augmentation"] = "augmentation"
    missing = [knob for knob in wanted if subject.knobs.missing(knob)]
    if not missing:
        return ""
    what = listed([wanted[knob] for knob in missing])
    return (
        f" It is assumed that there is no {what.replace(' and ', ' or ')}; else, "
        f"{remedy(missing[0], subject.study)}."
    )
