"""The probe of steps: the first guess, the refusals, and what the study's own results say."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commandline import call
from simulated_probes import Made, Training, answered, results_of, subject_of
from small_studies import FINISHED
from tunebook.core.curves import Curve
from tunebook.core.domains import Value
from tunebook.core.edits import SetBudget
from tunebook.core.errors import StudyError
from tunebook.core.findings import Finding, Verdict
from tunebook.core.knobs import Knobs
from tunebook.core.results import AttemptRecord, Results, TrialRecord
from tunebook.core.space import Config, Fixed, Setting, Space
from tunebook.core.study import Budget, Study
from tunebook.core.trials import FromSequence, Outcome, OutcomeKind, Trial
from tunebook.procedures.answers import Answer, follow
from tunebook.procedures.steps.probe import NEEDS, probe
from tunebook.procedures.steps.words import rounded_up

KNOBS = Knobs(
    learning_rate="lr",
    schedule="schedule",
    warmup_steps="warmup",
    eval_interval="every",
    train_error="train/error",
    no_regularisation=(("dropout", 0),),
    no_augmentation=(("flip", False),),
)
START: dict[str, Value] = {
    "lr": 0.01,
    "schedule": "cosine",
    "warmup": 50,
    "every": 100,
    "dropout": 0.3,
    "flip": True,
}
FIXED = {name: value for name, value in START.items() if name != "schedule"}
# A program that is known to have a constant schedule.
SPACE = Space.of(scientific={"schedule": ["cosine", "constant"]}, fixed=FIXED)


def asked(
    train: Training,
    options: dict[str, Value] | None = None,
    seen: Results | None = None,
    steps: int = 1000,
    knobs: Knobs = KNOBS,
    seed: int = 0,
    space: Space = SPACE,
) -> tuple[Answer, list[Study]]:
    subject = subject_of(
        START, knobs, probe="steps", steps=steps, space=space, seen=seen, seed=seed
    )
    return answered(probe(subject, options or {}), train)


def learns(best: float = 0.01, fewest: float = 300, floor: float = 0.0) -> Training:
    """The training error reaches its floor after the fewest steps at the best rate."""

    def train(config: Config, seed: int, steps: int) -> Made:
        far = abs(math.log10(float(config["lr"] or 0) / best))
        luck = np.random.default_rng([seed, int(1e6 * float(config["lr"] or 0))]).normal()
        needed = fewest * (1 + 1.5 * far) * (1 + 0.02 * luck)
        x = np.arange(1, steps + 1)[int(config["every"] or 1) - 1 :: int(config["every"] or 1)]
        error = np.maximum(0.9 * (1 - x / needed), floor)
        return {"train/error": Curve.of(x, error), "valid/error": Curve.of(x, error + 0.1)}

    return train


def main(answer: Answer) -> Finding:
    return next(f for f in answer.findings if f.question.key == "probe-steps")


def test_the_first_guess() -> None:
    answer, studies = asked(learns(), {"max_steps": 1000}, steps=200)
    found = main(answer)
    assert found.verdict is Verdict.WATCH and "they have 200" in found.advice
    assert "at a constant lr of 0.01" in found.sentence and "(train/error 0)" in found.sentence
    assert found.numbers["after"] < 310 and 290 < found.numbers["until"] < 340
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and edit.budget == Budget(found.numbers["guess"])
    assert answer.retune == ("lr",)
    fixed = {p.name: p.source.value for p in studies[0].space if hasattr(p.source, "value")}
    assert fixed == {
        "schedule": "constant",
        "warmup": 0,
        "every": 20,
        "dropout": 0,
        "flip": False,
    }


def test_a_schedule_that_cannot_be_constant_is_kept_and_told() -> None:
    """A value that the program does not know would make every trial fail."""
    answer, studies = asked(learns(), space=Space.of(fixed=START))
    assert studies[0].space["schedule"].source == Fixed("cosine")
    assert main(answer).sentence.startswith("Without regularisation and at a lr of 0.01, the")
    assert "schedule stayed cosine, which may decay" in main(answer).sentence


def test_a_study_that_has_more_keeps_them() -> None:
    """What regularises raises the steps needed: in doubt, longer."""
    answer, _ = asked(learns())
    assert main(answer).verdict is Verdict.GOOD and answer.edits == ()
    assert "The study's 1000 are enough for that." in main(answer).sentence
    assert main(answer).advice.endswith("in doubt, train longer.")


@pytest.mark.parametrize(("best", "side"), [(1e-7, "lowest"), (1e3, "highest")])
def test_a_best_rate_at_the_boundary_is_refused(best: float, side: str) -> None:
    """Over seeds: neighbouring rates differ by 50 steps, and by 10 from noise."""
    for seed in range(6):
        answer, studies = asked(learns(best, fewest=100), seed=seed)
        found = main(answer)
        assert found.verdict is Verdict.UNKNOWN
        assert f"is the {side} of those tried" in found.sentence
        assert "--again" in found.advice and answer.edits == () and len(studies) == 3


def test_a_best_rate_inside_is_never_refused() -> None:
    found = [main(asked(learns(), seed=seed)[0]).verdict for seed in range(6)]
    assert found == [Verdict.GOOD] * 6


def test_what_cannot_be_fitted_is_not_applicable() -> None:
    found = main(asked(learns(floor=0.2))[0])
    assert found.verdict is Verdict.UNKNOWN and found.sentence.startswith("Not applicable: ")
    assert "ends at train/error 0.2, and falls no further" in found.sentence


def test_what_may_fall_further_is_not_called_level() -> None:
    """Planted: as many steps again would take a third off, which noise hides."""

    def train(config: Config, seed: int, steps: int) -> Made:
        far = abs(math.log10(float(config["lr"] or 0) / 0.01))
        luck = np.random.default_rng([seed, int(1e6 * float(config["lr"] or 0))])
        x = np.arange(20, steps + 1, 20)
        error = 0.04 + 0.2 * far + 0.5 * np.exp(-x / 150) - 0.01 * x / steps
        return {
            "train/error": Curve.of(x, error + 0.015 * luck.normal(size=len(x))),
            "valid/error": Curve.of(x, error),
        }

    found = main(asked(train)[0])
    assert found.verdict is Verdict.UNKNOWN
    assert re.fullmatch(
        r"No lr from 0\.001 to 0\.1 fits the training set in 1,000 steps; the best, 0\.01, ends at "
        r"train/error 0\.0\d+; whether it falls any further is not clear: more steps may be "
        r"needed\.",
        found.sentence,
    )
    assert "--max-steps 2000 --again" in found.advice


def test_what_still_falls_needs_more_steps() -> None:
    found = main(asked(learns(fewest=3000))[0])
    assert "still falls: more steps are needed" in found.sentence
    assert "--max-steps 2000 --again" in found.advice


def test_where_some_seeds_fit_and_others_do_not_more_steps_are_needed() -> None:
    """Never that the set cannot be fitted, with an error of 0 beside it."""
    alternating = itertools.count()

    def train(config: Config, seed: int, steps: int) -> Made:
        return learns(floor=0.0 if next(alternating) % 2 else 0.05)(config, seed, steps)

    answer, studies = asked(train)
    found = main(answer)
    assert found.verdict is Verdict.UNKNOWN and answer.edits == ()
    assert re.search(
        r"At the best lr, \S+, 1 of 2 trials fit the training set \(train/error 0\) in 1,000 "
        "steps, the others do not: more steps are needed",
        found.sentence,
    )
    assert "--max-steps 2000 --again" in found.advice
    assert not any("own" in study.name for study in studies)


@pytest.mark.parametrize(("fewest", "told"), [(300, "is fitted"), (3000, "still falls")])
def test_a_trial_that_broke_is_left_out_and_told(fewest: float, told: str) -> None:
    """Not that it needs more steps: nobody knows what it needs."""

    def run(study: Study) -> Results:
        made = results_of(study, learns(fewest=fewest))
        if not study.name.endswith("sweep"):
            return made
        first = next(r for r in made if r.trial.config["lr"] == START["lr"])
        crashed = Outcome(OutcomeKind.CRASHED, "the machine went away")
        curves = {name: Curve.of(c.steps[:3], c.values[:3]) for name, c in first.curves.items()}
        attempts = (replace(first.attempts[0], outcome=crashed),)
        broken = replace(first, attempts=attempts, curves=curves)
        return replace(made, trials=tuple(broken if r is first else r for r in made))

    subject = subject_of(START, KNOBS, probe="steps", steps=1000, space=SPACE)
    found = main(follow(probe(subject, {}), run))
    assert told in found.sentence and "the others do not" not in found.sentence
    assert "Left out: 1 of 2 trials at that rate, which broke." in found.sentence


def test_what_is_fitted_at_times_needs_more_steps() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = learns()(config, seed, steps)
        assert not isinstance(made, Outcome)
        curve = made["train/error"]
        assert isinstance(curve, Curve)
        values = curve.values.copy()
        values[-1] = 0.2
        return {"train/error": Curve.of(curve.steps, values), "valid/error": curve}

    found = main(asked(train)[0])
    assert "is fitted (train/error 0) at times within 1,000 steps, but not" in found.sentence
    assert "more steps are needed" in found.sentence


def regularised(until: int) -> Training:
    """Fits in 300 steps without regularisation; with it, validation improves until some steps."""

    def train(config: Config, seed: int, steps: int) -> Made:
        if not config["dropout"]:
            return learns()(config, seed, steps)
        luck = np.random.default_rng([seed, steps]).normal()
        value = 0.3 * min(steps, until) ** -0.5 + 1e-4 * luck
        return {"valid/error": Curve.of([steps], [value])}

    return train


def test_the_study_s_own_training_has_the_last_word() -> None:
    """Planted: four times the guess. The edit is what it needs, not the guess."""
    guess = main(asked(regularised(10), {"max_steps": 1000}, steps=100)[0]).numbers["guess"]
    answer, studies = asked(regularised(int(4 * guess)), {"max_steps": 1000}, steps=100)
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and edit.budget == Budget(4 * guess)
    assert edit.because.startswith("The fewest steps beyond which longer training gained nothing")
    assert [f.question.key for f in answer.findings] == ["probe-steps-longer", "probe-steps"]
    assert [s.name.rpartition(".")[2] for s in studies] == [
        "sweep",
        *(f"own-{factor}" for factor in (1, 2, 4, 8)),
    ]


@pytest.mark.parametrize("best", [0.001, 0.1])
def test_a_rate_that_is_far_off_is_not_made_up_for_by_steps(best: float) -> None:
    """Planted: at the start's rate the study's own training would gain to the last."""

    def train(config: Config, seed: int, steps: int) -> Made:
        if not config["dropout"]:
            return learns(best)(config, seed, steps)
        if config["lr"] == START["lr"]:
            value = 0.5 - 1e-4 * steps
        else:
            value = 0.1 + 1e-5 * np.random.default_rng([seed, steps]).normal()
        return {"valid/error": Curve.of([steps], [value])}

    answer, studies = asked(train, {"max_steps": 1000}, steps=1000)
    assert [s.name.rpartition(".")[2] for s in studies if ".sweep" not in s.name][:2] == [
        "rates",
        "own-1",
    ]
    longer = answer.findings[0]
    assert longer.question.key == "probe-steps-longer" and answer.edits == ()
    assert f"Tune lr first: {best:g} is better than 0.01." in longer.advice
    # What comes next follows from the results alone.
    assert asked(train, {"max_steps": 1000}, steps=1000)[1] == studies


def test_a_guess_that_is_enough_is_proposed() -> None:
    answer, _ = asked(learns(), {"max_steps": 1000}, steps=200)
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and edit.budget == Budget(main(answer).numbers["guess"])


def test_the_longest_training_is_capped() -> None:
    answer, studies = asked(regularised(10**6), {"max_steps": 1000, "longest": 800}, steps=100)
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and edit.because.endswith("more steps may still help.")
    assert max(study.budget.amount for study in studies[1:] if study.budget) <= 800


def test_where_steps_cannot_be_set_nothing_is_made_longer() -> None:
    answer, studies = asked(learns(), knobs=replace(KNOBS, steps_unit="epochs"))
    assert [f.question.key for f in answer.findings] == ["probe-steps"]
    assert len(studies) == 1


def test_a_low_loss_may_be_given() -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        made = learns()(config, seed, steps)
        assert not isinstance(made, Outcome)
        return {"train/loss": made["train/error"], "valid/error": made["valid/error"]}

    knobs = replace(KNOBS, train_loss="train/loss", train_error=None)
    found = main(asked(train, {"loss": 0.3}, knobs=knobs)[0])
    assert "(train/loss 0.3)" in found.sentence and 180 < found.numbers["until"] < 290


def test_without_a_metric_it_refuses_and_says_what_to_write() -> None:
    with pytest.raises(StudyError, match=r"run.log.*train/error.*train/loss.*--loss"):
        asked(learns(), knobs=Knobs(learning_rate="lr"))


def test_missing_knobs_are_told() -> None:
    knobs = replace(KNOBS, no_regularisation=(), no_augmentation=(), schedule=None)
    sentence = main(asked(learns(), knobs=knobs)[0]).sentence
    assert "assumed that there is no regularisation, schedule or augmentation" in sentence
    assert "write 'no_regularisation: {dropout: 0}' under knobs" in sentence


def test_nothing_ended_or_nothing_works() -> None:
    crashed = Outcome(OutcomeKind.CRASHED, "the machine went away")
    assert "No trial logged train/error" in main(asked(lambda c, s, n: crashed)[0]).sentence
    lost = Outcome(OutcomeKind.INFEASIBLE, "NaN")
    assert main(asked(lambda c, s, n: lost)[0]).sentence == "No lr from 0.001 to 0.1 works."


def seen_with(best_share: float) -> Results:
    """A study of the subject's own, whose trials are all best at a share of their training."""
    study = replace(subject_of(START, KNOBS, steps=1000).study, trials=12)
    records = []
    x = np.arange(1, 51) * 20
    for i in range(12):
        rng = np.random.default_rng(i)
        at = best_share * 1000
        error = 0.1 + 0.5 * np.abs(x - at) / 1000 + 0.001 * rng.normal(size=50) + 0.002 * i
        trial = Trial("small", i + 1, Setting(), START, i, FromSequence(i))
        curves = {"valid/error": Curve.of(x, error)}
        records.append(TrialRecord(trial, (AttemptRecord(1, "t", "", outcome=FINISHED),), curves))
    return Results(study, tuple(records))


