"""Operators written in Python in terms of others.

A body takes for granted that its arguments have their types and its tensors a dtype that the operator accepts, and
knows nothing of `out=` and of methods in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._base.devices import on_device
from .._base.dtypes import BY_CODE
from .._base.finfo import finfo
from .._base.pinning import pinned_result
from .._base.promotion import common_dtype
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import own_results
from .check import check
from .op import Op
from .placement import placed
from .store import assign, store


def run(op: Op, args: Sequence[Any], out: Any) -> Any:
    """The result of the body for these arguments, stored in `out`."""
    values, where, is_pinned = placed(op, check(op, args), out)
    _check_dtype(op, values)
    _check_in_range(op, values)
    assert op.body is not None
    result: Any = on_device(where, op.body, *values)
    if out is not None:
        return store(op, result, out)
    if is_pinned:
        return pinned_result(result)
    own_results(result, values)
    return result if op.results is None or isinstance(result, Tensor) else op.results(result)


def run_inplace(op: Op, args: Sequence[Any], target: Any) -> Any:
    """Overwrites the target, mostly one of the arguments, with the result."""
    if not isinstance(target, Tensor):
        check(op, args)
    return assign(target, op.function(*args[: op.positional], **keywords(op, args)))


def keywords(op: Op, args: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments in schema order that are given by name."""
    return dict(zip(op.names[op.positional :], args[op.positional :], strict=True))


def _check_dtype(op: Op, values: Sequence[Any]) -> None:
    code = _dtype_of(op, values) if op.refused else -1
    if code < 0 or not op.refused >> code & 1:
        return
    dtype = BY_CODE[code]
    refusal = op.complex_refusal if dtype.is_complex else op.refusal
    if refusal is not None and dtype.promotes:
        raise RuntimeError(refusal.replace("{dtype}", dtype.scalar_name))
    raise NotImplementedError(f'"{op.called}" not implemented for {dtype.scalar_name!r}')


def _check_in_range(op: Op, values: Sequence[Any]) -> None:
    dtype = BY_CODE[_dtype_of(op, values)] if op.in_range else None
    if dtype is None or not dtype.is_floating_point:
        return
    for name in op.in_range:
        value = values[op.names.index(name)]
        if isinstance(value, (int, float)) and isfinite(value) and abs(value) > finfo(dtype).max:
            raise RuntimeError(f"value cannot be converted to type {dtype.cpp_name} without overflow")


def _dtype_of(op: Op, values: Sequence[Any]) -> int:
    """The dtype that decides: the one asked for, or that of the first tensor, or the default one."""
    for types, value in zip(op.types, values, strict=True):
        if types == "dtype?" and value is not None:
            code: int = value.code
            return code
    if not isinstance(values[0], Tensor) or op.types[0] != "Tensor":
        return lib.get_default_dtype()
    if op.promotes:
        return common_dtype(values[0]._h, values[1]._h).code
    return lib.dtype(values[0]._h)
