"""Operators that move elements: copies, joined and repeated tensors, fills, and new tensors like others."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._base.types import contiguous_format, preserve_format
from .._dispatch.rules import dimensions
from .call import Call
from .dims import moved
from .elementwise import pointwise, refuse_smaller_target, unify
from .loop import each_sample, for_each
from .reductions import along


def kept(call: Call) -> Any:
    """Operators along dimensions that they name, or of all alike: copies, in an order of memory that a batch can have
    as its samples have it."""
    if dimensions(call.op):
        return along(call)
    if "memory_format" in call.op.names:
        order = call.argument("memory_format")
        if order not in (None, contiguous_format, preserve_format):
            return for_each(call)
    return pointwise(call)


def filled(call: Call) -> Any:
    """`fill_` with a value of each sample, or of all."""
    refuse_smaller_target(call)
    value = call.args[1]
    if call.is_sample(value):
        return call.batch(call.target).copy_(call.aligned(value, call.target.ndim))
    return pointwise(call)


def joined(call: Call) -> Any:
    """`cat` and `stack`."""
    tensors, dim = call.args
    if call.op.name == "cat":
        tensors = [each for each in tensors if tuple(each.shape) != (0,)] or tensors
    ndim = tensors[0].ndim + (call.op.name == "stack")
    return call.run_new([[call.whole(each) for each in tensors], moved(call, dim, ndim)])


def rolled(call: Call) -> Any:
    """Return the batch of `roll`."""
    batch, shifts, dims = call.batch(call.target), call.argument("shifts"), call.argument("dims")
    if dims is None or (not isinstance(dims, int) and not dims):
        return batch.flatten(1).roll(shifts, 1).view(batch.shape) if call.ndim else batch.clone()
    each = [dims] if isinstance(dims, int) else dims
    return call.run_new([batch, shifts, [moved(call, dim, call.ndim) for dim in each]])


def repeated(call: Call) -> Any:
    """Return the batch of `repeat`."""
    repeats = call.argument("repeats")
    call.inferred()
    return call.run_new([call.aligned(call.target, len(repeats)), [1, *repeats]])


def made_alike(call: Call) -> Any:
    """`zeros_like`, `new_ones` and their kind."""
    if "size" not in call.op.names:
        return kept(call)
    place = call.op.names.index("size")
    if "stride" in call.op.names:
        return each_sample(call)
    values = [call.batch(value) for value in call.args]
    values[place] = [call.level.size, *call.args[place]]
    return call.run_new(values)


def masked_fill(call: Call) -> Any:
    """Return the batch of `masked_fill`; the value may be a sample, too."""
    value = call.argument("value")
    if not call.is_sample(value):
        return unify(call)
    mask, target = call.argument("mask"), call.target
    ndim = max(mask.ndim, target.ndim)
    filled_in = ops.where(
        call.aligned(mask, ndim), call.aligned(value, ndim).to(target.dtype), call.aligned(target, ndim)
    )
    if not call.is_inplace:
        return filled_in
    refuse_smaller_target(call)
    return call.batch(target).copy_(filled_in)
