"""Commands: their placeholders, and what is wrong with them in a study."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from strategies import texts
from tunebook.core.commands import Command, Placeholder, names, parts, variable_of
from tunebook.core.domains import Choice, Float
from tunebook.core.errors import StudyError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space, When
from tunebook.core.study import Budget, Study

SPACE = Space(
    (
        Parameter("optimizer", Role.SCIENTIFIC, Choice(("sgd", "adam"))),
        Parameter("adam.beta", Role.NUISANCE, Float(0.5, 0.9), (When("optimizer", ("adam",)),)),
        Parameter("learning_rate", Role.NUISANCE, Float(0.1, 1)),
        Parameter("rest", Role.NUISANCE, Float(0.1, 1)),
        Parameter("momentum", Role.FIXED, Derived("1 - rest")),
        Parameter("batch_size", Role.FIXED, Fixed(128)),
    )
)
WHOLE = Command(("python", "train.py", "{overrides}"))


def problems(command: Command, budget: str | None = None) -> list[str]:
    return [text for _, text in command.problems(SPACE, ["inherited"], budget)]


@given(texts)
def test_braces_are_written_twice(text: str) -> None:
    escaped = text.replace("{", "{{").replace("}", "}}")
    assert "".join(map(str, parts(escaped))) == text
    assert list(names(escaped)) == []


def test_placeholders_are_found() -> None:
    assert list(parts("--a={x.y},{{{b}}}")) == [
        "--a=",
        Placeholder("x.y"),
        ",",
        "{",
        Placeholder("b"),
        "}",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arguments": ()}, "a command is a list of arguments, such as [python, train.py], got ()"),
        ({"arguments": ("",)}, "a command is a list of arguments, such as [python, train.py], "),
        ({"arguments": "python"}, "a command is a list of arguments, such as [python, train.py], "),
        ({"arguments": ("a", "b{")}, "'b{' has a '{' alone; write '{{' for one"),
        ({"arguments": ("a", "\0")}, "an argument cannot hold the character NUL, got '\\x00'"),
        (
            {"overrides": "dash"},
            "overrides must be dashes, equals, hydra, json or environment, got 'dash'; "
            "did you mean 'dashes'?",
        ),
        ({"patterns": ("(",)}, "the pattern '(' is no regular expression: missing )"),
        ({"patterns": ("(?P<step>a)",)}, "the pattern '(?P<step>a)' names no metric; "),
        ({"patterns": ("(?P<name>a)",)}, "the pattern '(?P<name>a)' names no metric; "),
        (
            {"infeasible_exit_codes": (0,)},
            "an exit code that means infeasible is 1 to 255, got 0",
        ),
    ],
)
def test_what_no_study_can_use(change: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        replace(WHOLE, **change)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            Command(("a", "--lr={learning_rte}", "{overrides}")),
            "'--lr={learning_rte}' has an unknown placeholder {learning_rte}; "
            "did you mean 'learning_rate'?",
        ),
        (
            Command(("a", '{{"x": {"y"}}}', "{overrides}")),
            '\'{{"x": {"y"}}}\' has an unknown placeholder {"y"}; write {{ and }} for braces',
        ),
        (
            Command(("a", "{max_steps}", "{overrides}")),
            "'{max_steps}' has an unknown placeholder {max_steps}; the study gives no max_steps",
        ),
        (
            Command(("a", "--x={overrides}")),
            "'--x={overrides}': {overrides} becomes several arguments and must stand alone",
        ),
        (
            Command(("a", "--beta", "{adam.beta}", "{overrides}")),
            "'adam.beta' does not exist in every trial, and its option would be left without a "
            "value; write both in one argument, '--adam.beta={adam.beta}', or use '{overrides}'",
        ),
        (
            Command(("a", "{learning_rate}", "--b={adam.beta}")),
            "no argument passes 'optimizer' to the program; add '{optimizer}' or '{overrides}', or "
            "say 'overrides: json' if it reads its parameters itself",
        ),
        (
            replace(WHOLE, json_lines=("metrics.jsonl",)),
            "'metrics.jsonl' would be the same for every trial; let the program write below its "
            "own folder, such as '{run_dir}/metrics.jsonl'",
        ),
        (
            replace(WHOLE, tensorboard=("{run_dr}",)),
            "'{run_dr}' has an unknown placeholder {run_dr}; did you mean 'run_dir'?",
        ),
        (replace(WHOLE, without=("momentun",)), "'momentun' is no parameter; did you mean 'mome"),
        (
            replace(WHOLE, overrides="environment"),
            "the environment passes the parameters; remove {overrides} from the command",
        ),
    ],
)
def test_what_is_wrong_in_a_study(command: Command, message: str) -> None:
    (told,) = problems(command)
    assert told.startswith(message)
    with pytest.raises(StudyError) as caught:
        Study("a", SPACE, Objective(Metric("loss")), command=command, baseline=(("inherited", 1),))
    assert str(caught.value) == told


def test_variables_must_be_free_and_differ() -> None:
    space = Space.of(fixed={"path": 1, "a.b": 2, "a_b": 3})
    command = Command(("a",), "environment")
    assert [text for _, text in command.problems(space)] == [
        "the parameter 'path' would replace the variable PATH; rename it",
        "'a.b' and 'a_b' would both be the variable A_B; rename one",
    ]


@pytest.mark.parametrize("name", ["bash_env", "ld_preload", "tunebook_dir", "tunebook_metrics"])
def test_no_parameter_decides_what_else_is_run_or_where_it_is_kept(name: str) -> None:
    command = Command(("a",), "environment")
    (told,) = (text for _, text in command.problems(Space.of(fixed={name: "x"})))
    assert told == f"the parameter {name!r} would replace the variable {name.upper()}; rename it"


@pytest.mark.parametrize(
    "command",
    [
        WHOLE,
        Command(("a",), "json"),
        Command(("a",), "environment"),
        # `rest` is passed as the momentum that is derived from it; a fixed value is a caveat.
        Command(("a", "{optimizer}", "{learning_rate}", "--b={adam.beta}", "{momentum}")),
        Command(("a", "{seed}{run_dir}{checkpoint_dir}{port}{inherited}", "{overrides}")),
        replace(WHOLE, json_lines=("stdout", "{checkpoint_dir}/x"), tensorboard=("{run_dir}",)),
    ],
)
def test_what_is_right(command: Command) -> None:
    assert problems(command) == []


def test_a_budget_has_a_placeholder() -> None:
    command = Command(("a", "{max_seconds}", "{overrides}"))
    assert problems(command, "max_seconds") == []
    study = Study("a", SPACE, Objective(Metric("loss")), budget=Budget(3, "seconds"))
    assert list(study.command_problems(command)) == []


def test_overrides_pass_what_no_argument_names() -> None:
    command = Command(("a", "--lr={learning_rate}", "{overrides}"), without=("rest",))
    assert command.passed(SPACE.names) == ["optimizer", "adam.beta", "batch_size", "momentum"]


def test_one_program_only() -> None:
    with pytest.raises(StudyError, match="a study has a program, a task or a command, not two"):
        Study("a", SPACE, Objective(Metric("loss")), program="a:b", command=WHOLE)


def test_it_is_told_as_a_shell_would_read_it() -> None:
    assert str(Command(("python", "my train.py"))) == "python 'my train.py'"
    assert variable_of("adam.beta-2") == "ADAM_BETA_2"
