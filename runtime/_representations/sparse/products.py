"""Operators that are matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.types import sparse_csr
from ..._dispatch.op import Op
from ..._dispatch.ops import ops
from ..._handle import needs_grad
from . import kernels
from .convert import as_coordinates, coalesced, compressed
from .matrices import matrix_of, product, sampled
from .payload import COMPRESSED, Compressed, Coordinates, Payload
from .results import deliver
from .tensor import is_sparse, made

__all__ = ["matmul", "multiply", "reduced_product", "sampled_sum"]


def multiply(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """`mm`, `mv`, `bmm` and `matmul`."""
    left, right = args[:2]
    wanted = {"mm": (2, 2), "mv": (2, 1), "bmm": (3, 3)}.get(op.name)
    if wanted is not None and (left.ndim, right.ndim) != wanted:
        raise RuntimeError(
            f"{op.name}(): expected tensors with {wanted[0]} and {wanted[1]} dimensions, but got {left.ndim} and "
            f"{right.ndim}"
        )
    return deliver(op, matmul(op.name, left, right), args, out, mode)


def add_product(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """`addmm`, `addmv` and `baddbmm`: beta * input + alpha * (left @ right)."""
    base, left, right, beta, alpha = args
    result = matmul(op.name, left, right)
    result = ops.mul(_tensor(result), alpha) if alpha != 1 else _tensor(result)
    if beta != 0:
        scaled = base if beta == 1 else ops.mul(base, beta)
        result = ops.add(scaled, result) if not is_sparse(scaled) or is_sparse(result) else ops.add(result, scaled)
    return deliver(op, result._sparse if is_sparse(result) else result, args, out, mode)


def _tensor(result: Any) -> Any:
    return made(result) if isinstance(result, (Coordinates, Compressed)) else result


def matmul(name: str, left: Any, right: Any) -> Any:
    """The product: a dense tensor, or of two sparse matrices what the sparse product consists of."""
    usual = _of_rows(left, right)
    if usual is not None:
        return usual
    if left.dtype is not right.dtype:
        raise RuntimeError(f"expected scalar type {left.dtype.scalar_name} but found {right.dtype.scalar_name}")
    for each in (left, right):
        if is_sparse(each) and each._sparse.dense_dim:
            raise NotImplementedError(f"{name}() takes no hybrid tensors; to_dense() gives a tensor that it takes")
    if left.ndim < 1 or right.ndim < 1:
        raise RuntimeError(
            f"both arguments to {name} need to be at least 1D, but they are {left.ndim}D and {right.ndim}D"
        )
    if left.ndim == 1:
        result = matmul(name, left.unsqueeze(0), right)
        return _squeezed(result, -2)
    if right.ndim == 1:
        return _squeezed(matmul(name, left, right.unsqueeze(1)), -1)
    _check_shapes(name, left, right)
    if is_sparse(left) and is_sparse(right):
        return _of_both(name, left._sparse, right._sparse)
    if is_sparse(left):
        return _with_dense(name, left, right)
    return _with_dense(name, right.transpose(-2, -1), left.transpose(-2, -1)).transpose(-2, -1)


def _of_rows(left: Any, right: Any) -> Any:
    """The product of a CSR matrix and a dense vector or matrix, one operator where no gradient is asked for; None of
    other operands, and of those that do not fit."""
    payload = left._sparse if is_sparse(left) else None
    if not isinstance(payload, Compressed) or payload.layout is not sparse_csr or len(payload.size) != 2:
        return None
    shape, values = right.shape, payload.values
    if is_sparse(right) or not 1 <= len(shape) <= 2 or shape[0] != payload.size[1] or right.dtype is not values.dtype:
        return None
    if needs_grad(values, right):
        return None
    return kernels.csr_matmul(payload.starts, payload.places, values, right)


def _squeezed(result: Any, dim: int) -> Any:
    tensor = _tensor(result).squeeze(dim)
    return tensor._sparse if is_sparse(tensor) else tensor


def _check_shapes(name: str, left: Any, right: Any) -> None:
    if left.shape[-1] != right.shape[-2]:
        shapes = (f"{tensor.shape[-2]}x{tensor.shape[-1]}" for tensor in (left, right))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({' and '.join(shapes)})")


def _with_dense(name: str, left: Any, right: Any) -> Any:
    """A sparse matrix, or a batch of them, with dense ones."""
    payload = left._sparse
    batches = tuple(left.shape[:-2])
    if right.ndim == 2 and batches:
        right = right.expand(*batches, *right.shape)
    if tuple(right.shape[:-2]) != batches:
        raise NotImplementedError(
            f"{name}() of a sparse tensor of shape {list(left.shape)} and a dense one of shape {list(right.shape)}: "
            "batches of sparse matrices do not broadcast; expand the sparse tensor by stack(), or use to_dense()"
        )
    places, values = matrix_of(payload)
    return product(places, values, right.flatten(0, -2)).reshape(*batches, left.shape[-2], right.shape[-1])


def _of_both(name: str, left: Payload, right: Payload) -> Payload:
    if len(left.size) != 2 or len(right.size) != 2:
        raise NotImplementedError(
            f"{name}() of two sparse tensors takes matrices without batches; use to_dense() of one"
        )
    (first, values), (second, others) = matrix_of(left), matrix_of(right)
    starts, columns, sums = kernels.csr_product(
        (first.starts, first.columns, values), (second.starts, second.columns, others), second.width
    )
    size = (left.size[0], right.size[1])
    if left.layout in COMPRESSED and right.layout in COMPRESSED:
        return Compressed(sparse_csr, starts, columns, sums, size)
    return Coordinates(ops.stack([kernels.expand(starts, columns.size(0)), columns]), sums, size, True)


# ---- what only `opweave.sparse` has -----------------------------------------------------------------------------


def sampled_sum(base: Any, left: Any, right: Any, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta * base + alpha * (left @ right) at the places of the sparse tensor `base`."""
    payload = base._sparse
    if left.dtype is not base.dtype or right.dtype is not base.dtype:
        raise RuntimeError(
            f"sampled_addmm: Expected mat1 and mat2 to have the dtype of the input ({base.dtype}), but got "
            f"{left.dtype} and {right.dtype}"
        )
    expected = (*base.shape[:-1], left.shape[-1]), (*base.shape[:-2], left.shape[-1], base.shape[-1])
    if (tuple(left.shape), tuple(right.shape)) != expected:
        raise RuntimeError(
            f"sampled_addmm: expected matrices whose product has the shape {list(base.shape)}, but got shapes "
            f"{list(left.shape)} and {list(right.shape)}"
        )
    places, values = matrix_of(payload)
    found = sampled(places, left.flatten(0, -2), right.transpose(-2, -1).flatten(0, -2))
    sums = found * alpha if beta == 0 else values * beta + found * alpha
    if payload.layout is sparse_csr:
        return made(payload.with_values(sums.reshape(payload.values.shape)))
    result = coalesced(as_coordinates(payload)).with_values(sums)
    if isinstance(payload, Compressed):
        return made(compressed(result, payload.layout, payload.blocksize))
    return made(result)


_REDUCTIONS = ("sum", "mean", "amax", "amin")


def reduced_product(left: Any, right: Any, reduce: str) -> Any:
    """The product in which the terms of each element are reduced by something else than their sum."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.")
    if not is_sparse(left) or is_sparse(right):
        raise RuntimeError("sparse.mm(reduce=) takes a sparse matrix and a dense one")
    _check_shapes("sparse.mm", left, right)
    if reduce == "sum":
        return matmul("sparse.mm", left, right)
    places, values = matrix_of(left._sparse)
    terms = right.index_select(0, places.columns.to(EXPORTS["int64"])) * values.unsqueeze(1)
    zeros = terms.new_zeros((left.shape[0], right.shape[1]))
    return ops.index_reduce(zeros, 0, places.rows, terms, reduce, include_self=False)
