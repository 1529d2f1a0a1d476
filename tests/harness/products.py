"""Tests of extern operators (products of matrices and vectors) and of composites."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType

from .arrays import Array, cast, tensor
from .compare import check, rounding_bound
from .drawn import Drawn
from .extremes import small_integers
from .layouts import Layout, layouts
from .reference import numpy_value
from .suite import Case, OperatorTests, dtypes_of_variants, only_floating, only_if, refused_dtypes

SIZES: tuple[dict[str, int], ...] = (
    {"b": 2, "n": 4, "k": 5, "m": 3},
    {"b": 1, "n": 1, "k": 1, "m": 1},
    {"b": 3, "n": 1, "k": 7, "m": 2},
    {"b": 2, "n": 6, "k": 1, "m": 1},
    {"b": 2, "n": 0, "k": 3, "m": 2},
    {"b": 2, "n": 3, "k": 0, "m": 2},
    {"b": 0, "n": 3, "k": 2, "m": 0},
    {"b": 2, "n": 65, "k": 40, "m": 33},
)


def wide_dtype(dtype: DType) -> str:
    return "float64" if dtype.is_floating else "int64"


class ExternTests(OperatorTests):
    """Integers in small number make every sum exact, so that results must agree in the last bit."""

    def shapes(self, sizes: dict[str, int]) -> list[tuple[int, ...]]:
        inputs = self.spec.signature.partition("->")[0]
        return [tuple(sizes[name] for name in group.split(",") if name) for group in re.findall(r"\(([^)]*)\)", inputs)]

    def operands(self, dtype: DType, sizes: dict[str, int]) -> list[Array]:
        return [small_integers(dtype, shape, seed) for seed, shape in enumerate(self.shapes(sizes))]

    def variant_cases(self) -> list[Case]:
        cases = []
        for name in dtypes_of_variants(self.spec):
            operands = [tensor(values, DTYPES[name]) for values in self.operands(DTYPES[name], SIZES[0])]
            cases.append(Case(*operands))
            if self.spec.params:
                cases.append(Case(*operands, **dict.fromkeys(self.spec.params, 2)))
        return cases

    def want(self, values: list[Array], dtype: DType, params: dict[str, Any]) -> Array:
        wide = [each.astype(wide_dtype(dtype)) for each in values]
        names = dict(zip(self.spec.schema_names.values(), wide, strict=False))
        value = numpy_value(self.spec.reference or "", {**names, **self.spec.params, **params})
        return cast(value, dtype)

    def compare(self, chosen: list[Layout], arrays: list[Array], dtype: DType, **params: Any) -> None:
        placed = [layout.place(values, dtype) for layout, values in zip(chosen, arrays, strict=True)]
        want = self.want([values for _, values in placed], dtype, params)
        got = self.functional(Case(*(x for x, _ in placed), **params))
        what = f"{self.spec.name} {dtype} {', '.join(map(str, chosen))} {params}"
        check(got, want, dtype.name, 0, what, signed_zeros=False)

    def test_layouts(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for sizes in SIZES:
            arrays = self.operands(facts, sizes)
            contiguous = [next(layouts(values.shape)) for values in arrays]
            for index, values in enumerate(arrays):
                for layout in layouts(values.shape, facts):
                    self.compare([*contiguous[:index], layout, *contiguous[index + 1 :]], arrays, facts)

    @pytest.mark.slow
    def test_all_pairs_of_layouts(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for sizes in SIZES:
            arrays = self.operands(facts, sizes)
            for chosen in itertools.product(*(layouts(values.shape, facts) for values in arrays)):
                self.compare(list(chosen), arrays, facts)

    @only_if(lambda spec: spec.params)
    def test_params(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        numbers = [0, 1, 2] + ([-1] if facts.is_floating or facts.lowest else []) + ([0.5] if facts.is_floating else [])
        for sizes in SIZES:
            arrays = self.operands(facts, sizes)
            contiguous = [next(layouts(values.shape)) for values in arrays]
            for chosen in itertools.product(numbers, repeat=len(self.spec.params)):
                self.compare(contiguous, arrays, facts, **dict(zip(self.spec.params, chosen, strict=True)))

    @only_floating
    def test_fractions(self, dtype: str) -> None:
        """Rounding errors stay within those of the sum of all products."""
        facts = DTYPES[dtype]
        random = Drawn(3)
        arrays = [cast(random.normal(shape), facts) for shape in self.shapes(SIZES[-1])]
        want = self.want(arrays, facts, {})
        bound = rounding_bound(
            facts.opmath, self.want([np.abs(values) for values in arrays], facts, {}).astype(float), 42
        )
        got = self.functional(Case(*(tensor(values, facts) for values in arrays)))
        check(got, want, dtype, 0 if facts.compute else 1, self.spec.name, bound)

    @only_floating
    def test_special_values(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for index, special in itertools.product(range(len(self.spec.inputs)), (np.nan, np.inf)):
            arrays = self.operands(facts, SIZES[0])
            arrays[index].reshape(-1)[0] = special
            self.compare([next(layouts(values.shape)) for values in arrays], arrays, facts)

    @only_floating
    def test_an_input_scaled_by_zero_is_not_read(self, dtype: str) -> None:
        """As in BLAS, NaN and infinities in what a parameter of zero multiplies do not reach the result."""
        facts = DTYPES[dtype]
        for name, param in itertools.product(self.spec.inputs, self.spec.params):
            if f"{param} * {self.spec.schema_names[name]} " not in f"{self.spec.reference} ":
                continue
            index = self.spec.inputs.index(name)
            for sizes, special in itertools.product(SIZES, (np.nan, np.inf)):
                arrays = self.operands(facts, sizes)
                want = self.want(arrays, facts, {param: 0})
                arrays[index] = np.full_like(arrays[index], special)
                case = Case(*(tensor(values, facts) for values in arrays), **{param: 0})
                what = f"{self.spec.name}{case} of {special}"
                check(self.functional(case), want, dtype, 0, what, signed_zeros=False)
                if self.spec.inplace and index == 0:
                    getattr(opweave.Tensor, self.spec.name + "_")(*case.arguments, **case.keywords)
                    check(case.arguments[0], want, dtype, 0, f"{what} in place", signed_zeros=False)

    def test_wrong_arguments(self) -> None:
        spec = self.spec
        dtype = DTYPES["float32"]
        good = [tensor(values, dtype) for values in self.operands(dtype, SIZES[0])]
        for index in range(len(good)):
            for wrong in ("text", None, [1.0], object()):
                with pytest.raises(TypeError):
                    self.functional(Case(*good[:index], wrong, *good[index + 1 :]))
            other = good[index].to(opweave.float64)
            with pytest.raises(RuntimeError):
                self.functional(Case(*good[:index], other, *good[index + 1 :]))
            for shape in ((9, 9, 9, 9), (7,) * good[index].ndim):
                with pytest.raises(RuntimeError):
                    self.functional(Case(*good[:index], opweave.ones(shape), *good[index + 1 :]))
        for name, wrong in itertools.product(spec.params, ("text", [1])):
            with pytest.raises(TypeError):
                self.functional(Case(*good, **{name: wrong}))

    def test_refused_dtypes(self) -> None:
        for name in refused_dtypes(self.spec):
            dtype = DTYPES[name]
            with pytest.raises((NotImplementedError, RuntimeError)):
                self.functional(Case(*(tensor(values, dtype) for values in self.operands(dtype, SIZES[0]))))


class CompositeTests(OperatorTests):
    """Operators written in Python: every combination of shapes; what NumPy refuses is refused."""

    SHAPES = ((), (3,), (4,), (2, 3), (3, 4), (4, 3), (0, 3), (3, 0), (5, 2, 3), (5, 3, 4), (2, 1, 3, 4), (1, 4, 3))

    def arguments(self, ndim: int) -> Iterator[dict[str, Any]]:
        choices = [range(-ndim, ndim) for _ in self.spec.ints]
        for chosen in itertools.product(*choices):
            yield dict(zip(self.spec.ints, chosen, strict=True))

    def variant_cases(self) -> list[Case]:
        cases = []
        for name in dtypes_of_variants(self.spec):
            dtype = DTYPES[name]
            operands = [tensor(small_integers(dtype, (4, 4), seed), dtype) for seed in range(len(self.spec.inputs))]
            cases += [Case(*operands, **arguments) for arguments in self.arguments(2)]
        return cases

    def test_values(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        for shapes in itertools.product(self.SHAPES, repeat=len(spec.inputs)):
            arrays = [small_integers(facts, shape, seed) for seed, shape in enumerate(shapes)]
            for arguments in self.arguments(len(shapes[0])):
                self.compare([next(layouts(shape)) for shape in shapes], arrays, facts, arguments)

    def test_layouts(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        for shape in ((4, 4), (2, 5, 5)):
            arrays = [small_integers(facts, shape, seed) for seed in range(len(spec.inputs))]
            for chosen in itertools.product(layouts(shape, facts), repeat=len(spec.inputs)):
                for arguments in self.arguments(len(shape)):
                    self.compare(list(chosen), arrays, facts, arguments)

    def compare(self, chosen: list[Layout], arrays: list[Array], dtype: DType, arguments: dict[str, Any]) -> None:
        spec = self.spec
        placed = [layout.place(values, dtype) for layout, values in zip(chosen, arrays, strict=True)]
        wide = [values.astype(wide_dtype(dtype)) for _, values in placed]
        case = Case(*(x for x, _ in placed), **arguments)
        try:
            names = dict(zip(spec.schema_names.values(), wide, strict=False))
            want = numpy_value(spec.reference or "", {**names, **arguments})
        except (ValueError, IndexError):
            with pytest.raises((RuntimeError, IndexError)):
                self.functional(case)
            return
        tolerance = 0 if not dtype.is_floating else 16 if dtype.compute else 2
        what = f"{spec.name} {dtype} {', '.join(map(str, chosen))} {arguments}"
        check(self.functional(case), cast(want, dtype), dtype.name, tolerance, what, signed_zeros=False)

    def test_wrong_arguments(self) -> None:
        spec = self.spec
        good = [tensor(np.ones((3, 3)), DTYPES["float32"]) for _ in spec.inputs]
        numbers = dict.fromkeys(spec.ints, 0)
        for index in range(len(good)):
            for wrong in ("text", 1.5, None, [1.0]):
                with pytest.raises(TypeError):
                    spec.find(opweave)(*good[:index], wrong, *good[index + 1 :], **numbers)
        for name in spec.ints:
            with pytest.raises(IndexError):
                self.functional(Case(*good, **{**numbers, name: 7}))
            for wrong in ("text", 1.5):
                with pytest.raises(TypeError):
                    self.functional(Case(*good, **{**numbers, name: wrong}))

    def test_refused_dtypes(self) -> None:
        for name in refused_dtypes(self.spec):
            operands = [tensor(np.ones((3, 3)), DTYPES[name]) for _ in self.spec.inputs]
            with pytest.raises((NotImplementedError, RuntimeError)):
                self.functional(Case(*operands, **dict.fromkeys(self.spec.ints, 0)))
