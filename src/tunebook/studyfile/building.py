"""From a file in shape to the study: core checks every value, and its errors are given a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from tunebook.core.commands import Command
from tunebook.core.domains import Choice, Domain, Float, Int
from tunebook.core.errors import StudyError
from tunebook.core.knobs import Knobs
from tunebook.core.objective import Constraint, Metric, Objective
from tunebook.core.secrets import secrets_in
from tunebook.core.space import Derived, Fixed, Parameter, Role, Space, conditions
from tunebook.core.study import Budget, Divergence, MoreTrials, Resources, Sampling, Study
from tunebook.studyfile import parts
from tunebook.studyfile.contents import whole
from tunebook.studyfile.document import Document
from tunebook.studyfile.problems import Path, Problem, Problems, spelled
from tunebook.studyfile.shape import StudyFile


def build(file: StudyFile, document: Document) -> Study:
    """The study; raises Problems. Keys that the file leaves out get core's own defaults."""
    notes = _Notes(document)
    given = {key: getattr(file, key) for key in file.model_fields_set}
    fields: dict[str, Any] = {key: given[key] for key in _AS_THEY_ARE if key in given}
    for key, make in _SECTIONS.items():
        if key in given:
            with notes.at(key):
                fields[key] = make(given[key])
    fields["budget"] = _budget(given, notes)
    space = _space(file, notes)
    fields["knobs"] = _knobs(file.knobs, space, notes)
    fields["command"] = _command(given, notes)
    _note_two_programs(given, notes)
    with notes.at("study"):
        Study(file.study, Space(), _ANY_OBJECTIVE)
    if fields["command"] is not None and not notes.problems:
        parts_of_it = {"budget": fields["budget"], "baseline": fields.get("baseline", ())}
        _check_command(
            fields["command"], Study(file.study, space, _ANY_OBJECTIVE, **parts_of_it), notes
        )
    if not notes.problems:
        # Alone they are sound: what is left are settings of which more_trials speaks.
        with notes.at("more_trials"):
            study = Study(name=file.study, space=space, **fields)
            for path, text in secrets_in(study):
                notes.add(path, f"{spelled(path)}: {text}")
            if not notes.problems:
                return study
    raise Problems(*notes.problems)


