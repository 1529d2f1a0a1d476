"""Dimensions of views: where the dimensions of a contiguous tensor are in a view of it, by sizes and strides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["moves"]


def moves(
    shape: Sequence[int], strides: Sequence[int], view_shape: Sequence[int], view_strides: Sequence[int]
) -> Iterator[tuple[int, int, bool]]:
    """Yield dimensions of a tensor that a view has, the dimensions of the view, and whether all parts must have the
    same size where it is sharded: several dimensions that are merged to one, or the first of several that one is made
    into, are the same part of memory only then."""
    own = [dim for dim, size in enumerate(shape) if size > 1]
    seen = [dim for dim, size in enumerate(view_shape) if size > 1 and view_strides[dim] > 0]
    for dim in own:
        same = [each for each in seen if (view_shape[each], view_strides[each]) == (shape[dim], strides[dim])]
        if len(same) == 1:
            yield dim, same[0], False
            continue
        for count in range(2, len(own) + 1):
            merged = _run(own, dim, count, shape, strides)
            found = [each for each in seen if merged and (view_shape[each], view_strides[each]) == merged]
            if len(found) == 1:
                yield dim, found[0], True
        for first in seen:
            for count in range(2, len(seen) + 1):
                if _run(seen, first, count, view_shape, view_strides) == (shape[dim], strides[dim]):
                    yield dim, first, True


def _run(
    dims: Sequence[int], first: int, count: int, shape: Sequence[int], strides: Sequence[int]
) -> tuple[int, int] | None:
    """The size and the stride of some dimensions one after the other as a single one; None: they make none."""
    place = dims.index(first)
    chosen = dims[place : place + count]
    if len(chosen) < count:
        return None
    size = 1
    for dim, after in zip(chosen, [*chosen[1:], None], strict=True):
        if after is not None and strides[dim] != strides[after] * shape[after]:
            return None
        size *= shape[dim]
    return size, strides[chosen[-1]]
