"""Evidence: readings, arms as arrays, and what counts as sampled."""

from __future__ import annotations

import numpy as np

from simulation import Plan, draw
from tunebook.core.evidence import Evidence, Reading, Standing
from tunebook.core.results import Results, TrialRecord
from tunebook.core.trials import Adaptive, FromSequence, Imported, Listed, Origin, Replicate, Trial
from tunebook.diagnosis.gathering import gather


def evidence(**changes: object) -> Evidence:
    return gather(draw(Plan(trials=8, **changes)))  # type: ignore[arg-type]


def test_an_arm_for_each_setting_with_its_trials_in_order() -> None:
    seen = evidence(settings=3, dimensions=2)
    assert [str(arm.setting) for arm in seen.arms] == ["variant=0", "variant=1", "variant=2"]
    assert [len(arm) for arm in seen.arms] == [8, 8, 8]
    assert [r.number for r in seen.arms[1].readings] == list(range(2, 25, 3))


def test_points_lie_in_the_unit_cube_and_name_their_parameters() -> None:
    arm = evidence(dimensions=3).arms[0]
    assert [p.name for p in arm.parameters] == ["learning_rate", "weight_decay", "dropout"]
    assert arm.points.shape == (8, 3)
    assert np.all((arm.points >= 0) & (arm.points <= 1))
    config = arm.readings[2].record.trial.config
    assert arm.points[2, 2] == config["dropout"] / 0.5


def test_losses_are_nan_for_what_was_not_measured_and_turn_when_higher_is_better() -> None:
    arm = evidence(cliff=0.5).arms[0]
    measured = [r.standing is Standing.MEASURED for r in arm.readings]
    assert 0 < sum(measured) < 8
    assert np.array_equal(np.isfinite(arm.losses), measured)
    assert len(arm.measured) == sum(measured)
    assert len(arm.judged) == 8


def test_the_best_come_first_in_an_arm_and_over_all_arms() -> None:
    seen = evidence(settings=2)
    values = [reading.value for reading in seen.ranked]
    assert values == sorted(v for v in values if v is not None)
    assert seen.best is seen.ranked[0]
    assert any(arm.best is seen.best for arm in seen.arms)


def test_without_trials_there_is_nothing_best() -> None:
    seen = gather(draw(Plan(trials=1, failures=1.0)))
    assert seen.best is None
    assert seen.arms[0].best is None
    assert len(seen.only(Standing.BROKEN)) == 1


def test_only_points_chosen_without_a_look_at_results_count_as_sampled() -> None:
    trial = draw(Plan(trials=1)).trials[0].trial

    def sampled(origin: Origin) -> bool:
        changed = Trial("s", 1, trial.setting, trial.config, 1, origin)
        return Reading(TrialRecord(changed), Standing.PENDING).is_sampled

    assert sampled(FromSequence(0))
    assert sampled(Listed(0))
    assert sampled(Imported(0, "elsewhere"))
    assert not sampled(Adaptive(0, "bayes", 4))
    assert not sampled(Replicate(0, of=1))


def test_a_curve_without_points_is_no_curve() -> None:
    reading = evidence().readings[0]
    assert reading.curve("valid/error") is not None
    assert reading.curve("nothing") is None


def test_values_that_another_tool_chose_beyond_a_range_lie_at_its_end() -> None:
    results = draw(Plan(trials=1, dimensions=2))
    trial = results.trials[0].trial
    config = {**trial.config, "learning_rate": 7.0, "weight_decay": "none"}
    changed = Trial("s", 1, trial.setting, config, 1, Imported(0, "elsewhere"))
    record = TrialRecord(changed, results.trials[0].attempts, results.trials[0].curves)
    points = gather(Results(results.study, (record,))).arms[0].points
    assert points[0, 0] == 1.0
    assert np.isnan(points[0, 1])
