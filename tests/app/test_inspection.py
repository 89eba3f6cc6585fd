"""What the source of a training function tells of it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tunebook.app.inspection import Program, can_train, choose_metric, inspect_program
from tunebook.core.errors import ProgramError
from tunebook.core.objective import Metric


def inspect(folder: Path, source: str, function: str = "train") -> Program:
    path = folder / "train.py"
    path.write_text(textwrap.dedent(source))
    return inspect_program(path, function)


def test_every_way_to_read_a_parameter(tmp_path: Path) -> None:
    found = inspect(
        tmp_path,
        """
        def train(run):
            other = {}
            a, b = run["a"], run.params["b"]
            c = run.params.get("c", 0.1)
            d = run.params.get("d", -3)
            e = run.params.get("e")
            f = run.params.get("f", [1, 2])
            g = run.params.get("g", other)
            h = other["h"] + run[a] + run.other["i"] + other.get("j", 1)
        """,
    )
    defaults = {"c": 0.1, "d": -3}
    assert dict(found.parameters) == {**dict.fromkeys("abcdefg"), **defaults}


def test_a_default_counts_wherever_it_stands(tmp_path: Path) -> None:
    source = 'def train(r):\n    r["lr"]\n    r.params.get("lr", 0.1)\n    r["lr"]\n'
    assert inspect(tmp_path, source).parameters == (("lr", 0.1),)


def test_helpers_that_are_given_the_run_are_read_too(tmp_path: Path) -> None:
    found = inspect(
        tmp_path,
        """
        def build(run, size):
            return run["depth"] * size

        def unrelated(something):
            return something["not this"]

        def train(run):
            run.log({"loss": build(run, run["width"])})
        """,
    )
    assert {name for name, _ in found.parameters} == {"width", "depth"}


def test_only_what_is_called_with_the_run_is_read(tmp_path: Path) -> None:
    found = inspect(
        tmp_path,
        """
        def unrelated(run):
            run.log({"not/this": 1})
            return run["not this"]

        def uncalled(run):
            return train(run)

        def deep(settings):
            return settings["deep"]

        def build(size, r):
            return again(other=r, size=size)

        def again(size, other):
            other.log({"again": 1})
            return build(size, other) + deep(other.params) + size["not this"]

        class Trainer:
            def train(self, run):
                return run["not this"]

            def fit(self, now):
                return now["fit"]

        def train(run):
            unrelated(None)
            params = run.params
            deep(params)
            build({}, run)
            Trainer().fit(run)
        """,
    )
    assert [name for name, _ in found.parameters] == ["deep", "fit"]
    assert found.metrics == ("again",)


def test_arguments_that_no_run_fills_in(tmp_path: Path) -> None:
    source = "def train(run, lr=0.1, size=2**5, *rest, act='relu', data=load(), **more): run['wd']"
    found = inspect(tmp_path, source)
    assert found.parameters == (("wd", None),)
    assert found.arguments == (("lr", 0.1), ("size", 32), ("act", "relu"), ("data", None))


def test_metrics_are_found_in_log_calls_helpers_and_results(tmp_path: Path) -> None:
    found = inspect(
        tmp_path,
        """
        def evaluate(model):
            return {"valid/loss": 1, "valid/error": 2}

        def train(run):
            name = "computed"
            run.log({"train/loss": 0, name: 1, **evaluate(None), **{"deep": 1}}, step=1)
            run.log(evaluate(None))
            run.log(unknown())
            other.log({"not this": 1})
            return {"test/error": 3}
        """,
    )
    assert found.metrics == ("train/loss", "valid/loss", "valid/error", "deep", "test/error")


def test_a_helper_that_calls_itself_ends(tmp_path: Path) -> None:
    source = """
        def evaluate(n):
            return evaluate(n - 1)

        def train(run):
            run.log(evaluate(3))
        """
    assert inspect(tmp_path, source).metrics == ()


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["train/loss", "valid/loss", "valid/error"], Metric("valid/error")),
        (["loss", "val_acc"], Metric("val_acc", "higher")),
        (["loss", "accuracy"], Metric("accuracy", "higher")),
        (["valid/loss", "train/error"], Metric("valid/loss")),
        (["Valid/Accuracy"], Metric("Valid/Accuracy", "higher")),
        (["evaluation"], Metric("evaluation")),
        (["macc"], Metric("macc")),
        ([], None),
    ],
)
def test_the_metric_that_decides(names: list[str], chosen: Metric | None) -> None:
    assert choose_metric(names) == chosen


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def trian(run): pass", r"train\.py has no function 'train'; did you mean 'trian'\?"),
        ("def train(): pass", r"train must take one argument, the run: def train\(run\)"),
        (
            "def train(run, data, lr=0.1): pass",
            r"train is called with the run alone, but also takes data; read run\['data'\] in it "
            r"instead: def train\(run\)",
        ),
        ("def train(run, *, a, b): pass", "but also takes a, b; read"),
        ("def train(run:", r"cannot read .*train\.py: '\(' was never closed in line 1"),
        ("x = '\0'", r"cannot read .*train\.py: .*null bytes"),
    ],
)
def test_mistakes(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        inspect(tmp_path, source)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"cannot read .*: .*No such file"):
        inspect_program(tmp_path / "none.py", "train")


def test_parameters_under_another_name(tmp_path: Path) -> None:
    found = inspect(
        tmp_path,
        """
        def train(run):
            params = run.params
            other = run.budget
            x = params["a"] + params.get("b", 2) + other["c"]
        """,
    )
    assert dict(found.parameters) == {"a": None, "b": 2}


@pytest.mark.parametrize(
    ("source", "uses", "sure"),
    [
        ("def train(run):\n    run['x']", True, True),
        ("def train(run, verbose=False, *, fast=True):\n    run['x']", True, True),
        ("def train(run):\n    pass", False, True),
        ("def train(model, data):\n    pass", False, False),
        ("def train(run, *, data):\n    run['x']", False, False),
        ("def train():\n    pass", False, False),
        ("def other(run):\n    run['x']", False, False),
    ],
)
def test_a_function_that_takes_a_run(tmp_path: Path, source: str, uses: bool, sure: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(source)
    assert can_train(path, "train") is uses
    assert can_train(path, "train", sure=True) is sure


def test_what_may_be_anything_is_the_last_choice() -> None:
    assert choose_metric(["rank", "loss"]) == Metric("loss")
    assert choose_metric(["rank", "loss", "error"]) == Metric("error")
    assert choose_metric(["loss", "valid/rank"]) == Metric("valid/rank")
