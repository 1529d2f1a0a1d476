"""Methods of Tensor about layouts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from ..._base.dtypes import EXPORTS
from ..._base.handles import integer, integers, is_integer, type_name
from ..._base.tensor_class import Tensor
from ..._base.types import layout as layout_class
from ..._base.types import sparse_coo, strided
from ..._handle import alias
from .convert import as_coordinates, coalesced, compressed, from_dense
from .convert import to_dense as dense_of
from .factories import zeros
from .history import seen_as
from .invariants import check_coordinates
from .masking import masked
from .payload import BLOCKED, Compressed, Coordinates, scalar_name
from .tensor import check_size, is_sparse, made, replace_payload

# ---- conversions ----------------------------------------------------------------------------------------------


def to_dense(tensor: Any, dtype: Any) -> Any:
    """Return the dense tensor with the same elements, of another dtype if that is given."""
    dense = seen_as("ToDenseBackward0", dense_of(tensor._sparse)) if is_sparse(tensor) else tensor
    return dense if dtype is None else dense.to(dtype)


def converted(
    tensor: Any, what: str, layout: Any, sparse_dim: int | None, blocksize: Any, dense_dim: int | None
) -> Any:
    """The tensor in another layout."""
    if not isinstance(layout, layout_class):
        raise TypeError(f"{what}(): argument 'layout' must be opweave.layout, not {type_name(layout)}")
    for name, count in (("sparse_dim", sparse_dim), ("dense_dim", dense_dim)):
        if count is not None:
            integer(what, name, count)
    source = scalar_name(tensor.layout)
    if layout is sparse_coo:
        return _to_coordinates(tensor, what, source, sparse_dim)
    if sparse_dim is not None:
        raise RuntimeError(
            f"{what}: argument 'sparse_dim' is for layout {sparse_coo!r} alone, but got layout {layout!r}"
        )
    blocks = _blocksize(tensor, what, source, layout, blocksize)
    if is_sparse(tensor):
        return _between(tensor, what, layout, blocks, dense_dim)
    count = 0 if dense_dim is None else dense_dim
    limit = max(tensor.ndim - 2, 0)
    if not 0 <= count <= limit:
        raise RuntimeError(f"dense_{what}: dense_dim argument must be in [0,{limit}] range, but {count} is given")
    if tensor.ndim < 2:
        raise IndexError(
            f"{what}(): expected a tensor with at least 2 dimensions, but got one with {tensor.ndim}; "
            f"layout {sparse_coo!r} takes any"
        )
    return made(compressed(from_dense(tensor, tensor.ndim - count), layout, blocks, f"dense_{what}"))


def _to_coordinates(tensor: Any, what: str, source: str, sparse_dim: int | None) -> Any:
    if is_sparse(tensor):
        if sparse_dim is not None and sparse_dim != tensor._sparse.sparse_dim:
            raise RuntimeError(
                f"{what}: conversion from {source} to Sparse with sparse_dim argument !=self.sparse_dim() is not "
                f"supported: got {sparse_dim}, and self.sparse_dim() is {tensor._sparse.sparse_dim}"
            )
        return tensor if tensor.layout is sparse_coo else made(as_coordinates(tensor._sparse))
    count = tensor.ndim if sparse_dim is None else sparse_dim
    if not 0 <= count <= tensor.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{tensor.ndim}] range, but {count} is given"
        )
    if not count and tensor.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return made(from_dense(tensor, count))


def _blocksize(tensor: Any, what: str, source: str, layout: layout_class, blocksize: Any) -> tuple[int, int] | None:
    if layout not in BLOCKED:
        if blocksize is not None:
            raise RuntimeError(
                f"{what}: conversion from {source} to {scalar_name(layout)} with blocksize argument given is not "
                "supported"
            )
        return None
    if blocksize is None:
        if is_sparse(tensor) and tensor.layout in BLOCKED:
            return tensor._sparse.blocksize  # type: ignore[no-any-return]
        raise RuntimeError(
            f"dense_to_sparse: conversion from {source} to {scalar_name(layout)} without blocksize argument given is "
            "not supported"
        )
    sizes = integers(what, "blocksize", (blocksize,))
    if len(sizes) != 2 or min(sizes) < 1:
        raise RuntimeError(f"{what}: expected a blocksize of two positive numbers, but got {list(sizes)}")
    return sizes[0], sizes[1]


def _between(tensor: Any, what: str, layout: layout_class, blocksize: Any, dense_dim: int | None) -> Any:
    payload = tensor._sparse
    if dense_dim is not None and dense_dim != payload.dense_dim:
        raise RuntimeError(
            f"{what}: conversion from {scalar_name(payload.layout)} to {scalar_name(layout)} with dense_dim argument "
            f"!=self.dense_dim() is not supported: got {dense_dim}, and self.dense_dim() is {payload.dense_dim}"
        )
    if payload.layout is layout and (blocksize is None or payload.blocksize == blocksize):
        return tensor
    if isinstance(payload, Coordinates) and payload.sparse_dim != 2:
        raise RuntimeError(
            f"Only tensors with two sparse dimensions can be converted to the {scalar_name(layout)} layout, got self "
            f"with {payload.sparse_dim} sparse dimensions"
        )
    return made(compressed(as_coordinates(payload), layout, blocksize, what))


def rows(places: Any, values: Any, shape: Any) -> Any:
    """The tensor whose rows, at these places, are the values."""
    found = places.to(EXPORTS["int64"]).unsqueeze(0)
    return made(Coordinates(found, values, tuple(shape), values.size(0) < 2))


def sparse_mask(tensor: Any, mask: Any) -> Any:
    """Return the elements of the tensor at the places of a sparse mask. Raises TypeError, NotImplementedError and
    RuntimeError for other masks."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"sparse_mask(): argument 'mask' (position 1) must be Tensor, not {type_name(mask)}")
    if not is_sparse(mask):
        raise NotImplementedError(
            "sparse_mask(): expected a mask of a sparse layout, but got a dense one; use to_sparse()"
        )
    if tensor.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(tensor.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    return made(masked(tensor, mask._sparse))


# ---- parts ----------------------------------------------------------------------------------------------------


def _refuse(tensor: Any, what: str, expected: str) -> NoReturn:
    raise RuntimeError(f"{what} expected sparse {expected}tensor layout but got {scalar_name(tensor.layout)}")


def _coordinates(tensor: Any, what: str) -> Coordinates:
    if tensor.layout is not sparse_coo:
        _refuse(tensor, what, "coordinate ")
    return tensor._sparse  # type: ignore[no-any-return]


def _check_coalesced(tensor: Any, what: str) -> None:
    if not tensor._sparse.is_coalesced:
        raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


def indices(tensor: Any) -> Any:
    """Return the indices (sparse_dim, nnz). Raises RuntimeError for other layouts and tensors that are not
    coalesced."""
    found = _coordinates(tensor, "indices")
    _check_coalesced(tensor, "indices")
    return alias(found.indices)


def values(tensor: Any) -> Any:
    """Return the values. Raises RuntimeError for dense tensors and tensors that are not coalesced."""
    if tensor.layout is strided:
        _refuse(tensor, "values", "")
    if tensor.layout is sparse_coo:
        _check_coalesced(tensor, "values")
    return seen_as("ValuesBackward0", tensor._sparse.values)


def raw(tensor: Any, what: str, name: str) -> Any:
    """A part of a tensor by coordinates, coalesced or not, without history."""
    if tensor.layout is not sparse_coo:
        raise NotImplementedError(
            f"{what}() is for tensors of layout {sparse_coo!r}, but got one of layout {tensor.layout!r}"
        )
    return alias(getattr(tensor._sparse, name))


def part(tensor: Any, name: str) -> Any:
    """Indices of a compressed tensor."""
    payload = tensor._sparse if is_sparse(tensor) else None
    if not isinstance(payload, Compressed) or name not in payload.names:
        by_rows = name in ("crow_indices", "col_indices")
        _refuse(tensor, name, f"{'row' if by_rows else 'column'} compressed ")
    return alias(payload.starts if name == payload.names[0] else payload.places)


def nnz(tensor: Any) -> int:
    """Return the number of elements in memory. Raises NotImplementedError for dense tensors."""
    if not is_sparse(tensor):
        raise NotImplementedError("_nnz() is for sparse tensors, but got a dense one; use count_nonzero()")
    return tensor._sparse.nnz  # type: ignore[no-any-return]


def coalesce(tensor: Any) -> Any:
    """Return the tensor with sorted places, each of which occurs once. Raises errors for other layouts."""
    found = _coordinates(tensor, "coalesce")
    return tensor if found.is_coalesced else made(coalesced(found))


def is_coalesced(tensor: Any) -> bool:
    """Return True if the tensor is known to be coalesced. Raises errors for other layouts."""
    return _coordinates(tensor, "is_coalesced").is_coalesced


def set_coalesced(tensor: Any, flag: bool) -> Any:
    """Mark a tensor as coalesced, or as one that may not be."""
    found = replace(_coordinates(tensor, "_coalesced_"), is_coalesced=bool(flag))
    if flag:
        check_coordinates(found)
    return replace_payload(tensor, found)


def resize(tensor: Any, size: Any, sparse_dim: int, dense_dim: int, clear: bool = False) -> Any:
    """Gives a tensor by coordinates another shape."""
    found = _coordinates(tensor, "sparse_resize_")
    sizes = integers("sparse_resize_", "size", (size,))
    if not is_integer(sparse_dim) or not is_integer(dense_dim):
        raise TypeError("sparse_resize_(): arguments 'sparse_dim' and 'dense_dim' must be ints")
    if sparse_dim + dense_dim != len(sizes) or min(sparse_dim, dense_dim) < 0:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(sizes)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    check_size(sizes)
    if clear or not found.nnz:
        empty = zeros(sizes, sparse_coo, tensor.dtype, tensor.device, dense_dim)
        return replace_payload(tensor, empty)
    if (sparse_dim, dense_dim) != (found.sparse_dim, found.dense_dim):
        raise RuntimeError(
            f"changing the number of sparse and dense dimensions (from {found.sparse_dim} and {found.dense_dim} to "
            f"{sparse_dim} and {dense_dim}) on a non-empty sparse tensor is not supported"
        )
    for kind, dims in (("sparse", slice(0, sparse_dim)), ("dense", slice(sparse_dim, None))):
        if any(new < old for new, old in zip(sizes[dims], found.size[dims], strict=True)):
            raise RuntimeError(
                f"shrinking the size of {kind} dimensions (from {list(found.size[dims])} to {list(sizes[dims])}) on a "
                "non-empty sparse tensor is not supported"
            )
    enlarged = found.values
    if sizes[sparse_dim:] != found.size[sparse_dim:]:
        enlarged = enlarged.new_zeros((found.nnz, *sizes[sparse_dim:]))
        enlarged[tuple(slice(0, n) for n in found.values.shape)] = found.values
    return replace_payload(tensor, Coordinates(found.indices, enlarged, sizes, found.is_coalesced))
