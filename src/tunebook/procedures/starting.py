"""The configuration that a procedure starts from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tunebook.core.domains import Choice, Float, Int, Value
from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.expressions import evaluate, names_in
from tunebook.core.representation import config_text, listed, number
from tunebook.core.results import Results
from tunebook.core.space import Config, Derived, Fixed, Parameter, Space
from tunebook.core.study import Study


@dataclass(frozen=True, slots=True)
class Start:
    """A configuration to start from, where it comes from, and the result it was selected for."""

    config: dict[str, Value]
    source: str
    selected: float | None = None


def start(study: Study, results: Results | None, given: Config) -> Start:
    """The configuration to start from.

    It is that of the best trial so far; before there is one, the baseline, and the middle of what
    the study searches. `given` values come first, and what is computed from them follows.
    """
    check_given(study, given)
    best = results.best() if results is not None else None
    if best is not None:
        record, measure = best
        known: Config = record.trial.config
        source = (
            f"trial {record.trial.number} of {study.name}, its best so far "
            f"({study.objective.metric.name} {number(measure.value)})"
        )
    else:
        known, source = dict(study.baseline), f"the values of {study.name}"
    config = _settled(study.space, known, given)
    if best is None:
        source += _of_ranges(_searched(study.space, config, {*known, *given}))
    if given:
        source += f", and {config_text(given)} as given"
    # With other values it is another configuration, which nobody has selected.
    selected = best[1].value if best is not None and not given else None
    return Start(config, source, selected)


def check_given(study: Study, given: Config) -> None:
    """Refuse values for what is no parameter, or that it cannot have."""
    for name, value in given.items():
        match study.space[name].source:
            case Float() | Int() as domain:
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise StudyError(f"{name} is a number, {domain}; got {value!r}", name)
            case Choice(values=values) as domain:
                words = [known for known in values if isinstance(known, str)]
                if len(words) == len(values) and value not in words:
                    near = did_you_mean(str(value), words)
                    raise StudyError(f"{name} is {domain}; got {value!r}{near}", name)


def _settled(space: Space, known: Config, given: Config) -> dict[str, Value]:
    """A value for every parameter that exists: given, fixed, known, or the middle of its range."""
    found = {name: value for name, value in known.items() if name not in space}
    for parameter in space.in_order:
        name = parameter.name
        if name in given and not parameter.exists(found):
            needed = " and ".join(map(str, parameter.when))
            raise StudyError(f"{name} exists only when {needed}; set that too", name)
        if parameter.exists(found):
            found |= {name: given[name]} if name in given else _own(parameter, known, found)
    return dict(sorted(found.items()))


def _own(parameter: Parameter, known: Config, found: Config) -> dict[str, Value]:
    """The value of a parameter by its name, or nothing where it cannot be computed."""
    name = parameter.name
    match parameter.source:
        case Fixed(value):
            return {name: value}
        case Derived(expression):
            # Computed from one that does not exist: it does not exist either.
            computed = names_in(expression) <= found.keys()
            return {name: evaluate(expression, found)} if computed else {}
        case domain if name in known:
            return {name: known[name]}
        case Choice(values=values) if parameter.makes_settings:
            return {name: values[0]}
        case domain:
            return {name: domain.from_unit(0.5)}


def _searched(space: Space, config: Config, known: Collection[str]) -> list[str]:
    return [p.name for p in space if p.is_sampled and p.name in config and p.name not in known]


def _of_ranges(names: list[str]) -> str:
    if not names:
        return ""
    if len(names) == 1:
        return f", with {names[0]} in the middle of its range"
    return f", with {listed(names, most=len(names))} in the middle of their ranges"
