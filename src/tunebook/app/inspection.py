"""What a training function reads and logs, found in its source without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tunebook.app.constants import constant
from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError, did_you_mean
from tunebook.core.objective import Metric

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_VALIDATION = re.compile(r"(?:^|[/_.\-])(?:valid|validation|val|eval|dev|test)(?:[/_.\-]|$)")
_HIGHER = re.compile(
    r"(?:^|[/_.\-])(?:acc|accuracy|score|f1|auc|auroc|bleu|rouge|iou|map|recall|precision|r2|psnr"
    r"|reward|return)(?:[/_.\-]|$)"
)
_ERROR = re.compile(r"(?:^|[/_.\-])(?:err|error|wer|cer|mae|mse|rmse)(?:[/_.\-]|$)")
_LOSS = re.compile(r"loss|nll|perplexity")


@dataclass(frozen=True, slots=True)
class Program:
    """The parameters that a training function reads, with their defaults, and what it logs.

    A default is known where it is written `run.params.get("name", 0.1)`; elsewhere it is None.
    `arguments` are those of the signature that no run fills in, with their defaults.
    """

    parameters: tuple[tuple[str, Value], ...]
    metrics: tuple[str, ...]
    arguments: tuple[tuple[str, Value], ...] = ()


def inspect_program(path: Path, function: str) -> Program:
    """What the source of a training function tells of it."""
    functions = _functions(path)
    if function not in functions:
        near = did_you_mean(function, functions)
        raise ProgramError(f"{path} has no function {function!r}{near}")
    arguments = _arguments(functions[function])
    if not arguments:
        raise ProgramError(f"{function} must take one argument, the run: def {function}(run)")
    others = _other_arguments(functions[function])
    if lacking := [name for name, default in others.items() if default is None]:
        raise ProgramError(
            f"{function} is called with the run alone, but also takes {', '.join(lacking)}; "
            f"read run[{lacking[0]!r}] in it instead: def {function}(run)"
        )
    parameters: dict[str, Value] = {}
    metrics: dict[str, None] = {}
    for one, run in _given_the_run(functions[function], arguments[0], functions):
        known = {run, *_other_names(one, run)}
        for name, default in (found for node in ast.walk(one) for found in _read(node, known)):
            if parameters.get(name) is None:
                parameters[name] = default
        metrics |= dict.fromkeys(_logged(one, run, functions))
    metrics |= dict.fromkeys(_returned(functions[function]))
    fixed = tuple((name, constant(default)) for name, default in others.items())
    return Program(tuple(parameters.items()), tuple(metrics), fixed)


def can_train(path: Path, function: str, *, sure: bool = False) -> bool:
    """Whether a file has a function that takes a run and nothing else, and uses it as one.

    With `sure`, the file can be nothing but the home of such a function, and its use is not asked.
    """
    found = _functions(path).get(function)
    if found is None:
        return False
    if not _arguments(found) or None in _other_arguments(found).values():
        return False
    program = inspect_program(path, function)
    return sure or bool(program.parameters or program.metrics)


def choose_metric(names: Sequence[str]) -> Metric | None:
    """The metric that most likely decides: a validation metric, and rather an error than a loss.

    >>> choose_metric(["train/loss", "valid/loss", "valid/accuracy"])
    Metric(name='valid/accuracy', better='higher')
    """
    if not names:
        return None
    lower = {name: name.lower() for name in names}
    best = min(names, key=lambda name: (not _VALIDATION.search(lower[name]), _rank(lower[name])))
    return Metric(best, "higher" if _HIGHER.search(lower[best]) else "lower")


def _rank(name: str) -> int:
    """Errors and scores first, then losses, then what may be anything."""
    if _HIGHER.search(name) or _ERROR.search(name):
        return 0
    return 1 if _LOSS.search(name) else 2


def _functions(path: Path) -> dict[str, Function]:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise ProgramError(f"cannot read {path}: {error.msg} in line {error.lineno}") from None
    except (OSError, ValueError) as error:
        raise ProgramError(f"cannot read {path}: {error}") from None
    nested = {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}
    # A method may have the name of a function of the file.
    return nested | {node.name: node for node in tree.body if isinstance(node, Function)}


def _arguments(function: Function) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def _other_arguments(function: Function) -> dict[str, ast.expr | None]:
    """The arguments behind the first, each with its default, or None where it has none."""
    names, defaults = _arguments(function), function.args.defaults
    given = [*([None] * (len(names) - len(defaults))), *defaults]
    only = (argument.arg for argument in function.args.kwonlyargs)
    return dict(zip(names[1:], given[1:], strict=True)) | dict(
        zip(only, function.args.kw_defaults, strict=True)
    )


def _given_the_run(
    function: Function, run: str, functions: dict[str, Function]
) -> list[tuple[Function, str]]:
    """A function and those that it hands the run to, and they in turn; each with its name there."""
    found = [(function, run)]
    for one, name in found:
        known = {name, *_other_names(one, name)}
        for call in (node for node in ast.walk(one) if isinstance(node, ast.Call)):
            match call.func:
                case ast.Name(id=called) | ast.Attribute(attr=called) if called in functions:
                    helper = functions[called]
                    argument = _receives(helper, call, known)
                    if argument is not None and (helper, argument) not in found:
                        found.append((helper, argument))
    return found


def _receives(helper: Function, call: ast.Call, run: Collection[str]) -> str | None:
    """The argument of a helper that a call fills with the run."""
    names = _arguments(helper)
    bound = isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"])
    pairs = [*zip(names[1:] if bound else names, call.args, strict=False)]
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    return next((name for name, value in pairs if _is_run(value, run)), None)


def _other_names(function: Function, run: str) -> Iterator[str]:
    """What a function calls the parameters, as in `params = run.params`."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                if _is_run(value, {run}):
                    yield name


def _read(node: ast.AST, run: Collection[str]) -> Iterator[tuple[str, Value]]:
    """`run["name"]`, `run.params["name"]` and `run.params.get("name", default)`."""
    match node:
        case ast.Subscript(value=source, slice=ast.Constant(value=str(name))):
            if _is_run(source, run):
                yield name, None
        case ast.Call(
            func=ast.Attribute(value=source, attr="get"),
            args=[ast.Constant(value=str(name)), *defaults],
        ) if _is_run(source, run):
            yield name, constant(defaults[0]) if defaults else None


def _is_run(node: ast.expr, run: Collection[str]) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="params" | "config"):
            return name in run
    return False


def _logged(function: Function, run: str, functions: dict[str, Function]) -> Iterator[str]:
    """The names in `run.log({...})`; a helper's result counts where the helper returns a dict."""
    for node in ast.walk(function):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="log"), args=[metrics, *_]
            ) if name == run:
                yield from _keys(metrics, functions)


def _returned(function: Function, functions: dict[str, Function] | None = None) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from _keys(node.value, functions or {})


def _keys(node: ast.expr, functions: dict[str, Function]) -> Iterator[str]:
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if key is None:  # **helper(...)
                    yield from _keys(value, functions)
                elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value
        case ast.Call(func=ast.Name(id=name)) if name in functions:
            yield from _returned(functions[name])
