"""Proposals: what was left behind, then what is tried again, then new points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from coordination import COMPLETE, CRASHED, FAILED, small_study
from tunebook.core.domains import Choice
from tunebook.core.events import Finished, Wait
from tunebook.core.space import When
from tunebook.core.study import MoreTrials, Study
from tunebook.core.trials import NO_CODE, Attempt, Outcome, RetryPolicy
from tunebook.running.ledger import Ledger
from tunebook.running.proposals import order, proposals
from tunebook.sampling import sampler_for
from tunebook.storage.sqlite import SQLiteStore, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with open_store(tmp_path) as store:
        yield store


class Coordinator:
    """A ledger and its proposals, as one run of a study has them."""

    def __init__(self, study: Study, store: SQLiteStore, policy: RetryPolicy | None = None) -> None:
        self.store = store
        store.create(study)
        self.paused = False
        self.ledger = Ledger(store.results(study.name), policy or RetryPolicy(), NO_CODE)
        self.proposals = proposals(
            study, sampler_for(study), store, self.ledger, NO_CODE, lambda: self.paused
        )

    def take(self) -> Attempt:
        proposed = next(self.proposals)
        assert isinstance(proposed, Attempt)
        return proposed

    def finish(self, attempt: Attempt, outcome: Outcome = COMPLETE) -> None:
        event = Finished(attempt, outcome, 1.0)
        assert self.store.append(event)
        self.ledger.note(event)


def named(attempt: Attempt) -> tuple[str, int, int]:
    return str(attempt.trial.setting.config["arm"]), attempt.trial.index, attempt.number


def test_settings_come_in_turn() -> None:
    study = small_study(2)
    arms = [(str(setting.config["arm"]), i) for setting, i in order(study, sampler_for(study))]
    assert arms == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_a_setting_with_more_trials_ends_later() -> None:
    study = replace(small_study(1), more_trials=(MoreTrials((When("arm", ("b",)),), 3),))
    arms = [(str(setting.config["arm"]), i) for setting, i in order(study, sampler_for(study))]
    assert arms == [("a", 0), ("b", 0), ("b", 1), ("b", 2)]
    assert isinstance(study.space["arm"].source, Choice)


def test_every_proposal_is_claimed_when_it_is_asked_for(store: SQLiteStore) -> None:
    run = Coordinator(small_study(2), store)
    for taken in range(1, 5):
        run.take()
        assert len(store.results("small")) == taken
        assert run.ledger.running == taken


def test_the_end_comes_when_nothing_runs(store: SQLiteStore) -> None:
    run = Coordinator(small_study(1), store)
    first, second = run.take(), run.take()
    assert isinstance(next(run.proposals), Wait)
    run.finish(first)
    assert isinstance(next(run.proposals), Wait)
    run.finish(second)
    assert next(run.proposals, None) is None


def test_a_crash_comes_back_before_new_points(store: SQLiteStore) -> None:
    run = Coordinator(small_study(2), store)
    run.finish(run.take(), CRASHED)
    assert [named(run.take()) for _ in range(2)] == [("a", 0, 2), ("b", 0, 1)]


def test_a_retry_has_the_same_configuration_and_a_new_token(store: SQLiteStore) -> None:
    run = Coordinator(small_study(2), store)
    first = run.take()
    run.finish(first, CRASHED)
    second = run.take()
    assert second.trial == first.trial
    assert second.token != first.token
    assert second.folder != first.folder


def test_a_later_run_begins_with_what_was_left_behind(store: SQLiteStore) -> None:
    study = small_study(2)
    before = Coordinator(study, store)
    taken = [before.take() for _ in range(3)]
    before.finish(taken[0], CRASHED)
    after = Coordinator(study, store)
    assert [after.take(), after.take()] == taken[1:]
    assert [named(after.take()) for _ in range(2)] == [("a", 0, 2), ("b", 1, 1)]
    assert isinstance(next(after.proposals), Wait)


def test_a_later_run_goes_on_to_the_total(store: SQLiteStore) -> None:
    for trials in (1, 3, 2):
        run = Coordinator(small_study(trials), store)
        for attempt in run.proposals:
            assert isinstance(attempt, Attempt)
            run.finish(attempt)
    assert [record.trial.index for record in store.results("small")] == [0, 0, 1, 1, 2, 2]


def test_failures_are_kept_and_counted(store: SQLiteStore) -> None:
    run = Coordinator(small_study(2), store)
    for attempt in run.proposals:
        assert isinstance(attempt, Attempt)
        run.finish(attempt, FAILED)
    assert store.results("small").counts() == {"failed": 4}
    assert next(Coordinator(small_study(2), store).proposals, None) is None
    again = Coordinator(small_study(2), store, RetryPolicy(failed=True))
    assert named(again.take()) == ("a", 0, 2)


def test_a_pause_ends_the_proposals(store: SQLiteStore) -> None:
    run = Coordinator(small_study(2), store)
    first = run.take()
    run.paused = True
    assert next(run.proposals, None) is None
    run.finish(first)
    assert len(store.results("small")) == 1


def test_points_do_not_depend_on_who_runs(store: SQLiteStore, tmp_path: Path) -> None:
    alone = Coordinator(small_study(3), store)
    straight = [attempt.trial.config for attempt in islice(alone.proposals, 6)]
    with open_store(tmp_path / "other") as other:
        for _ in range(6):
            run = Coordinator(small_study(3), other)
            for left in run.ledger.unfinished():
                assert run.take() == left
                run.finish(left)
            run.take()
        configs = [record.trial.config for record in other.results("small")]
    assert configs == straight
