"""Loops for each element with NumPy, for all elements at once: what kernels of `iterate` are compared with."""

from __future__ import annotations

from collections.abc import Mapping

from ..dtypes import BOOL, INT64, DType
from ..expr import Expr, lower
from ..expr.evaluate import compute
from ..model.computation import state_dtypes
from ..model.operator import Elementwise
from .samples import Array


def results(
    body: Elementwise, tensors: Mapping[str, Array], numbers: Mapping[str, Array], dtype: DType
) -> tuple[Array, ...]:
    """The results of a loop that is computed in `dtype`, the tensors of which have this one or that which is fixed;
    `numbers` are its parameters."""
    import numpy as np

    loop = body.iterate
    assert loop is not None
    shape = np.broadcast_shapes(*(each.shape for each in tensors.values()))
    known = {**tensors, **{name: np.asarray(each) for name, each in numbers.items()}}
    types = {name: body.fixed.get(name, dtype) for name in tensors}
    types |= {name: INT64 if np.asarray(each).dtype.kind in "iu" else dtype for name, each in numbers.items()}
    starts = {name: start.tree for name, start in loop.state}
    following = dict(zip(loop.names, (each.tree for each in loop.following), strict=True))
    types |= state_dtypes(starts, following, types, dtype)

    def value(tree: Expr, of: DType) -> Array:
        return np.broadcast_to(compute(lower(tree, types, of), {**known, **state}), shape)

    state: dict[str, Array] = {}
    state = {name: value(tree, types[name]) for name, tree in starts.items()}
    live = np.ones(shape, bool)
    for _ in range(int(compute(lower(loop.times.tree, types, INT64), known))):
        if loop.proceeds is not None:
            live = live & value(loop.proceeds.tree, BOOL)
        if not live.any():
            break
        after = {name: value(tree, types[name]) for name, tree in following.items()}
        state = {name: np.where(live, after[name], each) for name, each in state.items()}
    pairs = zip(body.expressions(dtype), body.own, strict=True)
    return tuple(value(each.tree, own or dtype) for each, own in pairs)
