"""Views: where an operator puts elements is what the core says of a dense tensor of that shape.

The operator is called with a tensor without memory whose strides are those of C's order. The strides and the offset of
its result say which coordinates each element has there, so one rule serves `transpose`, `select`, `slice`, `diagonal`,
`reshape` and all others. The results are no views of the sparse tensor, which has no memory to share.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

from ..._base.allocation import allocate
from ..._base.devices import META, on_device
from ..._base.dtypes import EXPORTS
from ..._dispatch.dispatcher import redispatch
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from .convert import as_coordinates, compressed, transposed_matrices
from .kernels import linear
from .payload import Compressed, Coordinates, Payload
from .results import unsupported
from .tensor import is_sparse, made, replace_payload

__all__ = ["handle"]


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call of a view of a sparse tensor."""
    tensor = args[op.target]
    if not is_sparse(tensor):
        return unsupported(op, args)
    geometry = _geometry(op, args)
    if isinstance(geometry, (tuple, list)):
        return tuple([_part(tensor, _result(op, args, tensor, each)) for each in geometry])
    result = _result(op, args, tensor, geometry)
    if mode != INPLACE:
        return _part(tensor, result)
    if not is_sparse(result):
        unsupported(op, args, "its result has no sparse dimensions")
    return replace_payload(tensor, result._sparse)


def _part(tensor: Any, result: Any) -> Any:
    """The result, which must not be overwritten where the tensor would not learn of it."""
    if is_sparse(result):
        result._is_view = True
        result._is_part = result._sparse.values is not tensor._sparse.values
    return result


def _geometry(op: Op, args: Sequence[Any]) -> Any:
    """Return the operator's result for a contiguous tensor without memory. It has bytes as elements, as the largest
    sizes have no more."""
    given = list(args)
    given[op.target] = on_device(META, allocate, tuple(args[op.target].shape), EXPORTS["uint8"].code)
    return redispatch(op, given, None, NEW, below="sparse")


def _result(op: Op, args: Sequence[Any], tensor: Any, view: Any) -> Any:
    payload = tensor._sparse
    shape, strides, offset = tuple(view.shape), view.stride(), view.storage_offset()
    if isinstance(payload, Compressed):
        whole = _of_matrices(payload, shape, strides, offset)
        if whole is not None:
            return made(whole)
    found = _moved(op, args, as_coordinates(payload), shape, strides, offset)
    if isinstance(found, Coordinates):
        if isinstance(payload, Compressed) and found.sparse_dim == tensor.ndim - payload.dense_dim == 2:
            height, width = payload.blocksize
            if not (found.size[0] % height or found.size[1] % width):
                return made(compressed(found, payload.layout, payload.blocksize))
        return made(found)
    return found


def _packed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def _of_matrices(payload: Compressed, shape: Any, strides: Any, offset: int) -> Payload | None:
    """Compressed matrices that stay what they are: all of them, transposed, or one of a batch."""
    whole = _packed(payload.size)
    batch = payload.batch_dim
    if shape == payload.size and strides == whole:
        return payload
    order = list(range(len(whole)))
    order[batch], order[batch + 1] = order[batch + 1], order[batch]
    if shape == tuple(payload.size[d] for d in order) and strides == tuple(whole[d] for d in order):
        return transposed_matrices(payload)
    for dim in range(batch):  # select
        rest = tuple(n for d, n in enumerate(payload.size) if d != dim)
        steps = tuple(n for d, n in enumerate(whole) if d != dim)
        index, other = divmod(offset, whole[dim])
        if shape == rest and strides == steps and not other and index < payload.size[dim]:
            starts, places, values = (each.select(dim, index) for _, each in payload.parts)
            return Compressed(payload.layout, starts, places, values, shape)
    return None


