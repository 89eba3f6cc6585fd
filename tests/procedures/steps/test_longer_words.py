"""What is said of longer training: the advice, the cap, and what cannot be told."""

from __future__ import annotations

from simulated_lengths import KNOBS, LOST, followed, improves
from simulated_probes import Made, Training, subject_of
from tunebook.core.findings import Finding, Verdict
from tunebook.core.space import Config
from tunebook.procedures.steps.longer_words import LONGER, answer, because


def said(train: Training, steps: int = 50, longest: int | None = None) -> tuple[Finding, str]:
    subject = subject_of({"lr": 0.1}, KNOBS, steps=steps, probe="steps")
    made, _ = followed(train, longest=longest, subject=subject)
    return answer(subject, made), because(subject, made)


def test_the_fewest_steps_beyond_which_nothing_is_gained() -> None:
    found, why = said(improves(400, noise=0.0, by_seed=0.0))
    assert found.question == LONGER and found.verdict is Verdict.WATCH
    assert found.sentence == (
        "400 steps are enough for the study's own training: twice as many gain 0 (standard error "
        "0). With its schedule, its regularisation and lr 0.1, the mean valid/error is 0.3 after "
        "100 steps, 0.28 after 200, 0.26 after 400 and 0.26 after 800, on 4 seeds."
    )
    assert found.advice == "Give trials 400 steps; they have 50."
    assert found.numbers == {"guess": 100, "steps": 400, "total": 6000}
    assert "one probe in ten" in found.method
    assert why == "The fewest steps beyond which longer training gained nothing above noise."


def test_a_study_that_has_as_many_is_left_alone() -> None:
    found, _ = said(improves(100, noise=0.0), steps=100)
    assert found.verdict is Verdict.GOOD
    assert found.sentence.startswith(
        "100 steps are enough for the study's own training, which has 100: twice as many "
    )
    assert found.advice == ""


def test_what_still_gains_may_gain_more() -> None:
    found, why = said(improves(1e9, noise=0.0), steps=1000)
    assert found.verdict is Verdict.WATCH
    assert found.sentence.startswith(
        "The study's own training still gains at 800 steps, the most that were tried: the last "
        "doubling gains 0.02 (standard error "
    )
    assert "), and more steps may still help. The study has 1000. With its" in found.sentence
    assert "more steps may still help" in why
    assert found.advice.startswith("Run the study, then ask again")


def test_a_cap_is_told() -> None:
    found, _ = said(improves(1e9, noise=0.0), longest=250)
    assert "more steps may still help" in found.sentence
    assert "tunebook probe steps STUDY.yaml --longest 400 --again." in found.advice


def test_a_cap_that_leaves_no_room_is_told() -> None:
    found, why = said(improves(1e9), longest=150)
    assert found.verdict is Verdict.UNKNOWN and "a first guess" in why
    assert found.sentence == (
        "At most 150 steps are allowed, which leaves no room for twice the first guess, 100: "
        "more steps may still help."
    )
    assert found.advice == "Allow more: tunebook probe steps STUDY.yaml --longest 400 --again"


def test_where_nothing_works_nothing_is_claimed() -> None:
    found, why = said(lambda config, seed, steps: LOST)
    assert found.verdict is Verdict.UNKNOWN and "a first guess" in why
    assert "came to an end, of 4 each of 100, 200 and 400 steps" in found.sentence


def test_trials_that_come_to_nothing_are_told() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return improves(1e9)(config, seed, steps) if steps < 400 else LOST

    found, _ = said(train)
    assert "twice as many have more trials that come to nothing" in found.sentence


def test_every_seed_that_was_lost_is_told() -> None:
    seeds: list[int] = []

    def train(config: Config, seed: int, steps: int) -> Made:
        seeds.append(seed)
        gone = {200: seeds[:1], 400: seeds[:2]}.get(steps, [])
        return LOST if seed in gone else improves(100, noise=0.0)(config, seed, steps)

    found, _ = said(train)
    assert " 1 of 4 trainings of 200 steps and 2 of 4 of 400 came to nothing." in found.sentence
    assert "came to nothing" not in said(improves(100))[0].sentence


def test_a_loss_is_told_as_one() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        return {"valid/error": [0.1 + steps / 1e4]}

    assert "twice as many lose 0.01 (standard error" in said(train)[0].sentence
