"""Views of the same bytes as elements of another dtype, for `view`; messages are torch's."""

from __future__ import annotations

from typing import Any

from .._base.dtypes import dtype
from .._base.handles import wrap
from .._C import lib

__all__ = ["with_elements"]


def with_elements(input: Any, dtype: dtype) -> Any:
    """Return a view of a tensor's bytes as elements of a dtype."""
    sizes, strides, offset = list(input.shape), list(input.stride()), input.storage_offset()
    if dtype.itemsize != input.itemsize:
        sizes, strides, offset = _resized_elements(input, dtype, sizes, strides, offset)
    return wrap(lib.as_strided(input._h, sizes, strides, len(sizes), offset, dtype.code))


def _resized_elements(
    input: Any, dtype: dtype, sizes: list[int], strides: list[int], offset: int
) -> tuple[list[int], list[int], int]:
    """Sizes, strides and offset counted in larger or smaller elements."""
    what = f"to view {input.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
    if not sizes:
        raise RuntimeError(f"self.dim() cannot be 0 {what}")
    if strides[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {what}, but got {strides[-1]}")
    if dtype.itemsize < input.itemsize:
        ratio = input.itemsize // dtype.itemsize
        return [*sizes[:-1], sizes[-1] * ratio], [*(stride * ratio for stride in strides[:-1]), 1], offset * ratio
    ratio = dtype.itemsize // input.itemsize
    facts = [("self.size(-1)", sizes[-1]), ("self.storage_offset()", offset)]
    facts += [(f"self.stride({dim})", stride) for dim, stride in enumerate(strides[:-1])]
    for name, value in facts:
        if value % ratio:
            raise RuntimeError(f"{name} must be divisible by {ratio} {what}, but got {value}")
    return [*sizes[:-1], sizes[-1] // ratio], [*(stride // ratio for stride in strides[:-1]), 1], offset // ratio
