"""What a procedure lacks, and the lines that would mend it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from searchable import study_in
from tunebook.core.commands import Command
from tunebook.core.domains import Float
from tunebook.core.errors import StudyError
from tunebook.core.knobs import METRIC_KNOBS, PARAMETER_KNOBS, Knobs
from tunebook.core.space import Space
from tunebook.core.study import Budget
from tunebook.procedures.needs import MAX_STEPS, Need, check, lacking, remedy
from tunebook.studyfile.parsing import parse
from tunebook.training.knobs import LOOP_KNOBS

BARE = study_in(Space())
STUDY = study_in(Space.of(fixed={"lr": 0.1}))
NEEDS = (
    Need("learning_rate", "to vary it"),
    Need("grad_norm", "to see outliers"),
    Need("clipping", "to clip", required=False),
)
FACTS = ("batch_size_per", "steps_unit")


def test_what_is_lacking() -> None:
    known = replace(STUDY, knobs=Knobs(learning_rate="lr"))
    assert [need.knob for need in lacking(known, NEEDS)] == ["grad_norm", "clipping"]
    assert lacking(known, NEEDS[:1]) == ()


def test_steps_are_known_by_the_budget_or_by_a_parameter() -> None:
    need = (Need(MAX_STEPS, "to train as long"),)
    assert lacking(STUDY, need) == need
    assert lacking(replace(STUDY, budget=Budget(10)), need) == ()
    assert lacking(replace(STUDY, budget=Budget(10, "seconds")), need) == need
    assert lacking(replace(STUDY, knobs=Knobs(steps="lr")), need) == ()


def test_a_refusal_names_each_knob_and_what_to_write() -> None:
    with pytest.raises(StudyError) as caught:
        check("clipping", STUDY, NEEDS)
    assert str(caught.value) == (
        f"the probe clipping cannot work on {STUDY.name}:\n"
        "  it needs learning_rate, to vary it: write 'learning_rate: lr' under knobs\n"
        "  it needs grad_norm, to see outliers: log it, "
        "'run.log({\"grad_norm\": value}, step=step)', and write 'grad_norm: grad_norm' under knobs"
    )
    check("clipping", STUDY, NEEDS[2:])


@pytest.mark.parametrize("knob", [f.name for f in fields(Knobs) if f.name not in FACTS])
def test_every_knob_has_its_lines(knob: str) -> None:
    text = remedy(knob)
    line = text.split(" under knobs")[0].rpartition("write '")[2]
    line = text.split("'")[-2] if knob in PARAMETER_KNOBS else line.strip("'")
    parts = ["study: a", "objective: {metric: error, better: lower}"]
    if knob in PARAMETER_KNOBS:
        parts += ["fixed:", f"  {text.split(chr(39))[1]}"]
    elif knob.startswith("no_"):
        parts += ["fixed: {dropout: 0.1, augment: true}"]
    made = parse("\n".join([*parts, "knobs:", f"  {line}"]))
    assert made.knobs.missing(knob) == ()
    assert ("run.log" in text) == (knob in METRIC_KNOBS)


def test_the_remedy_for_steps() -> None:
    assert remedy(MAX_STEPS) == (
        "write 'max_steps: 2000', or name the parameter under knobs as 'steps'"
    )


@pytest.mark.parametrize("knob", [k for k in PARAMETER_KNOBS if getattr(LOOP_KNOBS, k)])
def test_of_a_task_the_loop_s_own_name_is_enough(knob: str) -> None:
    task = replace(STUDY, task="tasks.py:task")
    text = remedy(knob, task)
    assert text.startswith(f"write '{getattr(LOOP_KNOBS, knob)}: ")
    assert text.endswith("' under fixed")
    assert remedy(knob, BARE) == remedy(knob) != text


@pytest.mark.parametrize(
    ("knob", "names"),
    [
        ("learning_rate", ("learning_rate", "lr")),
        ("batch_size", ("batch_size", "batch")),
        ("accumulation", ("accumulation",)),
        ("steps", ("steps", "max_steps")),
        ("warmup_steps", ("warmup_steps", "warmup")),
        ("clipping", ("clip", "clip_norm", "clipping", "max_grad_norm", "grad_clip")),
        ("eval_interval", ("eval_every", "eval_interval")),
        ("schedule", ("schedule", "lr_schedule")),
        ("seed_init", ("init_seed", "seed_init")),
        ("seed_data", ("data_seed", "seed_data")),
        ("seed_split", ("split_seed", "seed_split")),
    ],
)
def test_a_parameter_that_the_study_has_is_named(knob: str, names: tuple[str, ...]) -> None:
    """One more of the same name would be refused."""
    for name in names:
        for space in (Space.of(fixed={name: 1}), Space.of(nuisance={name: Float(0.1, 1.0)})):
            study = study_in(space)
            assert remedy(knob, study) == f"write '{knob}: {name}' under knobs"
    if knob == "steps":
        assert remedy(MAX_STEPS, study) == "write 'steps: max_steps' under knobs"


def test_of_a_task_a_name_that_the_loop_does_not_know_is_no_help() -> None:
    task = replace(STUDY, task="tasks.py:task")
    assert remedy("learning_rate", task) == "write 'learning_rate: 0.001' under fixed"
    own = study_in(Space.of(fixed={"accumulation": 1}), task="tasks.py:task")
    assert remedy("accumulation", own) == "write 'accumulation: accumulation' under knobs"


def test_seeds_are_null_where_that_means_the_run_s_own() -> None:
    function = replace(BARE, program="train.py:train")
    command = replace(BARE, command=Command(("train",)))
    task = replace(BARE, task="tasks.py:task")
    named = "under fixed and 'seed_init: init_seed' under knobs"
    assert (
        remedy("seed_init", function) == remedy("seed_init") == f"write 'init_seed: null' {named}"
    )
    assert remedy("seed_init", command) == f"write 'init_seed: 0' {named}"
    assert remedy("seed_split", task) == "write 'seed_split: null' under fixed"
