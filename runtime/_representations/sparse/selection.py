"""Operators that select elements by lists of numbers, and that join tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.shapes import wrap_dim
from ..._base.tensor_class import Tensor
from ..._dispatch.op import Op
from ..._dispatch.ops import ops
from .convert import as_coordinates, coalesced, compressed
from .payload import COMPRESSED, Coordinates
from .results import deliver, unsupported
from .tensor import is_sparse

__all__: list[str] = []


def index_select(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Elements whose coordinate is in a list, once for each time that it is. As in torch, numbers along sparse
    dimensions may count from the end.
    """
    tensor, dim, index = args[:3]
    if not is_sparse(tensor) or is_sparse(index):
        unsupported(op, args, "the list of numbers must be dense, and the tensor sparse")
    if index.dtype not in (EXPORTS["int32"], EXPORTS["int64"]) or index.ndim > 1:
        raise RuntimeError(
            "index_select(): Expected dtype int32 or int64 and at most one dimension for index, but got "
            f"{index.dtype} and {index.ndim} dimensions"
        )
    dim = wrap_dim(dim, tensor.ndim)
    found = as_coordinates(tensor._sparse)
    index = index.reshape(-1).to(EXPORTS["int64"])
    size = (*found.size[:dim], index.size(0), *found.size[dim + 1 :])
    if dim >= found.sparse_dim:
        values = found.values.index_select(dim - found.sparse_dim + 1, index)
        return _like(op, tensor, Coordinates(found.indices, values, size, found.is_coalesced), args, out, mode)
    index = _wrapped(index, dim, found)
    # The elements sorted by their coordinate; of each index those that have it lie next to each other.
    row, order = found.indices[dim].sort(stable=True)
    first, last = ops.searchsorted(row, index), ops.searchsorted(row, index, right=True)
    counts = last - first
    which = ops.arange(index.size(0), dtype=EXPORTS["int64"]).repeat_interleave(counts)
    at = ops.arange(which.size(0), dtype=EXPORTS["int64"]) + (first - (counts.cumsum(0) - counts)).index_select(
        0, which
    )
    elements = order.index_select(0, at)
    rows = [which if d == dim else each.index_select(0, elements) for d, each in enumerate(found.indices.unbind(0))]
    chosen = Coordinates(ops.stack(rows), found.values.index_select(0, elements), size, False)
    return _like(op, tensor, coalesced(chosen) if found.is_coalesced else chosen, args, out, mode)


def _wrapped(index: Any, dim: int, found: Coordinates) -> Any:
    """Numbers that count from the beginning."""
    if not index.numel():
        return index
    extent, low, high = found.size[dim], int(index.min()), int(index.max())
    if low < -extent or high >= extent:
        raise IndexError(
            f"index_select(): index contains {low if low < -extent else high} that is out of range for tensor of size "
            f"{list(found.size)} at dimension {dim}"
        )
    return ops.where(index < 0, index + extent, index) if low < 0 else index


def index(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """`x[indices]` of one list of numbers, or of a mask of one dimension."""
    tensor, indices = args[0], args[1]
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    fits = is_sparse(tensor) and len(given) == 1 and not is_sparse(given[0][1])
    if not fits or not isinstance(given[0][1], Tensor) or given[0][1].ndim > 1:
        unsupported(op, args, "of indices there is one list of numbers, or a mask of one dimension")
    dim, numbers = given[0]
    if numbers.dtype in (EXPORTS["bool"], EXPORTS["uint8"]):
        if numbers.size(0) != tensor.shape[dim]:
            raise IndexError(
                f"The shape of the mask {list(numbers.shape)} at index 0 does not match the shape of the indexed "
                f"tensor {list(tensor.shape)} at index {dim}"
            )
        numbers = numbers.nonzero().reshape(-1)
    extent = tensor.shape[dim]
    result = ops.index_select(tensor, dim, ops.where(numbers < 0, numbers + extent, numbers).reshape(-1))
    result = result.squeeze(dim) if not args[1][dim].ndim else result
    return deliver(op, result._sparse if is_sparse(result) else result, args, out, mode)


def _like(op: Op, tensor: Any, found: Coordinates, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return the result in the layout of the tensor, where its blocks fit."""
    payload = tensor._sparse
    if isinstance(payload, Coordinates):
        return deliver(op, found, args, out, mode)
    height, width = payload.blocksize
    fits = not (found.size[-2] % height or found.size[-1] % width) and not payload.batch_dim
    return deliver(op, compressed(found, payload.layout, payload.blocksize) if fits else found, args, out, mode)


def cat(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return sparse tensors joined along a dimension. Raises RuntimeError for dense tensors and other sizes."""
    tensors, dim = args[0], wrap_dim(args[1], args[0][0].ndim)
    for place, each in enumerate(tensors):
        if not is_sparse(each):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {place}.")
    found = [as_coordinates(each._sparse) for each in tensors]
    first = found[0]
    for place, each in enumerate(found):
        rest = [list(one.size[:dim]) + list(one.size[dim + 1 :]) for one in (first, each)]
        if rest[0] != rest[1]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.size)} (except in the concatenating dimension), "
                f"but found shape: {list(each.size)} at position {place}."
            )
        if each.sparse_dim != first.sparse_dim:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim ({first.sparse_dim}), but the one at position {place} has "
                f"{each.sparse_dim}."
            )
    size = (*first.size[:dim], sum(each.size[dim] for each in found), *first.size[dim + 1 :])
    joined = _cat_sparse(found, dim, size) if dim < first.sparse_dim else _cat_dense(found, dim, size)
    kinds = {each.layout for each in tensors}
    if len(kinds) == 1 and kinds <= set(COMPRESSED) and first.sparse_dim == 2:
        return _like(op, tensors[0], joined, args, out, mode)
    return deliver(op, joined, args, out, mode)


def _cat_sparse(found: Sequence[Coordinates], dim: int, size: tuple[int, ...]) -> Coordinates:
    start, parts = 0, []
    for each in found:
        rows = [row + start if d == dim else row for d, row in enumerate(each.indices.unbind(0))]
        parts.append(ops.stack(rows))
        start += each.size[dim]
    values = ops.cat([each.values for each in found])
    return Coordinates(ops.cat(parts, 1), values, size, dim == 0 and all(each.is_coalesced for each in found))


def _cat_dense(found: Sequence[Coordinates], dim: int, size: tuple[int, ...]) -> Coordinates:
    """Each value is filled up with zeros to the size of the result."""
    inner, parts, start = dim - found[0].sparse_dim + 1, [], 0
    dtype = ops.cat([each.values[:0].reshape(-1) for each in found]).dtype
    for each in found:
        shape = list(each.values.shape)
        shape[inner] = size[dim]
        filled = ops.zeros(shape, dtype=dtype)
        places = ops.arange(start, start + each.size[dim], dtype=EXPORTS["int64"])
        parts.append(ops.index_copy(filled, inner, places, each.values.to(dtype)))
        start += each.size[dim]
    return Coordinates(ops.cat([each.indices for each in found], 1), ops.cat(parts), size, False)


def stack(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return sparse tensors joined along a new dimension. Raises RuntimeError for other shapes."""
    tensors, dim = args[0], wrap_dim(args[1], args[0][0].ndim + 1)
    for each in tensors:
        if each.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(each.shape)} at entry {next(n for n, other in enumerate(tensors) if other is each)}"
            )
    return cat(op, [[each.unsqueeze(dim) if is_sparse(each) else each for each in tensors], dim], out, mode)