def _moved(op: Op, args: Sequence[Any], found: Coordinates, shape: Any, strides: Any, offset: int) -> Any:
    """The elements that the view has, at their coordinates there; a dense tensor where no sparse dimension is left."""
    dense = prod(found.size[found.sparse_dim :])
    count = _sparse_dimensions(op, args, found, shape, strides, dense)
    if dense and not _keeps_parts(shape, strides, offset, count, dense):
        unsupported(op, args, "a dimension of the result is along sparse and dense ones")
    steps = tuple(stride // dense for stride in strides[:count]) if dense else (0,) * count
    start, inner = divmod(offset, dense) if dense else (0, 0)
    places = linear(found.indices, found.size[: found.sparse_dim]) - start
    inside = places >= 0
    rows: list[Any] = [None] * count
    reach = 0
    for dim in sorted(range(count), key=lambda d: (steps[d], shape[d])):
        if shape[dim] > 1 and steps[dim] <= reach:
            unsupported(op, args, "elements would stand at several places")
        reach += (shape[dim] - 1) * steps[dim]
    for dim in sorted(range(count), key=lambda d: (steps[d], shape[d]), reverse=True):
        if shape[dim] == 1 or not steps[dim]:
            rows[dim] = places.new_zeros(places.shape)
            inside = inside & (shape[dim] > 0)
            continue
        rows[dim] = places // steps[dim]
        inside = inside & (rows[dim] < shape[dim])
        places = places % steps[dim]
    inside = inside & (places == 0)
    values = _dense_part(found, shape[count:], strides[count:], inner)
    if places.numel() and not bool(inside.all()):
        kept = inside.nonzero().reshape(-1)
        rows, values = [row.index_select(0, kept) for row in rows], values.index_select(0, kept)
    if not count:
        return values.sum(0, dtype=values.dtype) if values.dtype is not EXPORTS["bool"] else values.any(0)
    extents = list(zip(steps, shape, strict=False))
    keeps_order = all(a >= b or 1 in (m, n) for (a, m), (b, n) in pairwise(extents))
    return Coordinates(ops.stack(rows), values, shape, found.is_coalesced and keeps_order)


def _keeps_parts(shape: Any, strides: Any, offset: int, count: int, dense: int) -> bool:
    """True if sparse dimensions step over whole dense parts, and dense ones stay within one."""
    if 0 in shape:
        return True
    steps = list(zip(shape, strides, strict=True))
    inner = offset % dense + sum((n - 1) * step for n, step in steps[count:])
    return inner < dense and not any(step % dense for n, step in steps[:count] if n > 1)


def _sparse_dimensions(op: Op, args: Sequence[Any], found: Coordinates, shape: Any, strides: Any, dense: int) -> int:
    """Return the number of the result's dimensions that are sparse: those that step over whole dense parts. They come
    first."""
    if not found.dense_dim:
        return len(shape)
    large = [dim for dim, (n, step) in enumerate(zip(shape, strides, strict=True)) if n > 1 and step >= dense]
    small = [dim for dim, (n, step) in enumerate(zip(shape, strides, strict=True)) if n > 1 and step < dense]
    if large and small and max(large) > min(small):
        unsupported(op, args, "transpositions between sparse and dense dimensions are not allowed")
    lost = len(found.size) - len(shape)
    count = max(large) + 1 if large else max(found.sparse_dim - max(lost, 0), 0)
    limit = min(small) if small else len(shape)
    wanted = len(shape) - found.dense_dim
    return min(max(count, min(wanted, limit)), limit) if not lost else min(count, limit)


def _dense_part(found: Coordinates, shape: Any, strides: Any, offset: int) -> Any:
    """The dense part of each element as the view has it."""
    values = found.values
    if not found.dense_dim:
        return values
    if tuple(values.shape[1:]) == tuple(shape) and not offset and strides == _packed(shape):
        return values
    flat = values.contiguous()
    return flat.as_strided((found.nnz, *shape), (prod(values.shape[1:]), *strides), flat.storage_offset() + offset)
