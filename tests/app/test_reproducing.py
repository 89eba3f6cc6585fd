"""How a result can be had again."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from coordination import small_study
from tunebook.app import asking, places, reproducing
from tunebook.app.commands.probe import _values, _was_given, probe
from tunebook.core.domains import Value
from tunebook.core.results import AttemptRecord, TrialRecord
from tunebook.core.space import Setting
from tunebook.core.study import Asked
from tunebook.core.trials import NO_CODE, Code, Listed, Trial
from tunebook.procedures.catalogue import PROBES
from tunebook.procedures.options import OPTIONS, read_all
from tunebook.running.code import code_of
from tunebook.studyfile import parse

BOOK = Path(".tunebook")


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ((), ""),
        ((("seeds", 3), ("to_goal", True)), " --seeds 3 --to-goal"),
        ((("memory", False), ("goal", None), ("metric", "a b")), " --metric 'a b'"),
    ],
)
def test_a_stage_is_had_again_by_its_probe(
    options: tuple[tuple[str, Value], ...], written: str
) -> None:
    about = small_study(file="small.yaml")
    stage = replace(
        about, name="small.variance.all", asked=Asked("variance", about, (), "", options)
    )
    assert reproducing.steps(stage, None, None, BOOK) == [
        f"tunebook probe variance small.yaml{written}"
    ]


# A study on which every probe can work.
TASK = """\
study: all
task: tunebook.training.tasks:digits
objective: {metric: valid/error, better: lower}
max_steps: 300
fixed: {learning_rate: 0.1}
"""
GIVEN: dict[type, Value] = {int: 100, float: 0.25, bool: True}


def parsed(command: str) -> tuple[str, dict[str, Value]]:
    """The probe of a command line, and the options that it gives, as they are kept."""
    program, group, name, *arguments = shlex.split(command)
    assert (program, group) == ("tunebook", "probe")
    probes: Any = typer.main.get_command(probe)
    context = probes.commands[name].make_context(name, arguments)
    given = {o.name: context.params[o.name] for o in OPTIONS[name] if _was_given(context, o.name)}
    assert context.params["file"] == Path("all.yaml")
    return name, read_all(name, OPTIONS[name], given)


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("everything", [False, True])
def test_the_command_of_every_probe_asks_the_same(name: str, everything: bool, here: Path) -> None:
    """With all that a probe was asked, defaults and limits included."""
    text = {"memory": "2GB", "sizes": "16,64"}
    given = {o.name: text.get(o.name) or GIVEN[o.kind] for o in OPTIONS[name]} if everything else {}
    about = replace(parse(TASK), file="all.yaml")
    asked = asking.ask(name, about, given, {}, BOOK)
    stage = replace(about, name=asked.stage("one"), asked=asked)
    (command,) = reproducing.steps(stage, None, None, BOOK)
    assert parsed(command) == (name, dict(asked.options))


# Values that are searched, computed from one another, and there only beside others.
SEARCHED = """\
study: searched
task: tunebook.training.tasks:digits
objective: {metric: valid/error, better: lower}
max_steps: 300
trials: 4
fixed: {clip_norm: null, dropout: 0.1}
nuisance:
  learning_rate: {log: [0.001, 1]}
  optimizer: [sgd, nesterov, adamw]
  beta2: {linear: [0.9, 0.999], when: {optimizer: adamw}}
