"""From a study to the text of its file, as a person would write it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Float, Int, Value
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Objective
from tunebook.core.space import Derived, Fixed, Parameter, Role, When
from tunebook.core.study import Divergence, Resources, Sampling, Study
from tunebook.studyfile.contents import memory_text, whole
from tunebook.studyfile.layout import dump
from tunebook.studyfile.parsing import parse


def write(study: Study) -> str:
    """The text of a study file; what has its default value is left out.

    The text is read again before it is returned: it means this study, or this raises. That a study
    is a stage of a procedure is not written: from a file it is a study of its own.
    """
    text = dump(_content(study))
    try:
        same = parse(text) == replace(study, file="", asked=None)
    except StudyError as error:
        raise StudyError(f"no file can hold the study {study.name}: {error}") from None
    if not same:
        raise StudyError(f"no file can hold the study {study.name}: it would read differently")
    return text


def _content(study: Study) -> dict[str, Any]:
    budget = study.budget
    content = {
        "study": study.name,
        "goal": study.goal or None,
        "note": study.note or None,
        "parent": study.parent,
        "program": study.program,
        "task": study.task,
        **(_command(study.command) if study.command else {}),
        "objective": _objective(study.objective),
        **({f"max_{budget.unit}": whole(budget.amount)} if budget else {}),
        "scientific": _sources(study.space.by_role(Role.SCIENTIFIC)),
        "nuisance": _sources(study.space.by_role(Role.NUISANCE)),
        "fixed": _sources(p for p in study.space if isinstance(p.source, Fixed)),
        "derive": _sources(p for p in study.space if isinstance(p.source, Derived)),
        "knobs": _knobs(study.knobs),
        "trials": study.trials,
        "more_trials": [{"when": _when(m.when), "trials": m.trials} for m in study.more_trials],
        "resources": _resources(study.resources),
        "divergence": _changed(study.divergence, Divergence()),
        "sampling": _sampling(study.sampling),
        "seed": study.seed or None,
        "baseline": _mapping(study.baseline),
    }
    return {key: part for key, part in content.items() if part is not None and part not in ({}, [])}


def _command(command: Command) -> dict[str, Any]:
    """The keys of a file that say what a command is."""
    overrides: Any = command.overrides
    if command.without:
        overrides = {"style": command.overrides, "without": list(command.without)}
    metrics = {
        "json_lines": command.json_lines,
        "tensorboard": command.tensorboard,
        "pattern": command.patterns,
    }
    return {
        "command": list(command.arguments),
        "overrides": None if overrides == "dashes" else overrides,
        "metrics": {
            key: texts[0] if len(texts) == 1 else list(texts)
            for key, texts in metrics.items()
            if texts
        },
        "infeasible_exit_codes": list(command.infeasible_exit_codes),
    }


def _objective(objective: Objective) -> dict[str, Any]:
    content: dict[str, Any] = {"metric": objective.metric.name, "better": objective.metric.better}
    content |= _changed(objective, Objective(objective.metric))
    if objective.constraints:
        content["constraints"] = [
            {"metric": c.metric}
            | ({"at_least": c.at_least} if c.at_most is None else {"at_most": c.at_most})
            for c in objective.constraints
        ]
    return content


def _sources(parameters: Iterable[Parameter]) -> dict[str, Any]:
    return {parameter.name: source(parameter) for parameter in parameters}


def source(parameter: Parameter) -> Any:
    """A plain value, text or list where that says everything; otherwise a mapping."""
    extra: dict[str, Any] = {} if parameter.buckets is None else {"buckets": parameter.buckets}
    if parameter.when:
        extra["when"] = _when(parameter.when)
    match parameter.source:
        case Float() | Int() as source:
            return _range(source) | extra
        case Choice(values):
            return {"values": list(values), **extra} if extra else list(values)
        case Fixed(value) | Derived(value):
            return {"value": value, **extra} if extra else value


def _range(source: Float | Int) -> dict[str, Any]:
    bounds = [_short(source.low), _short(source.high)]
    content: dict[str, Any] = {"log" if source.log else "linear": bounds}
    if isinstance(source, Int):
        content["whole"] = True
    if source.limit:
        content["limit"] = source.limit
    return content


def _short(bound: float) -> float:
    return int(bound) if abs(bound) < 1e6 and bound == int(bound) else bound


def _when(conditions: Iterable[When]) -> dict[str, Any]:
    return _mapping(
        (c.parameter, c.values[0] if len(c.values) == 1 else list(c.values)) for c in conditions
    )


def _knobs(knobs: Knobs) -> dict[str, Any]:
    content = _changed(knobs, Knobs())
    for off in ("no_regularisation", "no_augmentation"):
        if off in content:
            content[off] = _mapping(content[off])
    return content


def _resources(resources: Resources) -> dict[str, Any]:
    content = _changed(resources, Resources())
    if resources.memory is not None:
        content["memory"] = memory_text(resources.memory)
    return content


def _sampling(sampling: Sampling) -> Any:
    content = {"method": sampling.method, **_changed(sampling, Sampling())}
    if sampling.configs:
        content["configs"] = [_mapping(config) for config in sampling.configs]
    if set(content) == {"method"}:
        return None if sampling == Sampling() else sampling.method
    return content


def _changed(value: Any, default: Any) -> dict[str, Any]:
    """The fields in which a value differs from the default."""
    pairs = {f.name: (getattr(value, f.name), getattr(default, f.name)) for f in fields(value)}
    return {name: now for name, (now, before) in pairs.items() if now != before}


def _mapping(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Value] = {}
    for name, value in pairs:
        if name in content:
            raise StudyError(f"no file can hold {name} twice in one mapping; say it once")
        content[name] = value
    return content
