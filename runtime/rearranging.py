"""Copies of tensors in another order or several times, for the composites `flip`, `roll`, `repeat` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._C import lib
from .arrays import array_of, tensor_of
from .errors import raise_pending
from .handles import integers, wrap
from .joining import joined
from .shapes import wrap_dim

__all__ = ["at_least", "flipped", "listed", "repeated", "repeated_elements", "repeated_places", "rolled", "turned"]


def listed(function: str, name: str, values: Any) -> tuple[int, ...]:
    """A list of integers, which may be given as one integer."""
    return integers(function, name, (values,))


def at_least(tensor: Any, ndim: int) -> Any:
    if tensor.ndim < ndim:
        raise RuntimeError(f"Input must be >= {ndim}-d.")
    return tensor


def flipped(tensor: Any, dims: Sequence[int]) -> Any:
    """A copy that runs backwards along `dims`."""
    places = [wrap_dim(dim, tensor.ndim) for dim in dims]
    for place in places:
        if places.count(place) > 1:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")
    result = wrap(lib.empty_like(tensor._h, -1, 0), tensor)
    if not tensor.numel():
        return result
    sizes, strides, offset = tensor.shape, list(tensor.stride()), tensor.storage_offset()
    for place in places if sizes else ():
        offset += (sizes[place] - 1) * strides[place]
        strides[place] = -strides[place]
    backwards = wrap(lib.as_strided(tensor._h, sizes, strides, len(sizes), offset, -1))
    if not lib.copy_(result._h, backwards._h):
        raise_pending()
    return result


def rolled(tensor: Any, shifts: Any, dims: Any) -> Any:
    """Elements moved along dimensions; those that leave at the end come in at the start."""
    shifts, dims = listed("roll", "shifts", shifts), listed("roll", "dims", dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return rolled(tensor.reshape(-1), shifts, (0,)).view(tensor.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    places = [wrap_dim(dim, tensor.ndim) for dim in dims]
    if not tensor.numel():
        return tensor.clone()
    for shift, place in zip(shifts, places, strict=True):
        size = tensor.size(place)
        start = -shift % size
        parts = [tensor.narrow(place, start, size - start), tensor.narrow(place, 0, start)]
        tensor = joined(parts, place, False)
    return tensor


def turned(tensor: Any, k: int, dims: Sequence[int]) -> Any:
    """A copy, turned by k quarters in the plane of two dimensions."""
    ndim = tensor.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    first, second = (wrap_dim(dim, ndim) for dim in dims)
    k %= 4
    if k == 1:
        return tensor.flip((second,)).transpose(first, second)
    if k == 2:
        return tensor.flip((first, second))
    return tensor.flip((first,)).transpose(first, second) if k == 3 else tensor.clone(memory_format=None)


def repeated(tensor: Any, repeats: Sequence[int]) -> Any:
    """The tensor that many times along each dimension; further dimensions stand in front."""
    new = len(repeats) - tensor.ndim
    if new < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    sizes = (1,) * new + tensor.shape
    shape = [count * size for count, size in zip(repeats, sizes, strict=True)]
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {shape}")
        if size >= 2**63:
            raise RuntimeError("numel: integer multiplication overflow")
    result = tensor.new_empty(shape)
    if not result.numel():
        return result
    # A repeated dimension becomes two: copies, and positions in one of them.
    grid, source = [], []
    for count, size in zip(repeats, sizes, strict=True):
        if count != 1 and size != 1:
            grid += [count, size]
            source += [1, size]
        else:
            grid.append(count * size)
            source.append(size)
    result.view(grid).copy_(tensor.reshape(source))
    return result


def repeated_elements(tensor: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    """Each position along `dim` that many times; without `dim` the flattened tensor's."""
    if dim is None:
        tensor, dim = tensor.reshape(-1), 0
    dim = wrap_dim(dim, tensor.ndim)
    if not hasattr(repeats, "_h"):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        shape = list(tensor.shape) or [1]
        wide = tensor.reshape(shape).unsqueeze(dim + 1)
        shape.insert(dim + 1, repeats)
        result = tensor.new_empty(shape).copy_(wide)
        return result.view([*shape[:dim], shape[dim] * repeats, *shape[dim + 2 :]])
    size = tensor.size(dim) if tensor.ndim else 1
    counts = _counts(repeats)
    if counts.ndim and len(counts) not in (1, size):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {len(counts)} and input.size({dim}) = {size}"
        )
    total = counts.sum() * (size if len(counts) == 1 else 1)
    if output_size is not None and total != output_size:
        raise RuntimeError("allocated size does not match required size")
    array, of = array_of(tensor.contiguous()), tensor.dtype
    return tensor_of(array.repeat(counts, axis=dim if tensor.ndim else None), of)


def _counts(repeats: Any) -> Any:
    """As a NumPy array of at least one dimension, checked."""
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dtype.scalar_name not in ("Long", "Int"):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.scalar_name}'")
    counts = array_of(repeats.reshape(-1))
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return counts


def repeated_places(repeats: Any, output_size: int | None) -> Any:
    """Each position as many times as its element says."""
    counts = _counts(repeats)
    if output_size is not None and counts.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    import numpy

    return tensor_of(numpy.arange(len(counts)).repeat(counts).astype(counts.dtype), repeats.dtype)