def test_always_best_early_means_far_too_many_steps() -> None:
    answer, _ = asked(learns(), seen=seen_with(0.05))
    later = next(f for f in answer.findings if f.question.key == "probe-steps-best")
    assert later.verdict is Verdict.PROBLEM and "far too many steps" in later.sentence
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and 250 <= edit.budget.amount <= 340
    assert "probe-steps-best" in {figure.key for figure in answer.figures}


def test_best_at_the_end_means_train_longer_and_tune_the_decay_again() -> None:
    answer, _ = asked(learns(), seen=seen_with(1.0))
    later = next(f for f in answer.findings if f.question.key == "probe-steps-best")
    assert later.verdict is Verdict.WATCH
    assert "tune the decay" in later.advice
    (edit,) = answer.edits
    assert isinstance(edit, SetBudget) and edit.budget == Budget(1500)


@pytest.mark.parametrize("share", [None, 0.05, 0.5, 1.0])
@pytest.mark.parametrize(
    ("options", "knobs", "first"),
    [
        ({}, KNOBS, "probe-steps-longer"),
        ({"longest": 400}, KNOBS, "probe-steps"),
        ({}, replace(KNOBS, steps_unit="epochs"), "probe-steps"),
    ],
)
def test_what_is_true_of_all_is_said_once(
    options: dict[str, Value], knobs: Knobs, first: str, share: float | None
) -> None:
    """By the first finding that knows something."""
    seen = None if share is None else seen_with(share)
    answer, _ = asked(learns(), options, seen=seen, knobs=knobs)
    told = [f.question.key for f in answer.findings if "Never tune the number" in f.advice]
    assert told == [first]


