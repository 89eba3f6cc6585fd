"""Programs: found, loaded, checked, and brought into another process."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from attempts import program_in
from tunebook.core.errors import ProgramError
from tunebook.core.protocols import Program, Run, TrainFunction
from tunebook.execution import programs
from tunebook.execution.programs import NamedFunction, PassedFunction, PickledFunction


def refusal(folder: Path, text: str, reference: str = "train.py:train") -> str:
    (folder / "train.py").write_text(text)
    with pytest.raises(ProgramError) as raised:
        programs.parse(reference, folder).load()
    return str(raised.value)


def at_the_top(run: Run) -> float:
    return 1.0


def test_a_function_of_a_file(tmp_path: Path) -> None:
    program = program_in(tmp_path, "def train(run):\n    return 7\n")
    assert program.reference == "train.py:train"
    assert program.load()(None) == 7  # type: ignore[arg-type]
    assert isinstance(program, NamedFunction)
    assert program.path == tmp_path / "train.py"


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    program = program_in(tmp_path, "def train(run):\n    return 7\n")
    program.load()
    (tmp_path / "train.py").write_text("def train(run):\n    return 'eight'\n")
    assert program.load()(None) == "eight"  # type: ignore[arg-type]


def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "neighbour_of_train.py").write_text("value = 3\n")
    (tmp_path / "inner" / "train.py").write_text(
        "from neighbour_of_train import value\ndef train(run):\n    return value\n"
    )
    assert programs.parse("inner/train.py:train", tmp_path).load()(None) == 3  # type: ignore[arg-type]


def test_a_function_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "__init__.py").touch()
    (tmp_path / "some_package" / "tr.py").write_text("def train(run):\n    return 7\n")
    program = programs.parse("some_package.tr:train", tmp_path)
    assert program.path is None
    assert program.load()(None) == 7  # type: ignore[arg-type]


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A function that makes the training function of a task."""
    (tmp_path / "some_loop.py").write_text(
        "def trainer(task):\n"
        "    if not task: raise ValueError('no data')\n"
        "    return lambda run: task + 1\n"
    )
    yield "some_loop:trainer"
    sys.modules.pop("some_loop", None)


def test_a_task_is_trained_by_a_loop(tmp_path: Path, loop: str) -> None:
    (tmp_path / "tasks.py").write_text("large = 41\n")
    program = programs.parse_task("tasks.py:large", tmp_path, by=loop)
    assert program.reference == "tasks.py:large"
    assert program.load()(None) == 42  # type: ignore[arg-type]
    assert brought(program) == "42"
    sys.modules.pop("tasks")


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("larg", "tasks.py has no task 'larg'; did you mean 'large'?"),
        ("empty", "importing tasks.py failed: ValueError: no data (some_loop.py:2)"),
    ],
)
def test_a_task_that_cannot_be_trained(tmp_path: Path, loop: str, task: str, reason: str) -> None:
    (tmp_path / "tasks.py").write_text("large = 41\nempty = 0\n")
    with pytest.raises(ProgramError) as raised:
        programs.parse_task(f"tasks.py:{task}", tmp_path, by=loop).load()
    assert str(raised.value) == reason
    sys.modules.pop("tasks")


def test_what_names_no_task(tmp_path: Path) -> None:
    with pytest.raises(ProgramError) as raised:
        programs.parse_task("tasks.py", tmp_path, by="loop:trainer")
    assert str(raised.value) == (
        "'tasks.py' does not name a task; "
        "write MODULE:TASK, such as tunebook.training.tasks:mnist1d"
    )


@pytest.mark.parametrize("name", ["random.py", "numpy.py", "my-model.py", "json.py"])
def test_a_file_does_not_replace_another_module(tmp_path: Path, name: str) -> None:
    import json
    import random

    import numpy

    program = program_in(tmp_path, "def train(run):\n    return 7\n", name)
    assert program.load()(None) == 7  # type: ignore[arg-type]
    assert sys.modules["random"] is random
    assert sys.modules["json"] is json
    assert sys.modules["numpy"] is numpy


def test_classes_of_a_file_can_be_pickled(tmp_path: Path) -> None:
    text = "import pickle\nclass A: pass\ndef train(run):\n    return pickle.dumps(A())\n"
    program = program_in(tmp_path, text, "some_training.py")
    assert b"some_training" in program.load()(None)  # type: ignore[arg-type, operator]


@pytest.mark.parametrize("reference", ["train.py", "train.py:", ":train", "train.py:a b", "", ":"])
def test_what_names_no_function(tmp_path: Path, reference: str) -> None:
    with pytest.raises(ProgramError) as raised:
        programs.parse(reference, tmp_path)
    assert str(raised.value) == (
        f"{reference!r} does not name a training function; write FILE.py:FUNCTION, "
        "such as train.py:train"
    )


def test_a_missing_file(tmp_path: Path) -> None:
    text = refusal(tmp_path, "", "trian.py:train")
    assert text == f"there is no file 'trian.py' in {tmp_path}; did you mean 'train.py'?"


def test_a_missing_function(tmp_path: Path) -> None:
    text = refusal(tmp_path, "train = 3\ndef trains(run): pass\nclass Train: pass\n")
    assert text == "train.py has no function 'train'; did you mean 'trains'?"


