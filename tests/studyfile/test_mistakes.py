"""A wrong key or a wrong kind of content is told in plain words, with its line."""

from __future__ import annotations

import pytest

from tunebook.core.errors import StudyError
from tunebook.studyfile.parsing import parse

START = "study: depth\nobjective: {metric: valid/error, better: lower}\n"


def told(text: str) -> str:
    """What is said about a faulty file."""
    with pytest.raises(StudyError) as caught:
        parse(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nuisence: {}", "unknown key 'nuisence'; did you mean 'nuisance'?"),
        ("nuisance: {a: {lgo: [1, 2]}}", "nuisance.a: unknown key 'lgo'; did you mean 'log'?"),
        (
            "nuisance: {a: {valeus: [1]}}",
            "nuisance.a: unknown key 'valeus'; did you mean 'values'?",
        ),
        ("fixed: {a: {vale: 1, value: 1}}", "fixed.a: unknown key 'vale'; did you mean 'value'?"),
        ("derive: {a: {value: b, wen: {}}}", "derive.a: unknown key 'wen'; did you mean 'when'?"),
        ("knobs: {chanse: 1}", "knobs: unknown key 'chanse'; did you mean 'chance'?"),
        ("resources: {gpu: 1}", "resources: unknown key 'gpu'; did you mean 'gpus'?"),
        ("divergence: {metric: []}", "divergence: unknown key 'metric'; did you mean 'metrics'?"),
        (
            "sampling: {method: grid, point: 3}",
            "sampling: unknown key 'point'; did you mean 'points'?",
        ),
        (
            "more_trials: [{when: {}, trials: 1, trails: 2}]",
            "more_trials[0]: unknown key 'trails'; did you mean 'trials'?",
        ),
        (
            "scientific: {a: {values: [1], limit: low}}",
            "scientific.a: unknown key 'limit'; the keys here are values, when",
        ),
    ],
)
def test_unknown_keys_everywhere(content: str, message: str) -> None:
    assert told(f"{START}{content}") == f"study.yaml:3: {message}"


def test_an_unknown_key_of_a_constraint() -> None:
    text = "study: a\nobjective:\n  metric: e\n  better: lower\n  constraints:\n"
    assert told(f"{text}    - {{metric: m, atmost: 3}}") == (
        "study.yaml:6: objective.constraints[0]: unknown key 'atmost'; did you mean 'at_most'?"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "goal: x",
            "study.yaml:1: the key 'objective' is missing; "
            "write 'objective: {metric: valid/error, better: lower}'\n"
            "study.yaml:1: the key 'study' is missing; write 'study: depth'",
        ),
        (
            "study: a\nobjective: {metric: e}",
            "study.yaml:2: objective: the key 'better' is missing; "
            "write 'better: lower' or 'better: higher'",
        ),
        (
            f"{START}fixed:\n  a: {{when: {{}}}}",
            "study.yaml:4: fixed.a: the key 'value' is missing",
        ),
        (
            "study: a\nobjective:",
            "study.yaml:2: the key 'objective' is missing; "
            "write 'objective: {metric: valid/error, better: lower}'",
        ),
    ],
)
def test_missing_keys(text: str, message: str) -> None:
    assert told(text) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("trials: thirty", "trials: expected a whole number, got 'thirty'"),
        ("trials: 1.5", "trials: expected a whole number, got 1.5"),
        ("trials: true", "trials: expected a whole number, got true"),
        ("trials: 0", "trials: expected a number greater than or equal to 1, got 0"),
        ("max_steps: '9'", "max_steps: expected a number, got '9'"),
        ("max_steps: .inf", "max_steps: a value must be finite, got inf"),
        ("note: 3", "note: expected text, got 3"),
        ("scientific: [a]", "scientific: expected a mapping, 'key: value', got ['a']"),
        ("resources: 4", "resources: expected a mapping, 'key: value', got 4"),
        ("more_trials: {}", "more_trials: expected a list, got {}"),
        ("derive: {a: 3}", "derive.a: expected text, got 3"),
        ("fixed: {a: .nan}", "fixed.a: a value must be finite, got nan"),
        ("nuisance: {a: {log: [1]}}", "nuisance.a.log: expected [low, high], got [1]"),
        ("nuisance: {a: {log: [1, 2, 3]}}", "nuisance.a.log: expected [low, high], got [1, 2, 3]"),
        ("nuisance: {a: {log: [1, x]}}", "nuisance.a.log[1]: expected a number, got 'x'"),
        (
            "nuisance: {a: {linear: [0, 1], whole: 1}}",
            "nuisance.a.whole: expected true or false, got 1",
        ),
        (
            "nuisance: {a: {linear: [0, 1], limit: lwo}}",
            "nuisance.a.limit: expected 'low', 'high' or 'both', got 'lwo'; did you mean 'low'?",
        ),
        (
            "nuisance: {a: 0.1}",
            "nuisance.a: expected a list of values, {linear: [low, high]} or {log: [low, high]}, "
            "got 0.1; one value alone belongs under fixed",
        ),
        (
            "sampling: haltn",
            "sampling: expected 'halton', 'sobol', 'random', 'grid' or 'list', got 'haltn'; "
            "did you mean 'halton'?",
        ),
        (
            "nuisance: {a: {values: [1, 2], when: {b: {c: 1}}}}",
            "nuisance.a.when.b: a value must be a number, text, true, false or null, "
            "got {'c': 1}; write lists as text and take them apart in the program",
        ),
    ],
)
def test_wrong_contents(content: str, message: str) -> None:
    assert told(f"{START}{content}") == f"study.yaml:3: {message}"


def test_all_mistakes_are_told_together() -> None:
    text = f"{START}trails: 3\nnuisance:\n  a: 1\n  b: {{lag: [1, 2]}}\nseed: x\n"
    assert told(text).splitlines() == [
        "study.yaml:3: unknown key 'trails'; did you mean 'trials'?",
        "study.yaml:5: nuisance.a: expected a list of values, {linear: [low, high]} or "
        "{log: [low, high]}, got 1; one value alone belongs under fixed",
        "study.yaml:6: nuisance.b: unknown key 'lag'; did you mean 'log'?",
        "study.yaml:7: seed: expected a whole number, got 'x'",
    ]
