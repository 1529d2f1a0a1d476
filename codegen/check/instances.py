"""Small calls of expressions over indices, with tensors of float64, which the body accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..dtypes import FLOAT64
from ..expr import Literal, Name
from ..model.compute import Compute
from ..model.operator import Operator
from ..schema import Argument, ListType
from ..schema.types import without_optional
from . import indices
from .indices import RefusedError, Steps
from .samples import Array

_ATTEMPTS, _STEPS, _VALUES = 60, 3000, 20_000
_SIZES = (2, 3, 1, 4)
_INTEGERS, _NUMBERS = (1, 2, 1, 3, 0, 4), (0.5, 1.0, 1.5, 2.0)


def calls(operator: Operator, body: Compute, seed: int = 5) -> Iterator[dict[str, Any]]:
    """The arguments of calls that have elements, all of which are numbers; optional tensors are given."""
    import numpy as np

    operator = replace(operator, body=body)  # also that of a composite
    random = np.random.default_rng(seed)
    for _ in range(_ATTEMPTS):
        tensors, others = _drawn(operator, body, random)
        try:
            results = indices.results(operator, body, tensors, others, FLOAT64, Steps(_STEPS, _VALUES))
        except (RefusedError, NotImplementedError):
            continue
        if all(each.size and np.isfinite(each).all() for each in results):
            yield {**tensors, **others}


def _drawn(operator: Operator, body: Compute, random: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    import numpy as np

    classes = tied(body)
    sizes = {root: int(random.choice(_SIZES)) for root in dict.fromkeys(classes.values())}
    sizes |= {classes[place]: max(size, sizes[classes[place]]) for place, size in least(body).items()}
    sizes |= {classes[place]: size for place, size in body.exact.items() if place in classes}
    batch = (2,) * int(random.integers(2))
    tensors: dict[str, Array] = {}
    for each in operator.inputs:
        rank = body.tensors.get(each.name, 0)
        shape = tuple(sizes[classes[each.name, dim - rank]] for dim in range(rank))
        shape = (*(batch if body.is_batched(each.name) else ()), *shape)
        dtype = body.fixed.get(each.name, FLOAT64)
        if not dtype.is_floating:
            tensors[each.name] = np.asarray(random.integers(0, 2, shape), dtype.numpy)
        else:
            tensors[each.name] = np.asarray(random.uniform(0.2, 1.5, shape) * random.choice((1, -1), shape))

    def one(values: Sequence[Any]) -> Any:
        return values[int(random.integers(len(values)))]

    others = {each.name: drawn_argument(each, one, each in operator.params) for each in operator.schema.arguments
              if not each.is_tensor}  # fmt: skip
    return tensors, others


def drawn_argument(argument: Argument, one: Callable[[Sequence[Any]], Any], is_number: bool) -> Any:
    """A value of an argument besides tensors; `one` chooses one of several. A number need not be whole."""
    if argument.default is not None and one((True, False)):
        return argument.default.value
    if is_number and not argument.is_integral:
        return one(_NUMBERS)
    if str(argument.type) == "bool":
        return one((True, False))
    kind = without_optional(argument.type)
    if not isinstance(kind, ListType):
        return one(_INTEGERS)
    return [one(_INTEGERS) for _ in range(kind.size or one((1, 2, 3)))]


def least(body: Compute) -> dict[tuple[str, int], int]:
    """The size that a dimension, counted from the last, has at least: that of a range of numbers which is its index.

    Operators refuse smaller ones, also where a condition leaves out whatever would be read.
    """
    found: dict[tuple[str, int], int] = {}
    for read in body.reads.values():
        for dim, tree in enumerate(read.indices):
            bounds = body.ranges.get(body.index(tree).plain or "")
            if bounds is not None and isinstance(bounds.stop, Literal) and read.tensor not in body.outside:
                place = read.tensor, dim - len(read.indices)
                found[place] = max(found.get(place, 0), int(bounds.stop.value))
    return found


def tied(body: Compute) -> dict[tuple[str, int], object]:
    """Return for each dimension of a tensor, counted from the last, an object that all dimensions with the same indices
    share."""
    parents: dict[object, object] = {}

    def root(of: object) -> object:
        while parents.setdefault(of, of) != of:
            of = parents[of]
        return of

    def tie(one: object, other: object) -> None:
        parents[root(one)] = root(other)

    for name, size in body.variables:
        known = (size.tensor, size.dim) if size.geometry is None else body.size_of(size.geometry)
        if known is not None:
            tie(name, known)
    for read in body.reads.values():
        for dim, tree in enumerate(read.indices):
            place, plain = (read.tensor, dim - len(read.indices)), body.index(tree).plain
            root(place)
            if plain is not None and plain in body.ranges:
                stop = body.ranges[plain].stop
                uniform = body.uniforms.get(stop.name) if isinstance(stop, Name) else None
                known = None if uniform is None else body.size_of(uniform)
                if known is not None:
                    tie(place, known)
            elif plain is not None:
                tie(place, plain)
    return {place: root(place) for place in parents if isinstance(place, tuple)}
