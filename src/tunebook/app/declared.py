"""What the source of a script declares: options with defaults, and where it puts its metrics.

The source is read, never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunebook.app.constants import constant
from tunebook.app.help_text import name_of
from tunebook.studyfile.roles import Found

_STEPS = ("step", "global_step", "epoch", "iter", "iteration")
# Words that stand in front of a time, not of a metric.
_NO_METRICS = ("in", "at", "of", "for", "after", "took", "time", "elapsed", "eta")
# Digits, an exponent, nan or inf, and not the unit or the bracket behind it.
_NUMBER = r"[-+.\deinfa]+"
_LABEL = re.compile(r"([A-Za-z][\w/.\-]*(?: [A-Za-z][\w/.\-]*)?)\s*[:=\[(#]*\s*\Z")
_TAKES_NO_VALUE = {"store_true", "store_false", "store_const", "count", "help", "version"}
_EVERY_TEXT = "it takes a value, and argparse takes every text but an empty one for true"


@dataclass(frozen=True)
class Declared:
    """Options by their names on the command line; metrics by name, and where they are found.

    `source` is the `metrics:` of a study file; None if the script logs by tunebook itself.
    """

    options: dict[str, Found] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    source: dict[str, Any] | None = field(default_factory=dict)


def declared(path: Path) -> Declared:
    """What a Python script declares; nothing, if it cannot be read as one."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return Declared()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    options = {flag: found for call in calls for flag, found in _declares(call)}
    for metrics, source in (_by_tunebook(calls), _by_tensorboard(calls), _by_json(tree, calls)):
        if metrics:
            return Declared(options, metrics, source)
    return Declared(options, *_by_printing(calls))


def _declares(call: ast.Call) -> Iterator[tuple[str, Found]]:
    """`add_argument("--lr", default=0.1)`, `click.option(...)`, `DEFINE_float("lr", 0.1, "")`."""
    name = _called(call)
    texts = [text for node in call.args if isinstance(text := _literal(node), str)]
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if name.startswith("DEFINE_") and len(call.args) >= 2 and texts:
        switch = name in ("DEFINE_bool", "DEFINE_boolean")
        several = name in ("DEFINE_list", "DEFINE_multi_float", "DEFINE_multi_integer")
        yield (
            f"--{texts[0]}",
            Found(texts[0], constant(call.args[1]), switch=switch, several=several),
        )
    elif name in ("add_argument", "option"):
        flags = [text for text in texts if text.startswith("-")]
        flag = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else None)
        if flag is not None:
            yield flag.split("/")[0], _option(flag, given, name == "add_argument")


def _option(flag: str, given: dict[str, ast.expr], plain: bool) -> Found:
    """An option by its keywords; `plain` says that argparse reads it."""
    action = given.get("action")
    choices = _literal(given["choices"]) if "choices" in given else ()
    return Found(
        name_of(flag.split("/")[0]),
        constant(given.get("default")),
        tuple(choices) if isinstance(choices, list | tuple) else (),
        _literal(given["required"]) is True if "required" in given else False,
        _literal(given.get("is_flag")) is True
        or "/" in flag
        or (action is not None and _literal(action) in _TAKES_NO_VALUE)
        or isinstance(action, ast.Attribute),
        "nargs" in given and _literal(given["nargs"]) != 1,
        _EVERY_TEXT if plain and _named(given.get("type")) == "bool" else "",
    )


def _by_tunebook(calls: Sequence[ast.Call]) -> tuple[tuple[str, ...], dict[str, Any] | None]:
    """`tunebook.log({...})`."""
    logs = [call for call in calls if _called(call) == "log" and _owner(call) == "tunebook"]
    return tuple(dict.fromkeys(key for call in logs for key in _keys(call.args))), None


def _by_tensorboard(calls: Sequence[ast.Call]) -> tuple[tuple[str, ...], dict[str, Any] | None]:
    """`writer.add_scalar("valid/loss", ...)`."""
    scalars = [call for call in calls if _called(call) == "add_scalar" and call.args]
    names = [name for call in scalars if isinstance(name := _literal(call.args[0]), str)]
    return tuple(dict.fromkeys(names)), {"tensorboard": "{run_dir}"}


def _by_json(
    tree: ast.AST, calls: Sequence[ast.Call]
) -> tuple[tuple[str, ...], dict[str, Any] | None]:
    """Mappings with a step, where something is written by `json.dumps`."""
    if not any(_called(call) == "dumps" for call in calls):
        return (), {}
    rows = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    keys = [names for node in rows if set(names := [*_keys([node])]) & {"step", "global_step"}]
    texts = (str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant))
    file = next((text for text in texts if re.fullmatch(r"[\w.\-]+\.jsonl", text)), "")
    place = f"{{run_dir}}/{file}" if file else "stdout"
    found = dict.fromkeys(name for names in keys for name in names if name not in _STEPS)
    return tuple(found), {"json_lines": place}


def _by_printing(calls: Sequence[ast.Call]) -> tuple[tuple[str, ...], dict[str, Any] | None]:
    """`print(f"step {step}: loss {loss}")`, the line with the most metrics."""
    printed = [
        _pattern(call.args[0].values)
        for call in calls
        if call.args
        and isinstance(call.args[0], ast.JoinedStr)
        and _called(call) in ("print", "echo", "info", "write")
    ]
    best = max(printed, key=lambda found: len(found[0]), default=((), ""))
    return (best[0], {"pattern": best[1]}) if best[0] else ((), {})


def _pattern(parts: Sequence[ast.expr]) -> tuple[tuple[str, ...], str]:
    """The metrics in a line, and the regular expression that finds them."""
    names: list[str] = []
    pattern, before = "", ""
    for part in parts:
        text = _literal(part)
        if isinstance(text, str):
            pattern += re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)
            before = text
            continue
        label = _LABEL.search(before)
        name = re.sub(r"\W", "_", label[1]).strip("_").lower() if label else ""
        before = ""
        if name in _STEPS and "(?P<step>" not in pattern:
            pattern += r"(?P<step>\d+)"
        elif name and name not in (*names, *_STEPS, *_NO_METRICS):
            names.append(name)
            pattern += f"(?P<{name}>{_NUMBER})"
        else:
            pattern += r"\S+"
    # What follows the last value would only make the pattern miss.
    end = pattern.rfind(f">{_NUMBER})") + len(f">{_NUMBER})")
    return tuple(names), pattern[:end] if names else ""


def _keys(nodes: Sequence[ast.expr]) -> Iterator[str]:
    for node in nodes:
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _called(call: ast.Call) -> str:
    return _named(call.func)


def _named(node: ast.expr | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _owner(call: ast.Call) -> str:
    return _named(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _literal(node: ast.expr | None) -> Any:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
