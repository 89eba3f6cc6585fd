"""What a training function reads: the parameters in its source, found without running it."""

from __future__ import annotations

import ast
from pathlib import Path

from tunebook.core.domains import Value
from tunebook.core.errors import ProgramError, did_you_mean


def parameters_of(path: Path, function: str) -> list[tuple[str, Value]]:
    """Names that the function reads as `run["name"]` or `run.params["name"]`, with their defaults.

    A default is known where it is written `run.params.get("name", 0.1)`; elsewhere it is None.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        raise ProgramError(f"cannot read {path}: {error}") from None
    functions = {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if function not in functions:
        near = did_you_mean(function, functions)
        raise ProgramError(f"{path} has no function {function!r}{near}")
    arguments = functions[function].args.args
    if not arguments:
        raise ProgramError(f"{function} must take one argument, the run: def {function}(run)")
    found: dict[str, Value] = {}
    for node in ast.walk(functions[function]):
        name, default = _read(node, arguments[0].arg)
        if name is not None and found.get(name) is None:
            found[name] = default
    return list(found.items())


def _read(node: ast.AST, run: str) -> tuple[str | None, Value]:
    match node:
        case ast.Subscript(value=source, slice=ast.Constant(value=str() as name)):
            return (name, None) if _is_run(source, run) else (None, None)
        case ast.Call(
            func=ast.Attribute(value=source, attr="get"),
            args=[ast.Constant(value=str() as name), ast.Constant(value=default)],
        ) if _is_run(source, run):
            return name, default if isinstance(default, bool | int | float | str) else None
    return None, None


def _is_run(node: ast.expr, run: str) -> bool:
    match node:
        case ast.Name(id=name):
            return name == run
        case ast.Attribute(value=ast.Name(id=name), attr="params"):
            return name == run
    return False
