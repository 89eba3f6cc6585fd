"""A command: a training script in any language, and how it is told its parameters and heard."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tunebook.core.errors import StudyError, did_you_mean
from tunebook.core.expressions import names_in
from tunebook.core.space import Derived, Space

OverrideStyle: TypeAlias = Literal["dashes", "equals", "hydra", "json", "environment"]

# Where in a command something stands: a field, and perhaps an index.
Place: TypeAlias = tuple[str | int, ...]

OVERRIDES = "overrides"
STDOUT = "stdout"
# What every trial has; a parameter of the same name comes first.
PLACES = ("seed", "run_dir", "checkpoint_dir", "port")
BUDGETS = ("max_steps", "max_examples", "max_seconds")
# Variables that mean something to the system or to tunebook, or are a slot's to set.
RESERVED_VARIABLES = frozenset(
    (
        *("PATH", "HOME", "USER", "SHELL", "PWD", "LANG", "TERM", "TMPDIR", "IFS", "ENV"),
        *("BASH_ENV", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"),
        *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
        *("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"),
        *("TUNEBOOK_DIR", "TUNEBOOK_ATTEMPTS", "TUNEBOOK_ATTEMPT", "TUNEBOOK_METRICS"),
        "TUNEBOOK_PARAMS",
    )
)
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A name in braces, to be replaced by its value."""

    name: str


@dataclass(frozen=True, slots=True)
class Command:
    """An argument list with placeholders; no shell ever reads it.

    `overrides` is the style in which the parameters that no argument names are passed, but for
    those in `without`. Metrics come from `tunebook.log`, and from files of `json_lines` (or
    standard output), folders of TensorBoard's event files, and `patterns` over the output.
    """

    arguments: tuple[str, ...]
    overrides: OverrideStyle = "dashes"
    without: tuple[str, ...] = ()
    json_lines: tuple[str, ...] = ()
    tensorboard: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    infeasible_exit_codes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.arguments, str) or not self.arguments or not self.arguments[0]:
            raise StudyError(
                f"a command is a list of arguments, such as [python, train.py], "
                f"got {self.arguments!r}"
            )
        for argument in (*self.arguments, *self.json_lines, *self.tensorboard):
            if "\0" in argument:
                raise StudyError(f"an argument cannot hold the character NUL, got {argument!r}")
            tuple(parts(argument))
        known = get_args(OverrideStyle)
        if self.overrides not in known:
            raise StudyError(
                f"overrides must be {', '.join(known[:-1])} or {known[-1]}, "
                f"got {self.overrides!r}{did_you_mean(str(self.overrides), known)}"
            )
        for pattern in self.patterns:
            _check_pattern(pattern)
        for code in self.infeasible_exit_codes:
            if not 1 <= code <= 255:
                raise StudyError(f"an exit code that means infeasible is 1 to 255, got {code}")

    def __str__(self) -> str:
        return shlex.join(self.arguments)

    @property
    def named(self) -> frozenset[str]:
        """What the arguments name in braces."""
        return frozenset(name for argument in self.arguments for name in names(argument))

    @property
    def reads_output(self) -> bool:
        return bool(self.patterns) or STDOUT in self.json_lines

    def passed(self, parameters: Collection[str]) -> list[str]:
        """The parameters that `{overrides}` stands for."""
        left_out = {*self.named, *self.without}
        return [name for name in parameters if name not in left_out]

    def problems(
        self, space: Space, inherited: Sequence[str] = (), budget: str | None = None
    ) -> Iterator[tuple[Place, str]]:
        """What is wrong with it in a study, each with its place."""
        known = (*space.names, *inherited)
        usable = (*known, *PLACES, *([budget] if budget else []))
        arguments = (*usable, OVERRIDES)
        for index, argument in enumerate(self.arguments):
            yield from _at(("arguments", index), _argument_problems(argument, arguments, space))
        for field in ("json_lines", "tensorboard"):
            for index, path in enumerate(getattr(self, field)):
                yield from _at((field, index), _path_problems(path, field, usable))
        for name in self.without:
            if name not in known:
                near = did_you_mean(name, known)
                yield ("without",), f"{name!r} is no parameter{near}"
        yield from _at(("overrides",), self._override_problems(known))
        yield from _at(("arguments",), self._unused(space))

    def _override_problems(self, known: Sequence[str]) -> Iterator[str]:
        if self.overrides != "environment":
            return
        if OVERRIDES in self.named and OVERRIDES not in known:
            yield "the environment passes the parameters; remove {overrides} from the command"
        variables: dict[str, str] = {}
        for name in self.passed(known):
            variable = variable_of(name)
            if variable in RESERVED_VARIABLES:
                yield f"the parameter {name!r} would replace the variable {variable}; rename it"
            other = variables.setdefault(variable, name)
            if other != name:
                yield f"{other!r} and {name!r} would both be the variable {variable}; rename one"

    def _unused(self, space: Space) -> Iterator[str]:
        """A parameter that is searched but never reaches the program would be tuned for nothing."""
        if self.overrides in ("json", "environment") or OVERRIDES in self.named:
            return
        derived = [p.source for p in space if isinstance(p.source, Derived)]
        needed = (name for source in derived for name in names_in(source.expression))
        reached = {*self.named, *self.without, *needed}
        for parameter in space:
            searched = parameter.makes_settings or parameter.is_sampled
            if searched and parameter.name not in reached:
                name = parameter.name
                yield (
                    f"no argument passes {name!r} to the program; add '{{{name}}}' or "
                    "'{overrides}', or say 'overrides: json' if it reads its parameters itself"
                )


