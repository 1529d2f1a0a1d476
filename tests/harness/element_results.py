"""Tests of elementwise operators with several results, a loop for each element, or results with dtypes of their own."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from codegen.check import elements
from codegen.check.instances import drawn_argument
from codegen.dtypes import FLOAT64, DType
from codegen.expr import evaluate, names
from codegen.model.computation import own_dtypes
from codegen.model.operator import Elementwise

from .arrays import Array
from .bodies import BodyTests, Call, Shape
from .drawn import Drawn

_SHAPES: tuple[tuple[Shape, ...], ...] = (
    ((5,), (5,)),
    ((4, 7), (7,)),
    ((3, 1, 40), (5, 1)),
    ((), (3, 2)),
    ((1030,), (1,)),
    ((0, 4), (4,)),
    ((), ()),
)
"""Of the first tensor and of the others, which are these in turn."""
_DRAWS = 20


class ElementResultTests(BodyTests):
    @property
    def body(self) -> Elementwise:
        assert isinstance(self.operator.body, Elementwise)
        return self.operator.body

    def fixed(self, name: str) -> DType | None:
        return self.body.fixed.get(name)

    def own(self, dtype: DType) -> Sequence[DType | None]:
        return own_dtypes(self.operator)

    def calls(self) -> Sequence[Call]:
        found: list[Call] = []
        for number, shapes in enumerate(_SHAPES):
            random = Drawn(zlib.crc32(self.operator.name.encode()), number)
            tensors = {each.name: shapes[index % 2] for index, each in enumerate(self.operator.inputs)}
            for _ in range(_DRAWS):
                arguments = self.arguments(random)
                if self.takes(arguments):
                    found.append(Call(tensors, arguments, positive=number % 2 == 1, nonzero=self.spec.fallible))
                    break
        assert found, f"of all arguments drawn {self.operator.name} accepts none"
        return found

    def short_calls(self) -> Sequence[Call]:
        return [each for each in self.calls() if 0 < each.numel < 60]

    def arguments(self, random: Drawn) -> dict[str, Any]:
        """Arguments beside tensors; all have their defaults in half of the calls."""

        def one(values: Sequence[Any]) -> Any:
            return values[int(random.integers(0, len(values), ()))]

        params = {each.name: drawn_argument(each, one, is_number=True) for each in self.operator.params}
        return {name: value for name, value in params.items() if value is not None}

    def takes(self, arguments: Mapping[str, Any]) -> bool:
        """Do numbers fulfil what the entry requires of them?"""
        for each in self.body.conditions:
            used = {name: arguments[name] for name in names(each.check.tree) if name in arguments}
            given = {name: FLOAT64.numpy.type(value) for name, value in used.items()}
            if len(given) < len(names(each.check.tree)) or not evaluate(each.check.tree, given):
                return False
        return True

    def expected(self, call: Call, values: Mapping[str, Array | None], dtype: DType) -> tuple[Array, ...]:
        given = {name: each for name, each in values.items() if each is not None}
        return elements.results(self.operator, self.body, given, call.arguments, dtype)