def test_a_missing_module(tmp_path: Path) -> None:
    text = refusal(tmp_path, "", "no_such_module:train")
    assert text == (
        "importing no_such_module failed: ModuleNotFoundError: No module named 'no_such_module'"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\ny = x / 0\n", "ZeroDivisionError: division by zero (train.py:2)"),
        (
            "\nimport no_such_module\n",
            "ModuleNotFoundError: No module named 'no_such_module' (train.py:2)",
        ),
        ("def train(run:\n", "SyntaxError: '(' was never closed (train.py, line 1)"),
        (
            "import json\nx = 3\njson.loads('{')\n",
            "JSONDecodeError: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1) (train.py:3)",
        ),
        ("raise BaseException('stop')\n", "BaseException: stop (train.py:1)"),
    ],
)
def test_an_import_that_fails(tmp_path: Path, text: str, reason: str) -> None:
    assert refusal(tmp_path, text) == f"importing train.py failed: {reason}"
    assert "train" not in sys.modules


def test_an_import_that_exits(tmp_path: Path) -> None:
    text = refusal(tmp_path, "import sys\nsys.exit(3)\n")
    assert text == "importing train.py ended with exit code 3"


def test_an_import_can_be_interrupted(tmp_path: Path) -> None:
    program = program_in(tmp_path, "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        program.load()


@pytest.mark.parametrize("signature", ["", "run, other", "*, run"])
def test_a_wrong_signature(tmp_path: Path, signature: str) -> None:
    text = refusal(tmp_path, f"def train({signature}):\n    pass\n")
    assert text == "train.py:train must take one argument, the run: def train(run)"


@pytest.mark.parametrize("signature", ["run", "run=None", "*args", "run, other=3", "run, /, **k"])
def test_a_right_signature(tmp_path: Path, signature: str) -> None:
    program_in(tmp_path, f"def train({signature}):\n    pass\n").load()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("async def train(run):\n    pass\n", "asynchronous"),
        ("def train(run):\n    yield\n", "a generator"),
    ],
)
def test_a_function_that_runs_nothing(tmp_path: Path, code: str, kind: str) -> None:
    assert refusal(tmp_path, code) == (
        f"train.py:train is {kind}, so that calling it runs nothing; write a plain function"
    )


def test_a_function_that_does_not_say_what_it_takes() -> None:
    programs.check_signature(min, "min")


def brought(program: Program) -> str:
    """What the function returns in a fresh Python that gets the program as JSON."""
    code = (
        "import sys; from tunebook.execution import programs; "
        "print(programs.from_json(sys.stdin.read()).load()(None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=programs.to_json(program),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    return done.stdout.strip()


def test_a_file_is_brought_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_in(tmp_path, "import os\ndef train(run):\n    return os.getcwd()\n")
    monkeypatch.chdir(tmp_path)
    # A mistake that has no effect elsewhere must have none here.
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.path.insert(0, tmp_path)  # type: ignore[arg-type]
    assert isinstance(program, NamedFunction)
    assert brought(program) == str(tmp_path)


def test_a_function_that_can_be_imported_goes_by_name() -> None:
    program = programs.of_function(at_the_top)
    assert program == NamedFunction(at_the_top.__module__, "at_the_top", str(Path.cwd()))
    assert program.load()(None) == 1.0  # type: ignore[arg-type]


def test_a_closure_goes_by_value() -> None:
    secret = 41

    def train(run: object) -> int:
        return secret + 1

    program = programs.of_function(train)
    assert isinstance(program, PassedFunction)
    assert program.reference == "train"
    assert brought(program) == "42"


def test_a_lambda_a_partial_and_an_object_go_by_value() -> None:
    class Trainer:
        def __call__(self, run: object) -> str:
            return "called"

    def with_more(run: object, more: str) -> str:
        return more

    functions = (lambda run: "lambda", functools.partial(with_more, more="more"), Trainer())
    passed = [programs.of_function(function) for function in functions]
    assert [program.reference for program in passed] == ["<lambda>", "partial", "Trainer"]
    assert [brought(program) for program in passed] == ["lambda", "more", "called"]


def test_a_function_that_stays_here_is_itself() -> None:
    lock = threading.Lock()

    def train(run: object) -> object:
        return lock

    program = programs.of_function(train)
    assert program.load() is train
    with pytest.raises(ProgramError) as raised:
        programs.to_json(program)
    assert str(raised.value) == (
        "train cannot be brought into another process: "
        "TypeError: cannot pickle '_thread.lock' object; "
        "make what it uses within it, or put it into a file and name that: train.py:train"
    )


def test_a_function_of_the_main_module_goes_by_value(tmp_path: Path) -> None:
    script = """
from tunebook.execution import programs

constant = 6

def helper():
    return constant * 7

def train(run):
    return helper()

program = programs.of_function(train)
print(programs.to_json(program))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    program = programs.from_json(done.stdout)
    assert isinstance(program, PickledFunction)
    assert program.reference == "train"
    assert program.load()(None) == 42  # type: ignore[arg-type]


def test_a_value_that_cannot_be_read_is_told() -> None:
    with pytest.raises(ProgramError, match="importing train failed: UnpicklingError"):
        PickledFunction("train", b"rubbish").load()


def test_a_function_in_hand_is_checked() -> None:
    def train() -> None:
        pass

    with pytest.raises(
        ProgramError, match=r"train must take one argument, the run: def train\(run"
    ):
        programs.of_function(train)


def test_another_kind_of_program_stays_here() -> None:
    class Other:
        reference = "other"

        def load(self) -> TrainFunction:
            raise AssertionError

    with pytest.raises(ProgramError, match="other cannot be brought into another process"):
        programs.to_json(Other())
