"""Secrets: which names promise one, and how they are kept out of what is written and shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

MASK = "***"
NO_SECRETS = (
    "this looks like a secret, and a study is written into the book and shown in reports; let the "
    "program read it from its environment"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMES = re.compile(
    r"(?:^|_)(?:secrets?|passwords?|passwd|passphrase|credentials?|creds|bearer|"
    r"(?:api|private|access|auth|signing|encryption|ssh|account)_?keys?|apikeys?)(?:_|$)"
)
# `pad_token: "</s>"` is none; one that opens a door is long and has no blanks.
_TOKENS = re.compile(r"(?:^|_)(?:auth|token)$")
_LONG = re.compile(r"[\w\-./+=:~]{16,}\Z")
# An option (`--name=value`), a variable (`NAME=value`), an override of Hydra's (`+a.name=value`).
_NAMED = re.compile(r"(?P<name>[-+~]*[\w.\-]+)(?P<sign>=|: ?)(?P<value>.+)", re.DOTALL)
_IN_ADDRESS = re.compile(r"(?P<before>\w://[^/\s:@]*:)(?P<value>[^/\s@]+)(?=@)")
# A short value may be part of any word.
_SHORTEST = 6


def is_secret(name: str, value: str) -> bool:
    """Whether a text of this name is not for others to see.

    >>> is_secret("OPENAI_API_KEY", "x"), is_secret("pad_token", "</s>"), is_secret("tokens", "8")
    (True, False, False)
    """
    plain = "_".join(_WORDS.findall(name)).lower()
    if not value or value == MASK:
        return False
    return bool(_NAMES.search(plain)) or bool(_TOKENS.search(plain) and _LONG.match(value))


def mask_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line without its secrets.

    >>> mask_arguments(["train.py", "--lr=1", "--api-key=abc", "--password", "abc"])
    ['train.py', '--lr=1', '--api-key=***', '--password', '***']
    """
    masked: list[str] = []
    option = ""
    for argument in arguments:
        named = _NAMED.match(argument)
        if named and is_secret(named["name"], named["value"]):
            argument = f"{named['name']}{named['sign']}{MASK}"
        elif option and not argument.startswith("-") and is_secret(option, argument):
            argument = MASK
        argument = _IN_ADDRESS.sub(rf"\g<before>{MASK}", argument)
        option = argument if argument.startswith("-") and "=" not in argument else ""
        masked.append(argument)
    return masked


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """The values of an environment that are not for others to see, the longest first."""
    found = {v for n, v in environment.items() if len(v) >= _SHORTEST and is_secret(n, v)}
    return sorted(found, key=lambda value: (-len(value), value))


def mask(text: str, secrets: Iterable[str]) -> str:
    """A text in which some values are not to be seen."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text
