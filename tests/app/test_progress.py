"""A run as it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordination import (
    COMPLETE,
    FAILED,
    PREEMPTED,
    NoProgram,
    Scripted,
    points,
    small_study,
)
from tunebook.app.progress import Progress
from tunebook.core.events import Event, Finished, Resumed, Started
from tunebook.core.objective import Measure
from tunebook.core.results import Results
from tunebook.core.study import Study
from tunebook.core.trials import NO_CODE, Attempt, Outcome, OutcomeKind, RetryPolicy, Trial
from tunebook.running.breaker import Breaker
from tunebook.running.interrupts import Interrupts
from tunebook.running.loop import run_study
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import open_store

STUDY = small_study()
FIRST, SECOND = STUDY.space.settings()
INFEASIBLE = Outcome(OutcomeKind.INFEASIBLE, "error became nan")


def fresh(study: Study = STUDY, results: Results | None = None, workers: int = 1) -> Progress:
    totals = dict.fromkeys(study.space.settings(), study.trials)
    return Progress(results or Results(study), totals, workers)


def attempt(trial: int = 1, number: int = 1) -> Attempt:
    sampled = sampler_for(STUDY).propose(STUDY, FIRST, trial - 1, lambda: Results(STUDY))
    content = Trial("small", trial, FIRST, sampled.config, sampled.seed, sampled.origin)
    return Attempt(content, number, f"token{number}", "folder")


def test_a_trial_is_counted_from_its_start_to_its_end() -> None:
    progress = fresh()
    one = attempt()
    setting = progress.settings[FIRST.key]
    assert (progress.total, progress.ended, progress.has_started) == (6, 0, False)
    assert progress.note(Started(one, "here", 1)) is None
    assert (dict(setting.counts), setting.ended, progress.has_started) == ({"running": 1}, 0, True)
    assert progress.note(points(one, 0, 4)) is None
    assert progress.note(Finished(one, COMPLETE, 1.0)) == Measure(0.2, 4)
    assert (dict(setting.counts), setting.ended) == ({"complete": 1}, 1)
    assert setting.best == (1, Measure(0.2, 4))


def test_the_best_is_kept_whatever_comes_later() -> None:
    progress = fresh()
    for trial, last in ((1, 9), (2, 3)):
        progress.note(points(attempt(trial), 0, last))
        progress.note(Finished(attempt(trial), COMPLETE, 1.0))
    assert progress.settings[FIRST.key].best == (1, Measure(0.1, 9))


@pytest.mark.parametrize("outcome", [FAILED, INFEASIBLE])
def test_only_what_is_complete_has_a_result(outcome: Outcome) -> None:
    progress = fresh()
    progress.note(points(attempt(), 0, 4))
    assert progress.note(Finished(attempt(), outcome, 1.0)) is None
    assert progress.settings[FIRST.key].best is None
    assert progress.ended == 1


def test_a_preempted_trial_has_not_ended_and_goes_on_with_its_curve() -> None:
    progress = fresh()
    first, second = attempt(number=1), attempt(number=2)
    for event in (points(first, 0, 9), Finished(first, PREEMPTED, 1.0)):
        progress.note(event)
    assert progress.ended == 0
    progress.note(Resumed(second, source=1, step=3))
    progress.note(points(second, 4, 6))
    # The steps after 3 of the first attempt are superseded: its best, at step 9, is no result.
    assert progress.note(Finished(second, COMPLETE, 1.0)) == Measure(1 / 7, 6)


def test_time_left_is_unknown_before_the_first_trial_ends() -> None:
    progress = fresh(workers=2)
    progress.note(Started(attempt(), "here", 1))
    assert progress.seconds_left is None
    progress.note(Finished(attempt(), PREEMPTED, 100.0))
    assert progress.seconds_left is None
    progress.note(Finished(attempt(), COMPLETE, 8.0))
    assert progress.seconds_left == 8.0 * 5 / 2


def test_time_left_is_by_the_pace_once_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = fresh(workers=1)
    progress.note(Started(attempt(), "here", 1))
    began = time.monotonic()
    progress.note(Finished(attempt(1), COMPLETE, 0.1))
    progress.note(Finished(attempt(2), INFEASIBLE, 0.1))
    monkeypatch.setattr(time, "monotonic", lambda: began + 100)
    assert progress.seconds_left == pytest.approx(50 * 4, rel=0.01)


def run(study: Study, folder: Path, watch: Callable[[Event], Any]) -> Results:
    """The results of a whole run, without processes."""
    with open_store(folder) as store:
        store.create(study)
        run_study(
            study,
            NoProgram(),
            store=store,
            sampler=sampler_for(study),
            executor=Scripted(room=2),
            code=NO_CODE,
            policy=RetryPolicy(),
            breaker=Breaker(),
            interrupts=Interrupts(),
            watch=watch,
        )
        return store.results(study.name)


def test_events_and_the_book_tell_the_same(tmp_path: Path) -> None:
    progress = fresh()
    results = run(STUDY, tmp_path, progress.note)
    assert progress.settings == fresh(results=results).settings
    for setting in (FIRST, SECOND):
        best = results.best(setting)
        assert best is not None
        assert progress.settings[setting.key].best == (best[0].trial.number, best[1])


def test_more_trials_than_are_wished_for(tmp_path: Path) -> None:
    results = run(STUDY, tmp_path, lambda event: None)
    progress = Progress(results, dict.fromkeys((FIRST, SECOND), 1), workers=1)
    assert (progress.ended, progress.total) == (6, 6)
