"""What the arguments of operators written in Python must be: the types of schemas, read as torch's parser reads them.

A body takes for granted that its arguments are of these types. Values that stand for one of them (what has `__index__`
for an int, a tensor of one element for a number) are converted on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .._base import handles
from .._base.generator import Generator
from .._base.handles import OVERFLOW, is_integer
from .arguments import integers, plain, type_name
from .dispatcher import Op

WRONG = object()
"""What a reader returns for a value of another type."""


def check(op: Op, arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments, converted; raises TypeError for the first that is of none of its types."""
    return [
        value if types is None or type(value) in _unchanged(types) else _convert(op, name, position, types, value)
        for (name, position, types), value in zip(op.arguments, arguments, strict=True)
    ]


@cache
def _unchanged(types: str) -> frozenset[type]:
    """The classes whose instances need no look: most arguments of most calls."""
    classes = {"Tensor": {handles.Tensor}, "bool": {bool}, "float": {float}, "Scalar": {bool, int, float}, "str": {str}}
    found: set[type] = {type(None)} if types.endswith("?") else set()
    return frozenset(found.union(*[classes.get(kind, set()) for kind in types.rstrip("?").split("|")]))


def _convert(op: Op, name: str, position: int, types: str, value: Any) -> Any:
    if value is None and types.endswith("?"):
        return None
    kinds = types.rstrip("?").split("|")
    for kind in kinds:
        found = _read(op, name, position, kind, value)
        if found is not WRONG:
            return found
    raise TypeError(_refusal(op, name, position, kinds[0], value))


def _refusal(op: Op, name: str, position: int, kind: str, value: Any) -> str:
    expected = f"{_argument(op, name, position)} must be {_described(kind)}"
    if not kind.endswith("]") or not isinstance(value, (list, tuple)):
        return f"{expected}, not {type_name(value)}"
    element = kind[:-1].rpartition("[")[0]
    place = next(place for place, each in enumerate(value) if _read(op, name, position, element, each) is WRONG)
    if element == "Tensor":
        argument = max(position - 1, 0)
        return f"expected Tensor as element {place} in argument {argument}, but got {type_name(value[place])}"
    return f"{expected}, but found element of type {type_name(value[place])} at pos {place}"


def _argument(op: Op, name: str, position: int) -> str:
    return f"{op.name}(): argument '{name}'" + (f" (position {position})" if position else "")


def _described(kind: str) -> str:
    """A type as messages name it."""
    element, bracket, _ = kind.partition("[")
    word = {"Scalar": "Number"}.get(element, element)
    return f"tuple of {word}s" if bracket else word


# ---- one value ----------------------------------------------------------------------------------------------


def _tensor(value: Any) -> Any:
    return value if isinstance(value, handles.Tensor) else WRONG


def _int(value: Any) -> Any:
    if not is_integer(value):
        return WRONG
    try:
        found = operator.index(value)
    except TypeError:  # arrays and tensors have `__index__`, and most refuse
        return WRONG
    if not -(2**63) <= found < 2**63:
        raise ValueError(OVERFLOW)
    return found


def _number(value: Any) -> Any:
    """A Python number; a tensor of one element stands for its value."""
    if isinstance(value, handles.Tensor):
        return value.item() if value.ndim == 0 else WRONG
    number = plain(value)
    return number if isinstance(number, (bool, int, float, complex)) else WRONG


def _float(value: Any) -> Any:
    found = _number(value)
    return WRONG if found is WRONG or isinstance(found, complex) else float(found)


def _instance(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else WRONG


READERS: Mapping[str, Callable[[Any], Any]] = {
    "Tensor": _tensor,
    "Scalar": _number,
    "int": _int,
    "float": _float,
    "bool": _instance(bool),
    "str": _instance(str),
    "Generator": _instance(Generator),
}


# ---- lists --------------------------------------------------------------------------------------------------


def _read(op: Op, name: str, position: int, kind: str, value: Any) -> Any:
    """The value as one of type `kind`, or WRONG."""
    if not kind.endswith("]"):
        return READERS[kind](value)
    element, _, size = kind[:-1].rpartition("[")
    if not isinstance(value, (list, tuple)):
        return READERS[element](value) if size else WRONG
    if element == "int":
        return integers(op, name, value, position)
    found = [_read(op, name, position, element, each) for each in value]
    return WRONG if any(each is WRONG for each in found) else found
