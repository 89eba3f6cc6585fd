"""Secrets are known by their names, and are not shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunebook.core.masking import MASK, is_secret, mask, mask_arguments, secrets_of

LONG = "hf_0123456789abcdefgh"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_ACCESS_KEY_ID", "x"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/a/b.json"),
        ("--db-password", "x"),
        ("dbPassword", "x"),
        ("apikey", "x"),
        ("model.api_key", "x"),
        ("SECRET_KEY", "x"),
        ("client_secret", "x"),
        ("PASSWORD_2", "x"),
        ("secret_for_prod", LONG),
        ("HF_TOKEN", LONG),
        ("--github-token", LONG),
    ],
)
def test_secrets(name: str, value: str) -> None:
    assert is_secret(name, value)
    assert not is_secret(name, "")
    assert not is_secret(name, MASK)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pad_token", "<pad>"),
        ("eos_token", "</s>"),
        ("eos_token", "reserved-special-token-0"),
        ("mask_token", "a_word_that_stands_for_none"),
        ("hub_token", "a-long-text-without-digits"),
        ("max_tokens", "1" * 20),
        ("tokens_per_batch", "1" * 20),
        ("token_dropout", "0." + "1" * 20),
        ("key_dim", LONG),
        ("num_keys", LONG),
        ("keys", LONG),
        ("num_api_keys", "3"),
        ("use_auth_token", "True"),
        ("password_free", "maybe"),
        ("password-free", "true"),
        ("passwordless", LONG),
        ("secret_sauce", "ranch"),
        ("password_file", "words.txt"),
        ("WANDB_API_KEY", "$WANDB_API_KEY"),
        ("logger.api_key", "${{oc.env:WANDB_API_KEY}}"),
        ("api_key", "none"),
        ("tokenizer", LONG),
        ("key", LONG),
        ("passes", LONG),
        ("PWD", "/a/long/path/to/a/folder"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-0123456789abcdef"),
        ("learning_rate", LONG),
    ],
)
def test_no_secrets(name: str, value: str) -> None:
    assert not is_secret(name, value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--api-key=x", "--lr=1"], ["--api-key=***", "--lr=1"]),
        (["--password", "x", "y"], ["--password", "***", "y"]),
        (["--password", "--lr", "1"], ["--password", "--lr", "1"]),
        (["+logger.api_key=x"], ["+logger.api_key=***"]),
        (["API_KEY=x", "run"], ["API_KEY=***", "run"]),
        (["--token", LONG, "--pad-token", "<s>"], ["--token", MASK, "--pad-token", "<s>"]),
        (["postgresql://ada:x@host/db"], ["postgresql://ada:***@host/db"]),
    ],
)
def test_command_lines(given: list[str], expected: list[str]) -> None:
    assert mask_arguments(given) == expected


@given(st.lists(st.text(max_size=30)))
def test_a_masked_command_line_stays_as_it_is(arguments: list[str]) -> None:
    once = mask_arguments(arguments)
    assert len(once) == len(arguments)
    assert mask_arguments(once) == once


def test_values_of_an_environment() -> None:
    environment = {
        "A_TOKEN": LONG,
        "B_SECRET": LONG + "-more",
        "C_SECRET": "ab",
        "HOME": "/x/y/z/a",
    }
    found = secrets_of(environment)
    assert found == [LONG + "-more", LONG]
    assert mask(f"one {LONG}-more, two {LONG}, ab", found) == "one ***, two ***, ab"
