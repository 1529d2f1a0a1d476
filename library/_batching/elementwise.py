"""Operators whose tensors are broadcast together: batches are, with the dimensions of samples at the end."""

from __future__ import annotations

from functools import reduce
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.promotion import promote_types, result_type
from .._base.tensor_class import Tensor
from .call import Call, NotBatchedError

_BOOL = EXPORTS["bool"]


def unify(call: Call) -> Any:
    """Elementwise operators, and others of tensors that are broadcast."""
    ndim = call.ndim
    if call.is_inplace:
        refuse_smaller_target(call)
        ndim = max(ndim, call.target.ndim)
    return call.run(_promoted(call, [call.aligned(value, ndim) for value in call.args]))


def pointwise(call: Call) -> Any:
    """Operators of one tensor that leave its dimensions as they are."""
    return call.run([call.batch(value) for value in call.args])


def refuse_smaller_target(call: Call) -> None:
    """Raises RuntimeError where each sample would overwrite the same memory."""
    if not call.is_sample(call.target):
        name = next(
            n for n, v in zip(call.op.names, call.args, strict=True) if v is not call.target and call.is_sample(v)
        )
        raise NotBatchedError(
            f"vmap: {call.op.name.rstrip('_')}_(self, *extra_args) in place is not possible because `{name}` is "
            "batched and `self` is not: all samples would overwrite the same memory. Make the tensor that is written "
            "to within the function, of a batched one (x.new_zeros(size)), or call the operator that gives a new result"
        )


def _promoted(call: Call, values: list[Any]) -> list[Any]:
    """The batches in the dtype that the samples promote to. A sample without dimensions gives way to tensors that have
    some, and its batch, which has one, would not."""
    tensors = call.tensors
    if len(tensors) < 2 or all(each.ndim or not call.is_sample(each) for each in tensors):
        return values
    wanted = _dtype_of(tensors)
    target = call.op.target if call.is_inplace else -1
    return [
        value.to(wanted)
        if place != target and isinstance(value, Tensor) and value.dtype not in (wanted, _BOOL)
        else value
        for place, value in enumerate(values)
    ]


def _dtype_of(tensors: list[Any]) -> Any:
    """The dtype that tensors promote to."""
    kinds = [[each.dtype for each in tensors if bool(each.ndim) is has_dims] for has_dims in (True, False)]
    with_dims, without = (reduce(promote_types, each) if each else None for each in kinds)
    if with_dims is None or without is None:
        return with_dims or without
    return result_type(ops.empty(1, dtype=with_dims), ops.empty((), dtype=without))
