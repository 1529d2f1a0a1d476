"""Arithmetic of shapes in Python, for factories, composites and users."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .types import Size


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that tensors of the given shapes broadcast to; an int stands for a shape of one dimension.

    Raises RuntimeError when two sizes differ and neither is one.
    """
    lists = [[shape] if isinstance(shape, int) else list(shape) for shape in shapes]
    ndim = max(map(len, lists), default=0)
    result = [1] * ndim
    for sizes in lists:
        for place, size in enumerate(sizes, ndim - len(sizes)):
            if size in (1, result[place]):
                continue
            if result[place] != 1:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape; "
                    f"size {size} meets {result[place]} at dimension {place}"
                )
            result[place] = size
    return Size(result)


def arange_length(start: float, end: float, step: float) -> int:
    """How many values `start`, `start + step`, ... lie before `end`; exact for integers, in double precision else.

    Raises RuntimeError, as torch does, for a step of zero, bounds that the step leads away from, or infinite ones.
    """
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    return math.ceil((end - start) / step)
