"""Arguments in schema order, checked against the types of the schema and converted: what has `__index__` for an int, a
number of NumPy for one of Python, a tensor without dimensions for its value. Messages are those of torch."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .._base.dtypes import dtype as dtype_class
from .._base.generator import Generator
from .._base.handles import OVERFLOW, is_integer
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import memory_format
from .op import Op

WRONG = object()
"""The result of a reader for a value of another type."""

_UNCHECKED = frozenset({"any", "placement"})
"""The types that the body checks itself, or `check_placement`."""


def check(op: Op, arguments: Sequence[Any]) -> list[Any]:
    """The arguments, converted. Raises TypeError for the first that is of none of its types."""
    return [
        value if type(value) in _unchanged(types) else _convert(op, name, position, types, value)
        for (name, position, types), value in zip(op.params, arguments, strict=True)
    ]


@cache
def _unchanged(types: str) -> frozenset[type]:
    """The classes whose instances need no look: most arguments of most calls."""
    classes = {"Tensor": {Tensor}, "bool": {bool}, "float": {float}, "Scalar": {bool, float}, "str": {str}}
    found: set[type] = {type(None)} if types.endswith("?") else set()
    return frozenset(found.union(*[classes.get(kind, set()) for kind in types.rstrip("?").split("|")]))


def _convert(op: Op, name: str, position: int, types: str, value: Any) -> Any:
    if types in _UNCHECKED or (value is None and types.endswith("?")):
        return value
    if types == "dtype?":
        return dtype_class.resolve(value, op.called)
    kinds = types.rstrip("?").split("|")
    if value is None and kinds[0].endswith("]") and op.defaults[op.names.index(name)] == ():
        return ()  # None stands for a list that is empty by default
    if name == op.separate and _int(value) is not WRONG:
        value = (value,)  # a list of integers given one by one, of which there is one
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
    called = f"{op.called}(): argument '{name.rstrip('_')}'"
    return called + (f" (position {position})" if position else "")


_WORDS = {"Scalar": "Number", "Generator": "opweave.Generator", "MemoryFormat": "opweave.memory_format"}


def _described(kind: str) -> str:
    """A type as messages name it."""
    element, bracket, _ = kind.partition("[")
    word = _WORDS.get(element, element)
    return f"tuple of {word}s" if bracket else word


# ---- one value ----------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A number of NumPy as the Python value that it stands for; anything else as it is."""
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != () or value.dtype.kind not in "biufc":
        return value
    if value.dtype.char in "gG":  # long doubles, which Python does not have
        value = value.astype(value.dtype.char.replace("g", "d").replace("G", "D"))
    return value.item()


def is_operand(value: Any) -> bool:
    """A tensor, or a number of Python or NumPy."""
    return isinstance(value, Tensor) or isinstance(plain(value), (bool, int, float, complex))


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else WRONG


def _int(value: Any) -> Any:
    if not is_integer(value):
        return WRONG
    try:
        found = int.__index__(operator.index(value))
    except TypeError:  # arrays and tensors have `__index__`, and most refuse
        return WRONG
    if not -(2**63) <= found < 2**63:
        raise ValueError(OVERFLOW)
    return found


def _number(value: Any) -> Any:
    """A number that tensors can hold. Raises OverflowError for an int of more than 64 bits."""
    found = _any_number(value)
    if type(found) is int and not -(2**63) <= found < 2**64:
        raise OverflowError("int too big to convert")
    return found


def _any_number(value: Any) -> Any:
    """A Python number, of the class itself; a tensor of one element stands for its value."""
    if isinstance(value, Tensor):
        return value.item() if value.numel() == 1 else WRONG
    number = plain(value)
    kinds: tuple[type[Any], ...] = (bool, int, float, complex)
    for kind in kinds:
        if isinstance(number, kind):
            return number if type(number) is kind else kind(number)
    return WRONG


def _float(value: Any) -> Any:
    found = _any_number(value)
    if found is WRONG and hasattr(value, "__float__") and not isinstance(value, Tensor):
        try:
            found = float(value)
        except TypeError:  # arrays have `__float__`, and most refuse
            return WRONG
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
    "ScalarType": _instance(dtype_class),
    "MemoryFormat": _instance(memory_format),
}


# ---- lists --------------------------------------------------------------------------------------------------


def _read(op: Op, name: str, position: int, kind: str, value: Any) -> Any:
    """The value as one of type `kind`, or WRONG."""
    if not kind.endswith("]"):
        # The core holds numbers of 64 bits; those of a composite are Python's, whatever its body does with them.
        return _any_number(value) if kind == "Scalar" and op.is_composite else READERS[kind](value)
    element, _, size = kind[:-1].rpartition("[")
    if not isinstance(value, (list, tuple)):
        return READERS[element](value) if size else WRONG
    if element == "int":
        return integers(op.called, name, value, position)
    kind, gaps = element.removesuffix("?"), element.endswith("?")
    found = [None if gaps and each is None else _read(op, name, position, kind, each) for each in value]
    return WRONG if any(each is WRONG for each in found) else found


def integers(function: str, name: str, values: Sequence[Any], position: int = 1) -> list[int]:
    """The elements of a list as integers of 64 bits."""
    argument = f"{function}(): argument '{name}'"
    for place, value in enumerate(values):
        if not place and not is_integer(value):
            expected = f"{argument} (position {position}) must be tuple of ints"
            raise TypeError(f"{expected}, but found element of type {type_name(value)} at pos 0")
        if not hasattr(value, "__index__"):
            got = f"type must be tuple of ints,but got {type_name(value)}"
            raise TypeError(f'{argument} failed to unpack the object at pos {place + 1} with error "{got}"')
    found = [int.__index__(operator.index(value)) for value in values]
    for place, value in enumerate(found, 1):
        if not -(2**63) <= value < 2**63:
            raise TypeError(f'{argument} failed to unpack the object at pos {place} with error "{OVERFLOW}"')
    return found
