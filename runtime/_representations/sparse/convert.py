"""Conversions from each layout to each other one. All go by coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.types import layout as layout_class
from ..._base.types import sparse_csc, sparse_csr
from ..._dispatch.ops import ops
from .kernels import compress, coo_sorted, coordinates, expand, linear, sum_parts
from .payload import BLOCKED, BY_ROWS, Compressed, Coordinates, Payload, scalar_name

__all__ = ["as_coordinates", "coalesced", "compressed", "from_dense", "places_of", "to_dense", "transposed_matrices"]

_INT64 = EXPORTS["int64"]


# ---- coordinates --------------------------------------------------------------------------------------------


def coalesced(payload: Coordinates) -> Coordinates:
    """Sorted places, each of which occurs once, with the sums of their values."""
    if payload.is_coalesced:
        return payload
    if payload.nnz <= 1:
        linear(payload.indices, payload.size[: payload.sparse_dim])
        return replace(payload, is_coalesced=True)
    sizes = payload.size[: payload.sparse_dim]
    order, unique, starts = coo_sorted(payload.indices, sizes)
    if unique.size(0) == payload.nnz:
        values = payload.values.index_select(0, order)
    else:
        values = sum_parts(payload.values, order, starts)
    return Coordinates(coordinates(unique, sizes), values, payload.size, True)


def places_of(payload: Payload) -> Any:
    """The coordinates of all elements that are in memory, in the order of the values; of hybrid tensors, and with
    blocks, those of the dense parts."""
    if isinstance(payload, Coordinates):
        return payload.indices
    batches, count = payload.size[: payload.batch_dim], payload.nnz
    starts = payload.starts.reshape(prod(batches), payload.starts.size(-1))
    rows = [expand(each, count) for each in starts.unbind(0)]
    row = rows[0] if len(rows) == 1 else ops.cat(rows) if rows else payload.places.reshape(-1)
    first, second = row, payload.places.reshape(-1).to(_INT64)
    pair = (first, second) if payload.is_by_rows else (second, first)
    if not batches:
        return ops.stack(pair)
    of_batch = ops.arange(prod(batches), dtype=_INT64, device=row.device).repeat_interleave(count)
    return ops.cat([coordinates(of_batch, batches), ops.stack(pair)])


def element_places(payload: Payload) -> Any:
    """The same with those of each element of a block, in the order of the values."""
    places = places_of(payload)
    if not isinstance(payload, Compressed) or not payload.is_blocked:
        return places
    height, width = payload.blocksize
    within = ops.arange(height * width, dtype=_INT64, device=places.device)
    rows = (places[-2].unsqueeze(1) * height + within // width).reshape(-1)
    columns = (places[-1].unsqueeze(1) * width + within % width).reshape(-1)
    batches = [each.repeat_interleave(height * width) for each in places[:-2].unbind(0)]
    return ops.stack([*batches, rows, columns])


def element_values(payload: Payload) -> Any:
    """The values, one row for each of `element_places`."""
    if isinstance(payload, Coordinates):
        return payload.values
    dense = payload.size[len(payload.size) - payload.dense_dim :]
    return payload.values.reshape(payload.places.numel() * prod(payload.blocksize), *dense)


def as_coordinates(payload: Payload) -> Coordinates:
    """The same elements by coordinates, sorted where they were compressed."""
    if isinstance(payload, Coordinates):
        return payload
    if payload.layout is sparse_csc and not payload.batch_dim:
        _, order = ops.csr_order(payload.places, payload.size[0])
        at = places_of(payload).index_select(1, order)
        return Coordinates(at, payload.values.index_select(0, order), payload.size, True)
    is_sorted = payload.layout is sparse_csr
    found = Coordinates(element_places(payload), element_values(payload), payload.size, is_sorted)
    return coalesced(found)


# ---- dense --------------------------------------------------------------------------------------------------


def to_dense(payload: Payload) -> Any:
    """All elements."""
    found = as_coordinates(payload)
    values = found.values
    if values.dtype is EXPORTS["bool"]:
        found = coalesced(found)
        values = found.values
    sizes = found.size[: found.sparse_dim]
    zeros = ops.zeros((prod(sizes), *found.size[len(sizes) :]), dtype=values.dtype, device=values.device)
    put = zeros.index_copy_ if found.is_coalesced else zeros.index_add_
    return put(0, linear(found.indices, sizes), values).reshape(found.size)


def from_dense(tensor: Any, sparse_dim: int) -> Coordinates:
    """The elements that are not zero; with fewer sparse dimensions those parts in which one is not."""
    mask = tensor != 0
    if sparse_dim < tensor.ndim:
        mask = mask.flatten(sparse_dim).any(-1)
    indices = mask.nonzero().t().contiguous()
    if not sparse_dim:
        values = tensor.unsqueeze(0) if indices.size(1) else tensor.new_empty((0, *tensor.shape))
    else:
        values = ops.index(tensor, list(indices.unbind(0)))
    return Coordinates(indices, values, tuple(tensor.shape), True)


# ---- compressed ---------------------------------------------------------------------------------------------


def compressed(
    found: Coordinates, layout: layout_class, blocksize: Sequence[int] | None = None, what: str = "to_sparse"
) -> Compressed:
    """The elements of matrices, or of batches of them, row by row or column by column. The last two of the sparse
    dimensions are those of the matrices."""
    found = coalesced(found)
    height, width = blocksize if blocksize is not None and layout in BLOCKED else (1, 1)
    batch_dim = found.sparse_dim - 2
    batches, (rows, columns) = found.size[:batch_dim], found.size[batch_dim : found.sparse_dim]
    if rows % height or columns % width:
        raise RuntimeError(
            f"{what}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize ({height},{width})"
        )
    if layout is sparse_csr:
        return _with_starts(found.indices, found.values, batches, rows, layout, found.size, what)
    row, column = found.indices[-2], found.indices[-1]
    if layout is sparse_csc and not batches:
        starts, order = ops.csr_order(column, columns)
        return Compressed(layout, starts, row.index_select(0, order), found.values.index_select(0, order), found.size)
    values = found.values
    by_rows = layout in BY_ROWS
    sizes = (*batches, *((rows // height, columns // width) if by_rows else (columns // width, rows // height)))
    pair = (row // height, column // width) if by_rows else (column // width, row // height)
    at = ops.stack([*found.indices[:-2].unbind(0), *pair])
    order, unique, starts = coo_sorted(at, sizes)
    if layout in BLOCKED:
        which = expand(starts, order.size(0))
        inside = ((row % height) * width + column % width).index_select(0, order)
        zeros = ops.zeros(
            (unique.size(0) * height * width, *values.shape[1:]), dtype=values.dtype, device=values.device
        )
        values = ops.index_copy(zeros, 0, which * (height * width) + inside, values.index_select(0, order))
        values = values.reshape(unique.size(0), height, width, *found.values.shape[1:])
    else:
        values = values.index_select(0, order)
    return _with_starts(coordinates(unique, sizes), values, batches, sizes[-2], layout, found.size, what)


def _with_starts(
    at: Any, values: Any, batches: tuple[int, ...], lines: int, layout: layout_class, size: tuple[int, ...], what: str
) -> Compressed:
    if not batches:
        return Compressed(layout, compress(at[0], lines), at[1].contiguous(), values, size)
    count = prod(batches)
    starts = compress(linear(at[:-1], (*batches, lines)), count * lines)
    firsts = starts[:: lines or 1][: count + 1] if lines else starts.new_zeros(count + 1)
    each = firsts.diff()
    nnz = values.size(0) // count if count else 0
    if count and not bool((each == nnz).all()):
        raise RuntimeError(
            f"{what}: Expect the same number of specified elements per batch, but got {each.tolist()} in batches of "
            f"shape {list(batches)}"
        )
    line_starts = ops.arange(count, dtype=_INT64).unsqueeze(1) * lines + ops.arange(lines + 1, dtype=_INT64)
    own = ops.index(starts, [line_starts]) - ops.arange(count, dtype=_INT64).unsqueeze(1) * nnz
    return Compressed(
        layout,
        own.reshape(*batches, lines + 1),
        at[-1].reshape(*batches, nnz),
        values.reshape(*batches, nnz, *values.shape[1:]),
        size,
    )


_TRANSPOSED = {"SparseCsr": 1, "SparseCsc": 0, "SparseBsr": 3, "SparseBsc": 2}


def transposed_matrices(payload: Compressed) -> Compressed:
    """The transposed matrices, of the same memory: rows are columns."""
    from .payload import COMPRESSED

    batch = payload.batch_dim
    size = list(payload.size)
    size[batch], size[batch + 1] = size[batch + 1], size[batch]
    values = payload.values.transpose(batch + 1, batch + 2) if payload.is_blocked else payload.values
    other = COMPRESSED[_TRANSPOSED[scalar_name(payload.layout)]]
    return Compressed(other, payload.starts, payload.places, values, tuple(size))
