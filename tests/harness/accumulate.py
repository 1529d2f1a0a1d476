"""Tests of reductions and scans: dimensions, dtypes, layouts, and lengths at which the core changes its way."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType

from .arrays import Array, cast, holder, opweave_dtype, tensor
from .compare import check, check_same, rounding_bound
from .drawn import Drawn
from .extremes import ordinary
from .layouts import SHAPES, layouts
from .promotion import resolve
from .reference import numpy_axis, numpy_value
from .suite import Case, OperatorTests, dtypes_of_variants, only_floating, only_if, refused_dtypes

LARGE = ((5, 700), (700, 5), (3, 9000), (9000, 3), (40_000,), (6, 50, 20))
_WIDE = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "float64": "longdouble"}


def values_of(dtype: DType, shape: tuple[int, ...]) -> Array:
    """Of few sizes, so that products stay in range."""
    count = int(np.prod(shape))
    if not dtype.is_floating:
        return ordinary(dtype, max(count, 1)).copy()[:count].reshape(shape)
    random = Drawn(dtype.code, count)
    return cast((1 + random.normal(shape) / 20) * random.choice([-1.0, 1.0], shape), dtype)


class AccumulateTests(OperatorTests):
    """What reductions and scans have in common. `arguments` gives the calls that a shape admits."""

    def variant_cases(self) -> list[Case]:
        cases = []
        for name in dtypes_of_variants(self.spec):
            x = tensor(values_of(DTYPES[name], (3, 4)), DTYPES[name])
            cases += [Case(x, **arguments) for arguments in self.arguments((3, 4))]
            cases += [Case(x.t(), dim=-1)]
        return cases

    def arguments(self, shape: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        raise NotImplementedError

    def compare(self, x: opweave.Tensor, values: Array, facts: DType, what: str, **arguments: Any) -> None:
        """One call against NumPy in a wider format."""
        spec = self.spec
        wanted = arguments.get("dtype")
        computation, result = resolve(spec, DTYPES[wanted] if wanted else facts)
        if wanted:
            result = DTYPES[wanted]
        exact = result.name not in spec.inexact
        converted = values != 0 if computation.is_bool else cast(cast(values, result), computation)
        wide = converted if exact else converted.astype(_WIDE[result.name])
        want, bound = self.numpy(wide, arguments), None
        if not exact:
            operations = values.size if spec.multiplies else 4 + np.log2(max(values.size, 1))
            bound = rounding_bound(computation, np.abs(self.numpy(np.abs(wide), arguments)), operations)
        call = {**arguments, "dtype": opweave_dtype(wanted)} if wanted else arguments
        got = self.functional(Case(x, **call))
        ulp = 0 if result.compute else 1
        check(got, cast(want, result), result.name, ulp, f"{spec.name} {what} {arguments}", bound, signed_zeros=False)

    def numpy(self, values: Array, arguments: dict[str, Any]) -> Array:
        """The reference; NumPy does not know dimension 0 of a scalar."""
        dim = arguments.get("dim") if values.ndim or self.scans else None
        # An empty list stands for all dimensions, but for none of them in reductions to truth values.
        dim = dim if dim == () and self.spec.promotion == "bool" else numpy_axis(dim)
        names = {"self": np.atleast_1d(values) if self.scans else values, "dim": dim}
        names["keepdim"] = arguments.get("keepdim", False)
        value = np.asarray(numpy_value(self.spec.reference or "", names))
        return value.reshape(values.shape) if self.scans else value

    scans = False
    """Does the result have the shape of the input?"""

    def test_layouts(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for shape in SHAPES:
            for layout in layouts(shape, facts):
                x, values = layout.place(values_of(facts, shape), facts)
                for arguments in self.arguments(shape):
                    if not self.refuses(shape, arguments):
                        self.compare(x, values, facts, f"{dtype} {layout}", **arguments)

    def test_large(self, dtype: str) -> None:
        """Blocks, trees and threads."""
        facts = DTYPES[dtype]
        for shape in LARGE:
            values = values_of(facts, shape)
            x = tensor(values, facts)
            for arguments in self.arguments(shape):
                self.compare(x, values, facts, f"{dtype} {shape}", **arguments)

    @pytest.mark.slow
    def test_large_in_every_layout(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for shape in LARGE:
            for layout in layouts(shape, facts):
                x, values = layout.place(values_of(facts, shape), facts)
                for arguments in self.arguments(shape):
                    self.compare(x, values, facts, f"{dtype} {layout}", **arguments)

    @only_floating
    def test_special_values(self, dtype: str) -> None:
        """Infinities and NaN among ordinary values, at places that different parts of a kernel handle."""
        facts = DTYPES[dtype]
        for count, index, special in itertools.product((3, 70, 600), (0, -1, 17), (np.inf, -np.inf, np.nan, -0.0)):
            values = values_of(facts, (count, 2))
            values[index % count, 0] = special
            self.compare(tensor(values, facts), values, facts, f"{count} with {special}", dim=0)
            values = np.ascontiguousarray(values.T)
            self.compare(tensor(values, facts), values, facts, f"{count} with {special}", dim=1)

    @only_floating
    def test_negative_zeros(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        values = cast(np.full((2, 9), -0.0), facts)
        self.compare(tensor(values, facts), values, facts, "negative zeros", dim=1)

    @only_if(lambda spec: spec.dtype_argument)
    def test_dtype_argument(self) -> None:
        """Inputs are converted first, and the result has the dtype that was asked for."""
        spec = self.spec
        names = [name for name in spec.dtypes if name != "bool"]
        for source, target in itertools.product(DTYPES, names):
            if spec.complex_refusal and DTYPES[source].is_complex:
                continue  # not even on the way to another dtype
            values = cast(np.array([[1, 2, 3, 1, 2]]), DTYPES[source])
            self.compare(tensor(values, DTYPES[source]), values, DTYPES[source], source, dim=1, dtype=target)
        with pytest.raises(TypeError):
            self.functional(Case(opweave.ones(2), dim=0, dtype="float32"))

    def refuses(self, shape: tuple[int, ...], arguments: dict[str, Any]) -> bool:
        """Is there nothing to choose an extremum from?"""
        if not self.spec.refuses_empty:
            return False
        dim = arguments.get("dim")
        dims = range(len(shape)) if dim in (None, ()) else (dim,) if isinstance(dim, int) else dim
        return 0 in shape and (dim in (None, ()) or any(shape[d] == 0 for d in dims))

    # ---- misuse ----

    def test_refused_dtypes(self) -> None:
        for name in refused_dtypes(self.spec):
            with pytest.raises((RuntimeError, NotImplementedError)):
                self.functional(Case(tensor(np.ones((2, 2)), DTYPES[name]), dim=0))

    def test_wrong_arguments(self) -> None:
        x = tensor(np.ones((2, 3)), DTYPES[self.spec.dtypes[-1]])
        for dim in (2, -3, 100, 2**40, -(2**40)):
            with pytest.raises(IndexError):
                self.functional(Case(x, dim=dim))
        for dim in ("text", 1.0, 1j, object(), [0.5], ["a"]):
            with pytest.raises(TypeError):
                self.functional(Case(x, dim=dim))
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            self.functional(Case(x, dim=2**70))
        for wrong in (1, 1.5, "text", None, [1.0], np.ones(2)):
            with pytest.raises((TypeError, AttributeError) if not self.spec.function else TypeError):
                self.functional(Case(wrong, dim=0))
        with pytest.raises(TypeError):
            self.functional(Case(x, dim=0, unknown=1))


@pytest.mark.filterwarnings("ignore:Mean of empty slice")  # NumPy's, whose result is the same NaN
class ReduceTests(AccumulateTests):
    def arguments(self, shape: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        dims = range(len(shape)) or [0]
        yield {}
        yield {"dim": ()}
        for dim, keepdim in itertools.product(dims, (False, True)):
            yield {"dim": dim, "keepdim": keepdim}
        yield {"dim": -1}
        for pair in itertools.combinations(range(len(shape)), 2):
            yield {"dim": pair}
            yield {"dim": pair[::-1], "keepdim": True}
        yield {"dim": tuple(range(len(shape))), "keepdim": True}

    def test_empty(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for shape in (shape for shape in SHAPES if 0 in shape):
            x = tensor(np.empty(shape, holder(facts)), facts)
            for arguments in self.arguments(shape):
                if self.refuses(shape, arguments):
                    with pytest.raises((IndexError, RuntimeError)):
                        self.functional(Case(x, **arguments))

    def test_repeated_dimensions(self) -> None:
        x = tensor(np.ones((2, 3)), DTYPES[self.spec.dtypes[-1]])
        for dim in ((0, 0), (1, -1)):
            with pytest.raises(RuntimeError, match="multiple times"):
                self.functional(Case(x, dim=dim))
        with pytest.raises(TypeError):
            self.functional(Case(x, dim=0, keepdim="text"))


class ScanTests(AccumulateTests):
    scans = True

    def arguments(self, shape: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        for dim in range(-len(shape), len(shape)):
            yield {"dim": dim}

    def check_inplace(self, name: str, case: Case) -> None:
        """The receiver's dtype is that of the result: nothing is promoted."""
        receiver, target = case.arguments[0], case.arguments[0].clone()
        if receiver.dtype is opweave.bool:
            with pytest.raises((RuntimeError, NotImplementedError)):
                getattr(target, name)(**case.keywords)
            return
        named = {"dtype": receiver.dtype} if self.spec.dtype_argument else {}
        want = self.functional(Case(receiver, **case.keywords, **named))
        assert getattr(target, name)(**case.keywords) is target
        check_same(target, want, f"{name}{case}")
