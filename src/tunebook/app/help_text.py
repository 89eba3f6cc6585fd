"""The options of a program, read from what it prints for `--help`.

It reads the help of argparse, click, typer and absl, and the configuration that Hydra prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tunebook.app.constants import constant_in
from tunebook.core.domains import Value
from tunebook.studyfile.roles import Found

_OWN = {"--help", "--version", "--helpfull", "--helpshort", "--helpxml", "--install-completion"}
_FRAME = str.maketrans("│┃", "  ", "╭╮╰╯─━")
# An option of absl ends with a colon; others with a gap, then the text.
_ABSL = re.compile(r"\s+--(?P<no>\[no\])?(?P<name>[\w.\-]+): ?(?P<text>.*)")
_OPTION = re.compile(r"(?:\s*\*)?\s+(?P<spec>-{1,2}\w\S*(?: \S+)*?)(?:\s{2,}(?P<text>\S.*))?\s*")
_FLAG = re.compile(r"--?[A-Za-z][\w.\-]*")
_KIND = re.compile(r"(?:<[^>]+>|[A-Z][A-Z_]+\b|\[[^\]]*\||\{)")
_DEFAULT = re.compile(
    r"[\[(;] ?default(?:s to)?[:=]? ?(?P<value>'[^']*'|\"[^\"]*\"|\([^()]*\)|[^\])(;]*)"
)
# Another name of the same option; a comma or a slash within a value is none.
_OTHER = re.compile(r"\s*[,/]\s*(?=-{1,2}[A-Za-z])")
_REQUIRED = re.compile(r"[\[(]required[\])]", re.IGNORECASE)
_CHOICES = re.compile(r"\{([^{}]+)\}|\[([^\[\]|]+(?:\|[^\[\]|]+)+)\]|<([^<>|]+(?:\|[^<>|]+)+)>")
_USAGE = re.compile(r"^ *usage: (.*?)(?:\n *\n|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_ARITHMETIC = re.compile(r"\(.*\)|\d+(?:\.\d+)?(?: ?(?:\*\*?|<<|//?) ?\d+(?:\.\d+)?)+")
_HYDRA = re.compile(r"^== Config ==\n.*?\n\n(?P<config>.*?)\n\n\nPowered by Hydra", re.M | re.S)


def options(text: str) -> dict[str, Found]:
    """The options by their names on the command line, in the order of the help.

    >>> options("  --lr LR, -l LR  how fast (default: 0.1)") == {"--lr": Found("lr", 0.1)}
    True
    """
    required = _needed(text)
    found: dict[str, Found] = {}
    for spec, said in _entries(_USAGE.sub("", text)):
        flags = _FLAG.findall(re.sub(r"\{[^}]*\}|\[(?!no\])[^\]]*\]", "", spec))
        flag = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
        if flag and flag not in _OWN and flag not in ("-h", "-?"):
            found.setdefault(flag, _found(flag, spec, said, flag in required))
    return found


def positional(text: str) -> tuple[str, ...]:
    """The arguments that the line of usage has without brackets and without an option.

    >>> positional("usage: x.py [-h] --kind KIND data [more]")
    ('data',)
    """
    usage = _USAGE.search(text)
    _, bracket, rest = usage[1].partition("[") if usage else ("", "", "")
    found: list[str] = []
    # The value of an option, which stands behind it, as often as it takes one.
    value = ""
    for word in _outside(bracket + rest).replace("...", " ").split():
        plain = word.strip("()")
        if plain.startswith("-"):
            value = "" if "=" in plain else "?"
        elif value in ("?", plain):
            value = plain
        elif plain.strip("|"):
            found.append(plain.strip("<>"))
    return tuple(dict.fromkeys(found))


def hydra(text: str) -> dict[str, Found] | None:
    """The parameters in the configuration that Hydra prints, or None where it does not."""
    config = _HYDRA.search(text)
    if config is None:
        return None
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe").load(config["config"])
    except YAMLError:
        content = None
    return dict(_leaves(content or {}))


def value_of(text: str) -> Value:
    """A default as help prints it.

    >>> [value_of(text) for text in ("0.1", "3", "'adam'", "None", "True", "relu", "1e-3")]
    [0.1, 3, 'adam', None, True, 'relu', 0.001]
    """
    text = text.strip()
    if text[:1] in ("'", '"') and text[1:] and text[:1] == text[-1:]:
        return "" if len(text) == 2 else value_of(text[1:-1])
    if text in ("None", "none", "null", ""):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if abs(number) < float("inf") else None
    # What is a tuple, say, is no value of one parameter.
    return constant_in(text) if _ARITHMETIC.fullmatch(text) else text


def name_of(flag: str) -> str:
    """The parameter that an option sets.

    >>> name_of("--weight-decay")
    'weight_decay'
    """
    return flag.lstrip("-").replace("-", "_")


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(how an option is written, what is said of it) for each option."""
    entry: tuple[str, list[str]] | None = None
    for raw in text.splitlines():
        # A tab parts an option from its text, as a gap of blanks does.
        line = raw.replace("\t", "  ").translate(_FRAME)
        absl, option = _ABSL.fullmatch(line), _OPTION.fullmatch(line)
        if absl or option:
            if entry:
                yield entry[0], " ".join(entry[1])
            if absl:
                spec = f"--{absl['name']}" + (f" / --no{absl['name']}" if absl["no"] else " VALUE")
                entry = spec, [absl["text"]]
            elif option:
                entry = _with_kind(option["spec"], option["text"] or "")
        elif entry and line.strip() and line[:1].isspace():
            entry[1].append(line.strip())
        elif entry:
            yield entry[0], " ".join(entry[1])
            entry = None
    if entry:
        yield entry[0], " ".join(entry[1])


