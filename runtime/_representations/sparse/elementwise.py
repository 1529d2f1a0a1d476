"""Elementwise operators: what an operator makes of zeros says which elements of its result are in memory.

The operator itself is asked. It is called with zeros and other numbers in place of the tensors, with the parameters and
in the dtypes of the call, and what is found decides:

* f(0) = 0: the operator is called with the values alone.
* f(0, 0) = 0 of sparse tensors: with the values of both at all places of either, or where f(0, y) = f(x, 0) = 0 at the
  places of both.
* f(0, y) = 0 beside a dense tensor: with the values and the dense elements at their places.
* f(x, 0) = x beside a dense tensor: only the elements at these places change.
* Else the result is dense, which is right where the other tensor is dense, and an error where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.shapes import broadcast_shapes
from ..._base.tensor_class import Tensor
from ..._dispatch.dispatcher import call
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from .convert import as_coordinates, coalesced, compressed, to_dense
from .kernels import coo_sorted, coordinates, linear
from .masking import values_at
from .payload import Compressed, Coordinates, Payload
from .probe import Probe
from .results import deliver, unsupported
from .tensor import is_sparse

__all__ = ["handle", "spread", "union"]


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer an elementwise call with sparse tensors."""
    sparse = [place for place, each in enumerate(args) if is_sparse(each)]
    dense = [place for place, each in enumerate(args) if isinstance(each, Tensor) and each.ndim and place not in sparse]
    if not sparse:
        return _to_out(op, args, out, mode)
    payloads = [args[place]._sparse for place in sparse]
    if not dense and len(sparse) == 1:
        return _of_one(op, args, out, mode, sparse[0], payloads[0])
    if not dense:
        return deliver(op, _of_several(op, args, sparse, payloads), args, out, mode)
    if len(sparse) == len(dense) == 1:
        return _beside_dense(op, args, out, mode, sparse[0], dense[0])
    return _dense(op, args, out, mode, sparse, dense)


