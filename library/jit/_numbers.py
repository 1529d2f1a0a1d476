"""Numbers that a traced program computes of the sizes of tensors.

They are ints and floats like any others, for the program and for operators, and know which node of the graph has them:
a trace computes them anew in each call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._state import recorder, warn_of_value

if TYPE_CHECKING:
    from ..fx.node import Node

__all__ = ["CONVERTED", "SIGNS", "TracedFloat", "TracedInt", "TracedNumber", "plain_number", "traced_number"]

CONVERTED = (
    "Converting a tensor to a Python {} might cause the trace to be incorrect. We can't record the data flow of Python "
    "values, so this value will be treated as a constant in the future. This means that the trace might not generalize "
    "to other inputs!"
)


SIGNS = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.neg,
)
"""The operations on sizes that are recorded; the last one takes one number."""


class TracedNumber:
    """A number and its node."""

    node: Node


def plain_number(value: Any) -> Any:
    """The same number without a node."""
    return int.__pos__(value) if isinstance(value, int) else float.__pos__(value)


def _computing(function: Callable[..., Any], is_reflected: bool = False) -> Callable[..., Any]:
    def compute(self: Any, *others: Any) -> Any:
        if not all(isinstance(each, (int, float)) for each in others):
            return NotImplemented
        operands = (*others, self) if is_reflected else (self, *others)
        result = function(*map(plain_number, operands))
        current = recorder()
        if current is None or type(result) not in (int, float):
            return result
        return traced_number(result, current.node("call_function", function, operands, {}))

    return compute


def _converting(base: Any, name: str, kind: str) -> Callable[..., Any]:
    plain = getattr(base, name)

    def convert(self: Any, *others: Any) -> Any:
        if recorder() is not None:
            warn_of_value(CONVERTED.format(kind))
        return plain(self, *others)

    return convert


def _members(base: type) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for sign in SIGNS[:-1]:
        members[f"__{sign.__name__}__"] = _computing(sign)
        members[f"__r{sign.__name__}__"] = _computing(sign, True)
    members["__neg__"] = _computing(operator.neg)
    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__"):
        members[name] = _converting(base, name, "boolean")
    members["__int__"] = _converting(base, "__int__", "integer")
    members["__float__"] = _converting(base, "__float__", "float")
    return members | {"__hash__": base.__hash__, "__module__": __name__}


TracedInt: Any = type("TracedInt", (TracedNumber, int), _members(int))
TracedFloat: Any = type("TracedFloat", (TracedNumber, float), _members(float))


def traced_number(value: Any, node: Node) -> Any:
    """The number that a node has."""
    made = TracedInt(value) if type(value) is int else TracedFloat(value)
    made.node = node
    return made
