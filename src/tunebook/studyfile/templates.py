"""A study file to begin with: commented, and following the playbook's rules of thumb."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError
from tunebook.core.expressions import names_in
from tunebook.core.objective import Better
from tunebook.core.space import Fixed, Parameter, Role
from tunebook.studyfile.layout import inline
from tunebook.studyfile.problems import shown


class _Entry(NamedTuple):
    """One line of a section; without a content it is a comment."""

    section: str
    name: str
    content: Any
    comment: str = ""


_Rule: TypeAlias = Callable[[str, Value], list[_Entry]]


def template(
    study: str,
    program: str,
    parameters: Sequence[tuple[str, Value]] = (),
    metric: str = "valid/error",
    better: Better = "lower",
) -> str:
    """The text of a first study file.

    `parameters` are names with default values; None stands for a default that is not known. With no
    parameters, the file proposes a learning rate.
    """
    entries = _entries(parameters or [("learning_rate", None)])
    return _TEXT.format(
        study=inline(study),
        goal=inline(_goal(entries, metric, better)),
        program=inline(program),
        objective=inline({"metric": metric, "better": better}),
        **{section: _section(section, entries) for section in _EXAMPLES},
    )


def _entries(parameters: Sequence[tuple[str, Value]]) -> list[_Entry]:
    found: dict[tuple[bool, str], _Entry] = {}
    for name, default in parameters:
        entries = _rule_for(name)(name, default)
        # One question at a time: of several parameters that could be it, the first is.
        if {"scientific"} & {e.section for e in entries} & {e.section for e in found.values()}:
            entries = _fixed(name, default)
        for entry in entries:
            found.setdefault((entry.section == "knobs", entry.name), entry)
    return list(found.values())


def _rule_for(name: str) -> _Rule:
    try:
        Parameter(name, Role.FIXED, Fixed(None))
    except StudyError:
        return _unusable
    return next((rule for names, rule in _RULES.items() if re.fullmatch(names, name)), _fixed)


def _learning_rate(name: str, default: Value) -> list[_Entry]:
    return [
        _Entry("nuisance", name, _decades(default, 1e-3)),
        _Entry("knobs", "learning_rate", name),
    ]


def _weight_decay(name: str, default: Value) -> list[_Entry]:
    return [_Entry("nuisance", name, _decades(default, 1e-4))]


def _dropout(name: str, default: Value) -> list[_Entry]:
    return [_Entry("nuisance", name, {"linear": [0, 0.5], "limit": "low"}, "never below 0")]


def _momentum(name: str, default: Value) -> list[_Entry]:
    rest = re.sub("momentum$", "one_minus_momentum", name)
    if names_in(f"1 - {rest}") != {rest}:
        return _fixed(name, default)
    why = f"{name} matters on the scale of its distance from 1"
    return [
        _Entry("nuisance", rest, {"log": [0.005, 0.5]}, why),
        _Entry("derive", name, f"1 - {rest}"),
    ]


def _depth(name: str, default: Value) -> list[_Entry]:
    return _compared(name, default, lambda size: size + 1)


def _width(name: str, default: Value) -> list[_Entry]:
    return _compared(name, default, lambda size: 2 * size)


def _compared(name: str, default: Value, larger: Callable[[int], int]) -> list[_Entry]:
    if not isinstance(default, int) or isinstance(default, bool):
        return _fixed(name, default)
    return [_Entry("scientific", name, [default, larger(default)], "is the larger one better?")]


def _optimizer(name: str, default: Value) -> list[_Entry]:
    why = f"to compare, move it to scientific: {name}: [sgd, adam]"
    return [entry._replace(comment=entry.comment or why) for entry in _fixed(name, default)]


def _batch_size(name: str, default: Value) -> list[_Entry]:
    why = "never searched: with another batch size everything else must be tuned again"
    knob = _Entry("knobs", "batch_size", name)
    return [_Entry("fixed", name, 128 if default is None else default, why), knob]


def _warmup(name: str, default: Value) -> list[_Entry]:
    return [_Entry("fixed", name, default or 0), _Entry("knobs", "warmup_steps", name)]


def _fixed(name: str, default: Value) -> list[_Entry]:
    if default is None:
        return [_Entry("fixed", name, None, "no default was found: write its value, or remove it")]
    return [_Entry("fixed", name, default)]


def _unusable(name: str, default: Value) -> list[_Entry]:
    return [_Entry("fixed", shown(name), None, "cannot name a parameter: rename it")]


def _decades(default: Value, guess: float) -> dict[str, Any]:
    """Two orders of magnitude on either side."""
    usable = isinstance(default, int | float) and 1e-300 < default < 1e300
    middle = float(default) if usable and default is not None else guess
    return {"log": [float(f"{middle / 100:.3g}"), float(f"{middle * 100:.3g}")]}


def _goal(entries: Sequence[_Entry], metric: str, better: Better) -> str:
    for entry in entries:
        if entry.section == "scientific":
            before, after = entry.content
            verb = "lower" if better == "lower" else "raise"
            return f"Does {entry.name} = {after} instead of {before} {verb} {metric}?"
    return f"How {'low' if better == 'lower' else 'high'} can tuning alone bring {metric}?"


def _section(section: str, entries: Sequence[_Entry]) -> str:
    lines = [_line(entry) for entry in entries if entry.section == section]
    return "\n  ".join([f"{section}:", *(lines or [f"# {_EXAMPLES[section]}"])])


def _line(entry: _Entry) -> str:
    comment = f"  # {entry.comment}" if entry.comment else ""
    if entry.content is None:
        return f"# {entry.name}: {comment}"
    return f"{inline(entry.name)}: {inline(entry.content)}{comment}"


_RULES: dict[str, _Rule] = {
    rf"(?:.*[._-])?(?:{names})": rule
    for names, rule in {
        "lr|learning_rate": _learning_rate,
        "wd|weight_decay": _weight_decay,
        "dropout(?:_rate|_prob)?": _dropout,
        "momentum": _momentum,
        "depth|(?:n_|num_)?(?:layers|blocks)": _depth,
        "width|hidden(?:_size|_dim)?|(?:n_|num_)?channels": _width,
        "optimi[sz]er": _optimizer,
        "batch_?size": _batch_size,
        "warmup(?:_steps)?": _warmup,
    }.items()
}
_EXAMPLES = {
    "scientific": "blocks: [2, 3]",
    "nuisance": "learning_rate: {log: [1e-5, 0.1]}",
    "fixed": "batch_size: 128",
    "derive": "momentum: 1 - one_minus_momentum",
    "knobs": "learning_rate: learning_rate",
}
_TEXT = """\
# A study asks one question about a training program. Lines that begin with '#' are comments.
study: {study}
# The question, as narrow as you can make it.
goal: {goal}
# The file and the function that trains one model. For any other script, write instead of it, say,
# command: [python, train.py, "{{overrides}}"]
program: {program}
# The metric that decides, as the program logs it, and which way is better: lower or higher.
objective: {objective}
# What one trial may spend: max_steps, max_examples or max_seconds.
max_steps: 1000

# Scientific parameters are the question: each combination of their values is a setting to compare.
{scientific}

# Nuisance parameters are tuned anew for each setting, so that the comparison is fair.
{nuisance}

# Fixed parameters have one value: the answer holds for these values only.
{fixed}

# Derived parameters are computed from the others.
{derive}

# Knobs say which parameter plays which part, so that tunebook can turn it.
{knobs}

# Trials for each setting: more of them search the nuisance parameters better.
trials: 20
"""
