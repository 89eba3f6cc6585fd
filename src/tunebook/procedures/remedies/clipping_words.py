"""What clipping cures and brings, in words and changes of the study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tunebook.charts.figures import Figure
from tunebook.core.edits import Edit, SetParameter
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import value_text
from tunebook.core.space import Fixed
from tunebook.diagnosis.phrases import percent, shown
from tunebook.procedures.answers import Answer
from tunebook.procedures.phrases import OTHER_REMEDIES
from tunebook.procedures.remedies import pictures
from tunebook.procedures.remedies.clipping_tried import Cure, Tried
from tunebook.procedures.remedies.comparing import rate_edit
from tunebook.procedures.remedies.edge import Edge
from tunebook.procedures.remedies.edge_words import (
    edge_finding,
    gain_finding,
    paying,
)
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


def cured(subject: Subject, edge: Edge, cure: Cure) -> Answer:
    """The answer where a threshold makes the unstable rate stable, and whether it pays."""
    unstable, threshold = edge.unstable or 0.0, cure.chosen.threshold
    share = cure.chosen.clipped
    sentence = (
        f"Without clipping, training is unstable from a learning rate of {shown(unstable)} on "
        f"({edge.trouble_at(unstable)}). Clipped at {shown(threshold)} it is stable there; "
    )
    sentence += (
        f"{percent(share)} of the updates are clipped."
        if share is not None
        else f"{subject.knobs.grad_norm} seems to be logged after clipping, so how many updates "
        "are clipped is not known."
    )
    first = Finding(
        QUESTION,
        paying(cure.found),
        sentence,
        _advice(subject, cure),
        numbers={"threshold": threshold, "unstable": unstable, **_clipped(share)},
        trials=tuple(r.number for one in cure.tried for r in one.readings),
        method=METHOD,
    )
    than = "none" if cure.own is None else f"the study's own at {value_text(cure.own)}"
    gain = gain_finding(
        GAIN, cure.found, f"clipping at {shown(threshold)}", than, cure.rate, cure.without
    )
    edits: list[Edit] = []
    if cure.found.is_better:
        because = "the 90th percentile of unclipped gradient norms, made smaller where needed"
        edits.append(SetParameter(subject.name("clipping"), Fixed(threshold), because))
        edits += rate_edit(subject, cure.rate, "with clipping, this rate is best")
    figures = (*_drawn(edge, cure.tried), *pictures.strip(GAIN, cure.found), *pictures.rates(edge))
    retune = (subject.name("learning_rate"),) if edits else ()
    return Answer((first, gain, edge_finding(edge)), figures, tuple(edits), retune)


def not_cured(subject: Subject, edge: Edge, tried: Sequence[Tried]) -> Answer:
    """The answer where no threshold cures, or only one that clips most updates."""
    last, unstable = tried[-1], edge.unstable or 0.0
    numbers = {"threshold": last.threshold, "unstable": unstable, **_clipped(last.clipped)}
    if all(one.trouble is None for one in tried):
        verdict, sentence = (
            Verdict.UNKNOWN,
            f"Training is unstable from a learning rate of {shown(unstable)} on, but no trial with "
            "clipping shows how it goes: they broke, or logged too little.",
        )
        advice = "Look at one of them, tunebook show STUDY TRIAL; then probe with --retry-failed."
    elif last.trouble == "":
        verdict, sentence = (
            Verdict.WATCH,
            f"Clipped at {shown(last.threshold)}, training is stable at {shown(unstable)}, but "
            f"{percent(last.clipped or 0)} of the updates are clipped.",
        )
        advice = (
            f"Keep the learning rate below {shown(unstable)} instead: where more than half of the "
            "updates are clipped, clipping is a strange way to lower it."
        )
    else:
        why = f" ({last.trouble})" if last.trouble else ""
        verdict, sentence = (
            Verdict.WATCH,
            f"Training is unstable from a learning rate of {shown(unstable)} on, and stays so when "
            f"clipped at {shown(last.threshold)}{why}.",
        )
        advice = (
            "Warm the rate up, which may cure what clipping cannot: tunebook probe warmup "
            f"{subject.file}. {OTHER_REMEDIES}"
        )
    finding = Finding(QUESTION, verdict, sentence, advice, numbers=numbers, method=METHOD)
    return Answer((finding, edge_finding(edge)), (*_drawn(edge, tried), *pictures.rates(edge)))


def no_norms(subject: Subject, edge: Edge) -> Answer:
    """The answer where too few norms are known for a threshold."""
    metric = subject.knobs.grad_norm
    finding = Finding(
        QUESTION,
        Verdict.UNKNOWN,
        f"Fewer than 20 values of {metric} above 0 were logged before training broke: no threshold "
        "follows from them.",
        f"Log {metric} at every step, as it is before clipping.",
    )
    return Answer((finding, edge_finding(edge)), pictures.rates(edge))


def _advice(subject: Subject, cure: Cure) -> str:
    if cure.found.p is None:
        return "Look at the trials of the comparison, and probe again with --retry-failed."
    if not cure.found.is_better:
        return "Training with it is no better: keep what you have."
    return (
        f"Set {subject.knobs.clipping} to {shown(cure.chosen.threshold)} and tune the learning "
        f"rate again around {shown(cure.rate)}."
    )


def _clipped(share: float | None) -> dict[str, float]:
    return {} if share is None else {"clipped": share}


def _drawn(edge: Edge, tried: Sequence[Tried]) -> tuple[Figure, ...]:
    named = {f"clipped at {shown(one.threshold)}": one.readings for one in tried}
    return pictures.curves(edge, QUESTION, edge.unstable or 0.0, named)
