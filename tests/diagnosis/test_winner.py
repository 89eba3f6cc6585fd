"""Winners: confident ones, ties, and what would make it known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hostile_evidence import METRIC, Ran, evidence_of
from simulation import Plan, draw
from tunebook.core.curves import Curve
from tunebook.core.domains import Float
from tunebook.core.evidence import Evidence
from tunebook.core.findings import Verdict
from tunebook.core.results import Results
from tunebook.core.space import Parameter, Role, Space
from tunebook.core.trials import Replicate
from tunebook.diagnosis.gathering import gather
from tunebook.diagnosis.winner import chance_of_equals, winner
from tunebook.stats.optima import Optimum
from tunebook.stats.winner import Contest


def drawn(**plan: object) -> Evidence:
    return gather(draw(Plan(**{"seed": 5, "dimensions": 2, "settings": 2, **plan})))  # type: ignore[arg-type]


def replicated(evidence: Evidence, means: dict[int, float], top: int = 3) -> Evidence:
    """The study with three fresh seeds of the best configurations of each setting."""
    records = list(evidence.results.trials)
    for arm in evidence.arms:
        mean = means[int(arm.setting.config["variant"] or 0)]
        for reading in arm.ranked[:top]:
            for i in range(3):
                number = len(records) + 1
                origin = Replicate(number, reading.number)
                trial = replace(reading.record.trial, number=number, seed=number, origin=origin)
                curve = Curve.of(np.arange(40), np.full(40, mean + 0.001 * i))
                fresh = replace(reading.record, trial=trial, curves={METRIC: curve})
                records.append(fresh)
    return gather(Results(evidence.study, tuple(records)))


def test_a_clear_winner_is_confident() -> None:
    said = winner(drawn(advantage=0.04))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("variant=1 wins with a probability of over 99%, by about 0.0")
    assert said.numbers["chance of variant=1"] > 0.95
    assert len(said.trials) == 1


@pytest.mark.parametrize("seed", range(6))
def test_equal_settings_have_no_confident_winner(seed: int) -> None:
    said = winner(drawn(seed=seed, dimensions=3, trials=24))
    assert "wins with a probability of over" not in said.sentence
    if said.verdict is Verdict.UNKNOWN:
        assert "leads, but wins with a probability of" in said.sentence
        assert said.advice.startswith("Run 24 more trials of variant=")


def test_a_tie_is_said() -> None:
    said = winner(drawn(trials=64, dimensions=1, noise=0.0005, jitter=0.0, height=0.6))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith(
        "variant=0 and variant=1 are equally good: their best results differ by less than"
    )


def perfect(of: dict[str, float]) -> Evidence:
    """Two settings over a line; the best error of each is given."""
    space = Space.of(scientific={"opt": list(of)}, nuisance={"rate": Float(0, 1)})
    ran = [
        Ran(
            {"rate": i / 15},
            max(of[str(setting.config["opt"])], (i - 8) ** 2 / 99),
            setting=setting,
        )
        for setting in space.settings()
        for i in range(16)
    ]
    return evidence_of(space, ran)


def test_settings_that_cannot_be_bettered_are_equal() -> None:
    said = winner(perfect({"adam": 0.0, "sgd": 0.0}))
    assert said.verdict is Verdict.GOOD
    assert said.sentence == (
        "opt=adam and opt=sgd are equally good: the best trial of each has valid/error 0, which "
        "cannot be bettered."
    )
    assert len(said.trials) == 2


def test_one_setting_at_the_end_of_the_scale_is_no_tie() -> None:
    said = winner(perfect({"adam": 0.0, "sgd": 0.3}))
    assert "cannot be bettered" not in said.sentence
    assert said.sentence.startswith("opt=adam ")


def test_an_end_of_the_scale_that_both_may_reach_is_shared() -> None:
    paths = np.concatenate([np.full(20, -0.01), np.full(80, 0.05)])
    ahead, behind = (Optimum(np.zeros(1), v, v[:, None], 0 * v) for v in (paths - 0.1, paths))
    contest = Contest((0.97, 0.03), (0.0, 0.0), (ahead, behind), (0.0, 0.0))
    assert chance_of_equals(contest) == 0.0
    assert 0.1 < chance_of_equals(contest.bounded(0.0)) < 0.3


def test_fresh_seeds_that_agree_leave_a_winner() -> None:
    said = winner(replicated(drawn(advantage=0.04), {0: 0.102, 1: 0.062}))
    assert said.verdict is Verdict.GOOD


def test_fresh_seeds_that_disagree_take_confidence_away() -> None:
    evidence = replicated(drawn(advantage=0.04), {0: 0.061, 1: 0.063}, top=3)
    said = winner(evidence)
    assert said.verdict is Verdict.UNKNOWN


def test_more_looks_take_confidence_away() -> None:
    evidence = drawn(advantage=0.04)
    halved = tuple(
        replace(r, curves={n: c.until(2000) for n, c in r.curves.items()})
        if r.trial.setting.config["variant"] == 0
        else r
        for r in evidence.results
    )
    said = winner(gather(Results(evidence.study, halved)))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("Trials of variant=1 were evaluated 40 times")


def test_with_one_setting_the_best_trial_is_told_with_its_error() -> None:
    said = winner(drawn(settings=1))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith("There is one setting, so none can win. The best trial (")
    assert "Run again, the best known point is expected at 0.1" in said.sentence
    assert 0 < said.numbers["error"] < 0.01


def bucketed(centre: float, n: int = 64) -> Evidence:
    decay = Parameter("decay", Role.SCIENTIFIC, Float(1e-6, 1e-2, log=True), buckets=4)
    space = Space.of(scientific={"decay": decay}, nuisance={"rate": Float(0, 1)})
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(n, 2))
    ran = [
        Ran({"decay": float(x), "rate": float(y)}, float((x - centre) ** 2 + 0.1 * (y - 0.5) ** 2))
        for x, y in points
    ]
    return evidence_of(space, ran)


def test_a_continuous_parameter_wins_by_buckets() -> None:
    said = winner(bucketed(centre=0.375))
    assert said.verdict is Verdict.GOOD
    assert said.sentence.startswith(
        "The best decay lies from 1e-05 to 0.0001 with a probability of over 99%."
    )


def test_an_optimum_between_buckets_is_nobodys() -> None:
    said = winner(bucketed(centre=0.5))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("No bucket of decay wins")


def test_a_setting_with_few_results_leaves_it_open() -> None:
    evidence = drawn(trials=8)
    few = [r for r in evidence.results if r.trial.setting.config["variant"] == 0]
    said = winner(gather(Results(evidence.study, tuple(few))))
    assert said.verdict is Verdict.UNKNOWN
    assert said.sentence.startswith("variant=1 has fewer than 8 results. The best trial (")


def test_without_results_it_is_unknown() -> None:
    assert winner(evidence_of(Space(), [])).sentence == "There is no result yet."


@pytest.mark.parametrize("n", [1, 2, 12])
def test_a_study_that_searches_nothing_has_a_best_trial(n: int) -> None:
    said = winner(evidence_of(Space(), [Ran({}, 0.1 + 0.01 * i) for i in range(n)]))
    assert said.verdict is Verdict.GOOD
    assert "The best trial (1) has valid/error 0.1." in said.sentence
