"""What is written reads back as the same study, and looks as a person would write it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from strategies import studies
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space, When
from tunebook.core.study import Asked, Budget, MoreTrials, Resources, Sampling, Study
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.writing import write

SMALL = Study("small", Space(), Objective(Metric("valid/error", "lower")))
ADAM = (When("optimizer", ("adam",)),)
LARGE = Study(
    name="depth",
    space=Space(
        (
            Parameter("momentum", Role.FIXED, Derived("1 - one_minus_momentum")),
            Parameter("optimizer", Role.SCIENTIFIC, Choice(("sgd", "adam"))),
            Parameter("decay", Role.SCIENTIFIC, Float(1e-6, 1e-2, log=True), buckets=6),
            Parameter("learning_rate", Role.NUISANCE, Float(1e-5, 1, log=True)),
            Parameter("one_minus_momentum", Role.NUISANCE, Float(0.005, 0.5, log=True)),
            Parameter("dropout", Role.NUISANCE, Float(0, 0.5, limit="low"), ADAM),
            Parameter("layers", Role.NUISANCE, Int(1, 8)),
            Parameter("norm", Role.NUISANCE, Choice(("layer", None)), ADAM),
            Parameter("beta2", Role.FIXED, Fixed(0.999), ADAM),
            Parameter("batch_size", Role.FIXED, Fixed(128)),
            Parameter("answer", Role.FIXED, Fixed("no")),
            Parameter("code", Role.FIXED, Fixed("1e3")),
        )
    ),
    objective=Objective(
        Metric("valid/error", "lower"), constraints=(Constraint("latency", at_most=30),)
    ),
    goal="Which optimizer is better: SGD or Adam?",
    note="First line.\n  Second line.",
    program="train.py:train",
    trials=30,
    more_trials=(MoreTrials(ADAM, 40),),
    budget=Budget(2000),
    knobs=Knobs(learning_rate="learning_rate", no_regularisation=(("dropout", 0),), chance=0.9),
    resources=Resources(cpus=2, memory=3 * 2**29),
    sampling=Sampling("list", configs=((("learning_rate", 0.1), ("layers", 2)),)),
    seed=3,
)
TEXT = """\
study: depth
goal: 'Which optimizer is better: SGD or Adam?'
note: |-
  First line.
    Second line.
program: train.py:train
objective: {metric: valid/error, better: lower, constraints: [{metric: latency, at_most: 30}]}
max_steps: 2000
scientific:
  optimizer: [sgd, adam]
  decay: {log: [1e-6, 0.01], buckets: 6}
nuisance:
  learning_rate: {log: [1e-5, 1]}
  one_minus_momentum: {log: [0.005, 0.5]}
  dropout: {linear: [0, 0.5], limit: low, when: {optimizer: adam}}
  layers: {linear: [1, 8], whole: true}
  norm: {values: [layer, null], when: {optimizer: adam}}
fixed:
  beta2: {value: 0.999, when: {optimizer: adam}}
  batch_size: 128
  answer: no
  code: "1e3"
derive:
  momentum: 1 - one_minus_momentum
knobs:
  learning_rate: learning_rate
  no_regularisation: {dropout: 0}
  chance: 0.9
trials: 30
more_trials:
  - {when: {optimizer: adam}, trials: 40}
resources: {cpus: 2, memory: 1536MB}
sampling:
  method: list
  configs:
    - {learning_rate: 0.1, layers: 2}
seed: 3
"""


@given(studies())
def test_what_is_written_reads_back(study: Study) -> None:
    assert parse(write(study)) == study


@settings(max_examples=10)
@given(studies())
def test_what_was_read_is_written_alike(study: Study) -> None:
    assert write(parse(write(study))) == write(study)


def test_a_file_looks_as_a_person_would_write_it() -> None:
    assert write(LARGE) == TEXT


def test_defaults_are_left_out() -> None:
    assert write(SMALL) == (
        "study: small\nobjective: {metric: valid/error, better: lower}\ntrials: 20\n"
    )


def test_a_sampling_method_is_a_word_where_that_says_everything() -> None:
    assert "sampling: sobol\n" in write(replace(SMALL, sampling=Sampling("sobol")))
    assert "sampling: {method: grid, points: 3}\n" in write(
        replace(SMALL, sampling=Sampling("grid", 3))
    )


def test_the_place_of_the_file_is_not_written_into_it() -> None:
    assert write(replace(SMALL, file="runs/small.yaml")) == write(SMALL)


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (
            replace(SMALL, baseline=(("a", 1), ("a", 2))),
            "no file can hold a twice in one mapping; say it once",
        ),
        (
            replace(SMALL, baseline=[("a", 1)]),
            "no file can hold the study small: it would read differently",
        ),
        (
            replace(SMALL, note="x" * 70_000),
            "no file can hold the study small: study.yaml:1: a study file may have 65536 bytes, "
            "got 70079",
        ),
        (
            replace(SMALL, seed=10**400),
            "no file can hold the study small: study.yaml:4: a number may have 300 digits, got 401",
        ),
        (
            replace(SMALL, seed=True),
            "no file can hold the study small: study.yaml:4: seed: expected a whole number, "
            "got true",
        ),
    ],
)
def test_what_no_file_can_hold_is_refused(study: Study, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        write(study)
    assert str(caught.value) == message


def test_a_stage_of_a_procedure_is_written_as_a_study_of_its_own() -> None:
    stage = replace(LARGE, asked=Asked("variance", SMALL, (("seed", 1),), "trial 3"))
    assert write(stage) == write(LARGE)
    assert parse(write(stage)).asked is None
