"""What core refuses is told with the line of the parameter or key concerned."""

from __future__ import annotations

import pytest

from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Float, Int
from tunebook.core.errors import StudyError
from tunebook.core.secrets import NO_SECRETS
from tunebook.core.space import Derived, Fixed, When
from tunebook.core.study import Budget, MoreTrials, Study
from tunebook.studyfile.parsing import parse

START = "study: depth\nobjective: {metric: valid/error, better: lower}\n"


def study(content: str) -> Study:
    """The study with some content."""
    return parse(START + content)


def told(content: str) -> str:
    """What is said about some faulty content, whose first line is the third of the file."""
    with pytest.raises(StudyError) as caught:
        study(content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{log: [0, 1]}", "a log scale needs a lower bound above 0, got [0, 1]"),
        ("{linear: [2, 1]}", "the lower bound must be below the upper one, got [2, 1]"),
        (
            "{linear: [1.5, 2], whole: true}",
            "the bounds of whole numbers must be whole, got 1.5",
        ),
        ("{}", "give either linear: [low, high] or log: [low, high]"),
        ("{linear: [0, 1], log: [1, 2]}", "give either linear: [low, high] or log: [low, high]"),
        ("[]", "a choice needs at least one value, got none"),
        ("[1, 1.0]", "a choice must not repeat a value, got [1, 1.0]"),
        ("{log: [1, 2], buckets: 4}", "buckets belong to scientific ranges, not to 1 to 2 (log)"),
    ],
)
def test_a_faulty_domain_is_told_with_its_line(content: str, message: str) -> None:
    assert told(f"nuisance:\n  a: {content}\n") == f"study.yaml:4: nuisance.a: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "scientific: {blocks: [2, 3]}\nnuisance:\n  a: {log: [1, 2], when: {blocs: 3}}",
            "5: a depends on 'blocs', which is no parameter; did you mean 'blocks'?",
        ),
        (
            "nuisance:\n  a: {log: [1, 2], when: {blocks: 4}}\nscientific: {blocks: [2, 3]}",
            "4: a exists when blocks is 4, but blocks is one of 2, 3",
        ),
        (
            "fixed:\n  lr: 1\nderive:\n  x: 2 * l_r",
            "6: x depends on 'l_r', which is no parameter; did you mean 'lr'?",
        ),
        (
            "scientific:\n  a: [1]\nfixed:\n  a: 1",
            "6: a parameter may be named once, got a more than once",
        ),
        (
            "derive:\n  a: b\n  b: a",
            "4: these parameters depend on one another in a circle: a, b",
        ),
        (
            "fixed:\n  9a: 1",
            "4: fixed.9a: '9a' cannot name a parameter; use letters, digits, "
            "'_', '.' and '-', beginning with a letter",
        ),
        (
            "derive:\n  a: 1 +",
            "4: derive.a: cannot read the expression '1 +'; write arithmetic such as '1 - x'",
        ),
    ],
)
def test_a_faulty_space_is_told_with_the_line_of_its_parameter(content: str, message: str) -> None:
    assert told(content) == f"study.yaml:{message}"


def test_each_wrong_knob_has_its_own_line() -> None:
    text = "fixed: {lr: 1}\nknobs:\n  learning_rate: l_r\n  no_regularisation:\n    wd: 0\n"
    assert told(text).splitlines() == [
        "study.yaml:5: knobs.learning_rate: the knob learning_rate names 'l_r', "
        "which is no parameter; did you mean 'lr'?",
        "study.yaml:6: knobs.no_regularisation: the knob no_regularisation names 'wd', "
        "which is no parameter",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "max_seconds: 9\nmax_steps: 9",
            "4: a trial has one budget, got max_steps and max_seconds; keep one of them",
        ),
        ("max_steps: -1", "3: max_steps: max_steps must be above 0 and finite, got -1"),
        ("resources: {cpus: 0}", "3: resources: a trial needs at least one cpu, got 0"),
        (
            "sampling: list",
            "3: sampling: sampling by list needs at least one configuration, got none",
        ),
        (
            "more_trials: [{when: {optimizer: adam}, trials: 9}]",
            "3: more_trials: more_trials depends on 'optimizer', which is no parameter",
        ),
    ],
)
def test_other_faulty_keys(content: str, message: str) -> None:
    assert told(content) == f"study.yaml:{message}"


def test_a_name_and_an_objective_are_told_together() -> None:
    with pytest.raises(StudyError) as caught:
        parse("study: a b\nobjective: {metric: '', better: lower}\n")
    assert str(caught.value).splitlines() == [
        "study.yaml:1: study: 'a b' cannot name a study; "
        "use up to 100 letters, digits, '_', '.' and '-'",
        "study.yaml:2: objective: a metric needs a name, got ''",
    ]


def test_domains() -> None:
    space = study(
        "scientific: {a: [2, x, null], b: {linear: [1, 8], whole: true, buckets: 4}}\n"
        "nuisance: {c: {log: [1e1, 1e3], whole: true}, d: {linear: [0, 1], limit: low},\n"
        "  e: {values: [1, 2], when: {a: 2}}}\n"
    ).space
    assert space["a"].source == Choice((2, "x", None))
    assert (space["b"].source, space["b"].buckets) == (Int(1, 8), 4)
    assert space["c"].source == Int(10, 1000, log=True)
    assert space["d"].source == Float(0, 1, limit="low")
    assert (space["e"].source, space["e"].when) == (Choice((1, 2)), (When("a", (2,)),))


