"""Tests of operators whose bodies are loops: expressions over indices, rows, reductions and scans with a state.

What they should give is the body itself, computed by loops of Python and NumPy (codegen/check/), for calls that are
drawn: shapes, small integers, and numbers with few bits. indexed.py and lines.py have the suites of the families.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import opweave
import pytest
from opweave.autograd import gradcheck

from codegen.dtypes import DTYPES, INT32, INT64, DType
from codegen.library import Entries
from codegen.model.operator import Operator

from .arrays import Array, cast
from .compare import check, check_same
from .drawn import Drawn
from .extremes import precision
from .gradients import check_again, differentiated
from .layouts import layouts
from .promotion import resolve
from .suite import Case, OperatorTests, only_if, parametrize

Shape = tuple[int, ...]
_LAYOUTS = ("transposed", "negative", "sliced", "step2", "expanded", "permuted", "expanded columns", "reversed rows")
_ROUNDING = 256
"""Numbers of the format of computation by which a result may be off, of the largest one."""
_CLOSE = 4
"""Numbers of its own format by which a result may be off, where its functions are inexact."""


@cache
def _entries(path: Path) -> Entries:
    return Entries(path)


@cache
def operator_of(suite: type[BodyTests]) -> Operator:
    file, name = suite.spec.entry
    return _entries(Path(inspect.getfile(suite)).parents[2] / file).operator(name)


@dataclass(frozen=True)
class Call:
    """The shapes of the tensors (None: absent) and the other arguments, by the names of the schema."""

    shapes: Mapping[str, Shape | None]
    arguments: Mapping[str, Any]
    indices: tuple[int, int] = (0, 1)
    """The range of tensors that are indices."""
    positive: bool = False
    nonzero: bool = False
    """Without zeros, by which integers cannot be divided."""

    @property
    def numel(self) -> int:
        """The number of elements of all tensors."""
        return sum(prod(shape) for shape in self.shapes.values() if shape is not None)

    def values(self, name: str, dtype: DType, seed: int) -> Array:
        """Numbers with few bits, so that sums are exact and equal ones occur."""
        shape = self.shapes[name]
        assert shape is not None
        random = Drawn(seed, zlib.crc32(name.encode()), len(shape))
        if dtype.is_bool:
            return random.integers(0, 4, shape) > 0
        if not (dtype.is_floating or dtype.is_complex):
            drawn = cast(random.integers(max(dtype.lowest, -9), 10, shape), dtype)
            return np.where(drawn == 0, 1, drawn).astype(drawn.dtype) if self.nonzero else drawn
        parts = random.integers(4, 17, (2, *shape)) / 8
        if not self.positive:
            parts = parts * random.choice([-1.0, 1.0], parts.shape)
        return cast(parts[0] + 1j * parts[1] if dtype.is_complex else parts[0], dtype)

    def places(self, name: str, dtype: DType) -> Array:
        """Always the same: with others the call might be refused."""
        shape = self.shapes[name]
        assert shape is not None
        return cast(Drawn(zlib.crc32(name.encode()), len(shape)).integers(*self.indices, shape), dtype)


class BodyTests(OperatorTests):
    """What the families have in common: calls, and their comparison."""

    @property
    def operator(self) -> Operator:
        return operator_of(type(self))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "dtype" in metafunc.fixturenames:
            names = (*self.spec.dtypes, *self.spec.complex_dtypes)
            usual = "float32" if "float32" in names else names[0]
            other = [name for name in names if name != usual]
            # Kernels are those of few dtypes of computation.
            quick = {usual, *other[zlib.crc32(self.spec.name.encode()) % max(len(other), 1) :][:1]}
            parametrize(metafunc, names, frozenset(quick))

    # ---- what a family says

    def calls(self) -> Sequence[Call]:
        raise NotImplementedError

    def expected(self, call: Call, values: Mapping[str, Array | None], dtype: DType) -> tuple[Array, ...]:
        """What the body gives, computed in `dtype`."""
        raise NotImplementedError

    def fixed(self, name: str) -> DType | None:
        """The dtype of a tensor that takes no part in promotion; of indices any integers may be given."""
        raise NotImplementedError

    def own(self, dtype: DType) -> Sequence[DType | None]:
        """The dtypes of results that are not the common one."""
        raise NotImplementedError

    # ---- calls

    def place(self, call: Call, dtype: DType, layout: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The tensors, in a layout where their shape has it, and their values."""
        given: dict[str, Any] = {}
        values: dict[str, Any] = {}
        # Of an operator of integers alone, positions are what it takes.
        positions = [each for each in (INT64, INT32) if each.name in self.spec.dtypes] or [INT64, INT32]
        for name, shape in call.shapes.items():
            fixed = self.fixed(name)
            facts = dtype if fixed is None else fixed if fixed.is_bool else positions[seed % len(positions)]
            if shape is None:
                given[name] = values[name] = None
                continue
            made = call.places(name, facts) if fixed is INT64 else call.values(name, facts, seed)
            known = {each.name: each for each in layouts(shape, facts)}
            given[name], values[name] = known.get(layout, known["contiguous"]).place(made, facts)
        return given, values

    def case(self, call: Call, given: Mapping[str, Any], **more: Any) -> Case:
        """Tensors that lead stand in their places, all other arguments have names."""
        order = [each.name for each in self.operator.schema.arguments]
        leading = next((index for index, name in enumerate(order) if name not in given), len(order))
        named = {"input" if name == "self" else name: value for name, value in given.items()}
        first = [given[name] for name in order[:leading]]
        rest = dict([*named.items()][leading:])
        return Case(*first, **rest, **call.arguments, **more)

    def variant_cases(self) -> list[Case]:
        found = []
        for name in dict.fromkeys((self.spec.dtypes[0], self.spec.dtypes[-1])):
            for call, layout in zip(self.calls(), ("contiguous", "transposed"), strict=False):
                found.append(self.case(call, self.place(call, DTYPES[name], layout, 1)[0]))
        return found

    def compute(self, call: Call, values: Mapping[str, Any], dtype: DType) -> tuple[Array, ...]:
        computation = resolve(self.spec, dtype)[0].opmath
        converted = {
            name: each if each is None else cast(each, self.fixed(name) or computation) for name, each in values.items()
        }
        return self.expected(call, converted, computation)

    # ---- tests

    def test_values(self, dtype: str) -> None:
        """Every call in some layouts; all of these have their turn."""
        facts = DTYPES[dtype]
        computation, common = resolve(self.spec, facts)
        exact = not (computation.is_floating or computation.is_complex)
        step = (
            0.0
            if exact
            else 2.0 ** (1 - precision(computation.opmath.to_real if computation.is_complex else computation.opmath))
        )
        for seed, call in enumerate(self.calls()):
            known: tuple[dict[str, Any], tuple[Array, ...]] | None = None
            for layout in _layouts_of(seed + facts.code):
                given, values = self.place(call, facts, layout, seed)
                if known is None or not _equal(known[0], values):
                    known = values, self.compute(call, values, facts)
                got = as_tuple(self.functional(self.case(call, given)))
                assert len(got) == len(known[1])
                for each, want, own in zip(got, known[1], self.own(computation.opmath), strict=True):
                    what = f"{self.spec.name} {dtype} {layout} {call}"
                    result = common if own is None else own
                    rounds = not exact and (result.is_floating or result.is_complex)
                    with np.errstate(all="ignore"):
                        sizes = np.abs(want[np.isfinite(want)]) if rounds else np.zeros(0)
                    bound = _ROUNDING * step * max(1.0, float(sizes.max(initial=0))) if rounds else None
                    check(each, cast(want, result), result.name, _CLOSE if rounds else 0, what, bound, False)

    @only_if(lambda spec: spec.several_out)
    def test_out_of_several_results(self) -> None:
        for case in self.variant_cases():
            want = as_tuple(self.functional(case))
            out = tuple(opweave.empty(each.shape, dtype=each.dtype) for each in want)
            for each, of, expected in zip(self.functional(case, out=out), out, want, strict=True):
                assert each is of
                check_same(each, expected, f"{self.spec.name}{case} with out=")

    @only_if(lambda spec: spec.automatic and "float64" in spec.dtypes)
    def test_gradient(self) -> None:
        """Derivatives that follow from the body against differences."""
        targets, calls = self.spec.automatic, self.short_calls()
        smallest = min((each.numel for each in calls if each.numel), default=0)
        for seed, call in enumerate(calls):
            given, _ = self.place(call, DTYPES["float64"], "contiguous", seed)
            chosen = [name for name in targets if given[name] is not None]
            # Equal operands would hide what depends on their difference, and are where quotients jump.
            leaves = {
                name: differentiated(given[name], seed * len(chosen) + index) for index, name in enumerate(chosen)
            }

            def results(*values: opweave.Tensor, call: Call = call, given: Any = given, leaves: Any = leaves) -> Any:
                case = self.case(call, {**given, **dict(zip(leaves, values, strict=True))})
                return tuple(each for each in as_tuple(self.functional(case)) if each.requires_grad)

            assert gradcheck(results, (*leaves.values(),)), f"the gradient of {self.spec.name} differs: {call}"
            if call.numel == smallest:
                check_again(results, (*leaves.values(),), f"{self.spec.name}: {call}")

    def short_calls(self) -> Sequence[Call]:
        """Calls with few elements."""
        raise NotImplementedError


def _layouts_of(seed: int) -> tuple[str, ...]:
    return ("contiguous", *(_LAYOUTS[(2 * seed + each) % len(_LAYOUTS)] for each in range(2)))


def as_tuple(value: Any) -> tuple[opweave.Tensor, ...]:
    return tuple(value) if isinstance(value, tuple) else (value,)


def _equal(known: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    return all(each is None or np.array_equal(each, known[name], equal_nan=True) for name, each in values.items())
