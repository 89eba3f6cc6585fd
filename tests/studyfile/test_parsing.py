"""A study file says what the Python API says, and every other file is refused politely."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.domains import Float
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.space import Space
from tunebook.core.study import Budget, Divergence, Resources, Sampling, Study
from tunebook.studyfile.document import LARGEST
from tunebook.studyfile.parsing import parse, read

FILE = """\
study: depth
goal: Does a third block lower the validation error?
note: after a talk
parent: baseline
program: train.py:train
objective:
  metric: valid/error
  better: lower
  reduction: mean
  over: 3
  constraints: [{metric: latency, at_most: 30}]
max_steps: 2000
scientific:
  blocks: [2, 3]
nuisance:
  learning_rate: {log: [1e-4, 1e-1]}
  one_minus_momentum: {log: [0.005, 0.5]}
  dropout: {linear: [0, 0.5], limit: low, when: {blocks: 3}}
fixed: {batch_size: 128, activation: relu, warmup: 0}
derive: {momentum: 1 - one_minus_momentum}
knobs: {learning_rate: learning_rate, no_regularisation: {dropout: 0}, chance: 0.9}
trials: 30
resources: {cpus: 2, gpus: 1, memory: 4GB}
divergence: {metrics: [train/loss], above: 100}
sampling: {method: grid, points: 4}
seed: 7
baseline: {width: 64}
"""
STUDY = Study(
    name="depth",
    space=Space.of(
        scientific={"blocks": [2, 3]},
        nuisance={
            "learning_rate": Float(1e-4, 1e-1, log=True),
            "one_minus_momentum": Float(0.005, 0.5, log=True),
            "dropout": Float(0, 0.5, limit="low"),
        },
        fixed={"batch_size": 128, "activation": "relu", "warmup": 0},
        derive={"momentum": "1 - one_minus_momentum"},
        when={"dropout": {"blocks": 3}},
    ),
    objective=Objective(
        Metric("valid/error", "lower"), "mean", 3, (Constraint("latency", at_most=30),)
    ),
    goal="Does a third block lower the validation error?",
    program="train.py:train",
    trials=30,
    budget=Budget(2000),
    knobs=Knobs(learning_rate="learning_rate", no_regularisation=(("dropout", 0),), chance=0.9),
    resources=Resources(2, 1, 4 * 2**30),
    divergence=Divergence(("train/loss",), 100),
    sampling=Sampling("grid", 4),
    seed=7,
    parent="baseline",
    baseline=(("width", 64),),
    note="after a talk",
)


def test_a_file_says_what_the_python_api_says() -> None:
    assert parse(FILE) == STUDY


def test_what_a_file_leaves_out_has_the_defaults_of_the_api() -> None:
    objective = Objective(Metric("error", "higher"))
    assert parse("study: a\nobjective: {metric: error, better: higher}") == Study(
        "a", Space(), objective
    )


def test_a_section_whose_lines_are_comments_is_empty() -> None:
    text = "study: a\nobjective: {metric: e, better: lower}\nnuisance:\n  # a: [1]\nknobs:\n"
    assert parse(text).space == Space()


def test_errors_name_the_file() -> None:
    with pytest.raises(StudyError, match=r"^runs/a\.yaml:1: the file is empty"):
        parse("", "runs/a.yaml")


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(FILE)
    assert read(path) == STUDY
    path.write_text("study: a\nobjectives: {}")
    with pytest.raises(StudyError) as caught:
        read(path)
    assert f"{path}:2: unknown key 'objectives'; did you mean 'objective'?" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def told(path: Path) -> str:
        with pytest.raises(StudyError) as caught:
            read(path)
        return str(caught.value).replace(str(tmp_path), "folder")

    assert told(tmp_path) == "folder is a folder; name the study file in it"
    path = tmp_path / "a.yaml"
    assert told(path) == "folder/a.yaml does not exist; `tunebook init` writes a study file"
    path.write_bytes(b"study: a\ngoal: \xff\n")
    assert told(path) == "folder/a.yaml:2: this is not UTF-8; save the file as UTF-8"
    path.write_bytes(b"#" * LARGEST + "é".encode())
    assert told(path) == "folder/a.yaml: a study file may have 65536 bytes; this one is larger"
    path.unlink()
    os.mkfifo(path)
    assert told(path) == "folder/a.yaml is not a plain file; a study file is"
    path = tmp_path / ("x" * 300)
    assert told(path) == f"cannot read folder/{path.name}: File name too long"


def only_polite(text: str) -> None:
    """The text is a study, or it is refused with sentences that name lines."""
    try:
        parse(text)
    except StudyError as error:
        for line in str(error).splitlines():
            assert line.startswith(("study.yaml:", "and "))
            assert line.isprintable()


@given(st.text(st.sampled_from("ab1-:?,[]{}#&*!|>'\"%@` \n\t\\_.~=<\r\x00\x85\ufeff\U0001f600")))
def test_any_text_is_read_or_refused_politely(text: str) -> None:
    only_polite(text)


@given(st.data())
def test_a_damaged_file_is_read_or_refused_politely(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(FILE)))
    end = data.draw(st.integers(start, min(start + 20, len(FILE))))
    only_polite(FILE[:start] + data.draw(st.text(max_size=5)) + FILE[end:])


contents = st.recursive(
    st.sampled_from(["a", "1", "1e-3", "true", "null", ".nan", "''", "log", "blocks"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(
            st.sampled_from(["log", "linear", "values", "value", "when", "method", "metric", "a"]),
            inner,
            max_size=3,
        ).map(lambda items: f"{{{', '.join(f'{k}: {v}' for k, v in items.items())}}}"),
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.data())
def test_any_content_of_any_key_is_read_or_refused_politely(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from([line.split(":")[0] for line in FILE.splitlines()]))
    rest = "" if key == "study" else "study: a\n"
    rest += "" if key == "objective" else "objective: {metric: e, better: lower}\n"
    only_polite(f"{rest}{key.strip()}: {data.draw(contents)}\n")


def test_the_studies_of_the_documents_are_studies() -> None:
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    whole, torchrun = blocks
    assert parse(whole).command is not None
    start = "study: a\nobjective: {metric: loss, better: lower}\n"
    command = parse(start + torchrun).command
    assert command is not None
    assert command.named == {"port", "overrides"}
