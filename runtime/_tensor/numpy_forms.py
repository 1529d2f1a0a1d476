"""Calls as NumPy's functions make them, or their users, of operators that have other arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._base.tensor_class import Tensor
from .._dispatch.binding import numpy_forms
from .._dispatch.ops import ops


def _transpose(*args: Any, **named: Any) -> Any:
    """All dimensions in reverse order, or in that of a list."""
    given = [*args, named.get("axes")] if named.keys() <= {"axes"} else []
    if len(given) not in (2, 3) or not isinstance(given[0], Tensor):
        return NotImplemented
    axes = given[1]
    if not (axes is None or isinstance(axes, (tuple, list))):
        return NotImplemented
    return ops.permute(given[0], list(range(given[0].ndim))[::-1] if axes is None else axes)


def _extremum(function: Any, *args: Any, **named: Any) -> Any:
    """Return the values alone, which `np.max(t, axis=...)` asks the method for, by names that torch refuses
    together."""
    if len(args) != 1 or not {"axis", "out"} <= named.keys() <= {"axis", "out", "keepdims"}:
        return NotImplemented
    axis = named["axis"]
    return function(args[0], () if axis is None else axis, named.get("keepdims", False), out=named["out"])


numpy_forms["transpose"] = _transpose
numpy_forms["max"] = partial(_extremum, ops.amax)
numpy_forms["min"] = partial(_extremum, ops.amin)
