"""What a warm-up cures and brings, in words and changes of the study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tunebook.core.edits import Edit, SetBudget, SetParameter
from tunebook.core.evidence import Reading
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import listed
from tunebook.core.space import Fixed
from tunebook.core.study import Budget
from tunebook.diagnosis.phrases import shown
from tunebook.procedures.answers import Answer
from tunebook.procedures.commands import other
from tunebook.procedures.phrases import OTHER_REMEDIES, kept_schedule
from tunebook.procedures.remedies import pictures
from tunebook.procedures.remedies.edge import Edge
from tunebook.procedures.remedies.edge_words import (
    NO_HARM,
    edge_finding,
    gain_finding,
    look_and_retry,
    not_adopted,
    paying,
    tune_first,
    undecided,
)
from tunebook.procedures.remedies.tuning import by_hand, rate_edit
from tunebook.procedures.remedies.warmup_tried import Cure, Tried
from tunebook.procedures.subjects import Subject

QUESTION: Final = Question(
    "probe-warmup",
    "Does a warm-up let training use higher learning rates, and how short may it be?",
    "learning-rate-warmup",
)
GAIN: Final = Question(
    "probe-warmup-gain", "Is training with the warm-up better?", "learning-rate-warmup"
)
METHOD: Final = (
    "three trainings at the peak rate for each length, shortest first, each for twice the warm-up "
    "or until the usual loss is half way down: a rise of the smoothed loss above its lowest level "
    "so far, against correlated noise"
)
METHOD_WORSE: Final = (
    "trainings at the rate for each length, longest first, with the seeds of the sweep: their mean "
    "against that of the best rate and of the same rate without a warm-up, and then of the "
    "longest, within noise"
)
# From this share of the run on, a warm-up calls for a longer run.
LONG: Final = 0.05


def cured(subject: Subject, edge: Edge, cure: Cure) -> Answer:
    """The answer where a warm-up makes a higher rate stable, and whether it pays."""
    sentence = _unstable(edge, cure) if cure.is_seen else _worse(edge, cure)
    shorter = [str(one.steps) for one in cure.tried if one.trouble]
    if shorter:
        sentence += f" {listed(shorter)} steps are too few."
    elif len(cure.tried) == 1:
        sentence += " No shorter one was tried."
    if cure.trouble:
        sentence += (
            f" Trained to the end at {shown(cure.rate)}, it is unstable all the same "
            f"({cure.trouble})."
        )
    sentence += kept_schedule(subject) if cure.is_seen else ""
    first = Finding(
        QUESTION,
        paying(cure.found),
        sentence,
        _advice(subject, cure),
        numbers={
            "warmup": float(cure.length),
            "unstable" if cure.is_seen else "worse": cure.at,
            "peak": cure.peak,
        },
        trials=tuple(r.number for one in cure.tried for r in one.readings),
        method=METHOD if cure.is_seen else METHOD_WORSE,
    )
    than = f"the study's own of {cure.own} steps" if cure.own else "none"
    gain = gain_finding(GAIN, cure.found, "the warm-up", than, cure.rate, cure.without)
    edits = _edits(subject, cure) if cure.pays and not by_hand(subject, cure.rate) else ()
    figures = (
        *pictures.curves(edge, QUESTION, cure.at, cure.peak, _named(cure.tried)),
        *pictures.strip(GAIN, cure.found),
        *pictures.rates(edge),
    )
    retune = (subject.name("learning_rate"),) if edits else ()
    return Answer((first, gain, edge_finding(subject, edge)), figures, edits, retune)


def not_cured(
    subject: Subject, edge: Edge, peak: float, tried: Sequence[Tried], every: Sequence[Tried] = ()
) -> Answer:
    """The answer where no length of warm-up makes a higher rate stable.

    `tried` are those at the peak that came first, `every` those at all of them.
    """
    at = edge.unstable
    drawn = (*pictures.curves(edge, QUESTION, at, peak, _named(tried)), *pictures.rates(edge))
    unstable, kept = edge.unstable or 0.0, kept_schedule(subject)
    numbers = {"unstable": unstable, "peak": peak}
    if all(one.trouble is None for one in every or tried):
        finding = Finding(
            QUESTION,
            Verdict.UNKNOWN,
            f"Training is unstable from a learning rate of {shown(unstable)} on, but no trial with "
            f"a warm-up shows how it goes: they broke, or logged too little.{kept}",
            look_and_retry(subject, [r.record for one in every or tried for r in one.readings]),
            numbers=numbers,
        )
        return Answer((finding, edge_finding(subject, edge)), drawn)
    longest = max(tried, key=lambda one: one.steps)
    why = f" (at {shown(peak)}, {longest.trouble})" if longest.trouble else ""
    harm = "" if edge.is_promising else f" {NO_HARM}"
    finding = Finding(
        QUESTION,
        Verdict.GOOD if harm else Verdict.WATCH,
        f"Training is unstable from a learning rate of {shown(unstable)} on, and no warm-up of up "
        f"to {longest.steps} steps makes that rate stable, nor 3 or 10 times that rate{why}."
        f"{harm}{kept}",
        ""
        if harm
        else "Clip gradients, which may cure what a warm-up cannot: "
        f"{other(subject, 'clipping')}. {OTHER_REMEDIES}",
        numbers=numbers,
        method=METHOD,
    )
    return Answer((finding, edge_finding(subject, edge)), drawn)


def _advice(subject: Subject, cure: Cure) -> str:
    if cure.found.p is None:
        return undecided(subject, cure.found)
    first = tune_first(subject, cure.found, cure.rate, cure.without)
    if first or not cure.found.is_better:
        return first or not_adopted(subject, cure.found)
    if cure.trouble:
        return f"Clip gradients as well: {other(subject, 'clipping')}"
    name, steps = subject.knobs.warmup_steps, _steps(subject, cure)
    todo = [
        f"Set {name} to {cure.length}, in front of the schedule, and tune the learning rate again "
        f"around {shown(cure.rate)}."
    ]
    if cure.length > LONG * cure.steps:
        todo.append(f"A warm-up of over 5% of the steps asks for more of them: {steps:,}.")
    return " ".join(filter(None, [*todo, by_hand(subject, cure.rate)]))


def _edits(subject: Subject, cure: Cure) -> tuple[Edit, ...]:
    highest = max(cure.peak, cure.rate)
    because = (
        f"the shortest warm-up with which a learning rate of {shown(highest)} is stable"
        if cure.is_seen
        else f"with it, a learning rate of {shown(cure.rate)} is better than any without"
    )
    warmup = SetParameter(subject.name("warmup_steps"), Fixed(cure.length), because)
    best = f"with the warm-up, a rate of {shown(cure.rate)} is best"
    rate = rate_edit(subject, cure.rate, best, cure.highest)
    return (warmup, *rate, *_longer(subject, cure))


def _longer(subject: Subject, cure: Cure) -> tuple[Edit, ...]:
    """The run grows by the warm-up, or by more where that is a large share; it never shrinks."""
    steps, because = _steps(subject, cure), "the warm-up comes on top of the steps"
    if cure.length > LONG * cure.steps:
        because = (
            f"{cure.length} steps of warm-up are over 5% of {cure.steps}, and 5% of {_body(cure)}"
        )
    if subject.steps is not None and steps <= subject.steps:
        return ()
    name = subject.knobs.steps
    if name is None:
        return (SetBudget(Budget(steps), because),)
    fixed = name in subject.study.space and isinstance(subject.study.space[name].source, Fixed)
    return (SetParameter(name, Fixed(steps), because),) if fixed else ()


def _body(cure: Cure) -> int:
    """The steps after the warm-up: more than now, where it would be too large a share of them."""
    return round(cure.length / LONG) if cure.length > LONG * cure.steps else cure.steps


def _steps(subject: Subject, cure: Cure) -> int:
    """The steps to ask for: the reference loop puts the warm-up in front of them by itself."""
    return _body(cure) + (0 if subject.study.task is not None else cure.length)


def _unstable(edge: Edge, cure: Cure) -> str:
    return (
        f"Without a warm-up, training is unstable from a learning rate of {shown(cure.at)} on "
        f"({edge.trouble_at(cure.at)}). After a warm-up of {cure.length} steps it is stable at "
        f"{shown(cure.peak)}{_also(cure)}."
    )


def _worse(edge: Edge, cure: Cure) -> str:
    made = next(one.readings for one in cure.tried if one.steps == cure.length)
    return (
        f"Without a warm-up, results are worse from a learning rate of {shown(cure.at)} on "
        f"({edge.told(edge.sweep.readings[cure.at])}), though no loss rises. After a warm-up of "
        f"{cure.length} steps, that rate comes to {edge.told(made)}."
    )


def _also(cure: Cure) -> str:
    """The rate that is best with the warm-up, where it is above the peak that was tried first."""
    return f" and at {shown(cure.rate)}" if cure.rate > cure.peak and not cure.trouble else ""


def _named(tried: Sequence[Tried]) -> dict[str, tuple[Reading, ...]]:
    return {f"warm-up of {one.steps} steps": one.readings for one in tried}