derive: {weight_decay: learning_rate / 100}
"""


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({}, ""),
        ({"learning_rate": 0.123456789}, " --set learning_rate=0.123456789"),
        ({"clip_norm": 1, "dropout": None}, " --set clip_norm=1 --set dropout=null"),
        ({"optimizer": "adamw", "beta2": 0.91}, " --set optimizer=adamw --set beta2=0.91"),
        (
            {"learning_rate": 0.5, "weight_decay": 0.1},
            " --set learning_rate=0.5 --set weight_decay=0.1",
        ),
        ({"learning_rate": 0.5, "weight_decay": 0.005}, " --set learning_rate=0.5"),
    ],
)
def test_a_probe_is_had_again_from_where_it_started(
    given: dict[str, Value], written: str, here: Path
) -> None:
    about = replace(parse(SEARCHED), file="searched.yaml")
    asked = asking.ask("variance", about, {}, given, BOOK)
    stage = replace(about, name=asked.stage("all"), asked=asked)
    (command,) = reproducing.steps(stage, None, None, BOOK)
    assert sorted(command.partition(" --set")[2].split(" --set ")) == sorted(
        written.partition(" --set")[2].split(" --set ")
    )
    again = _values([w for w in shlex.split(command) if "=" in w])
    assert asking.ask("variance", about, {}, again, BOOK).start == asked.start


def test_a_selected_trial_is_not_given_as_values(here: Path) -> None:
    about = replace(parse(SEARCHED), file="searched.yaml")
    asked = replace(asking.ask("variance", about, {}, {"learning_rate": 0.5}, BOOK), selected=0.04)
    stage = replace(about, name=asked.stage("all"), asked=asked)
    (command,) = reproducing.steps(stage, None, None, BOOK)
    assert "--set" not in command


def record(code: Code = NO_CODE, notes: tuple[str, ...] = ()) -> TrialRecord:
    trial = Trial("small", 1, Setting(), {}, 0, Listed(0), code)
    return TrialRecord(trial, (AttemptRecord(1, "token", "folder", code, notes=notes),))


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(here: Path) -> Path:
    (here / "library").mkdir()
    (here / "library" / "sizes.txt").write_text("one\n")
    (here / "train.py").write_text("steps = 1\n")
    git(here, "init", "--quiet")
    git(here, "add", ".")
    git(here, "commit", "--quiet", "--message", "First")
    return here


def change(repository: Path) -> None:
    (repository / "train.py").write_text("steps = 2\n")
    (repository / "library" / "sizes.txt").write_text("two\n")


def run_in(folder: Path, commands: list[str]) -> None:
    for command in commands:
        subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("below", [".", "experiments/deep"])
def test_the_steps_bring_back_the_code(
    repository: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    where = repository / below
    where.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(where)
    change(repository)
    code = code_of(where, None, places.differences_folder(BOOK))
    git(repository, "checkout", "--", ".")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "Second")
    *steps, last = reproducing.steps(small_study(file="my study.yaml"), None, record(code), BOOK)
    assert last == "tunebook run 'my study.yaml' --trials 3"
    run_in(where, steps)
    assert (repository / "train.py").read_text() == "steps = 2\n"
    assert (repository / "library" / "sizes.txt").read_text() == "two\n"


def test_a_clean_commit_needs_no_patch(repository: Path) -> None:
    code = code_of(repository, None, places.differences_folder(BOOK))
    assert code.commit is not None
    assert reproducing.patch(code, BOOK) is None
    assert reproducing.steps(small_study(file="a.yaml"), None, record(code), BOOK) == [
        f"git checkout {code.commit[:10]}",
        "tunebook run a.yaml --trials 3",
    ]


def test_a_patch_that_was_not_kept_is_no_step(repository: Path) -> None:
    code = Code("0123456789abcdef", "feedfacefeedface")
    steps = reproducing.steps(small_study(file="a.yaml"), None, record(code), BOOK)
    assert steps == ["git checkout 0123456789", "tunebook run a.yaml --trials 3"]


def test_a_child_by_option_and_a_child_with_a_file_of_its_own() -> None:
    parent = small_study(file="a.yaml")
    child = replace(parent.child("small-2"), file="a.yaml")
    by_option = reproducing.steps(child, parent, None, BOOK)
    by_file = reproducing.steps(replace(child, file="b.yaml"), parent, None, BOOK)
    assert by_option == ["tunebook run a.yaml --trials 3 --new-study small-2"]
    assert by_file == ["tunebook run b.yaml --trials 3"]


def test_a_script_is_called_as_it_was() -> None:
    note = reproducing.call_note(["/usr/bin/python", "-m", "train", "--name", "a b"])
    assert note is not None
    steps = reproducing.steps(small_study(), None, record(notes=("other", note)), BOOK)
    assert steps == ["python -m train --name 'a b'"]


def test_a_study_from_python_is_run_in_python() -> None:
    study = small_study(program="package.train:fit")
    assert reproducing.steps(study, None, record(), BOOK) == [
        'tunebook.run(tunebook.load("small").study, fit)  # in Python'
    ]
