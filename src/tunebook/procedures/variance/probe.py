"""How much do results vary with the seed alone, and how many seeds does a difference need?"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from typing import Final

from tunebook.core.domains import Value
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Question
from tunebook.core.hashing import derive_seed
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.core.trials import OutcomeKind
from tunebook.diagnosis.gathering import gather
from tunebook.procedures.answers import Answer, Procedure
from tunebook.procedures.needs import Need
from tunebook.procedures.subjects import Subject
from tunebook.procedures.variance import words
from tunebook.procedures.variance.pictures import seeds_and_differences, values_by_source
from tunebook.procedures.variance.scatter import Scatter

QUESTION: Final[Question] = words.VARIANCE
NEEDS: Final = (
    Need("seed_init", "to vary the initialisation alone", required=False),
    Need("seed_data", "to vary the order of the data alone", required=False),
    Need("seed_split", "to vary the split alone", required=False),
)
SEEDS: Final = 10
# Enough to see whether equal seeds give equal results, and by how much they do not.
REPEATS: Final = 4


def probe(subject: Subject, options: Mapping[str, Value]) -> Procedure:
    """The start's configuration with new seeds: for everything, for each source, and for none."""
    seeds = int(options.get("seeds") or SEEDS)
    known = [need.knob for need in NEEDS if not subject.knobs.missing(need.knob)]
    varied = {knob: subject.name(knob) for knob in known}
    rows: list[Config] = [
        dict(zip(varied.values(), each, strict=True))
        for each in zip(*(_seeds(subject, k, "all", seeds) for k in varied), strict=True)
    ] or [{}] * seeds
    everything = yield subject.listed("all", rows, goal=QUESTION.text)
    evidence = gather(everything)
    # Not by standing: an outlier among equal runs is part of their scatter.
    if len(everything.ranked()) < 2:
        return Answer((words.no_results(subject, evidence),))
    alone: dict[str, Results] = {}
    for knob, name in varied.items():
        values = {name: _seeds(subject, knob, "alone", seeds)}
        goal = f"How much do results vary with {words.SOURCES[knob]} alone?"
        alone[knob] = yield subject.stage(knob.replace("_", "-"), values, goal=goal)
    repeated = yield from _repeated(subject, rows)
    broken = everything.counts().get(OutcomeKind.INFEASIBLE, 0)
    by_knob = {knob: _values(results) for knob, results in alone.items()}
    scatter = Scatter.of(_values(everything), by_knob, _pairs(everything, repeated), broken)
    others = [gather(results) for results in (*alone.values(), repeated)]
    return _answer(subject, (evidence, *others), scatter, _difference(options))


def _answer(
    subject: Subject, stages: Sequence[Evidence], scatter: Scatter, given: float | None
) -> Answer:
    """What is said of the stages, the first of which had new seeds for everything."""
    evidence, *others = stages
    interest = words.interesting(evidence, given)
    found = [
        words.spread(subject, evidence, scatter, others),
        words.seeds(evidence, scatter, interest, given is not None),
        words.selection(subject, scatter),
        words.unknown_sources(subject, scatter, NEEDS),
    ]
    metric = evidence.objective.metric
    figures = [values_by_source(metric, scatter)]
    if scatter.total.sd > 0:
        figures.append(seeds_and_differences(metric, scatter, interest))
    return Answer(tuple(f for f in found if f is not None), tuple(figures))


def _difference(options: Mapping[str, Value]) -> float | None:
    given = options.get("difference")
    return float(given) if isinstance(given, int | float) else None


def _repeated(subject: Subject, rows: list[Config]) -> Generator[Study, Results, Results]:
    """A few of the runs once more, with the very same seeds."""
    goal = "Do equal seeds give equal results?"
    return (yield subject.listed("same", rows[:REPEATS], goal=goal, seeds_of="all"))


def _seeds(subject: Subject, knob: str, stage: str, count: int) -> list[int]:
    """Seeds for a knob's parameter, no two of them equal, and none that the study has used."""
    start = subject.value(knob)
    drawn = (
        derive_seed(subject.study.seed, subject.asked.stage(stage), knob, i)
        for i in itertools.count()
    )
    fresh = dict.fromkeys(seed for seed in itertools.islice(drawn, 2 * count) if seed != start)
    return list(fresh)[:count]


def _by_seed(results: Results) -> dict[int, float]:
    """Results by the seed of their trial, in the order of the trials."""
    found = sorted(results.ranked(), key=lambda pair: pair[0].trial.number)
    return {record.trial.seed: measure.value for record, measure in found}


def _values(results: Results) -> tuple[float, ...]:
    found = sorted(results.ranked(), key=lambda pair: pair[0].trial.number)
    return tuple(measure.value for _, measure in found)


def _pairs(first: Results, again: Results) -> tuple[tuple[float, float], ...]:
    """The results of runs with equal seeds."""
    before, after = _by_seed(first), _by_seed(again)
    return tuple((before[seed], value) for seed, value in after.items() if seed in before)
