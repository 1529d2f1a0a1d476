"""Views: the geometry of a sample is that of its batch without the first dimension."""

from __future__ import annotations

from typing import Any

from .._base.handles import exchange
from .._dispatch.ops import ops
from .._dispatch.samples import sample_of
from .call import Call
from .dims import with_moved


def view(call: Call) -> Any:
    name, batch = call.op.name, call.batch(call.target)
    if name in ("view", "reshape", "expand"):
        sizes = call.inferred().shape
        aligned = call.aligned(call.target, len(sizes)) if name == "expand" else batch
        result = getattr(aligned, name)((batch.shape[0], *sizes))
    elif name == "permute":
        call.inferred()
        result = batch.permute(0, *[dim % call.ndim + 1 for dim in call.argument("dims")])
    elif name == "t":
        call.inferred()
        result = batch.transpose(1, 2) if call.ndim == 2 else ops.alias(batch)
    elif not call.ndim:
        result = _of_no_dimension(call, batch)
    elif name == "squeeze" and call.argument("dim") is None:
        result = batch.squeeze([dim + 1 for dim, size in enumerate(call.target.shape) if size == 1])
    else:
        result = call.run_new([batch, *with_moved(call, call.ndim + (name == "unsqueeze"))[1:]])
    if call.is_inplace:
        exchange(call.target, sample_of(result, call.level))
    return result


def strided(call: Call) -> Any:
    """`as_strided`: in the memory of a sample, which begins where it does in the batch."""
    target, size, stride, offset = call.args
    batch = call.batch(target)
    place = batch.storage_offset() + (offset or 0)
    result = batch.as_strided((batch.shape[0], *size), (batch.stride(0), *stride), place)
    if call.is_inplace:
        exchange(target, sample_of(result, call.level))
    return result


def _of_no_dimension(call: Call, batch: Any) -> Any:
    """A view of a sample without dimensions, which other operators than these have but one of."""
    shape = call.inferred().shape
    return batch.reshape((batch.shape[0], *shape)) if len(shape) else ops.alias(batch)
