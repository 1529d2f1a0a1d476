"""Operators without a rule: they are called for each sample."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._base.pytree import flatten, tree_map
from .._base.warn import warn
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.op import NEW
from .call import Call


def for_each(call: Call) -> Any:
    """The results for all samples, with a warning: it takes the time of as many calls."""
    warn(
        f"There is a performance drop because {call.op.name} has no batching rule: it is called for each of "
        f"{call.level.size} samples."
    )
    return each_sample(call)


def each_sample(call: Call) -> Any:
    """Return the batch of results of a call for each sample."""
    results = [
        dispatch(call.op, [_sample(call, value, place) for value in call.args], None, call.mode)
        for place in range(call.level.size)
    ]
    if call.mode != NEW:
        return None
    if not results:
        return tree_map(lambda each: ops.empty((0, *each.shape), dtype=each.dtype), call.inferred())
    structure = flatten(results[0])[1]
    leaves = zip(*(flatten(result)[0] for result in results), strict=True)
    return structure.unflatten([ops.stack(list(each)) for each in leaves])


def _sample(call: Call, value: Any, place: int) -> Any:
    if isinstance(value, (list, tuple)):
        return [_sample(call, each, place) for each in value]
    return call.batch(value).select(0, place) if call.is_sample(value) else value
