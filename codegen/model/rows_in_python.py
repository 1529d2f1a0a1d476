"""Rows in Python, as operators of tensors: where no kernel computes a call, as of samples that have weights each, and
for derivatives of any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..expr import Apply, Expr, Literal, Name
from .python_operators import PYTHON_OPERATORS

if TYPE_CHECKING:
    from .rows import Rows

_ALONG, _COUNT = "_along", "count"
"""Arguments after the tensors and the numbers: the dimensions of a row, and how many elements it has."""

_SYMBOLS = {"div": "truediv", "bitwise_and": "and", "bitwise_or": "or"}
"""Python's names of operators for functions of the language that are called otherwise."""
_FUNCTIONS = frozenset({
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "digamma", "erf", "erfc", "exp", "exp2",
    "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sigmoid", "sign", "sin",
    "sinh", "sqrt", "square", "tan", "tanh", "where",
})  # fmt: skip
"""Functions of the language that are operators of the same name. Some, as `cbrt`, are none, and what operators
there are is not known where an entry is read, nor in a library outside the tree."""
_REDUCTIONS = {"sum": "sum", "max": "amax", "min": "amin"}


def rows_in_python(body: Rows, arguments: Iterable[str]) -> str | None:
    """Return a function of tensors and numbers that gives a tuple of the results, each of a shape that broadcasts to
    its own; None where an expression has a function that is no operator."""
    try:
        steps = [f"({_local(let.name)} := {_value(let.expression.tree, let.combine)})" for let in body.lets]
        results = [_text(expression.tree) for _, expression in body.outputs]
    except KeyError:
        return None
    parameters = ", ".join(_local(each) for each in (*arguments, _ALONG, _COUNT))
    steps.append(f"({', '.join(results)},)")
    return f"lambda {parameters}: ({', '.join(steps)},)[-1]"


def _local(name: str) -> str:
    """A name of the function's own, which hides no operator."""
    return f"{name}_"


def _value(tree: Expr, combine: str | None) -> str:
    text = _text(tree)
    return text if combine is None else f"{text}.{_REDUCTIONS[combine]}({_local(_ALONG)}, True)"


def _text(tree: Expr) -> str:
    """Raises KeyError of a function that is no operator."""
    match tree:
        case Name(name):
            return _local(name)
        case Literal(value):
            return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)
        case Apply(function, arguments):
            texts = [_text(each) for each in arguments]
            if function in _FUNCTIONS:
                return f"{function}({', '.join(texts)})"
            symbol = PYTHON_OPERATORS[_SYMBOLS.get(function, function)].symbol
            return f"({symbol.join([*[''] * (2 - len(texts)), *texts])})"
    raise AssertionError(tree)
