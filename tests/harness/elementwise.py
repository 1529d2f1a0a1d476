"""Tests of elementwise operators: values in every dtype and layout, promotion, numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType

from . import promotion
from .arrays import PROMOTING, Array, tensor
from .calls import (
    compare,
    compare_or_refuse,
    divisible,
    input_dtypes,
    moderate,
    placed,
    refusal_of,
    run,
    shaped_values,
)
from .extremes import extremes
from .layouts import SHAPES, Layout, layouts
from .promotion import operand
from .suite import (
    Case,
    OperatorTests,
    check_same_outcome,
    dtypes_of_variants,
    only_if,
    python_function,
    refused_dtypes,
)

NUMBERS = (True, False, 0, 2, -3, 0.1, 2.5, -0.0, float("inf"), float("nan"), 300, 2**40)
"""Python numbers that are tried in the place of a tensor."""


def fits(number: int, dtype: DType) -> bool:
    return dtype.lowest <= number <= dtype.highest


class ElementwiseTests(OperatorTests):
    def variant_cases(self) -> list[Case]:
        spec = self.spec
        cases = []
        for name in dtypes_of_variants(spec):
            dtype = DTYPES[name]
            dtypes = input_dtypes(spec, dtype)
            values = shaped_values(spec, dtype, (3, 5))
            operands = [tensor(values[each], dtypes[each]) for each in spec.inputs]
            keywords = spec.keywords_for(name)
            cases.append(Case(*operands, **keywords))
            cases.append(Case(*(operand.t() for operand in operands), **keywords))
            if len(operands) == 2 and "float32" in spec.dtypes and not spec.same_dtype:
                # The result has another dtype or shape than the first input.
                cases.append(Case(operands[0], tensor(np.full((3, 1), 2.5), DTYPES["float32"]), **spec.keywords))
                cases.append(Case(operands[0][0], operands[1], **spec.keywords))
            if spec.params and dtype.is_floating:
                cases.append(Case(*operands, **spec.chosen, **dict.fromkeys(spec.params, 2)))
        return cases

    def test_extreme_values(self, dtype: str) -> None:
        """Every combination of the extreme values."""
        spec, facts = self.spec, DTYPES[dtype]
        tables = [extremes(each) for each in input_dtypes(spec, facts).values()]
        if len(tables) == 3:
            tables = [table[:: 1 + table.size // 16] for table in tables]
        grids = np.meshgrid(*tables, indexing="ij")
        values = {name: divisible(spec, name, grid) for name, grid in zip(spec.inputs, grids, strict=True)}
        dtypes = input_dtypes(spec, facts)
        operands = {name: tensor(array, dtypes[name]) for name, array in values.items()}
        compare(spec, operands, values, f"{dtype} extremes")

    def test_layouts(self, dtype: str) -> None:
        """Every shape; each layout beside contiguous operands and beside itself."""
        spec, facts = self.spec, DTYPES[dtype]
        for shape in SHAPES:
            values = shaped_values(spec, facts, shape)
            for layout in layouts(shape, facts):
                for together in {False, len(spec.inputs) > 1}:
                    self.compare_layouts(facts, values, [layout] * len(spec.inputs) if together else [layout])

    @pytest.mark.slow
    def test_all_pairs_of_layouts(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        for shape in SHAPES:
            values = shaped_values(spec, facts, shape)
            for chosen in itertools.product(layouts(shape, facts), repeat=len(spec.inputs)):
                self.compare_layouts(facts, values, list(chosen))

    def compare_layouts(self, facts: DType, values: dict[str, Array], chosen: list[Layout]) -> None:
        """Inputs for which no layout is chosen are contiguous."""
        spec = self.spec
        operands, effective = {}, {}
        for index, (name, dtype) in enumerate(input_dtypes(spec, facts).items()):
            layout = chosen[index] if index < len(chosen) else next(layouts(values[name].shape))
            operands[name], effective[name] = placed(layout, values[name], dtype)
        compare(spec, operands, effective, f"{facts} {', '.join(map(str, chosen))}")

    def test_broadcasting(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        full, empty = [(3, 1, 40), (5, 1), (1,), (), (2, 1, 1, 1)], [(0, 3, 1), (1, 1, 4), ()]
        count = len(spec.inputs)
        for chosen in (*itertools.permutations(full, count), *itertools.permutations(empty, count)):
            values = {
                name: shaped_values(spec, facts, shape)[name] for name, shape in zip(spec.inputs, chosen, strict=True)
            }
            if spec.fixed and all(values[name].shape == () for name in spec.free):
                continue
            dtypes = input_dtypes(spec, facts)
            operands = {name: tensor(array, dtypes[name]) for name, array in values.items()}
            compare(spec, operands, values, f"{dtype} shapes {chosen}")

    def test_long_rows(self, dtype: str) -> None:
        """Lengths around those of vectors and chunks, and one that is shared among threads."""
        spec, facts = self.spec, DTYPES[dtype]
        for count in (15, 16, 17, 63, 64, 65, 511, 512, 513, 1025, 40_000):
            values = shaped_values(spec, facts, (count,))
            dtypes = input_dtypes(spec, facts)
            operands = {name: tensor(array, dtypes[name]) for name, array in values.items()}
            compare(spec, operands, values, f"{dtype} {count} elements")

    @only_if(lambda spec: spec.optional)
    def test_absent_inputs(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        values = shaped_values(spec, facts, (3, 7))
        for count in range(1, len(spec.optional)):
            for absent in itertools.combinations(spec.optional, count):
                given = {name: array for name, array in values.items() if name not in absent}
                compare(spec, {name: tensor(array, facts) for name, array in given.items()}, given, f"without {absent}")

    @only_if(lambda spec: spec.params)
    def test_params(self, dtype: str) -> None:
        """Numbers besides the tensors, of every kind that the dtype admits."""
        spec, facts = self.spec, DTYPES[dtype]
        numbers: list[Any] = [True, False] if facts.is_bool else [0, 1, -2, 3]
        if facts.is_floating:
            numbers += [0.5, -1.25]
        values = shaped_values(spec, facts, (4, 19))
        operands = {name: tensor(array, facts) for name, array in values.items()}
        for name, number in itertools.product(spec.params, numbers):
            if name in spec.ints and number != int(number):
                continue
            if spec.admits(dtype, **{name: number}):
                compare(spec, operands, values, f"{dtype}", **{name: number})
            else:
                with pytest.raises((RuntimeError, ValueError), match=r"."):  # what the entry says
                    spec.find(opweave)(*operands.values(), **spec.keywords | {name: number})

    # ---- promotion ----

    @only_if(lambda spec: len(spec.free) > 1)
    def test_promotion(self) -> None:
        """Every pair of dtypes, with and without dimensions: dtype and values of the result."""
        for first, second in itertools.product(PROMOTING, repeat=2):
            for shape, other in itertools.product(((3, 5), ()), repeat=2):
                self.compare_mixed((first, second), (shape, other))

    @pytest.mark.slow
    @only_if(lambda spec: len(spec.free) > 1)
    def test_promotion_in_every_layout(self) -> None:
        for first, second in itertools.product(PROMOTING, repeat=2):
            for one, other in itertools.product(layouts((9, 33), first), layouts((9, 33), second)):
                self.compare_mixed((first, second), ((9, 33), (9, 33)), (one, other))

    def compare_mixed(
        self,
        dtypes: tuple[DType, DType],
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
        chosen: tuple[Layout, Layout] | None = None,
    ) -> None:
        spec = self.spec
        free = spec.free[-2:]
        operands: dict[str, Any] = {}
        values: dict[str, Array] = {}
        for name in spec.inputs:
            index = free.index(name) if name in free else 0
            dtype = DTYPES[spec.fixed[name]] if name in spec.fixed else dtypes[index]
            array = moderate(spec, name, dtypes, shapes[index], dtype)
            layout = chosen[index] if chosen else next(layouts(shapes[index]))
            operands[name], values[name] = placed(layout, array, dtype)
        compare_or_refuse(self.spec, operands, values, f"{dtypes[0]} {shapes[0]} and {dtypes[1]} {shapes[1]}")

    @only_if(lambda spec: spec.numbers)
    def test_numbers(self, dtype: str) -> None:
        """Python's numbers in the place of each input, beside tensors with and without dimensions."""
        spec, facts = self.spec, DTYPES[dtype]
        for shape, number, index in itertools.product(((2, 9), ()), NUMBERS, spec.numbers):
            if spec.fallible and number == 0 and not (facts.is_floating or isinstance(number, float)):
                continue
            if isinstance(number, int) and not facts.is_floating and not facts.is_bool and not fits(number, facts):
                continue
            common = promotion.common_dtype([(facts, 0 if shape else 1), operand(number)])
            dtypes = input_dtypes(spec, facts)
            values: dict[str, Array] = {
                name: moderate(spec, name, (facts, common), shape, dtypes[name]) for name in spec.inputs
            }
            operands: dict[str, Any] = {name: tensor(array, dtypes[name]) for name, array in values.items()}
            values[index] = np.asarray(number)
            operands[index] = number
            compare_or_refuse(self.spec, operands, values, f"{dtype} {shape} with {index}={number!r}")

    @only_if(lambda spec: spec.python_operator is not None and spec.python_operator.operands > 1)
    def test_python_operator_of_numbers(self, dtype: str) -> None:
        """On the sides where the function takes them; it decides what is right, or which error."""
        spec, symbol = self.spec, self.spec.python_operator
        assert symbol is not None
        apply, function = python_function(symbol), spec.find(opweave)
        for shape, number in itertools.product(((2, 9), ()), (True, 2, 2.5)):
            x = tensor(moderate(spec, "other", (DTYPES[dtype],), shape, DTYPES[dtype]), DTYPES[dtype])
            for pair in ((x, number), (number, x))[: len(spec.numbers)]:
                what = f"{dtype} {shape} {symbol.symbol} {number}"
                check_same_outcome(lambda pair=pair: apply(*pair), lambda pair=pair: function(*pair), what)

    # ---- misuse ----

    def test_refused_dtypes(self) -> None:
        spec = self.spec
        for name in refused_dtypes(spec):
            dtype = DTYPES[name]
            dtypes = input_dtypes(spec, dtype)
            operands = {each: tensor(np.ones(3), dtypes[each]) for each in spec.inputs}
            with pytest.raises(refusal_of(spec, dtype)):
                run(spec, operands)

    def test_wrong_arguments(self) -> None:
        spec = self.spec
        dtypes = input_dtypes(spec, DTYPES[spec.dtypes[-1]])
        good = {name: tensor(np.ones((2, 3)), dtypes[name]) for name in spec.inputs}
        run(spec, good)
        for name in spec.inputs:
            for wrong in ("text", [1.0], np.ones((2, 3)), object()):
                with pytest.raises(TypeError):
                    run(spec, {**good, name: wrong})
            if name not in spec.optional:
                with pytest.raises(TypeError):
                    run(spec, {**good, name: None})
        for name, wrong in itertools.product(spec.params, ("text", [1], None)):
            if wrong is None and name in spec.optional_params:
                continue
            with pytest.raises(TypeError):
                run(spec, good, **{name: wrong})
        with pytest.raises(TypeError):
            run(spec, good, unknown=1)
        for name, index in itertools.product(spec.inputs if len(good) > 1 else (), (0, 1)):
            shape = (2 + (index == 0), 3 + (index == 1))
            with pytest.raises(RuntimeError):
                run(spec, {**good, name: tensor(np.ones(shape), dtypes[name])})
        for name, required in spec.fixed.items():
            with pytest.raises(RuntimeError):
                run(spec, {**good, name: tensor(np.ones((2, 3)), DTYPES["int64" if required != "int64" else "bool"])})

    @only_if(lambda spec: spec.fallible)
    def test_impossible_values(self) -> None:
        """Integer divisions by zero are errors; a result in place is then not promised anything."""
        spec = self.spec
        for name in spec.dtypes:
            dtype = DTYPES[name]
            operands = {each: tensor(np.array([7, 0, 3]), dtype) for each in spec.inputs}
            if dtype.is_floating:
                run(spec, operands)
                continue
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                run(spec, operands)