def parts(text: str) -> Iterator[str | Placeholder]:
    """The literal texts and the placeholders of an argument.

    >>> list(parts("--lr={learning_rate}")), list(parts("{{x}}"))
    (['--lr=', Placeholder(name='learning_rate')], ['{', 'x', '}'])
    """
    position = 0
    for found in _PART.finditer(text):
        if found.start() > position:
            yield text[position : found.start()]
        position = found.end()
        if found[0] in ("{{", "}}"):
            yield found[0][0]
        elif found[1] is not None:
            yield Placeholder(found[1])
        else:
            raise StudyError(f"{text!r} has a {found[0]!r} alone; write {found[0] * 2!r} for one")
    if position < len(text):
        yield text[position:]


def names(text: str) -> Iterator[str]:
    """The names of the placeholders of an argument."""
    return (part.name for part in parts(text) if isinstance(part, Placeholder))


def variable_of(parameter: str) -> str:
    """The environment variable that a parameter becomes.

    >>> variable_of("adam.learning-rate")
    'ADAM_LEARNING_RATE'
    """
    return re.sub(r"[.\-]", "_", parameter).upper()


def _at(place: Place, texts: Iterator[str]) -> Iterator[tuple[Place, str]]:
    return ((place, text) for text in texts)


def _argument_problems(argument: str, usable: Sequence[str], space: Space) -> Iterator[str]:
    yield from _placeholder_problems(argument, usable)
    found = tuple(parts(argument))
    alone = len(found) == 1
    for name in names(argument):
        if alone and name in space and _may_be_absent(name, space):
            yield (
                f"{name!r} does not exist in every trial, and its option would be left without a "
                f"value; write both in one argument, '--{name}={{{name}}}', or use '{{overrides}}'"
            )
        if not alone and name == OVERRIDES and name not in space:
            yield f"{argument!r}: {{overrides}} becomes several arguments and must stand alone"


def _may_be_absent(name: str, space: Space) -> bool:
    parameter = space[name]
    source = parameter.source
    needed = names_in(source.expression) if isinstance(source, Derived) else ()
    return bool(parameter.when) or any(_may_be_absent(other, space) for other in needed)


def _path_problems(path: str, field: str, usable: Sequence[str]) -> Iterator[str]:
    if field == "json_lines" and path == STDOUT:
        return
    problems = list(_placeholder_problems(path, usable))
    yield from problems
    if not problems and not {"run_dir", "checkpoint_dir"} & set(names(path)):
        yield (
            f"{path!r} would be the same for every trial; let the program write below its own "
            "folder, such as '{run_dir}/metrics.jsonl'"
        )


def _placeholder_problems(text: str, usable: Sequence[str]) -> Iterator[str]:
    for name in names(text):
        if name in usable:
            continue
        if name in BUDGETS:
            hint = f"; the study gives no {name}"
        else:
            hint = did_you_mean(name, usable) or "; write {{ and }} for braces"
        yield f"{text!r} has an unknown placeholder {{{name}}}{hint}"


def _check_pattern(pattern: str) -> None:
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        raise StudyError(f"the pattern {pattern!r} is no regular expression: {error}") from None
    if not set(groups) - {"step", "name", "value"} and not {"name", "value"} <= set(groups):
        raise StudyError(
            f"the pattern {pattern!r} names no metric; name its groups after metrics, as in "
            r"'step (?P<step>\d+) loss (?P<loss>\S+)', or (?P<name>...) and (?P<value>...)"
        )
