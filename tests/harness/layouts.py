"""The one iterator of layouts: the ways in which the same values can lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import opweave

from codegen.dtypes import DType

from .arrays import Array, contiguous_strides, flat_tensor, holder

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (1,), (5,), (67,), (0,), (3, 0), (0, 4), (4, 7), (9, 33), (2, 3, 5), (1, 4, 1, 3))
"""0-dim, one element, empty, shorter and longer than a vector, several dimensions."""


@dataclass(frozen=True)
class Layout:
    """Element `i` lies at `offset + sum(i * strides)` in a memory of `size` elements."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def size(self) -> int:
        if 0 in self.shape:
            return self.offset
        last = sum((n - 1) * max(stride, 0) for n, stride in zip(self.shape, self.strides, strict=True))
        return self.offset + last + 1

    @property
    def negative(self) -> bool:
        return any(stride < 0 for stride in self.strides)

    def __str__(self) -> str:
        return f"{self.name}{list(self.shape)}"

    def memory(self, values: Array) -> Array:
        """A flat memory that holds the values; in the gaps are other values of the same kind. Of the values that a
        stride of zero puts into one place the last one stays."""
        gaps = np.resize(values, self.size + 3) if values.size else np.zeros(self.size + 3, values.dtype)
        memory = np.roll(gaps, 1)
        self.view(memory)[...] = values
        return memory

    def view(self, memory: Array) -> Array:
        strides = tuple(stride * memory.itemsize for stride in self.strides)
        return np.lib.stride_tricks.as_strided(memory[self.offset :], self.shape, strides)

    def place(self, values: Array, dtype: DType) -> tuple[opweave.Tensor, Array]:
        """A tensor of this layout, and the values that it has."""
        memory = self.memory(np.broadcast_to(values, self.shape).astype(holder(dtype)))
        effective = self.view(memory).copy()
        if not self.negative:
            return flat_tensor(memory, dtype).as_strided(self.shape, self.strides, self.offset), effective
        return opweave.from_numpy(self.view(memory)), effective


def layouts(shape: tuple[int, ...], dtype: DType | None = None) -> Iterator[Layout]:
    """Every layout of a shape; those that NumPy must make only where it has the dtype."""
    strides = contiguous_strides(shape)
    yield Layout("contiguous", shape, strides)
    yield Layout("misaligned", shape, strides, 1)
    if not shape:
        return
    step2 = tuple(2 * stride for stride in strides)
    yield Layout("step2", shape, step2)
    yield Layout("expanded", shape, (0, *strides[1:]))
    if dtype is None or dtype.numpy is not None:
        last = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True) if n)
        yield Layout("negative", shape, tuple(-stride for stride in strides), last)
        yield Layout("reversed rows", shape, (*strides[:-1], -strides[-1]), max(shape[-1] - 1, 0))
    if len(shape) < 2:
        return
    yield Layout("transposed", shape, tuple(reversed(contiguous_strides(shape[::-1]))))
    wide = (*shape[:-1], shape[-1] + 3)
    yield Layout("sliced", shape, contiguous_strides(wide), 2)
    yield Layout("expanded columns", shape, (*contiguous_strides(shape[:-1]), 0))
    if len(shape) > 2:
        moved = contiguous_strides((*shape[1:], shape[0]))
        yield Layout("permuted", shape, (moved[-1], *moved[:-1]))


def first_layout(shape: tuple[int, ...]) -> Layout:
    return next(layouts(shape))
