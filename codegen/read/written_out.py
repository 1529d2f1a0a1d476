"""Rows written out in Python, as operators of tensors: derivatives of any order follow from these.

Operators of gradients are printed as kernels up to some order. What comes after it is seldom asked for, and has no
kernel: the last operator is run again so, and differentiated.
"""

from __future__ import annotations

from ..expr import Apply, Expr, Literal, Name
from ..model.operator import Rows
from .internal import listed

_ALONG, _COUNT = "along", "count"
"""Arguments besides the tensors and the numbers: the dimensions of a row, and how many elements it has."""

_OPERATORS = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "neg": "(-{})"}
_FUNCTIONS = frozenset({"exp", "log", "sqrt", "where"})
"""Functions of the language that are operators of the same name."""
_REDUCTIONS = {"sum": "sum", "max": "amax", "min": "amin"}


def written_out(body: Rows, arguments: list[str]) -> str | None:
    """Return a function of tensors and numbers that gives the results, each of a shape that broadcasts to its own; None
    where an expression has a function that tensors have no name for."""
    if not {name for each in body.expressions for name in _functions(each.tree)} <= _OPERATORS.keys() | _FUNCTIONS:
        return None
    steps = [f"{_local(let.name)} := {_value(let.expression.tree, let.combine)}" for let in body.lets]
    results = listed(_text(expression.tree) for _, expression in body.outputs)
    parameters = ", ".join(_local(each) for each in (*arguments, _ALONG, _COUNT))
    return f"lambda {parameters}: ({', '.join(f'({each})' for each in steps)}, {results})[-1]"


def _local(name: str) -> str:
    """A name of the function's own: formulas have other ones for some arguments."""
    return f"{name}_"


def _functions(tree: Expr) -> set[str]:
    if not isinstance(tree, Apply):
        return set()
    return {tree.function}.union(*(_functions(each) for each in tree.args))


def _value(tree: Expr, combine: str | None) -> str:
    text = _text(tree)
    return text if combine is None else f"{text}.{_REDUCTIONS[combine]}({_local(_ALONG)}, True)"


def _text(tree: Expr) -> str:
    match tree:
        case Name(name):
            return _local(name)
        case Literal(value):
            return repr(value)
        case Apply(function, arguments):
            form = _OPERATORS.get(function, f"{function}({', '.join(['{}'] * len(arguments))})")
            return form.format(*(_text(each) for each in arguments))
    raise AssertionError(tree)
