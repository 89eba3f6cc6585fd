"""Secrets: which names promise one, and how they are kept out of what is written and shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

MASK = "***"
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = (
    r"(?:^|_)(?:secrets?|passwords?|passwd|passphrase|credentials?|creds|bearer|apikeys?|"
    r"(?:api|secret|private|access|auth|signing|encryption|ssh|account)_?keys?)"
)
_NAMES = re.compile(_SECRET + r"(?:_(?:id|value|text|string|\d+))?$")
# `secret_sauce: ranch` and `pad_token: "</s>"` are none; what opens a door under such a name is
# long and has digits, but no blanks.
_PERHAPS = re.compile(_SECRET + r"_|(?:^|_)(?:auth|token)$")
_OF_TEXTS = re.compile(
    r"(?:^|_)(?:pad|bos|eos|unk|cls|sep|mask|begin|start|stop|end|special)_token$"
)
_LONG = re.compile(r"(?=.*\d)[\w\-./+=:~]{16,}\Z")
# A switch, a count, or the name of a variable: `$API_KEY`, `${oc.env:API_KEY}`.
_PLAIN = re.compile(
    r"(?:(?i:true|false|yes|no|on|off|none|null)|[-+]?[\d.]{1,5}|\$[A-Z_][A-Z0-9_]*|\$\{.*)\Z"
)
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
    if not value or value == MASK or _PLAIN.match(value):
        return False
    plain = "_".join(_WORDS.findall(name)).lower()
    if _NAMES.search(plain):
        return True
    perhaps = _PERHAPS.search(plain) and not _OF_TEXTS.search(plain)
    return bool(perhaps and _LONG.match(value))


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
