"""Reductions: what an operator makes of zeros among elements says how those count that are not in memory.

An operator whose result does not change with zeros (sums, norms) reduces the values. One whose result does not change
with the number of zeros (extrema, any, all) reduces the values and one zero, where elements are missing. Sums along
dimensions drop these of the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..._autograd.grad_mode import AUTOGRAD
from ..._base.dtypes import EXPORTS
from ..._base.shapes import distinct_dims
from ..._base.types import sparse_coo
from ..._dispatch.dispatcher import call, redispatch
from ..._dispatch.op import NEW, Op
from ..._dispatch.ops import ops
from ..._handle import with_keys
from .convert import as_coordinates, coalesced, compressed
from .payload import BLOCKED, Coordinates, Payload
from .probe import samples
from .results import deliver, unsupported
from .tensor import is_sparse, made

__all__ = ["handle"]


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call of a reduction of a sparse tensor."""
    if not is_sparse(args[0]):
        return deliver(op, call(op, args, None, NEW), args, out, mode)
    tensor = args[0]
    dims = _dims(args[1] if op.names[1:2] == ("dim",) else None, tensor.ndim)
    if dims is not None:
        return deliver(op, _along(op, args, tensor, dims), args, out, mode)
    return deliver(op, _of_all(op, args, tensor), args, out, mode)


def _dims(dim: Any, ndim: int) -> list[int] | None:
    """The dimensions that are reduced; None: all of them."""
    if dim is None or dim == () or dim == []:
        return None
    return distinct_dims([dim] if isinstance(dim, int) else dim, ndim)


def _of_all(op: Op, args: Sequence[Any], tensor: Any) -> Any:
    payload = tensor._sparse
    if isinstance(payload, Coordinates):
        payload = coalesced(payload)
    if op.names[2:3] == ("keepdim",) and args[2]:
        unsupported(op, args, "dimensions are kept where they are named")
    values = payload.values.reshape(-1)
    if op is ops.mean.op:
        return ops.div(call(ops.sum.op, [values, None, False, args[3]], None, NEW), tensor.numel())
    ignores, counts_one = _effect_of_zeros(op, args, values.dtype)
    if not (ignores or counts_one):
        unsupported(op, args, "its result depends on how many elements are zero")
    if not ignores and values.numel() < tensor.numel():
        values = ops.cat([values, values.new_zeros(1)])
    return call(op, [values, *args[1:]], None, NEW)


def _effect_of_zeros(op: Op, args: Sequence[Any], dtype: Any) -> tuple[bool, bool]:
    """Return whether the result is the same without zeros, and whether it is the same with one as with two. Positions
    are neither."""
    numbers = samples(dtype.code)
    numbers = numbers[(numbers.abs() > 2**-3) & (numbers.abs() < 8)] if dtype is not EXPORTS["bool"] else numbers
    zero = numbers.new_zeros(1)
    parts = numbers, numbers[:1], numbers[-1:]
    given = [(part, ops.cat([part, zero]), ops.cat([zero, part]), ops.cat([part, zero, zero])) for part in parts]
    found = [[with_keys(0, AUTOGRAD, _below, op, [each, *args[1:]]) for each in four] for four in given]
    if any(isinstance(each, (tuple, list)) for four in found for each in four):
        return False, False
    is_value = all(bool((after == before).all()) for _, after, before, _ in found)
    return (
        is_value and all(bool((none == after).all()) for none, after, _, _ in found),
        is_value and all(bool((after == two).all()) for _, after, _, two in found),
    )


def _below(op: Op, args: Sequence[Any]) -> Any:
    return redispatch(op, args, None, NEW, below="sparse")


# ---- along dimensions -----------------------------------------------------------------------------------------


def _along(op: Op, args: Sequence[Any], tensor: Any, dims: Sequence[int]) -> Any:
    if op is ops.mean.op:
        total = _sum(tensor, dims, args[2], args[3], op)
        return ops.div(made(total) if isinstance(total, Payload) else total, prod(tensor.shape[d] for d in dims))
    if op is not ops.sum.op:
        unsupported(op, args, "of reductions along dimensions there are sums and means")
    return _sum(tensor, dims, args[2], args[3], op)


def _sum(tensor: Any, dims: Sequence[int], keepdim: bool, dtype: Any, op: Op) -> Any:
    """Sums along dimensions: sparse ones are left out of the coordinates, dense ones summed in each value. A
    matrix in rows or columns stays one."""
    found = as_coordinates(tensor._sparse)
    values, sparse_dim = found.values, found.sparse_dim
    wanted = dtype or call(op, [values.new_zeros(1), None, False, None], None, NEW).dtype
    if values.dtype is not wanted:
        values = values.to(wanted)
    inner = [dim - sparse_dim + 1 for dim in dims if dim >= sparse_dim]
    if inner:
        values = call(op, [values, inner, keepdim, None], None, NEW)
    left = [dim for dim in range(sparse_dim) if dim not in dims]
    is_matrix = sparse_dim == 2 and tensor.layout not in (sparse_coo, *BLOCKED)
    if not left and not (keepdim and is_matrix):
        total = values.sum(0)
        return total.reshape([1] * sparse_dim + list(total.shape)) if keepdim else total
    kept = range(sparse_dim) if keepdim else left
    rows = [found.indices[d] if d in left else found.indices.new_zeros(found.nnz) for d in kept]
    size = tuple(1 if d in dims else n for d, n in enumerate(found.size) if keepdim or d not in dims)
    sums = coalesced(Coordinates(ops.stack(rows), values, size, len(left) == sparse_dim and found.is_coalesced))
    return compressed(sums, tensor.layout) if keepdim and is_matrix else sums
