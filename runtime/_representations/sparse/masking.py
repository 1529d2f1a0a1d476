"""The elements of one tensor at the places of another."""

from __future__ import annotations

from typing import Any

from ..._dispatch.ops import ops
from .convert import as_coordinates, coalesced, element_places
from .kernels import linear
from .payload import Compressed, Coordinates, Payload
from .tensor import is_sparse

__all__ = ["masked", "values_at"]


def values_at(tensor: Any, payload: Payload) -> Any:
    """The elements of a tensor of the same shape, in the shape of the payload's values; zeros where it has none."""
    if is_sparse(tensor):
        own = tensor._sparse
        if _has_same_places(own, payload):
            return own.values
        found = _found_at(coalesced(as_coordinates(own)), payload)
    else:
        places = element_places(payload)
        dense = tensor.ndim - places.size(0)
        if not places.size(0):
            found = tensor.expand(payload.nnz, *tensor.shape)
        else:
            found = ops.index(tensor, list(places.unbind(0)))
        assert dense == payload.dense_dim
    return found.reshape(payload.values.shape)


def _has_same_places(one: Payload, other: Payload) -> bool:
    if isinstance(one, Coordinates) and isinstance(other, Coordinates):
        same_flags = one.is_coalesced and other.is_coalesced
        return same_flags and (one.indices is other.indices or bool(ops.equal(one.indices, other.indices)))
    if isinstance(one, Compressed) and isinstance(other, Compressed) and one.layout is other.layout:
        return one.starts is other.starts and one.places is other.places
    return False


def _found_at(own: Coordinates, payload: Payload) -> Any:
    """Return the elements by coordinates, by search among their sorted places."""
    dims = len(payload.size) - payload.dense_dim
    if own.sparse_dim != dims:
        raise RuntimeError(
            f"expected a tensor with {dims} sparse dimensions, as the other has, but got one with {own.sparse_dim}; "
            "convert it with to_dense()"
        )
    sizes = payload.size[:dims]
    wanted, there = linear(element_places(payload), sizes), linear(own.indices, sizes)
    if not there.numel():
        return own.values.new_zeros((wanted.size(0), *own.values.shape[1:]))
    at = ops.searchsorted(there, wanted).clamp(max=there.size(0) - 1)
    found = there.index_select(0, at) == wanted
    values = own.values.index_select(0, at)
    return ops.where(found.reshape(-1, *(1,) * payload.dense_dim), values, values.new_zeros(()))


def masked(tensor: Any, payload: Payload) -> Payload:
    """The elements of a tensor at these places."""
    return payload.with_values(values_at(tensor, payload))
