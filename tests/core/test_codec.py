"""The nouns as JSON: everything comes back, and what cannot be read says why."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import names, spaces, studies, texts, values
from tunebook.core.codec import VERSION, dumps, loads
from tunebook.core.errors import StoreError, StudyError
from tunebook.core.objective import Metric, Objective
from tunebook.core.space import Role, Setting, Space
from tunebook.core.study import Asked, Budget, Study
from tunebook.core.trials import (
    Adaptive,
    Attempt,
    Cause,
    Code,
    FromSequence,
    Imported,
    Listed,
    Outcome,
    OutcomeKind,
    Replicate,
    Trial,
)

whole = st.integers(0, 2**40)
settings = st.dictionaries(names, values, max_size=3).map(
    lambda content: Setting(tuple(content.items()))
)
origins = st.one_of(
    st.builds(FromSequence, whole),
    st.builds(Adaptive, whole, texts, whole),
    st.builds(Listed, whole),
    st.builds(Imported, whole, texts),
    st.builds(Replicate, whole, whole),
)
codes = st.builds(Code, st.none() | texts, st.none() | texts, st.none() | texts)
configs = st.dictionaries(names, values, max_size=3)
trials = st.builds(Trial, names, whole, settings, configs, whole, origins, codes)
attempts = st.builds(Attempt, trials, whole, texts, texts)
outcomes = st.builds(
    Outcome, st.sampled_from(OutcomeKind), texts, st.sampled_from(Cause), detail=texts
)


def document(value: object, version: object = VERSION) -> str:
    return json.dumps({"tunebook": version, "value": value})


pairs = st.dictionaries(names, values, max_size=3).map(lambda content: tuple(content.items()))
asked = st.builds(
    Asked,
    texts,
    studies(),
    pairs,
    texts,
    pairs,
    whole,
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
)


@given(studies(), asked)
def test_what_a_study_was_asked_for_comes_back(study: Study, given: Asked) -> None:
    stage = replace(study, asked=given)
    assert loads(dumps(stage)) == stage


@given(studies())
def test_a_study_comes_back(study: Study) -> None:
    again = loads(dumps(study))
    assert again == study
    # Equality takes 1 for True; the text does not.
    assert dumps(again) == dumps(study)
    assert repr(again) == repr(study)


@given(attempts | outcomes)
def test_attempts_and_outcomes_come_back(noun: Attempt | Outcome) -> None:
    again = loads(dumps(noun))
    assert again == noun
    assert repr(again) == repr(noun)


@given(spaces())
def test_the_text_is_plain_json(space: Space) -> None:
    text = dumps(space)
    assert text.isascii()
    assert json.loads(text)["tunebook"] == VERSION


def test_a_study_of_before_there_were_commands_is_read() -> None:
    """New fields have defaults: what an older tunebook has written stays readable."""
    now = json.loads(dumps(Study("old", Space(), Objective(Metric("loss")), program="a.py:b")))
    del now["value"]["command"]
    old = loads(json.dumps(now))
    assert old == Study("old", Space(), Objective(Metric("loss")), program="a.py:b")
    assert old.command is None


def test_golden_text() -> None:
    assert dumps(Budget(2000, "steps")) == (
        '{"tunebook":1,"value":{"":"Budget","amount":2000,"unit":"steps"}}'
    )
    assert dumps([Role.NUISANCE, {"a": (1, None)}]) == (
        '{"tunebook":1,"value":[{"":"Role","value":"nuisance"},{"a":[1,null]}]}'
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"tunebook": 1}', "[" * 100_000])
def test_text_of_another_kind(text: str) -> None:
    with pytest.raises(StoreError, match=r"^not a value of tunebook: "):
        loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            document(1, version=99),
            "written by a newer tunebook (format 99, this one reads 1); upgrade",
        ),
        (document(1, version="x"), "not a value of tunebook: its format is 'x'"),
        (
            document({"": "Wormhole"}),
            "unknown kind of value 'Wormhole' in the store; upgrade tunebook",
        ),
        (document({"": ["Budget"]}), "unknown kind of value ['Budget'] in the store"),
        (
            document({"": "Listed", "index": 1, "colour": 2}),
            "cannot read a stored Listed: ",
        ),
        (document({"": "Listed"}), "cannot read a stored Listed: "),
        (
            document({"": "Role", "value": "villain"}),
            "cannot read a stored Role: 'villain' is not a valid Role",
        ),
    ],
)
def test_what_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(StoreError) as caught:
        loads(text)
    assert str(caught.value).startswith(message)


def test_a_stored_value_is_checked_like_any_other() -> None:
    with pytest.raises(StudyError, match="max_steps must be above 0"):
        loads(document({"": "Budget", "amount": -1, "unit": "steps"}))


def test_what_json_cannot_hold_is_never_written() -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        dumps({"loss": math.nan})
