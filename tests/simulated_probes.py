"""Procedures followed without training: a function of the configuration makes the curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from numpy.typing import ArrayLike

from small_studies import FINISHED
from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Better, Metric, Objective
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Config, Space
from tunebook.core.study import Asked, Budget, Study
from tunebook.core.trials import Cause, Outcome, OutcomeKind, Trial
from tunebook.procedures.answers import Answer, Procedure, follow
from tunebook.procedures.starting import start
from tunebook.procedures.subjects import Subject, completed
from tunebook.sampling import sampler_for

DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "it became nan at step 3", Cause.DIVERGED)
# Curves by metric, at steps 1, 2, 3, ... where no steps are given; or how the trial ended instead.
Made: TypeAlias = Mapping[str, ArrayLike | Curve] | Outcome
# A configuration, a seed and a number of steps.
Training: TypeAlias = Callable[[Config, int, int], Made]


def subject_of(
    fixed: Mapping[str, Value],
    knobs: Knobs,
    *,
    probe: str = "simulated",
    steps: int = 200,
    metric: str = "valid/error",
    better: Better = "lower",
    space: Space | None = None,
    seen: Results | None = None,
    seed: int = 0,
) -> Subject:
    """A study whose parameters all have a value, which is what a procedure starts from."""
    study = Study(
        "small",
        space or Space.of(fixed=fixed),
        Objective(Metric(metric, better)),
        program="train.py:train",
        budget=Budget(steps),
        knobs=knobs,
        seed=seed,
    )
    asked = Asked(probe, study, tuple(fixed.items()), "the values of small")
    return Subject(asked, seen) if seen is not None else Subject(asked)


def starting_from(study: Study, given: Config | None = None) -> Subject:
    """What a procedure would be about, of a study that has no results."""
    about = completed(study)
    first = start(about, None, given or {})
    return Subject(Asked("simulated", about, tuple(first.config.items()), first.source))


def results_of(study: Study, train: Training) -> Results:
    """What a study would give if this were its program."""
    sampler, empty = sampler_for(study), Results(study)
    steps = int(study.budget.amount) if study.budget else 0
    records: list[TrialRecord] = []
    for setting in study.space.settings():
        for index in range(sampler.count(study, setting)):
            own = sampler.propose(study, setting, index, lambda: empty)
            made = train(own.config, own.seed, steps)
            ended = made if isinstance(made, Outcome) else FINISHED
            curves = {} if isinstance(made, Outcome) else {n: _curve(v) for n, v in made.items()}
            number = len(records) + 1
            trial = Trial(study.name, number, setting, own.config, own.seed, own.origin)
            attempt = AttemptRecord(1, "token", "", outcome=ended)
            records.append(TrialRecord(trial, (attempt,), curves))
    return Results(study, tuple(records))


def answered(procedure: Procedure, train: Training) -> tuple[Answer, list[Study]]:
    """The answer of a procedure, and the studies that it asked for."""
    studies: list[Study] = []

    def run(study: Study) -> Results:
        studies.append(study)
        return results_of(study, train)

    return follow(procedure, run), studies


def _curve(values: ArrayLike | Curve) -> Curve:
    return values if isinstance(values, Curve) else Curve.of(range(1, len(values) + 1), values)  # type: ignore[arg-type]