class _Notes:
    """Problems noted on the way, so that a user is told of all of them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def add(self, path: Path, text: str) -> None:
        self.problems.append(Problem(self.document.line(path), text))

    @contextmanager
    def at(self, *path: str) -> Iterator[None]:
        """Note an error of core at a place of the file, and go on."""
        try:
            yield
        except StudyError as error:
            self.add(path, f"{spelled(path)}: {str(error).removeprefix(f'{path[-1]}: ')}")


def _space(file: StudyFile, notes: _Notes) -> Space:
    parameters: list[Parameter] = []
    places: dict[str | None, Path] = {}
    before = len(notes.problems)
    for key, role, source in _ROLES:
        for name, part in getattr(file, key).items():
            places[name] = (key, name)
            with notes.at(key, name):
                parameters.append(_parameter(name, role, source(part), part))
    if len(notes.problems) == before:
        try:
            return Space(tuple(parameters))
        except StudyError as error:
            notes.add(places.get(error.parameter, ()), str(error))
    return Space()


def _parameter(name: str, role: Role, source: Domain | Fixed | Derived, part: Any) -> Parameter:
    when = conditions(getattr(part, "when", {}))
    return Parameter(name, role, source, when, getattr(part, "buckets", None))


def _domain(part: list[Any] | parts.Choices | parts.Range) -> Domain:
    if not isinstance(part, parts.Range):
        return Choice(tuple(part if isinstance(part, list) else part.values))
    bounds = [given for given in (part.linear, part.log) if given is not None]
    if len(bounds) != 1:
        raise StudyError("give either linear: [low, high] or log: [low, high]")
    low, high = bounds[0]
    is_log = part.log is not None
    if part.whole:
        return Int(whole(low), whole(high), is_log, part.limit)
    return Float(low, high, is_log, part.limit)


def _fixed(part: Any) -> Fixed:
    return Fixed(part.value if isinstance(part, parts.Held) else part)


def _derived(part: str | parts.Derivation) -> Derived:
    return Derived(part.value if isinstance(part, parts.Derivation) else part)


def _knobs(part: parts.Knobs, space: Space, notes: _Notes) -> Knobs:
    given = {key: getattr(part, key) for key in part.model_fields_set}
    given = {key: _pairs(v) if isinstance(v, dict) else v for key, v in given.items()}
    if not notes.problems:
        # One by one, so that each wrong knob is told with its own line.
        for key, content in given.items():
            with notes.at("knobs", key):
                Knobs(**{key: content}).check(space)
    return Knobs(**given)


def _command(given: Mapping[str, Any], notes: _Notes) -> Command | None:
    if "command" not in given:
        for key in _OF_COMMANDS:
            if key in given:
                notes.add((key,), f"{key} belongs to a command, and the study has none")
        return None
    overrides = given.get("overrides", parts.Overrides())
    if not isinstance(overrides, parts.Overrides):
        overrides = parts.Overrides(style=overrides)
    metrics = given.get("metrics", parts.Metrics())
    fields: dict[str, Any] = {
        "arguments": tuple(given["command"]),
        "overrides": overrides.style,
        "without": tuple(overrides.without),
        "json_lines": _texts(metrics.json_lines),
        "tensorboard": _texts(metrics.tensorboard),
        "patterns": _texts(metrics.pattern),
        "infeasible_exit_codes": tuple(given.get("infeasible_exit_codes", ())),
    }
    before = len(notes.problems)
    # One by one, so that each mistake is told with its own line.
    for field, content in fields.items():
        with notes.at(*_PLACES[field]):
            replace(_ANY_COMMAND, **{field: content})
    return Command(**fields) if len(notes.problems) == before else None


def _check_command(command: Command, study: Study, notes: _Notes) -> None:
    """Each mistake at the line of the argument or key where it stands."""
    for (field, *index), text in study.command_problems(command):
        place = _PLACES[str(field)]
        path = (*place, *index) if (*place, *index) in notes.document.lines else place
        notes.add(path, f"{spelled(path)}: {text}")


def _note_two_programs(given: Mapping[str, Any], notes: _Notes) -> None:
    keys = [key for key in ("program", "task", "command") if key in given]
    if len(keys) > 1:
        latest = max(keys, key=lambda key: notes.document.line((key,)))
        notes.add((latest,), f"a study has one of program, task and command, got {len(keys)}")


def _budget(given: Mapping[str, Any], notes: _Notes) -> Budget | None:
    keys = [key for key in _BUDGETS if key in given]
    if len(keys) > 1:
        latest = max(keys, key=lambda key: notes.document.line((key,)))
        notes.add((latest,), f"a trial has one budget, got {' and '.join(keys)}; keep one of them")
    for key in keys[:1]:
        with notes.at(key):
            return Budget(whole(given[key]), _BUDGETS[key])
    return None


def _objective(part: parts.Objective) -> Objective:
    constraints = (Constraint(c.metric, c.at_most, c.at_least) for c in part.constraints)
    metric = Metric(part.metric, part.better)
    return Objective(metric, part.reduction, part.over, tuple(constraints))


def _more_trials(content: list[parts.MoreTrials]) -> tuple[MoreTrials, ...]:
    return tuple(MoreTrials(conditions(more.when), more.trials) for more in content)


def _sampling(part: parts.Method | parts.Sampling) -> Sampling:
    if isinstance(part, parts.Sampling):
        return Sampling(part.method, part.points, tuple(map(_pairs, part.configs)))
    return Sampling(part)


def _texts(content: str | list[str]) -> tuple[str, ...]:
    return (content,) if isinstance(content, str) else tuple(content)


def _pairs(content: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(content.items())


_AS_THEY_ARE = ("goal", "note", "parent", "program", "task", "trials", "seed")
_OF_COMMANDS = ("overrides", "metrics", "infeasible_exit_codes")
# Where the fields of a command stand in the file.
_PLACES: dict[str, tuple[str, ...]] = {
    "arguments": ("command",),
    "overrides": ("overrides",),
    "without": ("overrides", "without"),
    "json_lines": ("metrics", "json_lines"),
    "tensorboard": ("metrics", "tensorboard"),
    "patterns": ("metrics", "pattern"),
    "infeasible_exit_codes": ("infeasible_exit_codes",),
}
_ANY_COMMAND = Command(("any",))
_ANY_OBJECTIVE = Objective(Metric("any"))
_BUDGETS: dict[str, Literal["steps", "examples", "seconds"]] = {
    "max_steps": "steps",
    "max_examples": "examples",
    "max_seconds": "seconds",
}
_ROLES: tuple[tuple[str, Role, Callable[[Any], Domain | Fixed | Derived]], ...] = (
    ("scientific", Role.SCIENTIFIC, _domain),
    ("nuisance", Role.NUISANCE, _domain),
    ("fixed", Role.FIXED, _fixed),
    ("derive", Role.FIXED, _derived),
)
_SECTIONS: dict[str, Callable[[Any], Any]] = {
    "objective": _objective,
    "more_trials": _more_trials,
    "resources": lambda part: Resources(part.cpus, part.gpus, part.memory),
    "divergence": lambda part: Divergence(tuple(part.metrics), part.above),
    "sampling": _sampling,
    "baseline": _pairs,
}
