"""Following a procedure from study to study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchable import study_in
from tunebook.core.results import Results
from tunebook.core.space import Space
from tunebook.core.study import Study
from tunebook.procedures.answers import Answer, Procedure, follow

FIRST = study_in(Space())


def doubling(times: int) -> Procedure:
    """Studies with twice as many trials each time."""
    trials = 1
    for _ in range(times):
        results = yield Study(f"s{trials}", FIRST.space, FIRST.objective, trials=trials)
        trials = 2 * results.study.trials
    return Answer((), retune=(str(trials),))


def test_each_study_is_run_once_and_its_results_sent() -> None:
    ran: list[int] = []

    def run(study: Study) -> Results:
        ran.append(study.trials)
        return Results(study)

    assert follow(doubling(3), run).retune == ("8",)
    assert ran == [1, 2, 4]


def test_a_study_that_is_asked_for_twice_is_run_once() -> None:
    ran: list[str] = []

    def twice() -> Procedure:
        one = yield FIRST
        other = yield FIRST
        return Answer((), retune=("same" if one is other else "other",))

    def run(study: Study) -> Results:
        ran.append(study.name)
        return Results(study)

    assert follow(twice(), run).retune == ("same",)
    assert ran == [FIRST.name]


def test_two_studies_of_one_name_are_a_mistake() -> None:
    def twice() -> Procedure:
        yield FIRST
        yield replace(FIRST, trials=FIRST.trials + 1)
        return Answer(())

    with pytest.raises(ValueError, match=f"two studies of one procedure are called {FIRST.name}"):
        follow(twice(), Results)


def test_a_procedure_may_answer_at_once() -> None:
    assert follow(doubling(0), Results) == Answer((), retune=("1",))


def test_who_cannot_run_a_study_leaves_the_procedure() -> None:
    def run(study: Study) -> Results:
        raise KeyError(study.name)

    with pytest.raises(KeyError, match="s1"):
        follow(doubling(2), run)
