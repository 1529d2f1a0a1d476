"""Arguments of operators on their way from Python to the core: types are checked, numbers become handles.

Used by dispatcher.py, the slow path; messages are those of torch.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .._base import interchange
from .._base.dtypes import dtype
from .._base.errors import raise_pending
from .._base.handles import OVERFLOW, is_integer
from .._base.handles import type_name as type_name
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import adopt

if TYPE_CHECKING:
    from .dispatcher import Op


def is_operand(value: Any) -> bool:
    """A tensor, or a number of Python or NumPy."""
    return isinstance(value, Tensor) or isinstance(plain(value), (bool, int, float, complex))


def operands_of(left: Any, right: Any) -> tuple[Any, Any] | None:
    """The operands of a Python operator, arrays as tensors; None where one is of a class that may implement it."""
    left, right = _operand(left, right), _operand(right, left)
    return None if left is None or right is None else (left, right)


def _operand(value: Any, other: Any) -> Any:
    is_number = is_operand(value) and not interchange.is_array(value)
    return value if is_number else interchange.operand(value, other)


def plain(value: Any) -> Any:
    """A number of NumPy as the Python value that it stands for; anything else as it is."""
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != () or value.dtype.kind not in "biufc":
        return value
    if value.dtype.char in "gG":  # long doubles, which Python does not have
        value = value.astype(value.dtype.char.replace("g", "d").replace("G", "D"))
    return value.item()


def number_handle(value: Any) -> float:
    """A handle that stands for a Python (or NumPy) number, 0.0 when the value is none."""
    value = plain(value)
    if isinstance(value, bool):
        return lib.number_b(value)
    if isinstance(value, int):
        return lib.number_u(value) if value >= 2**63 else lib.number_i(value)
    if isinstance(value, float):
        return lib.number_d(value)
    if isinstance(value, complex):
        return lib.number_c(value.real, value.imag)
    return 0.0


class Arguments:
    """Handles of a call's arguments; those made for numbers are freed at its end."""

    __slots__ = ("kind", "owned")

    def __init__(self) -> None:
        # The fast path may have failed in earnest: the call must not be tried (or an in-place one done) again.
        if lib.error_pending():
            raise_pending()
        self.owned: list[float] = []
        # The class of the result.
        self.kind: Any = Tensor

    def tensor(self, op: Op, place: int, value: Any) -> float:
        """A tensor, a number in its place, or None for an optional one."""
        if isinstance(value, Tensor):
            if type(value) is not Tensor and issubclass(type(value), self.kind):
                self.kind = type(value)
            handle: float = value._h
            return handle
        if value is None:
            return 0.0
        return self._number(op, op.inputs[place], place + 1, value, "Tensor")

    def param(self, op: Op, place: int, value: Any) -> float:
        name, position = op.params[place], len(op.inputs) + place + 1
        if value is None and name in op.optional:
            return 0.0
        if name in op.reals:
            value = real(op, name, position, value)
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        return self._number(op, name, position, value, "Number")

    def out(self, op: Op, value: Any) -> float:
        if value is None:
            return 0.0
        if not isinstance(value, Tensor):
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type_name(value)}")
        handle: float = value._h
        return handle

    def _number(self, op: Op, name: str, position: int, value: Any, expected: str) -> float:
        handle = number_handle(value)
        if not handle:
            raise TypeError(
                f"{op.name}(): argument '{name}' (position {position}) must be {expected}, not {type_name(value)}"
            )
        self.owned.append(handle)
        return handle

    def result(self, handle: float) -> Any:
        return adopt(handle, self.kind)

    def release(self) -> None:
        for handle in self.owned:
            lib.release(handle)


def integer(op: Op, name: str, value: Any) -> int:
    if type(value) is int:
        return value
    if not is_integer(value):
        raise TypeError(f"{op.name}(): argument '{name}' must be int, not {type_name(value)}")
    return operator.index(value)


def real(op: Op, name: str, position: int, value: Any) -> float:
    """A number of any kind, or a tensor of one element."""
    if value.numel() != 1 if isinstance(value, Tensor) else not hasattr(value, "__float__"):
        raise TypeError(
            f"{op.name}(): argument '{name.rstrip('_')}' (position {position}) must be float, not {type_name(value)}"
        )
    return float(value)


class _Missing:
    """Stands for an argument that was not given, where no value can."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()


def separate(op: Op, first: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Integers given one by one, of which the first is not just an int."""
    if not is_integer(first):
        raise TypeError(f"{op.name}() takes 1 positional argument but {1 + len(others)} were given")
    return (first, *others)


def integers(op: Op, name: str, values: Any, position: int = 1) -> list[int]:
    """A list of integers; one integer stands for a list of one."""
    argument = f"{op.name}(): argument '{name}'"
    expected = f"{argument} (position {position}) must be tuple of ints"
    if isinstance(values, (tuple, list)):
        for place, value in enumerate(values):
            if not place and not is_integer(value):
                raise TypeError(f"{expected}, but found element of type {type_name(value)} at pos 0")
            if not hasattr(value, "__index__"):
                got = f"type must be tuple of ints,but got {type_name(value)}"
                raise TypeError(f'{argument} failed to unpack the object at pos {place + 1} with error "{got}"')
        found = [operator.index(value) for value in values]
        for place, value in enumerate(found, 1):
            if not -(2**63) <= value < 2**63:
                raise TypeError(f'{argument} failed to unpack the object at pos {place} with error "{OVERFLOW}"')
        return found
    if is_integer(values):
        return [operator.index(values)]
    if values is MISSING:
        raise TypeError(f'{op.name}() missing 1 required positional arguments: "{name}"')
    raise TypeError(f"{expected}, not {type_name(values)}")


def dtype_code(op: Op, value: Any) -> int:
    if value is None:
        return -1
    return dtype.resolve(value, op.name).code
