"""Procedures followed without running anything: the results of each study are made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.study import Asked, Study
from tunebook.core.trials import Cause, Outcome, OutcomeKind, Trial
from tunebook.procedures.answers import Answer, Procedure, follow
from tunebook.procedures.starting import start
from tunebook.procedures.subjects import Subject, completed
from tunebook.sampling import sampler_for

FINISHED = Outcome(OutcomeKind.COMPLETE, "finished")
DIVERGED = Outcome(OutcomeKind.INFEASIBLE, "it became nan at step 3", Cause.DIVERGED)
# The curves of a trial; None where it diverges.
Train = Callable[[Trial], "Mapping[str, Sequence[float]] | None"]


def subject_of(
    study: Study,
    given: Mapping[str, Value] | None = None,
    *,
    results: Results | None = None,
    procedure: str = "variance",
    **options: Value,
) -> Subject:
    """What a procedure would be about, with no book."""
    about = completed(study)
    first = start(about, results, given or {})
    return Subject(
        Asked(
            procedure,
            about,
            tuple(first.config.items()),
            first.source,
            tuple(sorted(options.items())),
            selected=first.selected,
        )
    )


def results_of(study: Study, train: Train) -> Results:
    """The trials of a study, trained by a function of the trial."""
    sampler, records = sampler_for(study), []
    empty = Results(study)
    for setting in study.space.settings():
        for index in range(sampler.count(study, setting)):
            found = sampler.propose(study, setting, index, lambda: empty)
            number = len(records) + 1
            trial = Trial(study.name, number, setting, found.config, found.seed, found.origin)
            curves = train(trial)
            outcome = DIVERGED if curves is None else FINISHED
            attempt = AttemptRecord(1, "token", "", outcome=outcome, seconds=1.0)
            logged = {name: _curve(values) for name, values in (curves or {}).items()}
            records.append(TrialRecord(trial, (attempt,), logged))
    return Results(study, tuple(records))


def answered(procedure: Procedure, train: Train) -> tuple[Answer, list[Study]]:
    """The answer of a procedure, and the studies that it asked for."""
    asked: list[Study] = []

    def run(study: Study) -> Results:
        asked.append(study)
        return results_of(study, train)

    return follow(procedure, run), asked


def _curve(values: Sequence[float]) -> Curve:
    return Curve.of(np.arange(1, len(values) + 1), np.asarray(values, dtype=float))
