"""Which plain text of a YAML 1.2 file is a number, true, false or null."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.resolver import Resolver

from tunebook.studyfile.problems import shown

MOST_DIGITS = 300

_BASES = {"0b": 2, "0o": 8, "0x": 16}


class _Yaml12(Resolver):
    """The library's rules, and one more: it takes `.5e+3` for a number, but not `.5e3`."""


_Yaml12.add_implicit_resolver_base(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\.[0-9_]+[eE][0-9]+\Z"), list("-+.")
)


def read_scalar(text: str, plain: bool = True) -> str | int | float | bool | None:
    """The value of a scalar; what is not plain was in quotes.

    >>> [read_scalar(text) for text in ("1e-3", "1_000", "0x10", "no", "true", "", "2001-01-01")]
    [0.001, 1000, 16, 'no', True, None, '2001-01-01']
    """
    match _kind(text) if plain else "str":
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return _number(text, _int)
        case "float":
            return _number(text, _float)
    return text


def looks_like_a_number(text: str) -> bool:
    """Whether a text must be quoted to stay one."""
    return _kind(text) in ("int", "float")


def _kind(text: str) -> str:
    return str(_RESOLVER.resolve(ScalarNode, text, (True, False))).rpartition(":")[2]


def _number(text: str, convert: Callable[[str], float]) -> float | str:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number may have {MOST_DIGITS} digits, got {len(text)}")
    try:
        number = convert(text.replace("_", ""))
    except ValueError:
        return text  # `-_` and the like, which the rules let through
    if isinstance(number, int) and abs(number) > sys.float_info.max:
        raise ValueError(f"a number must fit a float, got {shown(text)}")
    return number


def _int(text: str) -> int:
    digits = text.lstrip("+-")
    base = _BASES.get(digits[:2])
    size = int(digits[2:], base) if base else int(digits)
    return -size if text.startswith("-") else size


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_RESOLVER = _Yaml12()
