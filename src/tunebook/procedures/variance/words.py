"""What the probe of variance says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scipy import special

from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.findings import Finding, Question, Verdict
from tunebook.core.representation import counted, listed
from tunebook.diagnosis.effects import SHARE_OF_VALUE, share_of_value
from tunebook.diagnosis.failures import failed
from tunebook.diagnosis.phrases import shown
from tunebook.procedures import needs
from tunebook.procedures.commands import look, other
from tunebook.procedures.needs import Need
from tunebook.procedures.subjects import Subject
from tunebook.procedures.variance.scatter import Scatter
from tunebook.stats.samples import Interval
from tunebook.stats.variance import MOST_SEEDS, Seeds, seeds_needed, smallest_difference

VARIANCE: Final = Question(
    "probe-variance",
    "How much do results vary with the seed, and how many seeds does a difference need?",
    "trial-variance",
)
SEEDS: Final = Question(
    "probe-seeds", "How many seeds does it take to see a difference?", "trial-variance"
)
SELECTION: Final = Question("probe-selection", "Was the selected run lucky?", "trial-variance")
UNKNOWN: Final = Question(
    "probe-variance-sources", "Which source of chance could not be varied alone?", "trial-variance"
)
SOURCES: Final = {
    "seed_init": "the initialisation",
    "seed_data": "the order of the data",
    "seed_split": "the split",
}
_LEVEL: Final = 0.05


def interesting(evidence: Evidence, given: float | None) -> float | None:
    """The difference to be seen: as given, or what is worth a word of the results at hand."""
    return given if given is not None else share_of_value(evidence)


def no_results(subject: Subject, evidence: Evidence) -> Finding:
    runs, results = len(evidence.readings), len(evidence.ranked)
    lost = next((reading for reading in evidence.readings if reading.value is None), None)
    why = "" if lost is None else f" Trial {lost.number} has none: {_why(lost)}."
    return Finding(
        VARIANCE,
        Verdict.UNKNOWN,
        f"Of {counted(runs, 'run')} {results or 'none'} came to a result: nothing can be said of "
        f"their scatter.{why}",
        f"See what happened: {look(subject, [lost.record] if lost else evidence.results)}",
    )


def spread(
    subject: Subject, evidence: Evidence, scatter: Scatter, others: Sequence[Evidence] = ()
) -> Finding:
    """The standard deviation, and what comes from where: that results scatter is no fault.

    `others` are the stages in which not every seed was new: their runs may have failed, too.
    """
    metric = evidence.objective.metric.name
    total, runs = scatter.total, len(scatter.values)
    numbers = {"sd": total.sd, "low": total.low, "high": total.high, "mean": scatter.mean.estimate}
    # No shares of the variance: a ratio of two that few runs each have measured says nothing.
    numbers |= {f"sd {knob}": each.sd.estimate for knob, each in scatter.components.sources.items()}
    told = [
        _total(metric, runs, scatter),
        *(_idle(subject, knob) for knob in scatter.idle),
        _failures(subject, [evidence]) or _failures(subject, [evidence, *others]),
        _diverged(subject, scatter),
    ]
    found = [each for each in told if each is not None]
    return Finding(
        VARIANCE,
        min((each.verdict for each in found), key=lambda verdict: verdict.rank),
        " ".join(each.sentence for each in found),
        " ".join(each.advice for each in found if each.advice),
        trials=(),
        numbers=numbers,
        method="chi-square intervals of a variance; a source alone is varied at one value of all "
        "other seeds, and what runs with equal seeds scatter is taken off",
    )


def seeds(
    evidence: Evidence, scatter: Scatter, interest: float | None, is_given: bool
) -> Finding | None:
    """How many seeds a difference takes, and what the seeds at hand can show.

    Only a difference that somebody wants to see can be missed.
    """
    total, runs = scatter.total, len(scatter.values)
    visible = smallest_difference(total, runs)
    needed = seeds_needed(total, interest) if interest is not None else None
    if total.sd == 0 or visible is None:
        return None
    numbers = {"seeds": float(runs), "visible": visible.estimate}
    said = (
        f"{counted(runs, 'seed')} of each of two configurations show a difference of "
        f"{_of(visible)} four times in five."
    )
    if interest is not None and needed is not None:
        why = "" if is_given else _share(evidence, interest)
        numbers |= {"difference": interest, "needed": float(needed.seeds or math.inf)}
        said += f" A difference of {shown(interest)}{why} takes {_counted(needed)} of each."
    advice, missed = "", False
    if not is_given:
        advice = "Ask for your own difference with --difference."
    elif needed is not None and needed.seeds is None:
        missed, advice = True, "No number of seeds that can be run shows it: ask for a larger one."
    elif needed is not None and needed.seeds is not None and needed.seeds > runs:
        missed = True
        advice = f"Compare configurations by the means of {needed.seeds:,} seeds of each."
    return Finding(
        SEEDS,
        Verdict.WATCH if missed else Verdict.GOOD,
        said,
        advice,
        numbers=numbers,
        method="a one-sided t-test at 5% with power 80%; in brackets for the ends of the "
        "interval of the standard deviation",
    )


def selection(subject: Subject, scatter: Scatter) -> Finding | None:
    """The selected run against fresh ones: the best of many is partly luck."""
    selected, runs = subject.asked.selected, len(scatter.values)
    if selected is None:
        return None
    metric = subject.study.objective.metric
    luck = metric.loss(scatter.mean.estimate) - metric.loss(selected)
    spread = scatter.total.sd * math.sqrt(1 + 1 / runs)
    p = float(special.stdtr(runs - 1, -luck / spread)) if spread > 0 else float(luck <= 0)
    lucky = p < _LEVEL
    said = (
        f"The selected run had {metric.name} {shown(selected)}; {runs} fresh seeds have "
        f"{shown(scatter.mean.estimate)} on average ({shown(scatter.mean.low)} to "
        f"{shown(scatter.mean.high)}). "
    )
    said += (
        f"It was lucky by {shown(luck)}."
        if lucky
        else "It lies within what fresh seeds give."
        if luck >= 0 or p < 1 - _LEVEL
        else f"Fresh seeds are better than it by {shown(-luck)}."
    )
    advice = f"Count on {shown(scatter.mean.estimate)}, not on {shown(selected)}." if lucky else ""
    return Finding(
        SELECTION,
        Verdict.WATCH if lucky else Verdict.GOOD,
        said,
        advice,
        numbers={"selected": selected, "mean": scatter.mean.estimate, "p": p},
        method="the chance that a fresh run is as good as the selected one, by Student's t",
    )


def unknown_sources(
    subject: Subject, scatter: Scatter, all_needs: Sequence[Need]
) -> Finding | None:
    """Sources that no knob names, with the lines that would name them."""
    lacking = needs.lacking(subject.study, all_needs)
    if not lacking or scatter.total.sd == 0:
        return None
    names = listed([SOURCES[need.knob] for need in lacking])
    lines = "; ".join(needs.remedy(need.knob, subject.study) for need in lacking)
    if subject.study.task is not None:
        lines = f"if the task splits its data at random, {lines}"
    return Finding(
        UNKNOWN,
        Verdict.UNKNOWN,
        f"How much comes from {names} is not known: the study does not say how to vary that alone.",
        f"{lines[0].upper()}{lines[1:]}.",
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """One part of a finding."""

    verdict: Verdict
    sentence: str
    advice: str = ""


def _total(metric: str, runs: int, scatter: Scatter) -> _Told:
    total, mean = scatter.total, scatter.mean.estimate
    if total.sd == 0:
        return _Told(
            Verdict.WATCH,
            f"{counted(runs, 'run')} with different seeds have exactly equal {metric}.",
            "Use run.seed for the initialisation and the data.",
        )
    said = [
        f"Over {runs} seeds {metric} is {shown(mean)} on average, with a standard deviation of "
        f"{shown(total.sd)} ({shown(total.low)} to {shown(total.high)})."
    ]
    return _Told(Verdict.GOOD, " ".join([*said, *_by_source(scatter), *_repeatable(scatter)]))


def _idle(subject: Subject, knob: str) -> _Told:
    """A seed that nobody seems to read. A task may have nothing to draw from it, by design."""
    name = subject.name(knob)
    is_task = subject.study.task is not None
    said = f"Changing {name} ({SOURCES[knob]}) changed nothing: does the"
    if is_task:
        return _Told(Verdict.GOOD, f"{said} task use it?")
    advice = f"Let the program use {name}, or take {knob} out of knobs."
    return _Told(Verdict.WATCH, f"{said} program use it?", advice)


def _failures(subject: Subject, stages: Sequence[Evidence]) -> _Told | None:
    """Runs that failed: what is left is no fair sample of the seeds, if some seeds alone fail.

    Not by standing alone: a failure that goes with a seed may seem to be that parameter's fault.
    """
    readings = [reading for stage in stages for reading in stage.readings]
    broken = [r for r in readings if r.standing is Standing.BROKEN or failed(r)]
    if not broken:
        return None
    return _Told(
        Verdict.WATCH,
        f"{len(broken):,} of {counted(len(readings), 'run')} failed: {_why(broken[0])}. "
        "What is said rests on the others.",
        f"See what happened: {look(subject, [broken[0].record])}",
    )


def _diverged(subject: Subject, scatter: Scatter) -> _Told | None:
    if not scatter.broken:
        return None
    return _Told(
        Verdict.PROBLEM,
        f"{counted(scatter.broken, 'more run')} diverged.",
        f"A configuration must work with every seed: {other(subject, 'stability')}",
    )


def _why(reading: Reading) -> str:
    """Why a trial has no result, in one line."""
    return " ".join(reading.why.split()).rstrip(".")


def _by_source(scatter: Scatter) -> list[str]:
    found = scatter.components.sources
    parts = [
        f"{SOURCES[knob]} alone {_of(found[knob].sd) if knob in found else 'is not known'}"
        for knob in scatter.alone
        if knob not in scatter.idle
    ]
    return [f"By source: {'; '.join(parts)}."] if parts else []


def _repeatable(scatter: Scatter) -> list[str]:
    residual = scatter.components.residual
    if scatter.is_repeatable:
        return ["Equal seeds give equal results."]
    if residual is None:
        return []
    return [f"Runs with equal seeds differ, too: {_of(residual.sd)}."]


def _of(interval: Interval) -> str:
    return f"{shown(interval.estimate)} ({shown(interval.low)} to {shown(interval.high)})"


def _counted(needed: Seeds) -> str:
    def said(count: int | None) -> str:
        return f"over {MOST_SEEDS:,}" if count is None else f"{count:,}"

    count, low, high = (said(each) for each in (needed.seeds, needed.low, needed.high))
    # An interval whose ends are the same says nothing.
    return f"{count} seeds" if low == high else f"{count} seeds ({low} to {high})"


def _share(evidence: Evidence, interest: float) -> str:
    """Of what a difference that nobody has given is a hundredth: of the nearest end's distance."""
    best = None if evidence.best is None else evidence.best.value
    ends = [
        (0.0, "the best result"),
        (1.0, "what the best result lacks to 1"),
        (evidence.study.knobs.chance, "what separates the best result from chance"),
    ]
    for end, words in ends:
        if best is None or end is None:
            continue
        if math.isclose(interest, SHARE_OF_VALUE * abs(best - end)):
            return f", a hundredth of {words},"
    return ""
