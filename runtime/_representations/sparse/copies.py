"""Operators that copy or compare tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..._base.devices import META, available, has_values
from ..._base.errors import no_values
from ..._base.tensor_class import Tensor
from ..._base.types import sparse_coo
from ..._dispatch.dispatcher import call
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from .convert import as_coordinates, coalesced, to_dense
from .elementwise import spread, union
from .factories import named, without_elements, zeros
from .payload import Coordinates, Payload, scalar_name
from .results import kind_of
from .tensor import is_sparse, made, replace_payload

__all__: list[str] = []


def _each(payload: Payload, function: Any) -> Payload:
    """The payload with all its tensors replaced by what a function makes of them."""
    names = ("indices", "values") if isinstance(payload, Coordinates) else ("starts", "places", "values")
    return replace(payload, **{name: function(getattr(payload, name)) for name in names})


def clone(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return a copy in the layout of the tensor."""
    return made(_each(args[0]._sparse, lambda part: part.clone()))


def detach(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return the tensor without its history; it shares the values."""
    if mode == INPLACE:
        return args[0].detach_()
    return made(args[0]._sparse.with_values(args[0]._sparse.values.detach()))


def pin(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return the tensor with its indices and values in pinned memory."""
    return made(_each(args[0]._sparse, lambda part: part.pin_memory(args[1])))


def conj(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Return the conjugate, or a real tensor itself."""
    tensor = args[0]
    return made(tensor._sparse.with_values(tensor._sparse.values.conj())) if tensor.is_complex() else tensor


def to_copy(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Values of another dtype, or the tensor on another device."""
    tensor, dtype, device = args[0], named(op, args, "dtype"), named(op, args, "device")
    payload = tensor._sparse
    where = None if device is None else available(device)
    if where is not None and tensor.device != where:
        if not has_values(tensor):
            raise no_values()
        return made(_described(payload, dtype or tensor.dtype))
    return made(_each(payload.with_values(payload.values.to(dtype or tensor.dtype)), lambda part: part.clone()))


def _described(payload: Payload, dtype: Any) -> Payload:
    """The same without elements, on the device `meta`: how many there are is no part of a description."""
    if isinstance(payload, Coordinates):
        return zeros(payload.size, sparse_coo, dtype, META, payload.dense_dim)
    parts = payload.places[..., :0], payload.values.narrow(payload.batch_dim, 0, 0).to(dtype)
    return _each(replace(payload, places=parts[0], values=parts[1]), lambda part: part.to(META))


def copy_(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Overwrites a tensor by one of the same layout."""
    target, source = args[:2]
    if not (is_sparse(target) and is_sparse(source)):
        if isinstance(source, Tensor):
            found = source.type() if isinstance(source, Tensor) else type(source).__name__
            raise RuntimeError(
                "copy_() between dense and sparse Tensors is not implemented! Found self type = "
                f"{target.type()} and src type = {found}; use to_dense() or to_sparse()"
            )
        raise NotImplementedError(f"copy_() of a number to a tensor of layout {kind_of(target)} is not implemented")
    if target.layout is not source.layout:
        raise RuntimeError(
            "opweave.copy_: copy of sparse tensors having different layouts is not supported. self layout is "
            f"{scalar_name(target.layout)} and src layout is {scalar_name(source.layout)}"
        )
    if target.shape != source.shape:
        raise RuntimeError(
            f"copy_(): expected a tensor of shape {list(target.shape)}, but got one of shape {list(source.shape)}"
        )
    copied = _each(source._sparse.with_values(source._sparse.values.to(target.dtype)), lambda part: part.clone())
    return replace_payload(target, copied)


def zero_(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """No element is in memory any longer."""
    return replace_payload(args[0], without_elements(args[0]._sparse, args[0].dtype))


# ---- comparisons ----------------------------------------------------------------------------------------------


def _as_pair(one: Any, other: Any) -> tuple[Any, Any]:
    """The values of two tensors at the places of both; of a sparse and a dense tensor all elements."""
    if not (is_sparse(one) and is_sparse(other)):
        return tuple(to_dense(each._sparse) if is_sparse(each) else each for each in (one, other))

    found = [coalesced(as_coordinates(each._sparse)) for each in (one, other)]
    if found[0].dense_dim != found[1].dense_dim:
        return to_dense(found[0]), to_dense(found[1])
    places = union(found)
    return spread(found[0], places), spread(found[1], places)


def compare(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """`equal` and `allclose`: elements that are not in memory are zeros."""
    one, other = args[:2]
    if not isinstance(other, Tensor) or not isinstance(one, Tensor) or one.shape != other.shape:
        if op is ops.equal.op and isinstance(one, Tensor) and isinstance(other, Tensor):
            return False
        raise RuntimeError(
            f"{op.name}(): expected two tensors of the same shape, but got {one.shape} and {other.shape}"
        )
    return call(op, [*_as_pair(one, other), *args[2:]], None, NEW)


def item(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The only element."""
    if args[0].numel() != 1:
        raise RuntimeError(f"a Tensor with {args[0].numel()} elements cannot be converted to Scalar")
    return to_dense(args[0]._sparse).item()
