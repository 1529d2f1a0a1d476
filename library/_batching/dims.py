"""Arguments that name dimensions: those of a sample, and those of its batch."""

from __future__ import annotations

from typing import Any

from .._dispatch.rules import dimensions
from .call import Call


def moved(call: Call, dim: int, ndim: int) -> int:
    """A dimension of a batch: the one that is `dim` of a sample with `ndim`.

    Raises the error of the call where there is none.
    """
    count = max(ndim, 1)
    if not -count <= dim < count:
        call.inferred()
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim % count + 1


def with_moved(call: Call, ndim: int) -> list[Any]:
    """The arguments with the dimensions of batches in place of those of samples."""

    named = dimensions(call.op)

    def of(place: int, value: Any) -> Any:
        if place not in named or value is None:
            return value
        return (
            [moved(call, each, ndim) for each in value]
            if isinstance(value, (list, tuple))
            else moved(call, value, ndim)
        )

    return [of(place, value) for place, value in enumerate(call.args)]
