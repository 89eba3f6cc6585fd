"""A study that holds a secret is refused where it enters, and read wherever it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tunebook.core import codec
from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Value
from tunebook.core.errors import StudyError
from tunebook.core.objective import Metric, Objective
from tunebook.core.secrets import NO_SECRETS, check_secrets, secrets_in
from tunebook.core.space import Fixed, Parameter, Role, Space
from tunebook.core.study import Sampling, Study

PLAIN = Study("depth", Space(), Objective(Metric("loss")))
KEY = Parameter("api_key", Role.FIXED, Fixed("abc"))
KEYS = Parameter("api_key", Role.SCIENTIFIC, Choice(("abc", "def")))
WORD = Parameter("word", Role.FIXED, Fixed("x"))
HOLDING = {
    "fixed.api_key": replace(PLAIN, space=Space((KEY,))),
    "scientific.api_key": replace(PLAIN, space=Space((KEYS,))),
    "baseline.api_key": replace(PLAIN, baseline=(("api_key", "abc"),)),
    "sampling.configs.1.api_key": replace(
        PLAIN, sampling=Sampling("list", configs=((("lr", 1.0),), (("api_key", "abc"),)))
    ),
    "command.1: '--api-key=***'": replace(PLAIN, command=Command(("train", "--api-key=abc"))),
}


@pytest.mark.parametrize("place", HOLDING)
def test_a_study_that_holds_a_secret_is_refused(place: str) -> None:
    with pytest.raises(StudyError) as raised:
        check_secrets(HOLDING[place])
    assert str(raised.value) == f"{place}: {NO_SECRETS}"


@pytest.mark.parametrize("place", HOLDING)
def test_one_that_is_in_a_book_is_read(place: str) -> None:
    study = HOLDING[place]
    assert codec.loads(codec.dumps(study)) == study


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("password", number) for number in (12345678, 0.5, True, None)),
        *(("token_dropout", value) for value in (0.1, "0.1")),
        ("max_tokens", 65536),
        ("pad_token", "<|endoftext|>"),
        ("key_dim", 64),
        ("secret_sauce", "ranch"),
    ],
)
def test_ordinary_parameters_and_numbers_are_none(name: str, value: Value) -> None:
    space = Space((Parameter(name, Role.FIXED, Fixed(value)),))
    assert list(secrets_in(replace(PLAIN, space=space))) == []


def test_an_argument_with_a_placeholder_is_judged_by_its_parameter() -> None:
    command = Command(("train", "--password", "{word}", "--api-key={word}"))
    study = replace(PLAIN, space=Space((WORD,)), command=command)
    assert list(secrets_in(study)) == []