def test_a_good_histogram_leaves_the_steps_alone() -> None:
    answer, studies = asked(learns(), seen=seen_with(0.5))
    assert answer.edits == ()
    assert answer.retune == ()
    # What was seen may change an answer, never a stage.
    assert studies == asked(learns())[1]


def test_the_pictures() -> None:
    first, longer = asked(learns())[0].figures
    assert first.key == "probe-steps" and len(first.panels) == 2
    assert longer.key == "probe-steps-longer"


def test_it_needs_a_learning_rate_and_steps() -> None:
    assert [need.knob for need in NEEDS if need.required] == ["learning_rate", "max_steps"]


@pytest.mark.parametrize("steps", [1, 7, 38, 99, 101, 412, 9999, 123_456])
def test_rounding_goes_up_by_a_tenth_at_most(steps: int) -> None:
    assert steps <= rounded_up(steps) <= math.ceil(1.1 * steps)


PROGRAM = """\
def train(run):
    rate = run["lr"]
    error, slow = 1.0, min(rate / 0.05, 0.05 / rate)
    for step in range(1, int(run.budget.amount) + 1):
        error = max(1.0 - slow * step / 50, 0.0)
        run.log({"train/error": error, "valid/error": 0.1 + error}, step=step)
"""
STUDY = """\
study: fits
program: fits.py:train
objective: {metric: valid/error, better: lower}
max_steps: 40   # a first guess
nuisance: {lr: {log: [0.01, 0.1]}}
knobs: {learning_rate: lr, train_error: train/error}
"""


def test_at_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fits.py").write_text(PROGRAM)
    Path("fits.yaml").write_text(STUDY)
    done = call(capsys, "probe", "steps", "fits.yaml", "--max-steps", 400, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    (found,) = [f for f in said["findings"] if f["question"] == "probe-steps"]
    assert found["verdict"] == "watch" and said["proposal"] == "fits.steps.yaml"
    assert 50 <= found["numbers"]["guess"] <= 100
    proposed = Path("fits.steps.yaml").read_text()
    (longer,) = [f for f in said["findings"] if f["question"] == "probe-steps-longer"]
    # The middle of the range learns half as fast as the best rate.
    assert longer["numbers"]["steps"] == 2 * found["numbers"]["guess"]
    assert f"max_steps: {longer['numbers']['steps']:g}" in proposed
    assert "beyond which longer training gained nothing" in proposed


def test_results_are_made_from_a_stage() -> None:
    _, studies = asked(learns())
    assert len(results_of(studies[0], learns())) == 14
