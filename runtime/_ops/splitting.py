"""The bounds of the parts of a dimension, for the composites that split tensors; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from .._base.handles import exact_integer as exact_integer
from .._base.shapes import wrap_dim
from .._handle import multi_view as multi_view
from .values import has_values

__all__ = [
    "check_count",
    "even_parts",
    "even_sections",
    "exact_integer",
    "multi_view",
    "section_ends",
    "section_starts",
    "write_part",
]  # fmt: skip

MOST_PARTS = 2**27
"""The largest number of views: more do not fit in memory, and would fill it before an error is raised."""


def check_count(parts: int) -> None:
    """Raise RuntimeError for more views than memory has room for."""
    if parts > MOST_PARTS:
        raise RuntimeError(f"{parts} views are more than fit in memory")


def write_part(whole: Any, part: Any, src: Any) -> Any:
    """Write `src` to `part`, a view of `whole`, and return `whole`."""
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    part.copy_(src)
    return whole


def even_parts(size: int, shape: Sequence[int], dim: int) -> list[tuple[int, int]]:
    """Return where the parts of a dimension begin, and their sizes: `size`, but for the last one."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    extent = shape[wrap_dim(dim, len(shape))]
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if not size and extent:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}")
    if extent <= size:
        return [(0, extent)]
    check_count(extent // size)
    rest = extent % size
    parts = [(start, size) for start in range(0, extent - rest, size)]
    return [*parts, (extent - rest, rest)] if rest else parts


def section_starts(sizes: Sequence[int], shape: Sequence[int], dim: int) -> list[int]:
    """Return where parts of the given sizes begin; they must fill the dimension."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(shape))
    if any(size < 0 for size in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return list(accumulate(sizes, initial=0))[:-1]


def section_ends(indices_or_sections: Any, size: int) -> list[int]:
    """Return where all parts but the last end: at the given indices, or after nearly equal parts of that number."""
    if hasattr(indices_or_sections, "tolist"):
        dtype = indices_or_sections.dtype
        if dtype.scalar_name != "Long":
            raise RuntimeError(
                f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {dtype.scalar_name}"
            )
        if not has_values(indices_or_sections):
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta")
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, (list, tuple)):
        return list(indices_or_sections)
    sections: int = indices_or_sections
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    check_count(sections)
    least, longer = divmod(size, sections)
    return [part * least + min(part, longer) for part in range(1, sections)]


def even_sections(function: str, indices_or_sections: Any, shape: Sequence[int], dim: int) -> Any:
    """Return the indices or the number of parts, which must divide the dimension."""
    sections = indices_or_sections
    if isinstance(sections, int) and (not sections or shape[dim] % sections):
        raise RuntimeError(
            f"opweave.{function} attempted to split along dimension {dim}, but the size of the dimension "
            f"{shape[dim]} is not divisible by the split_size {sections}!"
        )
    return indices_or_sections
