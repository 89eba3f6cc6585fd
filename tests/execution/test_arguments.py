"""Arguments of a trial: placeholders, styles, and values that read back exactly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import arguments as passable
from strategies import values
from tunebook.core.commands import Command
from tunebook.core.errors import ProgramError
from tunebook.execution.arguments import expand, in_hydra, params_json, text, variables

CONFIG = {"learning_rate": 1e-5, "adam.beta_1": -0.5, "nesterov": True, "clip": None, "name": "a b"}


def expanded(*arguments: str, style: Any = "dashes", **given: Any) -> list[str]:
    return expand(Command(arguments, style, **given), CONFIG, {"seed": "7"}, "/x/params.json")


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (
            "dashes",
            [
                "--learning-rate",
                "1e-05",
                "--adam.beta-1=-0.5",
                "--nesterov",
                "true",
                "--clip",
                "null",
                "--name",
                "a b",
            ],
        ),
        (
            "equals",
            [
                "--learning_rate=1e-05",
                "--adam.beta_1=-0.5",
                "--nesterov=true",
                "--clip=null",
                "--name=a b",
            ],
        ),
        (
            "hydra",
            ["learning_rate=1e-05", "adam.beta_1=-0.5", "nesterov=true", "clip=null", "name='a b'"],
        ),
        ("json", ["/x/params.json"]),
    ],
)
def test_styles(style: str, expected: list[str]) -> None:
    assert expanded("train", "{overrides}", style=style) == ["train", *expected]


def test_what_an_argument_names_is_not_passed_again() -> None:
    given = expanded("t", "--s={seed}", "{name}", "{{x}}", "{overrides}", without=("clip",))
    assert given[:4] == ["t", "--s=7", "a b", "{x}"]
    assert given[4:] == ["--learning-rate", "1e-05", "--adam.beta-1=-0.5", "--nesterov", "true"]


def test_an_argument_of_an_absent_parameter_is_left_out() -> None:
    assert expanded("t", "--dropout={dropout}", "{seed}") == ["t", "7"]


def test_a_parameter_comes_before_a_place() -> None:
    command = Command(("t", "{seed}", "{overrides}"))
    assert expand(command, {"seed": 3, "overrides": 4}, {"seed": "7"}, "") == ["t", "3", "4"]


def test_the_environment() -> None:
    command = Command(("t",), "environment", without=("clip",))
    assert variables(command, CONFIG, "p") == {
        "LEARNING_RATE": "1e-05",
        "ADAM_BETA_1": "-0.5",
        "NESTEROV": "true",
        "NAME": "a b",
    }
    assert variables(Command(("t",), "json"), CONFIG, "p") == {"TUNEBOOK_PARAMS": "p"}
    assert variables(Command(("t",)), CONFIG, "p") == {}


@given(st.dictionaries(st.sampled_from("abc"), values))
def test_a_file_of_parameters_reads_back(config: dict[str, Any]) -> None:
    again = json.loads(params_json(Command(("t",), "json"), config))
    assert repr(again) == repr(config)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)))
def test_what_is_no_text_reads_back_as_yaml_or_json(value: Any) -> None:
    if value in (float("inf"), float("-inf")):
        return
    assert repr(json.loads(text(value))) == repr(value)


@settings(max_examples=200, deadline=None)
@given(values | st.text("\\'\"${}:=,a \n", max_size=8))
def test_hydra_reads_back_what_it_is_passed(value: Any) -> None:
    parser = pytest.importorskip("hydra.core.override_parser.overrides_parser")
    omegaconf = pytest.importorskip("omegaconf")
    override = parser.OverridesParser.create().parse_override(f"model.rate={in_hydra(value)}")
    config = omegaconf.OmegaConf.create({})
    omegaconf.OmegaConf.update(config, override.key_or_group, override.value())
    assert repr(config.model.rate) == repr(value)


@given(passable)
def test_text_is_passed_as_it_is(value: str) -> None:
    command = Command(("t", "{x}", "--x={x}"))
    assert expand(command, {"x": value}, {}, "") == ["t", value, f"--x={value}"]


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_what_no_argument_can_hold(value: str) -> None:
    with pytest.raises(ProgramError, match="cannot be passed to a program, as it holds a NUL or"):
        expand(Command(("t", "{x}")), {"x": value}, {}, "")
    with pytest.raises(ProgramError, match="let it read its parameters from a file"):
        variables(Command(("t",), "environment"), {"x": value}, "")