def _with_kind(spec: str, said: str) -> tuple[str, list[str]]:
    """Where columns are wide, what a value looks like stands in front of the text."""
    if " " not in spec.replace(", ", ",") and _KIND.match(said):
        kind, _, said = said.partition("  ")
        spec = f"{spec} {kind}"
    return spec, [said]


def _found(flag: str, spec: str, said: str, required: bool) -> Found:
    default = _DEFAULT.search(said)
    choices = _CHOICES.search(spec)
    listed = re.split(r"[,|]", next(filter(None, choices.groups()))) if choices else []
    values = re.sub(r"\{[^}]*\}| RANGE\b", "X", _OTHER.split(spec)[-1]).split()[1:]
    pair = re.search(r"/\s*-", spec) is not None or re.search(r"(--)\S+, --no-", spec) is not None
    switch = pair or "<bool>" in spec or not (values or choices)
    return Found(
        name_of(flag),
        value_of(default["value"]) if default else None,
        tuple(value for text in listed if (value := value_of(text)) is not None),
        required or _REQUIRED.search(said) is not None,
        switch,
        len(values) > 1 or "..." in spec or "<list" in spec,
    )


def _needed(text: str) -> set[str]:
    """The options that argparse's line of usage has without brackets."""
    usage = _USAGE.search(text)
    return set(_FLAG.findall(_outside(usage[1] if usage else "")))


def _outside(usage: str) -> str:
    """What stands outside of all brackets."""
    plain, depth = [], 0
    for character in usage:
        depth += {"[": 1, "]": -1}.get(character, 0)
        plain.append(character if depth == 0 and character != "]" else " ")
    return "".join(plain)


def _leaves(content: Any, prefix: str = "") -> Iterator[tuple[str, Found]]:
    for key, value in content.items() if isinstance(content, dict) else ():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{name}.")
        elif isinstance(value, list):
            yield name, Found(name, several=True)
        elif value == "???":
            yield name, Found(name, required=True)
        elif isinstance(value, bool | int | float | str) and "${" not in str(value):
            yield name, Found(name, value)
        else:
            yield name, Found(name)
