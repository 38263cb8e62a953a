"""`calculate`: arithmetic on numbers as written, by a walk over the syntax tree.

Allowed are + - * / // % **, a sign, parentheses, and int and float literals; everything else that
Python's grammar knows is refused by not being named here. Sizes are checked before each
operation, so that no expression can hold the process up.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inglenook.errors import ToolError
from inglenook.messages import ToolOutput
from inglenook.run_context import RunContext
from inglenook.tools.base import ToolSpec

MAX_CHARS = 500
MAX_DEPTH = 260
"""More than the longest sum of single digits that `MAX_CHARS` allows."""
MAX_DIGITS = 1000
"""Of a whole number, in between as in the result."""
_MAX_BITS = int(MAX_DIGITS * math.log2(10))
_ALLOWED = "numbers with + - * / // % ** and parentheses"

Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
    ast.Pow: lambda left, right: left**right,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


class CalculatorArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    expression: str = Field(description="For example (17 * 23 - 4) / 2 ** 3")


class CalculatorTool:
    spec = ToolSpec(
        name="calculate",
        description=f"Calculate an arithmetic expression: {_ALLOWED}.",
        arguments=CalculatorArguments,
        effect="read",
        may_be_long=False,
    )

    async def run(self, arguments: Any, run: RunContext) -> ToolOutput:
        return ToolOutput(text=calculate(arguments.expression))


def calculate(expression: str) -> str:
    """The value in plain digits: `391`, `2.5`, `1e+22`.

    Raises:
        ToolError: Not such an expression, no real number, or over a limit; says which.
    """
    if len(expression) > MAX_CHARS:
        raise ToolError(
            f"the expression has {len(expression)} characters; the limit is {MAX_CHARS}. "
            "Calculate it in parts."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's remarks on odd literals, `1if 2`
            tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolError(
            f"{_shown(expression)} is no arithmetic expression; allowed are {_ALLOWED}."
        ) from None
    try:
        return _formatted(_value(tree.body, MAX_DEPTH))
    except ZeroDivisionError:
        raise ToolError(f"{_shown(expression)} divides by zero.") from None
    except OverflowError:
        raise _too_large() from None


def _value(node: ast.expr, depth_left: int) -> Number:
    if depth_left == 0:
        raise ToolError(
            f"the expression is nested deeper than {MAX_DEPTH} levels. Calculate it in parts."
        )
    match node:
        # bool is an int, so isinstance would not do
        case ast.Constant(value=(int() | float()) as value) if type(value) is not bool:
            return _within_limits(value)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, depth_left - 1))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _apply(op, _value(left, depth_left - 1), _value(right, depth_left - 1))
        case ast.BinOp(op=ast.BitXor()):
            raise ToolError("^ is not allowed here; write a power as **.")
        case _:
            raise ToolError(f"{_shown(ast.unparse(node))} is not allowed; only {_ALLOWED}.")


def _apply(op: ast.operator, left: Number, right: Number) -> Number:
    if isinstance(op, ast.Pow):
        _check_power(left, right)
    result = _BINARY[type(op)](left, right)
    if isinstance(result, complex):
        raise ToolError(f"{left!r} ** {right!r} is no real number.")
    return _within_limits(result)


def _check_power(base: Number, exponent: Number) -> None:
    """Before the power is computed: an int result grows without end, a float overflows at once."""
    if not (isinstance(base, int) and isinstance(exponent, int)) or exponent < 0:
        return
    # |base| >= 2 ** (bits - 1), so this is a lower bound of the result's size
    if (abs(base).bit_length() - 1) * exponent > _MAX_BITS:
        raise _too_large()


def _within_limits(value: Number) -> Number:
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise _too_large()
    elif not math.isfinite(value):
        raise _too_large()
    return value


def _formatted(value: Number) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    # 15 digits are exact in a float; the 17 of repr show how it rounds
    return str(value) if isinstance(value, int) else format(value, ".15g")


def _too_large() -> ToolError:
    return ToolError(
        f"the number gets too large: whole numbers may have {MAX_DIGITS} digits, others reach "
        "1.8e308."
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
