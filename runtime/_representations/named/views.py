"""The names of a view: which dimension of the view is which of the tensor.

The view is taken of a probe: a tensor of the same shape without memory, whose strides are different primes. A dimension
of the view that has one of these strides is that dimension of the tensor, and one that has a multiple of it takes steps
in it. What has neither is new, or made of several dimensions, and has no name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..._base.devices import META
from ..._base.dtypes import EXPORTS
from ..._base.handles import shape_of, strides_of, wrap
from ..._C import lib
from ..._dispatch.dispatcher import redispatch
from ..._dispatch.op import Op
from ..._dispatch.ops import ops
from .names import Names, names_of

_LEAST = 10007
"""The least of the strides: larger than steps within a dimension are likely to be multiples of each other."""


def names_of_view(op: Op, args: Sequence[Any]) -> Names:
    """The names of the view that the call gives of its first argument. Raises the errors of the call."""
    tensor = args[op.target]
    shape = shape_of(tensor._h)
    probe, strides = _probe(shape)
    given = [probe if each is tensor else each for each in args]
    view = redispatch(op, given, below="named")
    return _matched(names_of(tensor), shape, strides, shape_of(view._h), strides_of(view._h))


def _probe(shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    strides = _primes(len(shape))
    reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size)
    memory = ops.empty((reach,), dtype=EXPORTS["uint8"], device=META)
    return wrap(lib.as_strided(memory._h, shape, strides, len(shape), 0, -1)), strides


def _matched(
    names: Names, shape: Sequence[int], strides: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> Names:
    """The name of each dimension of the view, which has these sizes and strides (`steps`)."""
    found: list[int | None] = [
        # A new dimension of size one may have the stride of the next one.
        strides.index(step) if step in strides and step not in steps[place + 1 :] else None
        for place, step in enumerate(steps)
    ]
    left = [dim for dim in range(len(shape)) if dim not in found]
    for place, dim in enumerate(found):
        if dim is not None:
            continue
        beside = len(shape) - len(steps) + place  # where it is in the tensor, counted from the right
        if steps[place]:
            candidates = [each for each in left if not steps[place] % strides[each]]
        else:  # repeated as often as the view wants
            candidates = [each for each in left if each == beside and shape[each] == 1]
        if len(candidates) == 1:
            found[place] = candidates[0]
            left.remove(candidates[0])
    return tuple([None if dim is None else names[dim] for dim in found])


@cache
def _primes(count: int) -> tuple[int, ...]:
    found: list[int] = []
    number = _LEAST
    while len(found) < count:
        if all(number % divisor for divisor in range(3, int(number**0.5) + 1, 2)):
            found.append(number)
        number += 2
    return tuple(found)
