"""A first study file follows the playbook's rules of thumb, and is a study file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import names, texts, values
from tunebook.core.domains import Choice, Float, Value
from tunebook.core.space import Derived, Fixed, Role
from tunebook.core.study import Study
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.roles import Found
from tunebook.studyfile.templates import command_template, template


def study(*parameters: tuple[str, Value]) -> Study:
    """The first study of a program with these parameters."""
    return parse(template("first", "train.py:train", parameters))


def test_a_program_without_known_parameters_is_offered_a_learning_rate() -> None:
    found = study()
    assert found.space.names == ("learning_rate",)
    assert found.space["learning_rate"].source == Float(3.3e-5, 0.03, log=True)
    assert found.goal == "How low can tuning alone bring valid/error?"


@pytest.mark.parametrize("name", ["lr", "learning_rate", "adam.learning_rate", "base_lr"])
def test_a_learning_rate_is_a_nuisance_three_decades_around_its_default(name: str) -> None:
    found = study((name, 0.03))
    assert found.space[name].role is Role.NUISANCE
    assert found.space[name].source == Float(1e-3, 0.9, log=True)
    assert found.knobs.learning_rate == name


@pytest.mark.parametrize("default", [None, 0, -1.0, "fast", True, 1e308])
def test_a_default_that_cannot_be_the_middle_is_replaced(default: Value) -> None:
    low, high = (0.033, 30) if default is True else (3.3e-5, 0.03)
    assert study(("lr", default)).space["lr"].source == Float(low, high, log=True)


def test_regularisation_is_a_nuisance() -> None:
    space = study(("weight_decay", 0.0), ("dropout", 0.1)).space
    assert space["weight_decay"].source == Float(3.3e-6, 0.003, log=True)
    assert space["dropout"].source == Float(0, 0.5, limit="low")
    assert {parameter.role for parameter in space} == {Role.NUISANCE}


def test_momentum_is_searched_by_its_distance_from_one() -> None:
    space = study(("sgd.momentum", 0.9)).space
    assert space["sgd.one_minus_momentum"].source == Float(0.005, 0.5, log=True)
    assert space["sgd.momentum"].source == Derived("1 - sgd.one_minus_momentum")


def test_a_momentum_that_no_expression_can_name_is_fixed() -> None:
    assert study(("sgd-momentum", 0.9)).space["sgd-momentum"].source == Fixed(0.9)


def test_the_architecture_is_held_and_the_way_to_ask_about_it_shown() -> None:
    text = template("first", "train.py:train", [("num_layers", 2), ("width", 64)])
    found = parse(text)
    assert found.space["num_layers"].source == Fixed(2)
    assert found.space["width"].source == Fixed(64)
    assert found.goal == "How low can tuning alone bring valid/error?"
    line = next(line for line in text.splitlines() if line.startswith("  num_layers"))
    moved = line.partition("scientific: ")[2]
    asked = parse(text.replace(f"{line}\n", "").replace("scientific:\n", f"scientific: {moved}\n"))
    assert asked.space["num_layers"].source == Choice((2, 3))


def test_the_batch_size_is_never_searched() -> None:
    text = template("first", "train.py:train", [("batch_size", 256)])
    assert (
        "  batch_size: 256  # never searched: with another batch size everything else must be "
        "tuned again\n"
    ) in text
    assert parse(text).knobs.batch_size == "batch_size"


def test_the_optimizer_and_the_rest_are_fixed() -> None:
    found = study(("optimizer", "adam"), ("beta2", 0.999), ("warmup", None), ("depth", "deep"))
    assert {p.name: p.source for p in found.space} == {
        "optimizer": Fixed("adam"),
        "beta2": Fixed(0.999),
        "warmup": Fixed(0),
        "depth": Fixed("deep"),
    }
    assert found.knobs.warmup_steps == "warmup"


def test_a_parameter_without_a_default_is_left_to_the_reader() -> None:
    text = template("first", "train.py:train", [("mystery", None), ("lr", None), ("a\nb", 1)])
    assert "  # mystery:   # no default was found: write its value, or remove it\n" in text
    assert "  # 'a\\nb':   # cannot name a parameter: rename it\n" in text
    assert parse(text).space.names == ("lr",)


def test_the_metric_and_its_direction() -> None:
    found = parse(template("first", "train.py:train", [("depth", 2)], "accuracy", "higher"))
    assert (found.objective.metric.name, found.objective.metric.better) == ("accuracy", "higher")
    assert found.goal == "How high can tuning alone bring accuracy?"


def test_every_section_is_explained() -> None:
    lines = template("first", "train.py:train").splitlines()
    sections = [n for n, line in enumerate(lines) if line and line[0] not in "# "]
    unexplained = [lines[n] for n in sections if not lines[n - 1].startswith("# ")]
    assert len(sections) == 11
    assert unexplained == []


def test_trials_are_given_an_accelerator_where_there_is_one() -> None:
    explained = (
        "\n# What one trial gets of the machine. It sees no GPU but those that it is given here.\n"
    )
    for without, asked in (
        (template("first", "train.py:train"), template("first", "train.py:train", gpus=True)),
        (
            command_template("first", ["train"], {}, "dashes"),
            command_template("first", ["train"], {}, "dashes", gpus=True),
        ),
    ):
        assert without.endswith(f"{explained}# resources: {{gpus: 1}}\n")
        assert asked == without.replace("# resources", "resources")
        assert (parse(without).resources.gpus, parse(asked).resources.gpus) == (0, 1)


def command(*found: Found, metrics: dict[str, str] | None = None) -> str:
    flags = {f"--{one.name.replace('_', '-')}": one for one in found}
    return command_template("first", ["python", "train.py"], flags, "dashes", metrics)


def test_a_command_names_what_its_style_would_write_otherwise() -> None:
    flags = {"--lr": Found("lr", 0.1), "--weight_decay": Found("weight_decay", 0.1)}
    found = parse(command_template("first", ["train"], flags, "dashes")).command
    assert found is not None
    assert found.arguments == ("train", "--weight_decay={weight_decay}", "{overrides}")
    found = parse(command_template("first", ["train"], flags, "equals")).command
    assert found is not None
    assert found.arguments == ("train", "{overrides}")


def test_the_budget_of_a_command() -> None:
    assert "\nmax_steps: 7\n" in command(Found("steps", 7))
    assert "\nmax_steps: 1000\n" in command(Found("steps", required=True))
    assert "\n# max_seconds: 3600\n" in command(Found("epochs", 7))


def test_where_metrics_are_found() -> None:
    assert "# The program logs its metrics by tunebook.log.\n" in command()
    found = parse(command(metrics={"json_lines": "stdout"})).command
    assert found is not None
    assert found.json_lines == ("stdout",)
    unknown = command(metrics={})
    for line in (line for line in unknown.splitlines() if line.startswith("# metrics: ")):
        filled = parse(unknown.replace(line, line.removeprefix("# "))).command
        assert filled is not None
        assert len(filled.json_lines + filled.tensorboard + filled.patterns) == 1


def test_arguments_that_are_still_to_be_written() -> None:
    text = command_template("first", ["train"], {"--lr": Found("lr")}, "dashes", lacking=["data"])
    line = "  # - ...  # data: the program needs this argument; write it here\n"
    assert f"  - train\n{line}" in text
    filled = parse(text.replace(line, "  - images\n")).command
    assert filled is not None
    assert filled.arguments == ("train", "images", "{overrides}")


def test_a_command_without_options_is_told_its_variables() -> None:
    found = {"LR": Found("lr", 0.1), "SEED": Found("seed", required=True)}
    text = command_template("first", ["sh", "a.sh"], {}, "environment", {}, variables=found)
    assert (
        "# The command names no options. Parameters reach it as variables of its environment: lr "
        "as $LR.\n# Lines below that begin with '#' are proposals: take the '#' from those that "
        'are right.\n# For $SEED, begin the command with: env, "SEED={seed}"\n'
    ) in text
    study = parse(text)
    assert study.command is not None
    assert (study.command.arguments, study.command.overrides) == (("sh", "a.sh"), "environment")
    assert study.space.names == ()
    line = "  # lr: {log: [0.0033, 3.0]}"
    assert parse(text.replace(line, line.replace("# ", ""))).space.names == ("lr",)


def test_a_budget_that_is_no_number_is_replaced() -> None:
    assert "\nmax_steps: 1000\n" in command(Found("steps", "500 steps", required=True))


common = st.sampled_from(
    ["lr", "momentum", "one_minus_momentum", "batch_size", "depth", "width", "wd", "optimizer"]
)


@given(st.lists(st.tuples(common | names | texts, values), max_size=6), texts)
def test_every_program_gets_a_file_that_is_read(
    parameters: list[tuple[str, Value]], program: str
) -> None:
    assert parse(template("first", program, parameters)).program == program


@given(st.lists(st.tuples(common | names | texts, values), max_size=6), st.booleans())
def test_every_command_gets_a_file_that_is_read(
    parameters: list[tuple[str, Value]], required: bool
) -> None:
    found = {f"--{name}": Found(name, default, (), required) for name, default in parameters}
    study = parse(command_template("first", ["a {b}", "c"], found, "equals", {}))
    assert study.command is not None
    assert study.command.arguments[:2] == ("a {{b}}", "c")
