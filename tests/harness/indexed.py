"""Tests of expressions over indices, by calls in which equal indices have equal sizes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from codegen.check import indices
from codegen.check.indices import RefusedError, Steps
from codegen.check.instances import drawn_argument, least, tied
from codegen.dtypes import INT64, DType
from codegen.model.computation import own_computed_dtype
from codegen.model.compute import Compute
from codegen.model.operator import Operator

from .arrays import Array
from .bodies import BodyTests, Call, Shape, operator_of
from .drawn import Drawn

_CALLS = 3
_ATTEMPTS = 400
_STEPS = 1000
"""Of the loops of the reference, which may depend on sizes by their square."""
_PASSED = 10
"""Calls that are passed over as their results are no numbers; those of some operators rarely are."""
_LONG = (37, 70)
"""Sizes of lines that are longer than two vectors."""
_BATCHES: tuple[Shape, ...] = ((), (2,), (3, 2))


class ComputeTests(BodyTests):
    """Expressions over indices."""

    @property
    def body(self) -> Compute:
        assert isinstance(self.operator.body, Compute)
        return self.operator.body

    def fixed(self, name: str) -> DType | None:
        return self.body.fixed.get(name)

    def own(self, dtype: DType) -> Sequence[DType | None]:
        return [own_computed_dtype(self.operator, self.body, index) for index in range(len(self.body.results))]

    def expected(self, call: Call, values: Mapping[str, Array | None], dtype: DType) -> tuple[Array, ...]:
        return indices.results(self.operator, self.body, values, call.arguments, dtype)

    def calls(self) -> Sequence[Call]:
        return _computed_calls(type(self), _LONG)

    def short_calls(self) -> Sequence[Call]:
        return [each for each in _computed_calls(type(self), ()) if each.numel][:2]


@cache
def _computed_calls(suite: type[BodyTests], long: Shape) -> tuple[Call, ...]:
    """Calls that the body accepts, with results that are numbers if it has such, one without elements, and one with
    sizes of 1; `long` are sizes of lines among short ones."""
    operator = operator_of(suite)
    body = operator.body
    assert isinstance(body, Compute)
    random = Drawn(zlib.crc32(operator.name.encode()))
    dtype = max((each for each in operator.compute_dtypes if not each.is_complex), key=lambda each: each.is_floating)
    found: list[Call] = []
    empty: list[Call] = []
    single: list[Call] = []
    passed = 0
    for attempt in range(_ATTEMPTS):
        is_empty, is_single = attempt % 5 == 4, attempt % 10 == 8
        lines = (1,) if is_single else (3, *long)
        call = _draw(operator, body, random, lines, alike=attempt % 4 == 3, empty=is_empty)
        if (is_empty and empty) or (is_single and single) or (len(found) == _CALLS and not is_empty | is_single):
            continue  # the reference takes its time
        values = {
            name: None
            if shape is None
            else call.places(name, INT64)
            if name in body.integers
            else call.values(name, body.fixed.get(name, dtype), 0)
            for name, shape in call.shapes.items()
        }
        try:
            results = indices.results(operator, body, values, call.arguments, dtype, Steps(_STEPS))
        except RefusedError:
            continue
        if not results[0].size:
            empty = empty or [call]
        elif is_single:
            single = [call]
        elif len(found) < _CALLS and (passed > _PASSED or all(np.isfinite(each).all() for each in results)):
            found.append(call)
        else:
            passed += 1
        if len(found) == _CALLS and empty and single:
            break
    assert found, f"of {_ATTEMPTS} calls {operator.name} accepts none"
    return (*found, *empty, *single)


def _draw(operator: Operator, body: Compute, random: Drawn, lines: Shape, alike: bool, empty: bool) -> Call:
    def one(values: Sequence[Any]) -> Any:
        return values[int(random.integers(0, len(values), ()))]

    classes = tied(body)
    sizes = {root: one((1, 2, 3, 4, 5)) for root in dict.fromkeys(classes.values())}
    if lines == (1,):
        sizes = dict.fromkeys(sizes, 1)
    elif alike:
        sizes = dict.fromkeys(sizes, one((2, 3, 4)))
    last = classes.get((operator.inputs[0].name, -1))
    if last is not None and not alike:
        sizes[last] = one(lines)
    if empty and sizes:
        sizes[one([*sizes])] = 0
    for place, size in least(body).items():
        sizes[classes[place]] = max(size, sizes[classes[place]])
    for place, size in body.exact.items():
        sizes[classes[place]] = size
    batch = one(_BATCHES)
    shapes: dict[str, Shape | None] = {}
    for argument in operator.inputs:
        rank, front = body.tensors.get(argument.name, 0), ()
        if body.is_batched(argument.name):
            front = batch if argument is operator.inputs[0] else one((batch, (), (1,) * len(batch)))
        own = tuple(sizes[classes[argument.name, dim - rank]] for dim in range(rank))
        shapes[argument.name] = None if argument.is_optional and one((True, False)) else (*front, *own)
    arguments = {
        each.name: drawn_argument(each, one, each in operator.params)
        for each in operator.schema.arguments
        if not each.is_tensor
    }
    limits = one(((0, 1), (0, 2), (0, 3))) if not body.outside else one(((0, 2), (-2, 6)))
    return Call(shapes, arguments, limits, one((True, False)))
