"""Values derived from other parameters: plain arithmetic, and nothing that could do harm.

Expressions are parsed by Python's own parser and walked by hand; nothing is ever passed to `eval`.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from tunebook.core.domains import Value
from tunebook.core.errors import StudyError, did_you_mean

BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "int": int,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
}
_LONGEST = 200
# A whole number raised to a whole number can fill the memory: 9**9**9, or ((9**999)**999)**999.
_MOST_BITS = 1024


def names_in(expression: str) -> frozenset[str]:
    """The parameters an expression reads.

    >>> sorted(names_in("1 - adam.one_minus_beta1 * scale"))
    ['adam.one_minus_beta1', 'scale']
    """
    return frozenset(_names(_parse(expression)))


def evaluate(expression: str, values: Mapping[str, Value]) -> Value:
    """The value of an expression.

    >>> evaluate("1 - one_minus_momentum", {"one_minus_momentum": 0.1})
    0.9
    """
    try:
        result = _evaluate(_parse(expression), values)
        usable = not isinstance(result, complex) and math.isfinite(result)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise StudyError(f"cannot compute {expression!r}: {error}") from None
    if not usable:
        raise StudyError(f"{expression!r} gives {result!r}, which is not a finite number")
    return result


def _parse(expression: str) -> ast.expr:
    if len(expression) > _LONGEST:
        raise StudyError(f"an expression may have {_LONGEST} characters, got {len(expression)}")
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise StudyError(
            f"cannot read the expression {expression!r}; write arithmetic such as '1 - x'"
        ) from None


def _names(node: ast.expr) -> list[str]:
    match node:
        case ast.Name() | ast.Attribute():
            return [_dotted(node)]
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return []
        case ast.UnaryOp(op=op) if type(op) in _UNARY:
            return _names(node.operand)
        case ast.BinOp(op=op) if type(op) in BINARY:
            return _names(node.left) + _names(node.right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return [name for argument in arguments for name in _names(argument)]
    raise _refusal(node)


def _evaluate(node: ast.expr, values: Mapping[str, Value]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name() | ast.Attribute():
            return _look_up(_dotted(node), values)
        case ast.UnaryOp(op=op) if type(op) in _UNARY:
            return _UNARY[type(op)](_evaluate(node.operand, values))
        case ast.BinOp(op=op) if type(op) in BINARY:
            left, right = _evaluate(node.left, values), _evaluate(node.right, values)
            if isinstance(op, ast.Pow) and left and math.log2(abs(left)) * right > _MOST_BITS:
                raise ValueError("the power is too large")
            return BINARY[type(op)](left, right)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_evaluate(argument, values) for argument in arguments))
    raise _refusal(node)


def _look_up(name: str, values: Mapping[str, Value]) -> float:
    if name not in values:
        raise StudyError(
            f"an expression reads the unknown parameter {name!r}{did_you_mean(name, values)}"
        )
    value = values[name]
    if not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}, not a number")
    return value


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_dotted(inner)}.{name}"
    raise _refusal(node)


def _refusal(node: ast.expr) -> StudyError:
    known = ", ".join(sorted(_FUNCTIONS))
    return StudyError(
        f"an expression cannot contain {ast.unparse(node)!r}; "
        f"it may use numbers, parameters, + - * / // % ** and {known}"
    )
