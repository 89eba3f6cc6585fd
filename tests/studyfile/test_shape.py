"""The JSON Schema: published, described, and in agreement with what is read."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from strategies import studies
from tunebook.core import knobs, objective, study
from tunebook.core.study import Study
from tunebook.studyfile.document import load
from tunebook.studyfile.parsing import parse
from tunebook.studyfile.shape import StudyFile, json_schema, keys_at
from tunebook.studyfile.writing import write

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "study.schema.json"
SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def printed() -> str:
    """What `python -m tunebook.studyfile` prints."""
    command = [sys.executable, "-m", "tunebook.studyfile"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_published_schema_is_this_one() -> None:
    assert PUBLISHED.read_text() == printed(), (
        "write it again: python -m tunebook.studyfile > docs/reference/study.schema.json"
    )
    assert json.loads(PUBLISHED.read_text()) == SCHEMA


def test_it_is_a_schema() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert SCHEMA["required"] == ["study", "objective"]


def test_every_key_is_described_in_a_sentence() -> None:
    for part in (SCHEMA, *SCHEMA["$defs"].values()):
        assert part["additionalProperties"] is False
        for name, content in part["properties"].items():
            assert content["description"].endswith("."), name


@settings(max_examples=20)
@given(studies())
def test_it_accepts_every_file_that_is_written(found: Study) -> None:
    VALIDATOR.validate(load(write(found)).content)


@pytest.mark.parametrize(
    "content",
    [
        {"trails": 3},
        {"trials": 0},
        {"trials": "3"},
        {"nuisance": {"a": 3}},
        {"nuisance": {"a": {"log": [1]}}},
        {"fixed": {"a": [1]}},
        {"knobs": {"a": "b"}},
        {"resources": {"memory": "4 apples"}},
        {"sampling": "halten"},
    ],
)
def test_it_refuses_what_is_refused(content: dict[str, Any]) -> None:
    required = {"study": "a", "objective": {"metric": "e", "better": "lower"}}
    VALIDATOR.validate(required)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(required | content)


def defaults(kind: type) -> dict[str, Any]:
    """The defaults of a dataclass, as JSON would have them."""
    found = {f.name: f.default for f in dataclasses.fields(kind)}
    return {
        name: list(default) if isinstance(default, tuple) else default
        for name, default in found.items()
        if default is not dataclasses.MISSING
    }


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (Study, SCHEMA),
        (knobs.Knobs, SCHEMA["$defs"]["Knobs"]),
        (objective.Objective, SCHEMA["$defs"]["Objective"]),
        (objective.Constraint, SCHEMA["$defs"]["Constraint"]),
        (study.Resources, SCHEMA["$defs"]["Resources"]),
        (study.Divergence, SCHEMA["$defs"]["Divergence"]),
        (study.Sampling, SCHEMA["$defs"]["Sampling"]),
    ],
)
def test_the_defaults_it_names_are_those_of_core(kind: type, part: dict[str, Any]) -> None:
    core = defaults(kind)
    named = {
        name: content["default"]
        for name, content in part["properties"].items()
        if "default" in content and name in core
    }
    assert named
    assert {name: default or None for name, default in named.items()} == {
        name: core[name] or None for name in named
    }


def test_every_knob_of_core_is_a_key() -> None:
    fields = [field.name for field in dataclasses.fields(knobs.Knobs)]
    assert list(SCHEMA["$defs"]["Knobs"]["properties"]) == fields


def test_the_keys_of_the_file_itself() -> None:
    assert keys_at(()) == tuple(StudyFile.model_fields)


def test_a_key_without_a_value_counts_as_absent() -> None:
    text = "study: a\nobjective: {metric: e, better: lower}\n"
    assert parse(text + "seed:\ngoal: null\nfixed:\n") == parse(text)
