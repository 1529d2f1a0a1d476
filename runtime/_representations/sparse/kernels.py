"""Kernels of sparse tensors: functions of dense tensors of indices and values. Every one checks the indices that it is
given, as users may write to those that a tensor was made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..._base.devices import has_values
from ..._base.dtypes import EXPORTS
from ..._base.promotion import promote_types
from ..._dispatch.ops import ops
from ..._handle import needs_grad

__all__ = [
    "compress",
    "coo_sorted",
    "coordinates",
    "csr_matmul",
    "csr_product",
    "csr_sampled",
    "expand",
    "linear",
    "sum_parts",
]

_FLOAT32, _INT64 = EXPORTS["float32"], EXPORTS["int64"]


def linear(indices: Any, sizes: Sequence[int]) -> Any:
    """The place of each column of coordinates in an array of these sizes, in C's order. Raises IndexError for
    coordinates outside."""
    return ops.coo_places(indices, list(sizes))


def coordinates(places: Any, sizes: Sequence[int]) -> Any:
    """The coordinates of places, one in each column."""
    if not sizes:
        return ops.empty((0, places.size(0)), dtype=_INT64, device=places.device)
    rows = []
    for size in reversed(sizes[1:]):
        rows.append(places % size)
        places = places // size
    return ops.stack([places, *reversed(rows)])


def coo_sorted(indices: Any, sizes: Sequence[int]) -> tuple[Any, Any, Any]:
    """An order of the columns of coordinates in which their places are sorted, equal ones in the order in which they
    stand; the places that occur; and where in the order each of them starts, and its end."""
    places = linear(indices, sizes)
    count = places.size(0)
    if not has_values(places):
        return places, places, ops.empty(count + 1, dtype=_INT64, device=places.device)
    steps = places.diff()
    order = ops.arange(count, dtype=_INT64)
    if not bool((steps >= 0).all()):
        places, order = places.sort(stable=True)
        steps = places.diff()
    changes = (steps != 0).nonzero().reshape(-1) + 1
    starts = ops.cat([changes.new_zeros(min(count, 1)), changes, changes.new_full((1,), count)])
    return order, places.index_select(0, starts[:-1]), starts


def sum_parts(values: Any, order: Any, starts: Any) -> Any:
    """Sums of rows of values, taken in an order, of which each part is one sum; of bools whether one is True."""
    dtype, count = values.dtype, starts.size(0) - 1
    if dtype is EXPORTS["bool"]:
        return sum_parts(values.to(EXPORTS["int32"]), order, starts) > 0
    if needs_grad(values) or not has_values(values):
        parts = expand(starts, order.size(0))
        zeros = ops.zeros((count, *values.shape[1:]), dtype=dtype, device=values.device)
        return zeros.index_add(0, parts, values.index_select(0, order))
    width = prod(values.shape[1:])
    if dtype.is_complex:
        parts = ops.view_as_real(values.contiguous()).reshape(values.size(0), 2 * width)
        sums = ops.segment_sum(starts, order, parts).reshape(count, *values.shape[1:], 2)
        return ops.view_as_complex(sums)
    return ops.segment_sum(starts, order, values.reshape(values.size(0), width)).reshape(count, *values.shape[1:])


def compress(rows: Any, count: int) -> Any:
    """Return the start of each of `count` rows in a sorted list of rows, and the end of the last one. Raises IndexError
    for rows outside, RuntimeError for a list that is not sorted."""
    return ops.csr_starts(rows, count)


def expand(starts: Any, count: int) -> Any:
    """Return the row of each of `count` elements, given where the rows start. Raises IndexError where the starts do not
    count up from 0 to `count`."""
    return ops.csr_rows(starts, count)


def csr_matmul(starts: Any, places: Any, values: Any, dense: Any) -> Any:
    """The product of a compressed matrix with a dense one, or with a vector."""
    if values.is_complex():
        columns = dense if dense.ndim == 2 else dense.unsqueeze(1)
        return _complex_matmul(starts, places, values, columns).reshape(starts.size(0) - 1, *dense.shape[1:])
    if dense.ndim == 1:
        return ops.csr_matvec(starts, places, values, dense)
    if dense.size(1) == 1:
        return ops.csr_matvec(starts, places, values, dense.squeeze(1)).unsqueeze(1)
    return ops.csr_matmul(starts, places, values, dense)


def _complex_matmul(starts: Any, places: Any, values: Any, dense: Any) -> Any:
    """(a + bi) @ (c + di), by the products of a and b with the columns of c and d side by side."""
    columns = ops.view_as_real(dense.resolve_conj()).flatten(1)
    parts = ops.view_as_real(values.resolve_conj())
    by_real, by_imag = (csr_matmul(starts, places, parts.select(1, k).contiguous(), columns) for k in (0, 1))
    by_real, by_imag = (each.unflatten(1, (dense.size(1), 2)) for each in (by_real, by_imag))
    turned = ops.stack([-by_imag.select(2, 1), by_imag.select(2, 0)], 2)
    return ops.view_as_complex(by_real + turned)


def csr_sampled(starts: Any, places: Any, left: Any, right: Any) -> Any:
    """The elements of `left @ right.T` at the places of a compressed matrix."""
    if left.is_complex():
        (a, b), (c, d) = (ops.view_as_real(each.resolve_conj()).unbind(2) for each in (left, right))
        real = csr_sampled(starts, places, ops.cat([a, -b], 1), ops.cat([c, d], 1))
        return ops.complex(real, csr_sampled(starts, places, ops.cat([a, b], 1), ops.cat([d, c], 1)))
    return ops.sampled_product(expand(starts, places.size(0)), places.to(_INT64), left.contiguous(), right.contiguous())


def csr_product(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any], columns: int) -> tuple[Any, Any, Any]:
    """The product of two compressed matrices, each given by starts, places and values: the same of it."""
    first, second = ([each.to(_INT64) for each in matrix[:2]] for matrix in (one, other))
    values, others = one[2], other[2]
    if needs_grad(values, others) or values.is_complex():
        starts, places, pairs, left, right = ops.csr_product_pattern(*first, *second, columns)
        products = values.index_select(0, left) * others.index_select(0, right)
        return starts, places, sum_parts(products, ops.arange(left.size(0), dtype=_INT64), pairs)
    dtype = promote_types(values.dtype, others.dtype)
    added = _INT64 if not dtype.is_floating_point else dtype if dtype.itemsize >= 4 else _FLOAT32
    starts, places, sums = ops.csr_product(*first, values.to(added), *second, others.to(added), columns)
    return starts, places, sums.to(dtype)
