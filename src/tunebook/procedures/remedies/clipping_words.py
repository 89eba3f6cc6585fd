"""What clipping cures and brings, in words and changes of the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tunebook.charts.figures import Figure
from tunebook.core.curves import Curve
from tunebook.core.edits import Edit, SetParameter
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import value_text
from tunebook.core.space import Fixed
from tunebook.diagnosis.phrases import percent, shown
from tunebook.procedures.answers import Answer
from tunebook.procedures.commands import other
from tunebook.procedures.phrases import OTHER_REMEDIES
from tunebook.procedures.remedies import pictures
from tunebook.procedures.remedies.clipping_tried import Cure, Tried, is_too_much
from tunebook.procedures.remedies.edge import Edge
from tunebook.procedures.remedies.edge_words import (
    NO_HARM,
    InVain,
    edge_finding,
    gain_finding,
    look_and_retry,
    more_seeds,
    not_adopted,
    paying,
    tune_first,
    undecided,
)
from tunebook.procedures.remedies.tuning import by_hand, rate_edit
from tunebook.procedures.subjects import Subject

QUESTION: Final = Question(
    "probe-clipping",
    "Does clipping make training stable at higher learning rates, and from which norm on?",
    "gradient-clipping",
)
GAIN: Final = Question(
    "probe-clipping-gain", "Is training with clipping better?", "gradient-clipping"
)
METHOD: Final = (
    "the 90th percentile of unclipped norms before any blow-up, 0.3 and 0.1 of it while trouble "
    "stays; three trainings at each"
)
METHOD_WORSE: Final = (
    "the 90th percentile of unclipped norms at the best rate, in trainings at the worse one with "
    "the seeds of the sweep: their mean against that of the best rate and of the same rate without "
    "clipping, within noise"
)

_STRANGE: Final = (
    "where more than half of the updates are clipped, clipping is a strange way to lower it."
)


def cured(subject: Subject, edge: Edge, cure: Cure) -> Answer:
    """The answer where a threshold makes training at an unstable rate stable, and whether it pays.

    Where most of the updates would be clipped at the rate that is best with it, it does not.
    """
    threshold = cure.chosen.threshold
    at = {"unstable" if cure.is_seen else "worse": cure.at}
    numbers = {"threshold": threshold, **at, **_share(cure.clipped)}
    first = Finding(
        QUESTION,
        _verdict(cure),
        f"{_trouble(edge, cure.at) if cure.is_seen else _worse(edge, cure)} "
        f"{_cured(subject, edge, cure)}",
        _advice(subject, cure),
        numbers=numbers,
        trials=tuple(r.number for one in cure.tried for r in one.readings),
        method=METHOD if cure.is_seen else METHOD_WORSE,
    )
    than = "none" if cure.own is None else f"the study's own at {value_text(cure.own)}"
    gain = gain_finding(
        GAIN, cure.found, f"clipping at {shown(threshold)}", than, cure.rate, cure.without
    )
    if cure.is_best:
        gain = replace(gain, verdict=_verdict(cure), sentence=f"{gain.sentence} {_courses(cure)}")
    edits: list[Edit] = []
    if cure.pays and not by_hand(subject, cure.rate):
        smaller = ", made smaller until it helped" if cure.chosen is not cure.tried[0] else ""
        because = f"the 90th percentile of unclipped gradient norms{smaller}"
        edits.append(SetParameter(subject.name("clipping"), Fixed(threshold), because))
        best = f"with clipping, a rate of {shown(cure.rate)} is best"
        edits += rate_edit(subject, cure.rate, best, cure.highest)
    drawn = _drawn(edge, cure.at, cure.tried)
    figures = (*drawn, *pictures.strip(GAIN, cure.found), *pictures.rates(edge))
    retune = (subject.name("learning_rate"),) if edits else ()
    return Answer((first, gain, edge_finding(subject, edge)), figures, tuple(edits), retune)


def not_cured(subject: Subject, edge: Edge, at: float, tried: Sequence[Tried]) -> Answer:
    """The answer where no threshold cures, or only one that clips most updates."""
    last = tried[-1]
    numbers = {"threshold": last.threshold, "unstable": at, **_share(last.clipped)}
    if all(one.trouble is None for one in tried):
        verdict, sentence = (
            Verdict.UNKNOWN,
            f"{_trouble(edge, at)} But no trial with clipping shows how it goes: they broke, or "
            "logged too little.",
        )
        advice = look_and_retry(subject, [r.record for one in tried for r in one.readings])
    elif last.trouble == "":
        verdict, sentence = (
            Verdict.WATCH,
            f"Clipped at {shown(last.threshold)}, training is stable at {shown(at)}, but "
            f"{percent(last.clipped or 0)} of the updates are clipped.",
        )
        advice = f"Keep the learning rate below {shown(at)} instead: {_STRANGE}"
    else:
        why = f" ({last.trouble})" if last.trouble else ""
        verdict, sentence = (
            Verdict.WATCH,
            f"{_trouble(edge, at)} It stays so when clipped at {shown(last.threshold)}{why}.",
        )
        advice = (
            "Warm the rate up, which may cure what clipping cannot: "
            f"{other(subject, 'warmup')}. {OTHER_REMEDIES}"
        )
        if at != edge.best and not edge.is_promising:
            verdict, sentence, advice = Verdict.GOOD, f"{sentence} {NO_HARM}", ""
    finding = Finding(QUESTION, verdict, sentence, advice, numbers=numbers, method=METHOD)
    pictured = (*_drawn(edge, at, tried), *pictures.rates(edge))
    return Answer((finding, edge_finding(subject, edge)), pictured)


def in_vain(at: float, tried: Tried) -> InVain:
    """A threshold that does not make a worse rate as good as the best, or not as it should."""
    if is_too_much(tried.clipped):
        but = (
            f", but {percent(tried.clipped or 0.0)} of the updates are clipped, which a lower rate "
        )
        but += "does better"
    else:
        but = f", but {tried.trouble}" if tried.trouble else ""
    remedied = f"clipping at {shown(tried.threshold)}"
    return InVain(at, remedied, tried.readings, METHOD_WORSE, but)


def no_norms(subject: Subject, edge: Edge) -> Answer:
    """The answer where too few norms are known for a threshold."""
    metric = subject.name("grad_norm")
    before = " before training broke" if edge.unstable is not None else ""
    sentence = (
        f"Fewer than 20 values of {metric} above 0 were logged{before}: no threshold follows from "
        "them."
    )
    advice = f"Log {metric} at every step, as it is before clipping."
    if any(_stands_still(reading.curve(metric)) for reading in edge.at_best):
        sentence = (
            f"{metric} is 0 at most steps of the best learning rate: training stands still there, "
            "and no threshold follows from that."
        )
        advice = (
            "Look for a bug, such as units that have died or a loss on which the weights have no "
            "effect."
        )
    finding = Finding(QUESTION, Verdict.UNKNOWN, sentence, advice)
    return Answer((finding, edge_finding(subject, edge)), pictures.rates(edge))


def _stands_still(norms: Curve | None) -> bool:
    return norms is not None and bool(np.mean(norms.values == 0.0) > 0.5)


def _verdict(cure: Cure) -> Verdict:
    if cure.found.p is not None and (cure.is_too_much or cure.pays):
        return Verdict.WATCH
    return paying(cure.found)


def _trouble(edge: Edge, at: float) -> str:
    where = (
        f"at the best learning rate already, {shown(at)}"
        if at == edge.best
        else f"from a learning rate of {shown(at)} on"
    )
    return f"Without clipping, training is unstable {where} ({edge.trouble_at(at)})."


def _worse(edge: Edge, cure: Cure) -> str:
    return (
        f"Without clipping, results are worse from a learning rate of {shown(cure.at)} on "
        f"({edge.told(edge.sweep.readings[cure.at])}), though no loss rises."
    )


def _cured(subject: Subject, edge: Edge, cure: Cure) -> str:
    left = cure.chosen.trouble
    stable = f"the loss rises clearly less there ({left})" if left else "it is stable there"
    if not cure.is_seen:
        stable = f"that rate comes to {edge.told(cure.chosen.readings)}"
    share = (
        f"at {shown(cure.rate)}, {percent(cure.clipped)} of the updates are clipped."
        if cure.clipped is not None
        else f"{subject.knobs.grad_norm} seems to be logged after clipping, so how many updates "
        "are clipped is not known."
    )
    return f"Clipped at {shown(cure.chosen.threshold)}, {stable}; {share}"


def _courses(cure: Cure) -> str:
    before, after = cure.before, cure.after
    return (
        f"{after.unstable} of {after.trainings} trainings are unstable with it, and "
        f"{before.unstable} of {before.trainings} without."
    )


def _advice(subject: Subject, cure: Cure) -> str:
    if cure.found.p is None:
        return undecided(subject, cure.found)
    if cure.is_too_much:
        return f"Lower the learning rate instead: {_STRANGE}"
    if not cure.pays:
        first = tune_first(subject, cure.found, cure.rate, cure.without)
        steadier = cure.after.unstable < cure.before.unstable and cure.found.is_as_good
        if cure.is_best and steadier and cure.found.is_at_end:
            first = first or (
                "Fewer unstable trainings may be luck, and more seeds can tell: "
                + more_seeds(subject, cure.found)
            )
        return first or not_adopted(subject, cure.found)
    todo = (
        f"Set {subject.knobs.clipping} to {shown(cure.chosen.threshold)} and tune the learning "
        f"rate again around {shown(cure.rate)}."
    )
    return " ".join(filter(None, (todo, by_hand(subject, cure.rate))))


def _share(clipped: float | None) -> dict[str, float]:
    return {} if clipped is None else {"clipped": clipped}


def _drawn(edge: Edge, at: float, tried: Sequence[Tried]) -> tuple[Figure, ...]:
    above = edge.unstable if at == edge.best else at
    named = {f"clipped at {shown(one.threshold)}": one.readings for one in tried}
    return pictures.curves(edge, QUESTION, above, at, named)