def test_fixed_and_derived_values_may_have_conditions() -> None:
    space = study(
        "scientific: {optimizer: [sgd, adam]}\n"
        "fixed: {beta2: {value: 0.999, when: {optimizer: adam}}, plain: no}\n"
        "derive: {momentum: {value: 1 - beta2, when: {optimizer: [sgd, adam]}}, twice: 2 * beta2}\n"
    ).space
    assert space["beta2"].source == Fixed(0.999)
    assert space["beta2"].when == (When("optimizer", ("adam",)),)
    assert space["momentum"].source == Derived("1 - beta2")
    assert space["momentum"].when == (When("optimizer", ("sgd", "adam")),)
    assert space["plain"].source == Fixed("no")
    assert space["twice"].source == Derived("2 * beta2")


@pytest.mark.parametrize(
    ("content", "budget"),
    [
        ("max_steps: 1e5", Budget(100_000)),
        ("max_examples: 1_000", Budget(1000, "examples")),
        ("max_seconds: 0.5", Budget(0.5, "seconds")),
        ("max_seconds:", None),
    ],
)
def test_budgets(content: str, budget: Budget | None) -> None:
    assert study(content).budget == budget


def test_more_trials() -> None:
    found = study("scientific: {a: [1, 2]}\nmore_trials: [{when: {a: 2}, trials: 9}]\n")
    assert found.more_trials == (MoreTrials((When("a", (2,)),), 9),)


COMMAND = """\
command: [python, train.py, "--lr={learning_rate}", "{overrides}"]
overrides: {style: hydra, without: [width]}
metrics:
  json_lines: "{run_dir}/metrics.jsonl"
  pattern: ['loss (?P<loss>\\S+)', '(?P<name>\\w+)=(?P<value>\\S+)']
infeasible_exit_codes: [3]
nuisance: {learning_rate: {log: [0.1, 1]}, width: [1, 2]}
"""


def test_a_command() -> None:
    assert study(COMMAND).command == Command(
        ("python", "train.py", "--lr={learning_rate}", "{overrides}"),
        "hydra",
        ("width",),
        json_lines=("{run_dir}/metrics.jsonl",),
        patterns=(r"loss (?P<loss>\S+)", r"(?P<name>\w+)=(?P<value>\S+)"),
        infeasible_exit_codes=(3,),
    )
    assert study("command: [./train.sh]\noverrides: environment").command == Command(
        ("./train.sh",), "environment"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("{learning_rate}", "{learning_rte}"),
            "study.yaml:3: command[2]: '--lr={learning_rte}' has an unknown placeholder "
            "{learning_rte}; did you mean 'learning_rate'?",
        ),
        (
            ("{run_dir}", "logs"),
            "study.yaml:6: metrics.json_lines: 'logs/metrics.jsonl' would be the same for every "
            "trial; let the program write below its own folder, such as '{run_dir}/metrics.jsonl'",
        ),
        (("[width]", "[wide]"), "study.yaml:4: overrides.without: 'wide' is no parameter"),
        (
            ("hydra", "hidra"),
            "study.yaml:4: overrides.style: expected 'dashes', 'equals', 'hydra', 'json' or "
            "'environment', got 'hidra'; did you mean 'hydra'?",
        ),
        (
            ("'loss (", "'loss (("),
            "study.yaml:7: metrics.pattern: the pattern 'loss ((?P<loss>\\\\S+)' is no regular "
            "expression: missing ), unterminated subpattern at position 5",
        ),
        (
            ("[3]", "[256]"),
            "study.yaml:8: infeasible_exit_codes: an exit code that means infeasible is 1 to 255, "
            "got 256",
        ),
        (("[python", "[3"), "study.yaml:3: command[0]: expected text, got 3"),
        (
            ("style:", "stile:"),
            "study.yaml:4: overrides: unknown key 'stile'; did you mean 'style'?",
        ),
        (("json_lines", "json_line"), "study.yaml:6: metrics: unknown key 'json_line'; did you m"),
        (
            ("command:", "program: train.py:train\ncommand:"),
            "study.yaml:4: a study has one of program, task and command, got 2",
        ),
        (
            ('command: [python, train.py, "--lr={learning_rate}", "{overrides}"]', ""),
            "study.yaml:4: overrides belongs to a command, and the study has none",
        ),
    ],
)
def test_mistakes_in_a_command(change: tuple[str, str], message: str) -> None:
    assert change[0] in COMMAND
    assert told(COMMAND.replace(*change)).splitlines()[0].startswith(message)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("fixed:\n  api_key: abc", "fixed.api_key"),
        ("scientific:\n  api_key: [abc, def]", "scientific.api_key"),
        ("baseline:\n  api_key: abc", "baseline.api_key"),
        ("command:\n  [train, --api-key=abc]", "command[1]: '--api-key=***'"),
    ],
)
def test_a_secret_is_refused_with_its_line(content: str, place: str) -> None:
    assert told(content) == f"study.yaml:4: {place}: {NO_SECRETS}"
