"""Questions about values, which tensors on the device `meta` do not have, and about the memory behind them;
numbers that are computed in others, and numbers for several dimensions."""

from __future__ import annotations

from typing import Any

from .._base.devices import has_values as has_values
from .._base.devices import stands_for_others
from .._base.dtypes import EXPORTS
from .._base.finfo import number_of_computation as number_of_computation
from .._C import lib
from .._dispatch.levels import is_differentiated as is_differentiated
from .._dispatch.ops import ops

__all__ = [
    "check_values",
    "elements_of_storage",
    "has_values",
    "holds",
    "is_differentiated",
    "is_narrow",
    "number_of_computation",
    "per_dimension",
    "wide",
]

_NARROW = [EXPORTS[name] for name in ("uint8", "int8", "int16", "int32")]


def holds(condition: Any, unknown: bool) -> bool:
    """Return the truth of a tensor with one element, by which a function computes one thing or another; `unknown` where
    it has no value. What raises unless it is true is `assert_values`.

    Where it stands for the samples of a batch, it is true if it is for every one, or, where `unknown` is false, if it
    is for any: what is assumed without values must be right for all samples.
    """
    if not has_values(condition):
        return unknown
    if stands_for_others(condition):
        return bool(ops.truth(condition, unknown))
    return bool(condition)


def elements_of_storage(tensor: Any) -> int:
    """Return how many elements of its dtype the memory has that a tensor and its views share."""
    nbytes: int = lib.storage_nbytes(lib.storage_of(tensor._h))
    return nbytes // int(tensor.itemsize)


def is_narrow(tensor: Any) -> bool:
    """Whether the elements are integers that int64 holds as well, with fewer bits than that."""
    return tensor.dtype in _NARROW


def wide(tensor: Any) -> Any:
    """Return the numbers in which half formats are computed."""
    return tensor.float() if tensor.is_floating_point() and tensor.itemsize < 4 else tensor


def check_values(function: str, *tensors: Any) -> None:
    """Raise NotImplementedError where the shape of the result depends on values that a tensor does not have."""
    if not all(map(has_values, tensors)):
        raise NotImplementedError(
            f"{function}(): the shape of this result depends on the values of a tensor, and tensors on the device meta "
            "have none"
        )


def per_dimension(what: str, value: Any, dims: int, refused: str) -> list[int]:
    """The numbers of an argument, of which there is one for all dimensions or one for each. `refused` is the message of
    the RuntimeError otherwise, in which {what} and {given} stand for its name and its numbers.
    """
    values = [value] if isinstance(value, int) else list(value)
    if len(values) not in (1, dims):
        raise RuntimeError(refused.format(what=what, given=values))
    return values * dims if len(values) == 1 else values
