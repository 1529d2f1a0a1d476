"""Copies of tensors in another order or repeated, for the composites `flip`, `roll`, `repeat` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.devices import has_values
from .._base.handles import integers
from .._base.lazy_imports import load
from .._base.shapes import wrap_dim
from .numpy_bridge import array_of, tensor_of

__all__ = ["at_least", "listed", "repeated_elements", "repeated_positions", "turned"]


def listed(function: str, name: str, values: Any) -> tuple[int, ...]:
    """Return a list of integers, which may be given as one integer."""
    return integers(function, name, (values,))


def at_least(tensor: Any, ndim: int) -> Any:
    """Return the tensor. Raises RuntimeError if it has fewer dimensions."""
    if tensor.ndim < ndim:
        raise RuntimeError(f"Input must be >= {ndim}-d.")
    return tensor


def turned(tensor: Any, k: int, dims: Sequence[int]) -> Any:
    """Return a copy, rotated by k quarter turns in the plane of two dimensions."""
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


def repeated_elements(tensor: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    """Repeat each position along `dim`; without `dim` each element of the flattened tensor."""
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
    if repeats.ndim <= 1 and repeats.numel() not in (1, size):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {repeats.numel()} and input.size({dim}) = {size}"
        )
    _check_repeats(repeats)
    if not has_values(repeats):
        total = _known(output_size)
        return tensor.new_empty([*tensor.shape[:dim], total, *tensor.shape[dim + 1 :]] if tensor.ndim else [total])
    counts = _counts(repeats)
    total = _total(counts) * (size if len(counts) == 1 else 1)
    if output_size is not None and total != output_size:
        raise RuntimeError("allocated size does not match required size")
    # A result that does not fit in memory is refused before indices are read; rows without elements are not moved.
    sizes = [*tensor.shape[:dim], total, *tensor.shape[dim + 1 :]] if tensor.ndim else [total]
    room = tensor.new_empty(sizes)
    if not room.numel():
        return room
    array, dtype = array_of(tensor.contiguous()), tensor.dtype
    return tensor_of(array.repeat(counts, axis=dim if tensor.ndim else None), dtype)


def _total(counts: Any) -> int:
    """Return the sum of counts; raises if it exceeds 64 bits."""
    if not counts.size:
        return 0
    largest = int(counts.max())
    total = int(counts.sum()) if largest * counts.size < 2**63 else sum(counts.tolist())
    if total >= 2**63:
        raise RuntimeError(f"the repeats add up to {total}, more than 64 bits hold")
    return total


def _check_repeats(repeats: Any) -> None:
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.dtype.scalar_name not in ("Long", "Int"):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{repeats.dtype.scalar_name}'")


def _known(output_size: int | None) -> int:
    if output_size is None:
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    return output_size


def _counts(repeats: Any) -> Any:
    """Return the checked counts as a NumPy array with at least one dimension: a copy, so that no other thread changes
    it after the check.
    """
    counts = array_of(repeats.reshape(-1)).copy()
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return counts


def repeated_positions(repeats: Any, output_size: int | None) -> Any:
    """Return each position as often as its element says."""
    _check_repeats(repeats)
    if not has_values(repeats):
        return repeats.new_empty((_known(output_size),))
    counts = _counts(repeats)
    total = _total(counts)
    if output_size is not None and total != output_size:
        raise RuntimeError("allocated size does not match required size")
    repeats.new_empty(total)  # raises if the result does not fit in memory
    numpy = load("numpy")
    return tensor_of(numpy.arange(len(counts)).repeat(counts).astype(counts.dtype), repeats.dtype)
