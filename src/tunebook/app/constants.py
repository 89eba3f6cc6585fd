"""Values that a source spells out as arithmetic, such as `2**5` or `4 * 64`; nothing is run."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from tunebook.core.domains import Value
from tunebook.core.expressions import BINARY

_MOST = 2**63
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    **BINARY,
    ast.LShift: operator.lshift,
}


def constant(node: ast.expr | None) -> Value:
    """A literal, or arithmetic of literal numbers; None where it is neither.

    >>> [constant(ast.parse(text, mode="eval").body) for text in ("2**5", "-0.5", "'a'", "f(3)")]
    [32, -0.5, 'a', None]
    """
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value if not isinstance(value, float) or math.isfinite(value) else None
    return _number(node)


def constant_in(text: str) -> Value:
    """The constant that a text spells out.

    >>> constant_in("(4*64)"), constant_in("16GB")
    (256, None)
    """
    try:
        return constant(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _number(node: ast.expr | None) -> int | float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _within(value)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            number = _number(operand)
            return -number if number is not None and isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=sign, right=right):
            return _apply(_BINARY.get(type(sign)), _number(left), _number(right))
    return None


def _apply(
    function: Callable[[Any, Any], Any] | None, left: float | None, right: float | None
) -> int | float | None:
    if function is None or left is None or right is None:
        return None
    # A number that large would take all the memory before it could be refused.
    if function in (operator.pow, operator.lshift) and abs(right) > 64:
        return None
    try:
        return _within(function(left, right))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _within(value: Any) -> int | float | None:
    """Neither complex, nor infinite, nor beyond what a file of a study holds."""
    if isinstance(value, int):
        return value if abs(value) < _MOST else None
    return value if isinstance(value, float) and math.isfinite(value) else None
