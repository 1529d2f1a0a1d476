"""Tests of rows, and of reductions and scans with a state, along all dimensions."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from codegen.check import folds, samples
from codegen.check.instances import drawn_argument
from codegen.dtypes import FLOAT64, DType
from codegen.expr import names
from codegen.model.computation import default_numbers, own_dtypes
from codegen.model.folding import Folding
from codegen.model.operator import Extent, Rows
from codegen.model.ordered_rows import OrderedFolding, OrderedRows, Taken
from codegen.schema import ListType, base_name
from codegen.schema.types import without_optional

from .arrays import Array
from .bodies import BodyTests, Call, Shape
from .drawn import Drawn

_LINES: tuple[Shape, ...] = ((5,), (4, 7), (3, 70), (40, 3), (2, 3, 5), (0, 4), (1,))


class LineTests(BodyTests):
    """Rows, and reductions and scans with a state, which lie along dimensions."""

    @property
    def body(self) -> Rows | Folding:
        assert isinstance(self.operator.body, (Rows, Folding))
        return self.operator.body

    def fixed(self, name: str) -> DType | None:
        return self.body.fixed.get(name)

    def own(self, dtype: DType) -> Sequence[DType | None]:
        return own_dtypes(self.operator)

    def extents(self) -> Sequence[Extent]:
        body = self.body
        if isinstance(body, Rows):
            return [extent for extent, _ in body.outputs]
        return [Extent.ELEMENT if body.is_scan else Extent.ROW] * len(body.results)

    def of(self, name: str) -> Extent:
        return self.body.extent(name) if isinstance(self.body, Rows) else Extent.ELEMENT

    def calls(self) -> Sequence[Call]:
        found: list[Call] = []
        for number, shape in enumerate(_LINES):
            random = Drawn(zlib.crc32(self.operator.name.encode()), number)

            def one(values: Sequence[Any], random: Drawn = random) -> Any:
                return values[int(random.integers(0, len(values), ()))]

            for dim in self.dims(shape):
                along = _along(dim, len(shape))
                if not all(shape[each] for each in along):
                    continue
                others = {
                    each.name: drawn_argument(each, one, each in self.operator.params)
                    for each in self.operator.schema.arguments
                    if not each.is_tensor and each.name != "dim" and base_name(each.type) != "ScalarType"
                }
                shapes = {each.name: self.shape(each.name, shape, along) for each in self.operator.inputs}
                positions = (0, int(np.prod([shape[each] for each in along])))
                call = Call(shapes, {**others, "dim": dim}, positions, one((True, False)) or self.counts())
                if not self.takes(call):
                    call = replace(call, arguments={**call.arguments, **default_numbers(self.operator)})
                found.append(call)
        return found

    def counts(self) -> bool:
        """Are positions made of elements? Those of negative weights, say, may be outside."""
        steps = self.body.steps if isinstance(self.body, (OrderedRows, OrderedFolding)) else ()
        known = {"count", *self.body.fixed, *(each.name for each in self.operator.params)}
        return any(isinstance(each, Taken) and not names(each.position.tree) <= known for each in steps)

    def takes(self, call: Call) -> bool:
        """Are all positions of elements within rows?"""
        if not isinstance(self.body, (OrderedRows, OrderedFolding)):
            return True
        try:
            self.expected(call, self.place(call, FLOAT64, "contiguous", 0)[1], FLOAT64)
        except IndexError:
            return False
        return True

    def short_calls(self) -> Sequence[Call]:
        sizes = ((each, [np.prod(shape) for shape in each.shapes.values()]) for each in self.calls())
        return [each for each, found in sizes if max(found) < 30 and max(found) != 1][::2]

    def dims(self, shape: Shape) -> Iterator[Any]:
        argument = self.operator.schema.argument("dim")
        assert argument is not None
        yield -1
        yield 0
        if isinstance(without_optional(argument.type), ListType):
            yield from combinations(range(len(shape)), 2)
            yield from [None] if argument.is_optional else []

    def shape(self, name: str, shape: Shape, along: Sequence[int]) -> Shape:
        """Of a tensor in a call whose elements have this shape: the first one has it, others need not."""
        if self.of(name) is Extent.ROW:
            return tuple(1 if dim in along else size for dim, size in enumerate(shape))
        if self.of(name) is Extent.PLACE:
            return tuple(size if dim in along else 1 for dim, size in enumerate(shape))
        is_first = name == next(each.name for each in self.operator.inputs if self.of(each.name) is Extent.ELEMENT)
        return shape if is_first or len(shape) != 3 else shape[1:]

    def expected(self, call: Call, values: Mapping[str, Array | None], dtype: DType) -> tuple[Array, ...]:
        shape = np.broadcast_shapes(*(np.shape(each) for each in values.values()))
        dim, keepdim = call.arguments["dim"], call.arguments.get("keepdim", False)
        along = _along(dim, len(shape))
        apart = [each for each in range(len(shape)) if each not in along]
        order = (*apart, *along)
        rows, length = int(np.prod([shape[d] for d in apart])), int(np.prod([shape[d] for d in along]))
        lines = {
            name: np.broadcast_to(each, shape).transpose(order).reshape(rows, length)
            for name, each in values.items()
            if each is not None
        }
        numbers = {each.name: call.arguments[each.name] for each in self.operator.params}
        body = self.body
        of_lines = (
            samples.row_results(self.operator, body, lines, dtype, numbers)
            if isinstance(body, Rows)
            else folds.results(self.operator, body, lines, dtype, numbers)
        )

        def back(extent: Extent, result: Array) -> Array:
            front = () if extent is Extent.PLACE else tuple(shape[d] for d in apart)
            if extent is not Extent.ROW:
                ends = tuple(shape[d] for d in along)
                if extent is Extent.PLACE:
                    return result.reshape(ends)
                return result.reshape(*front, *ends).transpose(np.argsort(order))
            kept = tuple(1 if d in along else shape[d] for d in range(len(shape)))
            return result.reshape(kept if keepdim else front)

        return tuple(back(extent, result) for extent, result in zip(self.extents(), of_lines, strict=True))


def _along(dim: Any, ndim: int) -> tuple[int, ...]:
    dims = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    return tuple(sorted({each % ndim for each in dims}))
