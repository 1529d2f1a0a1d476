"""Operators that make tensors of nothing: those that are zero but for a few elements, and the refusal of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.dtypes import EXPORTS, get_default_dtype
from ..._base.dtypes import dtype as dtype_class
from ..._base.pinning import pinned_result
from ..._base.tensor_class import Tensor
from ..._base.types import layout as layout_class
from ..._base.types import sparse_coo, strided
from ..._dispatch.dispatcher import call
from ..._dispatch.op import Op
from ..._dispatch.ops import ops
from .convert import as_coordinates, compressed
from .payload import BLOCKED, Compressed, Coordinates, Payload, scalar_name
from .results import deliver, unsupported
from .tensor import is_sparse

__all__ = ["eye", "make_zeros", "named", "refuse", "without_elements", "zeros"]


def named(op: Op, args: Sequence[Any], name: str) -> Any:
    """Return the argument of this name, or None if the operator has none."""
    return args[op.names.index(name)] if name in op.names else None


def zeros(size: tuple[int, ...], layout: layout_class, dtype: Any, device: Any, dense_dim: int = 0) -> Payload:
    """A tensor none of whose elements is in memory."""
    options = {"dtype": dtype, "device": device}
    indices = {"dtype": EXPORTS["int64"], "device": device}
    if layout is sparse_coo:
        count = len(size) - dense_dim
        return Coordinates(ops.zeros((count, 0), **indices), ops.zeros((0, *size[count:]), **options), size, True)
    if layout in BLOCKED:
        raise RuntimeError(
            "zeros_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
            f"{scalar_name(layout)}"
        )
    if len(size) < 2:
        raise RuntimeError(
            "opweave.empty: Only batched sparse compressed (non-block) tensors are supported, but got size "
            f"{list(size)}"
        )
    batches, lines = size[:-2], size[-2] if "Csr" in scalar_name(layout) else size[-1]
    starts, places = ops.zeros((*batches, lines + 1), **indices), ops.zeros((*batches, 0), **indices)
    return Compressed(layout, starts, places, ops.zeros((*batches, 0), **options), size)


def make_zeros(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return a sparse tensor without elements, in the layout of the call."""
    result = _zeros(op, args, out, mode)
    return pinned_result(result) if named(op, args, "pin_memory") and out is None else result


def _zeros(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """`zeros` and `empty`, `zeros_like` and `empty_like`, `new_zeros` and `new_empty` with a sparse result."""
    like: Any = args[0] if isinstance(args[0], Tensor) else None
    layout = named(op, args, "layout")
    if layout is None:
        layout = sparse_coo if like is None else like.layout
    size = named(op, args, "size")
    size = tuple(like.shape if size is None else [size] if isinstance(size, int) else size)
    dtype = named(op, args, "dtype")
    dtype = (
        dtype_class.resolve(dtype, op.name)
        if dtype is not None
        else (like.dtype if like is not None else get_default_dtype())
    )
    device = named(op, args, "device")
    device = device if device is not None or like is None else like.device
    if layout is strided:
        return ops.zeros(size, dtype=dtype, device=device)
    dense_dim = like._sparse.dense_dim if is_sparse(like) and "size" not in op.names else 0
    if is_sparse(like) and "size" not in op.names and {like.layout, layout} <= set(BLOCKED):
        return deliver(op, without_elements(like._sparse, dtype, layout), args, out, mode)
    return deliver(op, zeros(size, layout, dtype, device, dense_dim), args, out, mode)


def refuse(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Refuse a call that would fill all elements."""
    if named(op, args, "layout") is strided and isinstance(args[0], Tensor):
        described = ops.empty(args[0].shape, dtype=args[0].dtype, device=args[0].device)
        return call(op, [described, *args[1:]], out, mode)
    unsupported(op, args, "its result has no zeros")


def eye(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The identity, with its diagonal in memory."""
    height, width = args[0], args[0] if args[1] is None else args[1]
    layout, count = named(op, args, "layout"), max(min(height, width), 0)
    places = ops.arange(count, dtype=EXPORTS["int64"], device=named(op, args, "device"))
    dtype = named(op, args, "dtype")
    values = ops.ones(count, dtype=dtype, device=places.device)
    found = Coordinates(ops.stack([places, places]), values, (height, width), True)
    return deliver(op, found if layout is sparse_coo else compressed(found, layout, (1, 1)), args, out, mode)


def without_elements(payload: Payload, dtype: Any, layout: layout_class | None = None) -> Payload:
    """Return a payload of the same size without elements."""
    found = as_coordinates(payload)
    none = Coordinates(found.indices[:, :0], found.values[:0].to(dtype), found.size, True)
    return none if isinstance(payload, Coordinates) else compressed(none, layout or payload.layout, payload.blocksize)
