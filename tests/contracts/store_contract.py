"""What every store keeps to. A test class inherits the checks and provides the fixture `store`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tunebook.core.curves import Block
from tunebook.core.domains import Float
from tunebook.core.errors import StoreError, StudyChanged, UnknownName
from tunebook.core.events import Event, Finished, Logged, Noted, Resumed, Started, Tick
from tunebook.core.objective import Metric, Objective
from tunebook.core.protocols import Proposal, Store
from tunebook.core.results import AttemptRecord, TrialRecord
from tunebook.core.space import Space
from tunebook.core.study import Budget, MoreTrials, Resources, Study
from tunebook.core.trials import (
    Adaptive,
    Attempt,
    Cause,
    Code,
    FromSequence,
    Listed,
    Origin,
    Outcome,
    OutcomeKind,
)

STUDY = Study(
    name="depth",
    space=Space.of(
        scientific={"blocks": [2, 3]}, nuisance={"learning_rate": Float(1e-4, 1e-1, log=True)}
    ),
    objective=Objective(Metric("error")),
    goal="Does a third block help?",
    budget=Budget(100),
)
CODE = Code("abc")

COMPLETE = Outcome(OutcomeKind.COMPLETE, "done")
FAILED = Outcome(OutcomeKind.FAILED, "ValueError: no", detail="Traceback")
CRASHED = Outcome(OutcomeKind.CRASHED, "killed")
PREEMPTED = Outcome(OutcomeKind.PREEMPTED, "asked to leave")
OUT_OF_MEMORY = Outcome(OutcomeKind.INFEASIBLE, "no memory", Cause.OUT_OF_MEMORY)
FOR_GOOD = (
    COMPLETE,
    Outcome(OutcomeKind.STOPPED, "by a rule"),
    Outcome(OutcomeKind.CANCELLED, "by the user"),
    Outcome(OutcomeKind.INFEASIBLE, "the loss is NaN", Cause.DIVERGED),
)
TRIED_AGAIN = (FAILED, CRASHED, PREEMPTED, OUT_OF_MEMORY)


def proposal(index: int = 0, arm: int = 0, origin: Origin | None = None) -> Proposal:
    """The proposal of an index in one of the two settings."""
    setting = STUDY.space.settings()[arm]
    config = STUDY.config(setting, {"learning_rate": (index * 0.618) % 1})
    seed = STUDY.trial_seed(index)
    return Proposal(setting, config, seed, origin or FromSequence(index))


def logged(
    attempt: Attempt, steps: Sequence[int], offset: int, values: Sequence[float] | None = None
) -> Logged:
    """Points of `error`; unless given, each has its step for a value."""
    rows = [
        (step, step / 10, [float(value)])
        for step, value in zip(steps, values or steps, strict=True)
    ]
    return Logged(attempt, (Block.of(["error"], rows),), offset)


class StoreContract:
    """Inherit this beside a fixture `store` with an empty store."""

    @pytest.fixture
    def attempt(self, store: Store) -> Attempt:
        """The first attempt at the first trial."""
        store.create(STUDY)
        return store.claim("depth", proposal(), CODE)

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert store.studies() == ()

    def test_studies_come_back_in_the_order_of_creation(self, store: Store) -> None:
        later = replace(STUDY, name="a", parent="depth")
        assert store.create(STUDY) == STUDY
        assert store.create(later) == later
        assert store.studies() == (STUDY, later)

    def test_creating_a_study_again_joins_it(self, store: Store, attempt: Attempt) -> None:
        assert store.create(STUDY) == STUDY
        assert len(store.results("depth")) == 1

    def test_what_leaves_trials_comparable_may_change(self, store: Store, attempt: Attempt) -> None:
        changed = replace(
            STUDY,
            goal="another",
            note="why",
            program="train.py:train",
            objective=Objective(Metric("accuracy", "higher")),
            trials=7,
            more_trials=(MoreTrials((), 9),),
            resources=Resources(cpus=2),
        )
        assert store.create(changed) == changed
        assert store.studies() == (changed,)
        assert store.results("depth").study == changed

    def test_a_changed_study_is_refused_with_the_difference(self, store: Store) -> None:
        store.create(STUDY)
        changed = replace(STUDY, seed=1, budget=Budget(200), goal="another")
        with pytest.raises(StudyChanged) as refusal:
            store.create(changed)
        assert refusal.value.difference == STUDY.difference(changed)
        assert str(refusal.value) == (
            "the study depth differs from the one in the book, so that their trials could not be "
            "compared:\n"
            "  ~ budget: 100 steps -> 200 steps\n"
            "  ~ seed: 0 -> 1\n"
            "Either run it as a new study (another name, with `parent: depth`), "
            "or put the old values back"
        )
        assert store.studies() == (STUDY,)

    def test_a_parent_must_be_known(self, store: Store) -> None:
        store.create(STUDY)
        with pytest.raises(StoreError) as refusal:
            store.create(replace(STUDY, name="width", parent="dept"))
        assert str(refusal.value) == (
            "width names 'dept' as its parent, which is not in this book; did you mean 'depth'?"
        )
        with pytest.raises(StoreError, match="not in this book"):
            store.create(replace(STUDY, name="self", parent="self"))
        assert store.studies() == (STUDY,)

    def test_a_claim_makes_the_trial_and_its_folder(self, store: Store, attempt: Attempt) -> None:
        wanted = proposal()
        trial = attempt.trial
        assert (trial.study, trial.number, trial.setting) == ("depth", 1, wanted.setting)
        assert (trial.config, trial.seed, trial.origin) == (
            wanted.config,
            wanted.seed,
            wanted.origin,
        )
        assert trial.code == CODE
        assert (attempt.number, len(attempt.token)) == (1, 16)
        folder = Path(attempt.folder)
        assert folder.is_absolute()
        assert folder.is_dir()
        assert "depth" not in str(folder.relative_to(folder.parents[3]))

    def test_trials_are_numbered_within_their_study(self, store: Store, attempt: Attempt) -> None:
        store.create(replace(STUDY, name="width"))
        origins = (FromSequence(0), Listed(0), Adaptive(0, "bayes", 12))
        assert store.claim("depth", proposal(arm=1), CODE).trial.number == 2
        numbers = [store.claim("width", proposal(0, 0, o), CODE).trial.number for o in origins]
        assert numbers == [1, 2, 3]
        assert [record.trial.origin for record in store.results("width")] == list(origins)

    def test_a_study_must_be_known_to_be_claimed_from_or_read(self, store: Store) -> None:
        store.create(STUDY)
        with pytest.raises(UnknownName) as refusal:
            store.claim("deph", proposal(), CODE)
        assert str(refusal.value) == "the book has no study 'deph'; did you mean 'depth'?"
        with pytest.raises(UnknownName, match=r"no study 'x'$"):
            store.results("x")

    def test_an_attempt_that_runs_cannot_be_claimed(self, store: Store, attempt: Attempt) -> None:
        with pytest.raises(StoreError) as refusal:
            store.claim("depth", proposal(), CODE)
        assert str(refusal.value) == (
            "trial 1 of depth cannot be tried again: its attempt 1 has not ended; "
            "wait for it, or record its end first"
        )
        assert len(store.results("depth")[1].attempts) == 1

    @pytest.mark.parametrize("outcome", FOR_GOOD, ids=str)
    def test_some_outcomes_are_for_good(
        self, store: Store, attempt: Attempt, outcome: Outcome
    ) -> None:
        assert store.append(Finished(attempt, outcome, 1.0))
        with pytest.raises(StoreError, match=rf"it is {outcome.kind} for good \({outcome.reason}"):
            store.claim("depth", proposal(), CODE)

    @pytest.mark.parametrize("outcome", TRIED_AGAIN, ids=str)
    def test_other_outcomes_may_be_followed_by_an_attempt(
        self, store: Store, attempt: Attempt, outcome: Outcome
    ) -> None:
        assert store.append(Finished(attempt, outcome, 1.0))
        again = store.claim("depth", proposal(), Code("def"))
        assert (again.trial.number, again.number) == (1, 2)
        assert again.token != attempt.token
        assert again.folder != attempt.folder
        record = store.results("depth")[1]
        assert [a.code for a in record.attempts] == [CODE, Code("def")]
        assert record.trial.code == Code("def")

    def test_a_trial_keeps_its_stored_configuration(self, store: Store, attempt: Attempt) -> None:
        store.append(Finished(attempt, CRASHED, 1.0))
        moved = replace(proposal(), config={"blocks": 2, "learning_rate": 0.5}, seed=99)
        again = store.claim("depth", moved, CODE)
        assert again.trial.config == attempt.trial.config
        assert again.trial.seed == attempt.trial.seed

    def test_the_results_tell_all_that_was_appended(self, store: Store, attempt: Attempt) -> None:
        events: list[Event] = [
            Started(attempt, "host", 123),
            logged(attempt, [1, 2, 3], 50),
            Noted(attempt, "slow"),
            Noted(attempt, "a second note"),
            Noted(attempt, "slow"),
            Tick(1),
            Finished(attempt, COMPLETE, 2.5),
        ]
        assert [store.append(event) for event in events] == [True] * len(events)
        record = store.results("depth")[1]
        assert record.trial == attempt.trial
        assert record.attempts == (
            AttemptRecord(
                number=1,
                token=attempt.token,
                folder=attempt.folder,
                code=CODE,
                outcome=COMPLETE,
                seconds=2.5,
                last_step=3,
                host="host",
                pid=123,
                offset=50,
                notes=("slow", "a second note"),
            ),
        )
        assert list(record.curves) == ["error"]
        assert record.curves["error"].steps.tolist() == [1, 2, 3]
        assert record.curves["error"].values.tolist() == [1.0, 2.0, 3.0]
        assert record.curves["error"].seconds.tolist() == [0.1, 0.2, 0.3]

    def test_a_running_attempt_can_be_read(self, store: Store, attempt: Attempt) -> None:
        assert store.results("depth")[1].status == "running"
        for k in range(200):
            assert store.append(logged(attempt, [2 * k, 2 * k + 1], k + 1))
            if k % 50 == 0:
                assert steps_of(store) == list(range(2 * k + 2))
        assert steps_of(store) == list(range(400))
        assert store.results("depth")[1].attempts[0].last_step == 399

    def test_metrics_are_chosen(self, store: Store, attempt: Attempt) -> None:
        block = Block.of(["a", "b", "c"], [(1, 0.0, [1, 2, 3])])
        store.append(Logged(attempt, (block,), 1))
        assert set(store.results("depth")[1].curves) == {"a", "b", "c"}
        assert set(store.results("depth", ["c", "a", "z"])[1].curves) == {"a", "c"}
        assert store.results("depth", ())[1].curves == {}

    def test_metrics_logged_at_different_steps(self, store: Store, attempt: Attempt) -> None:
        train = Block.of(["loss", "rate"], [(s, s / 10, [s, -s]) for s in range(10)])
        valid = Block.of(["error"], [(s, s / 10, [s]) for s in (4, 9)])
        store.append(Logged(attempt, (train, valid), 1))
        more = Block.of(["loss", "rate"], [(10, 1.0, [10, -10])])
        store.append(Logged(attempt, (more,), 2))
        for _ in range(2):
            curves = store.results("depth")[1].curves
            assert curves["loss"].steps.tolist() == list(range(11))
            assert curves["rate"].values.tolist() == [-s for s in range(11)]
            assert curves["error"].steps.tolist() == [4, 9]
            store.append(Finished(attempt, COMPLETE, 1.0))

    def test_values_come_back_bit_for_bit(self, store: Store, attempt: Attempt) -> None:
        values = [0.1, np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308]
        store.append(logged(attempt, range(7), 1, values))
        for _ in range(2):
            read = store.results("depth")[1].curves["error"].values
            assert read.tobytes() == np.array(values).tobytes()
            store.append(Finished(attempt, COMPLETE, 1.0))

    def test_reading_a_spool_again_doubles_nothing(self, store: Store, attempt: Attempt) -> None:
        first, second = logged(attempt, [1, 2], 10), logged(attempt, [3], 20)
        for event in (first, second, first, second, first):
            assert store.append(event)
        assert steps_of(store) == [1, 2, 3]
        assert store.results("depth")[1].attempts[0].offset == 20

    def test_bytes_without_points_move_the_offset(self, store: Store, attempt: Attempt) -> None:
        assert store.append(Logged(attempt, (), 30))
        record = store.results("depth")[1]
        assert (record.attempts[0].offset, record.curves) == (30, {})

    def test_a_step_logged_again_has_its_last_value(self, store: Store, attempt: Attempt) -> None:
        store.append(logged(attempt, [1, 2, 3], 1))
        store.append(logged(attempt, [3, 4], 2, [33.0, 4.0]))
        for _ in range(2):
            assert steps_of(store) == [1, 2, 3, 4]
            values = store.results("depth")[1].curves["error"].values
            assert values.tolist() == [1.0, 2.0, 33.0, 4.0]
            store.append(Finished(attempt, COMPLETE, 1.0))

    def test_steps_that_go_back_supersede(self, store: Store, attempt: Attempt) -> None:
        store.append(logged(attempt, [1, 5, 9, 3], 1))
        store.append(logged(attempt, [2, 8, 6], 2))
        for _ in range(2):
            assert steps_of(store) == [1, 2, 6]
            store.append(Finished(attempt, COMPLETE, 1.0))

    def test_nothing_is_accepted_after_the_outcome(self, store: Store, attempt: Attempt) -> None:
        store.append(logged(attempt, [1], 1))
        assert store.append(Finished(attempt, FAILED, 1.0))
        before = store.results("depth")
        assert not any(store.append(event) for event in every_event(attempt))
        assert_same(store.results("depth").trials, before.trials)

    def test_an_earlier_attempt_is_fenced_out(self, store: Store, attempt: Attempt) -> None:
        store.append(Finished(attempt, CRASHED, 1.0))
        again = store.claim("depth", proposal(), CODE)
        before = store.results("depth")
        assert not any(store.append(event) for event in every_event(attempt))
        assert_same(store.results("depth").trials, before.trials)
        assert store.append(Finished(again, COMPLETE, 1.0))

    def test_only_the_right_token_is_accepted(self, store: Store, attempt: Attempt) -> None:
        trial = replace(attempt.trial, number=2)
        elsewhere = replace(attempt.trial, study="width")
        strangers = (
            replace(attempt, token="0" * 16),
            replace(attempt, number=2),
            replace(attempt, trial=trial),
            replace(attempt, trial=elsewhere),
        )
        before = store.results("depth")
        for stranger in strangers:
            assert not any(store.append(event) for event in every_event(stranger))
        assert_same(store.results("depth").trials, before.trials)

    def test_an_attempt_that_resumes_continues_the_curve(
        self, store: Store, attempt: Attempt
    ) -> None:
        store.append(logged(attempt, [10, 20, 30], 1))
        store.append(Finished(attempt, PREEMPTED, 1.0))
        second = store.claim("depth", proposal(), CODE)
        assert store.append(Resumed(second, 1, 20))
        assert steps_of(store) == [10, 20]
        assert store.results("depth")[1].attempts[-1].last_step == 20
        store.append(logged(second, [25, 35], 1))
        assert steps_of(store) == [10, 20, 25, 35]
        record = store.results("depth")[1].attempts[-1]
        assert (record.source, record.resumed_at, record.last_step) == (1, 20, 35)

    def test_an_attempt_that_begins_anew_supersedes_all(
        self, store: Store, attempt: Attempt
    ) -> None:
        store.append(logged(attempt, [10, 20, 30], 1))
        store.append(Finished(attempt, CRASHED, 1.0))
        second = store.claim("depth", proposal(), CODE)
        assert steps_of(store) == []
        store.append(logged(second, [5], 1))
        assert steps_of(store) == [5]
        store.append(Finished(second, CRASHED, 1.0))
        third = store.claim("depth", proposal(), CODE)
        store.append(Resumed(third, 1, 20))
        assert steps_of(store) == [10, 20]

    def test_text_that_utf8_cannot_hold(self, store: Store, attempt: Attempt) -> None:
        block = Block.of(["loss \ud800"], [(1, 0.0, [1.0])])
        outcome = Outcome(OutcomeKind.FAILED, "bad \ud800", detail="\udfff\x00")
        store.append(Started(attempt, "host\udc80", 1))
        store.append(Noted(attempt, "note \ud800"))
        store.append(Logged(attempt, (block,), 1))
        assert store.append(Finished(attempt, outcome, 1.0))
        record = store.results("depth")[1]
        assert record.outcome == outcome
        assert record.attempts[0].notes == ("note \\ud800",)
        assert list(record.curves) == ["loss \\ud800"]


def steps_of(store: Store) -> list[int]:
    """The steps in force of the first trial."""
    curve = store.results("depth")[1].curves.get("error")
    return [] if curve is None else curve.steps.tolist()


def every_event(attempt: Attempt) -> list[Event]:
    """One event of each kind that is about an attempt."""
    return [
        Started(attempt, "stranger", 666),
        logged(attempt, [99], 999),
        Resumed(attempt, 1, 5),
        Noted(attempt, "from beyond"),
        Finished(attempt, COMPLETE, 9.0),
    ]


def assert_same(found: Sequence[TrialRecord], expected: Sequence[TrialRecord]) -> None:
    """Equal records, with curves whose points are equal."""
    assert [(r.trial, r.attempts) for r in found] == [(r.trial, r.attempts) for r in expected]
    assert [dict(record.curves) for record in found] == [dict(r.curves) for r in expected]