def _to_out(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Sparse is the tensor alone that a dense result is to be written to."""
    return deliver(op, call(op, args, None, NEW), args, out, mode)


# ---- one sparse tensor ----------------------------------------------------------------------------------------


def _of_one(op: Op, args: Sequence[Any], out: Any, mode: int, place: int, payload: Payload) -> Any:
    probe = Probe(op, args, [place])
    if not probe.of_zeros():
        unsupported(op, args, "its result is not zero where the tensor is")
    if isinstance(payload, Coordinates) and not payload.is_coalesced and not probe.is_linear():
        payload = coalesced(payload)
    given = list(args)
    given[place] = payload.values
    if mode == INPLACE and place == op.target and payload.values.dtype is args[place].dtype:
        call(op, given, None, INPLACE)
        args[place]._sparse = payload
        return args[place]
    return deliver(op, payload.with_values(call(op, given, None, NEW)), args, out, mode)


# ---- several --------------------------------------------------------------------------------------------------


def _of_several(op: Op, args: Sequence[Any], places: Sequence[int], payloads: Sequence[Payload]) -> Payload:
    probe = Probe(op, args, places)
    if not probe.of_zeros():
        unsupported(op, args, "its result is not zero where both tensors are")
    _check_alike(op, payloads)
    first = payloads[0]
    if all(_is_same_pattern(first, other) for other in payloads[1:]):
        return _joined(op, args, places, first, [each.values for each in payloads])
    found = [coalesced(as_coordinates(each)) for each in payloads]
    base = found[0]
    if len(places) == 2 and probe.is_zero_beside(0) and probe.is_zero_beside(1):
        common = _common(base, found[1])
        values = [_values_at_rows(each, common, base) for each in found]
        result = _joined(op, args, places, Coordinates(common, values[0], base.size, True), values)
    else:
        everywhere = union(found)
        values = [spread(each, everywhere) for each in found]
        result = _joined(op, args, places, Coordinates(everywhere, values[0], base.size, True), values)
    if all(isinstance(each, Compressed) and each.layout is first.layout for each in payloads):
        assert isinstance(first, Compressed)
        assert isinstance(result, Coordinates)
        if not first.batch_dim:
            return compressed(result, first.layout, first.blocksize)
    return result


def _check_alike(op: Op, payloads: Sequence[Payload]) -> None:
    first = payloads[0]
    for other in payloads[1:]:
        if first.size != other.size:
            raise RuntimeError(
                f"{op.name}(): expected sparse tensors of the same size, but got {list(first.size)} and "
                f"{list(other.size)} (sparse tensors do not broadcast)"
            )
        if first.dense_dim != other.dense_dim:
            sparse = [len(each.size) - each.dense_dim for each in (first, other)]
            raise RuntimeError(
                f"{op.name}: expected 'self' and 'other' to have same density, but 'self' has {sparse[0]} sparse "
                f"dimensions while 'other' has {sparse[1]} sparse dimensions"
            )


def _is_same_pattern(one: Payload, other: Payload) -> bool:
    if isinstance(one, Coordinates) and isinstance(other, Coordinates):
        return one.is_coalesced and other.is_coalesced and one.indices is other.indices
    if isinstance(one, Compressed) and isinstance(other, Compressed):
        same = one.starts is other.starts and one.places is other.places
        return same and one.layout is other.layout and one.values.shape == other.values.shape
    return False


def _joined(op: Op, args: Sequence[Any], places: Sequence[int], pattern: Payload, values: Sequence[Any]) -> Payload:
    given = list(args)
    for place, each in zip(places, values, strict=True):
        given[place] = each
    return pattern.with_values(call(op, given, None, NEW))


def _common(one: Coordinates, other: Coordinates) -> Any:
    """The places that are in both, sorted."""
    sizes = one.size[: one.sparse_dim]
    places, others = linear(one.indices, sizes), linear(other.indices, sizes)
    if not others.numel():
        return one.indices[:, :0]
    at = ops.searchsorted(others, places).clamp(max=others.size(0) - 1)
    return one.indices[:, (others.index_select(0, at) == places)]


def _values_at_rows(found: Coordinates, indices: Any, like: Coordinates) -> Any:
    """The values at places that are all among its own."""
    sizes = like.size[: like.sparse_dim]
    at = ops.searchsorted(linear(found.indices, sizes), linear(indices, sizes))
    return found.values.index_select(0, at)


def union(found: Sequence[Coordinates]) -> Any:
    """Return the coordinates at which one of the tensors has an element."""
    sizes = found[0].size[: found[0].sparse_dim]
    _, unique, _ = coo_sorted(ops.cat([each.indices for each in found], 1), sizes)
    return coordinates(unique, sizes)


def spread(found: Coordinates, places: Any) -> Any:
    """The values at all places of a union, with zeros where there are none."""
    sizes = found.size[: found.sparse_dim]
    values = found.values
    at = ops.searchsorted(linear(places, sizes), linear(found.indices, sizes))
    return ops.index_copy(values.new_zeros((places.size(1), *values.shape[1:])), 0, at, values)


# ---- beside a dense tensor ------------------------------------------------------------------------------------


def _beside_dense(op: Op, args: Sequence[Any], out: Any, mode: int, place: int, other: int) -> Any:
    payload, tensor = args[place]._sparse, args[other]
    probe = Probe(op, args, sorted((place, other)))
    zero = int(place > other)
    shape = broadcast_shapes(payload.size, tuple(tensor.shape))
    writes_dense = mode == INPLACE and other == op.target
    if tuple(shape) == payload.size and not writes_dense and probe.is_zero_beside(zero):
        if isinstance(payload, Coordinates):
            payload = coalesced(payload)
        given = list(args)
        given[place], given[other] = payload.values, values_at(tensor.expand(shape), payload)
        return deliver(op, payload.with_values(call(op, given, None, NEW)), args, out, mode)
    stays = payload.size == tuple(shape) and out is None and (mode != INPLACE or writes_dense)
    if stays and probe.is_other_beside(zero):
        return _at_places(op, args, mode, place, other, payload)
    return _dense(op, args, out, mode, [place], [other])


def _dense(op: Op, args: Sequence[Any], out: Any, mode: int, sparse: Sequence[int], dense: Sequence[int]) -> Any:
    """The call with all elements of the sparse tensors, where a tensor in memory has the shape of the result."""
    shape = tuple(broadcast_shapes(*[tuple(args[place].shape) for place in (*sparse, *dense)]))
    if shape not in [tuple(args[place].shape) for place in dense]:
        unsupported(op, args, f"its result is dense and has the shape {list(shape)}, which no tensor in memory has")
    given = [to_dense(each._sparse) if place in sparse else each for place, each in enumerate(args)]
    if mode == INPLACE and op.target in dense:
        return call(op, given, None, INPLACE)
    return deliver(op, call(op, given, None, NEW), args, out, mode)


def _at_places(op: Op, args: Sequence[Any], mode: int, place: int, other: int, payload: Payload) -> Any:
    """f(x, 0) = x: the elements at the places of the sparse tensor are the operator's results, the others stay."""
    tensor, found = args[other], coalesced(as_coordinates(payload))
    given = list(args)
    if not found.sparse_dim:
        given[place] = to_dense(found)
        return call(op, given, None, mode)
    indices = list(found.indices.unbind(0))
    given[place], given[other] = found.values, ops.index(tensor, indices)
    values = call(op, given, None, NEW)
    if mode == INPLACE:
        return ops.index_put_(tensor, indices, values.to(tensor.dtype))
    return ops.index_put(tensor.to(values.dtype), indices, values)
