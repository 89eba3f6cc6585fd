"""The commands that a probe proposes: itself again from where it started, another, a look."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping

from tunebook.core.domains import Value, same_value
from tunebook.core.results import TrialRecord
from tunebook.core.space import Config, Derived
from tunebook.core.study import Asked
from tunebook.core.trials import OutcomeKind
from tunebook.procedures.options import OPTIONS
from tunebook.procedures.starting import start
from tunebook.procedures.subjects import Subject


def anew(subject: Subject, given: Config | None = None, **options: Value) -> str:
    """The command that begins a probe anew as it was begun, but for some values and options.

    Numbers that are given have four digits: enough to begin at.
    """
    asked = subject.asked
    usual = {option.name: option.default for option in OPTIONS.get(asked.procedure, ())}
    own = {n: v for n, v in asked.options if not same_value(v, usual.get(n))}
    short = {n: f"{v:.4g}" if isinstance(v, float) else v for n, v in (given or {}).items()}
    begun = written(asked, subject.file, {**own, **options}, {**given_of(asked), **short})
    return f"{begun}{subject.where} --again"


def other(subject: Subject, probe: str) -> str:
    """The command that asks another probe about the same study."""
    return f"tunebook probe {probe} {shlex.quote(subject.file)}{subject.where}"


def look(subject: Subject, records: Iterable[TrialRecord]) -> str:
    """The command that shows one of several trials: the first that did not complete, if any."""
    ordered = list(records)
    lost = (r for r in ordered if r.outcome is None or r.outcome.kind is not OutcomeKind.COMPLETE)
    trial = next(lost, ordered[0]).trial
    return f"tunebook show {shlex.quote(trial.study)} {trial.number}{subject.where}"


def written(asked: Asked, file: str, options: Mapping[str, Value], given: Config) -> str:
    """A probe as it is written on a command line."""
    words = ["tunebook", "probe", asked.procedure, file]
    for name, value in options.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words += [f"--{option}"] if value else []
        elif value is not None:
            words += [f"--{option}", str(value)]
    for name, value in given.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def given_of(asked: Asked) -> dict[str, Value]:
    """Where a probe started, less what follows from the study.

    One that started from a selected trial finds it in the book: said as values, it would be a
    configuration that nobody has selected.
    """
    if asked.selected is not None:
        return {}
    given: dict[str, Value] = {}
    started = dict(asked.start)
    # What is computed comes last: it is given only where it does not follow from the others.
    for parameter in sorted(
        asked.about.space.in_order, key=lambda p: isinstance(p.source, Derived)
    ):
        said = start(asked.about, None, given).config
        name = parameter.name
        if name in started and not (name in said and same_value(said[name], started[name])):
            given[name] = started[name]
    return given
