"""Studies that vary a configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchable import study_in
from simulated_probes import results_of, starting_from
from tunebook.core.domains import Float, Value
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Derived, Fixed, Role, Space
from tunebook.core.study import Budget, MoreTrials, Resources, Sampling, Study
from tunebook.procedures.subjects import Subject, completed, within
from tunebook.training.knobs import LOOP_DEFAULTS, LOOP_KNOBS

STUDY = replace(
    study_in(
        Space.of(
            scientific={"model": ["small", "big"]},
            nuisance={"base": Float(1e-4, 1e-2, log=True)},
            fixed={"batch_size": 100, "steps": 50},
            derive={"learning_rate": "base * batch_size", "twice": "2 * learning_rate"},
        )
    ),
    knobs=Knobs(learning_rate="learning_rate", batch_size="batch_size"),
    baseline=(("width", 64),),
    more_trials=(MoreTrials((), 7),),
    budget=Budget(1000),
    note="a note",
    parent="before",
)


def configs(study: Study) -> list[dict[str, object]]:
    made = results_of(study, lambda *_: {"error": [1.0]})
    return [dict(record.trial.config) for record in made]


@pytest.fixture
def subject() -> Subject:
    return starting_from(STUDY, {"base": 0.001})


def test_a_stage_has_every_combination_and_all_else_at_the_start(subject: Subject) -> None:
    stage = subject.stage("grid", {"batch_size": [10, 20], "model": ["big"]}, goal="Why?")
    assert (stage.name, stage.goal, stage.trials) == (f"{STUDY.name}.simulated.grid", "Why?", 1)
    assert stage.asked == subject.asked
    assert (stage.parent, stage.baseline, stage.note, stage.more_trials) == (None, (), "", ())
    assert configs(stage) == [
        {
            "base": 0.001,
            "batch_size": size,
            "learning_rate": 0.001 * size,
            "twice": pytest.approx(0.002 * size),
            "model": "big",
            "steps": 50,
            "width": 64,
        }
        for size in (10, 20)
    ]


def test_settings_share_their_seeds_and_replicates_do_not(subject: Subject) -> None:
    stage = subject.stage("sizes", {"batch_size": [10, 20]}, goal="", replicates=3)
    made = results_of(stage, lambda *_: {"error": [1.0]})
    seeds = [record.trial.seed for record in made]
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3
    other = subject.stage("others", {"batch_size": [10, 20]}, goal="", replicates=3)
    assert other.trial_seed(0) != stage.trial_seed(0)


def test_what_is_fixed_anew_moves_what_follows_from_it(subject: Subject) -> None:
    stage = subject.stage("one", {"model": ["big"]}, {"batch_size": 7}, goal="")
    (config,) = configs(stage)
    assert (config["batch_size"], config["learning_rate"]) == (7, 0.007)


def test_a_computed_value_that_was_given_stays() -> None:
    subject = starting_from(STUDY, {"learning_rate": 0.3})
    (config,) = configs(subject.stage("one", {"batch_size": [7]}, goal=""))
    assert (config["learning_rate"], config["twice"]) == (0.3, 0.6)


def test_a_varied_value_beats_one_that_is_fixed(subject: Subject) -> None:
    stage = subject.stage("one", {"batch_size": [7]}, {"batch_size": 8}, goal="")
    assert [config["batch_size"] for config in configs(stage)] == [7]


def test_what_a_stage_may_have_of_its_own(subject: Subject) -> None:
    objective, resources = Objective(Metric("train/loss")), Resources(cpus=2)
    stage = subject.stage(
        "one", {"model": ["big"]}, goal="", steps=30, objective=objective, resources=resources
    )
    assert (stage.budget, stage.objective, stage.resources) == (Budget(30), objective, resources)


def test_steps_are_a_parameter_where_one_is_named() -> None:
    subject = starting_from(replace(STUDY, knobs=Knobs(steps="steps")))
    stage = subject.stage("one", {"model": ["big"]}, goal="", steps=30)
    assert [config["steps"] for config in configs(stage)] == [30]
    assert stage.budget == Budget(1000)
    assert subject.steps == 50
    assert starting_from(STUDY).steps == 1000
    assert starting_from(replace(STUDY, budget=Budget(9, "seconds"))).steps is None


def test_listed_rows_have_seeds_of_their_own(subject: Subject) -> None:
    rows = [{"batch_size": 10, "model": "big"}, {"batch_size": 20, "model": "big"}]
    stage = subject.listed("rows", rows, goal="Why?")
    assert [config["batch_size"] for config in configs(stage)] == [10, 20]
    assert [config["learning_rate"] for config in configs(stage)] == [0.01, 0.02]
    made = results_of(stage, lambda *_: {"error": [1.0]})
    assert len({record.trial.seed for record in made}) == 2


def test_rows_without_a_parameter_are_replicates(subject: Subject) -> None:
    stage = subject.listed("rows", [{}] * 4, goal="")
    assert (stage.trials, stage.sampling) == (4, Sampling())
    assert len(configs(stage)) == 4


def test_rows_may_have_the_seeds_of_another_stage(subject: Subject) -> None:
    seeds = {
        name: [r.trial.seed for r in results_of(stage, lambda *_: {"error": [1.0]})]
        for name, stage in {
            "all": subject.listed("all", [{}] * 4, goal=""),
            "same": subject.listed("same", [{}] * 2, goal="", seeds_of="all"),
            "other": subject.listed("other", [{}] * 2, goal=""),
        }.items()
    }
    assert seeds["same"] == seeds["all"][:2] != seeds["other"]


def test_the_value_of_a_knob(subject: Subject) -> None:
    assert subject.value("batch_size") == 100
    assert subject.value("clipping") is None
    assert subject.number("learning_rate") == pytest.approx(0.1)
    assert subject.name("batch_size") == "batch_size"
    with pytest.raises(StudyError) as caught:
        subject.name("clipping")
    assert str(caught.value) == (
        "the procedure needs clipping, which no knob of points names: write 'clip: null' under "
        "fixed and 'clipping: clip' under knobs"
    )
    words = starting_from(replace(STUDY, knobs=Knobs(batch_size="model")))
    with pytest.raises(StudyError, match="varies model around its value, which is 'small'"):
        words.number("batch_size")


@pytest.mark.parametrize("value", [0, -1, 0.0, float("nan"), float("inf")])
def test_what_is_varied_by_factors_is_above_0(subject: Subject, value: float) -> None:
    start = {**subject.config, "batch_size": value}
    other = Subject(replace(subject.asked, start=tuple(start.items())))
    with pytest.raises(StudyError) as caught:
        other.number("batch_size")
    assert str(caught.value) == (
        f"the procedure varies batch_size by factors around its value, which is {value!r}; give it "
        "one above 0, in the study or by --set"
    )


def test_the_file_of_a_command(subject: Subject) -> None:
    assert subject.file == "STUDY.yaml"
    assert starting_from(replace(STUDY, file="own.yaml")).file == "own.yaml"


@pytest.mark.parametrize(
    ("space", "task", "fix"),
    [
        (Space.of(scientific={"plan": ["cosine", "constant"]}), None, {"plan": "constant"}),
        (Space.of(scientific={"plan": ["cosine", "linear"]}), None, {}),
        (Space.of(fixed={"plan": "cosine"}), None, {}),
        (Space.of(fixed={"plan": "constant"}), None, {"plan": "constant"}),
        (Space.of(fixed={"plan": "cosine"}), "tasks.py:task", {"plan": "constant"}),
    ],
)
def test_a_rate_is_constant_where_the_program_can_be_told(
    space: Space, task: str | None, fix: dict[str, Value]
) -> None:
    study = study_in(space, task=task, knobs=Knobs(schedule="plan"))
    assert starting_from(study).constant_rate() == fix
    assert starting_from(replace(study, task=None, knobs=Knobs())).constant_rate() == {}


# What is known without asking.


TASK = study_in(
    Space.of(nuisance={"learning_rate": Float(1e-4, 1), "dropout": Float(0, 0.5)}),
    task="tasks.py:task",
    baseline=(("batch_size", 64), ("width", 8)),
)


def test_of_a_task_the_loop_s_knobs_are_known() -> None:
    known = completed(TASK)
    assert known.knobs.learning_rate == "learning_rate"
    assert known.knobs.warmup_steps == "warmup_steps"
    assert known.knobs.grad_norm == LOOP_KNOBS.grad_norm
    assert known.space["batch_size"].source == Fixed(64)
    assert known.space["width"].source == Fixed(8)
    assert known.baseline == ()
    assert {n for n in LOOP_DEFAULTS if n not in known.space} == set()
    assert known.knobs.no_regularisation == (("weight_decay", 0), ("dropout", 0))
    # Whether a task splits its data at random is not known.
    assert known.knobs.seed_split is None
    named = replace(TASK, space=Space.of(fixed={"seed_split": 0}))
    assert completed(named).knobs.seed_split == "seed_split"


def test_what_a_study_of_a_task_says_itself_comes_first() -> None:
    own = Knobs(learning_rate="peak", no_regularisation=(("peak", 0),))
    study = replace(TASK, space=Space.of(fixed={"peak": 1, "warmup_steps": 9}), knobs=own)
    known = completed(study)
    assert known.knobs.learning_rate == "peak"
    assert known.knobs.no_regularisation == (("peak", 0),)
    assert known.space["warmup_steps"].source == Fixed(9)


def test_a_program_says_its_knobs_itself() -> None:
    assert completed(STUDY) is STUDY


def test_knobs_without_their_parameter_are_left_out() -> None:
    knobs = Knobs(learning_rate="a", batch_size="b", no_regularisation=(("a", 0), ("c", 0)))
    assert within(knobs, Space.of(fixed={"a": 1})) == Knobs(
        learning_rate="a", no_regularisation=(("a", 0),)
    )


def test_roles_of_a_stage(subject: Subject) -> None:
    space = subject.stage("sizes", {"batch_size": [10, 20]}, goal="").space
    assert space["batch_size"].role is Role.SCIENTIFIC
    assert isinstance(space["learning_rate"].source, Derived)
    assert space["model"].source == Fixed("small")
