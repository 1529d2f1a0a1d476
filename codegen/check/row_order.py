"""Rows in an order by loops of Python: what kernels and sorts of the core are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..dtypes import FLOAT32, INT64, DType
from ..expr import Expr
from ..model.operator import Expression
from ..model.ordered_rows import Running, Taken

Array = Any
Step: TypeAlias = Running | Taken


def wide(dtype: DType) -> DType:
    """The dtype in which they are computed."""
    if dtype.is_floating:
        return FLOAT32 if dtype.bits < FLOAT32.bits else dtype
    return dtype if dtype.is_complex else INT64


def of(keys: Array) -> Array:
    """The places of elements in ascending order: equal ones in that of their places, NaN behind all others."""
    import numpy as np

    def key(row: Array) -> Callable[[int], tuple[bool, Any]]:
        return lambda place: (bool(row[place] != row[place]), 0 if row[place] != row[place] else row[place])

    order = [sorted(range(len(row)), key=key(row)) for row in keys]
    return np.array(order, np.int64).reshape(keys.shape)


def put(rows: Array, order: Array) -> Array:
    """The elements of rows in this order."""
    import numpy as np

    found = [[row[place] for place in places] for row, places in zip(rows, order, strict=True)]
    return np.array(found, rows.dtype).reshape(rows.shape)


def back(rows: Array, order: Array) -> Array:
    """The elements where they were before."""
    import numpy as np

    found = np.empty_like(rows)
    for row, places, values in zip(found, order, rows, strict=True):
        for place, element in zip(places, values, strict=True):
            row[place] = element
    return found


def value(step: Step, elements: Callable[[Expression], Array], exactly: Callable[[Expr], Array]) -> Array:
    """The elements that a step gives of those of its expression; `exactly` computes positions."""
    import numpy as np

    rows = elements(step.expression)
    if isinstance(step, Running):
        return np.array([list(_running(row, _NEXT[step.function])) for row in rows], rows.dtype).reshape(rows.shape)
    positions = np.asarray(exactly(step.position.tree))
    if positions.size and not ((positions >= 0) & (positions < rows.shape[1])).all():
        raise IndexError(f"a position is none of a row of {rows.shape[1]} elements")
    positions = np.broadcast_to(positions, (len(rows), positions.shape[-1] if positions.ndim else 1))
    found = [[row[int(at)] for at in places] for row, places in zip(rows, positions, strict=True)]
    return np.array(found, rows.dtype).reshape(positions.shape)


def _running(row: Array, following: Callable[[Any, Any], Any]) -> Any:
    known = None
    for element in row:
        known = element if known is None else following(known, element)
        yield known


_NEXT: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda known, element: known + element,
    "cumprod": lambda known, element: known * element,
    "cummax": lambda known, element: element if element >= known or element != element else known,
    "cummin": lambda known, element: element if element <= known or element != element else known,
}
