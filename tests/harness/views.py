"""Tests of views: the right elements, in the memory of the base."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES

from .arrays import array, tensor
from .compare import check, check_same
from .layouts import SHAPES, layouts
from .reference import numpy_value
from .suite import Case, OperatorTests, parametrize


def integers(name: str, ndim: int) -> list[int | None]:
    """Values to try for an integer argument: all that are allowed and the first ones that are not."""
    if name.startswith("dim"):
        return [*range(-ndim - 2, ndim + 2)]
    if name == "step":
        return [1, 2, 5]
    if name in ("start", "end"):
        return [None, 0, 1, 3, 100, -1, -2, -100]
    return [-5, -4, -1, 0, 1, 3, 4]


def lists(name: str, shape: tuple[int, ...]) -> Iterator[Sequence[int]]:
    """Values to try for a list: sizes to take apart and to repeat, orders of dimensions."""
    if name == "dim":
        yield from ([dim] for dim in range(-len(shape) - 1, len(shape) + 1))
        yield from ((), tuple(range(len(shape))), tuple(range(0, len(shape), 2)))
        return
    if name == "dims":
        for order in itertools.permutations(range(len(shape))):
            yield order
            yield tuple(dim - len(shape) for dim in order)
        yield from ((0, 0), (len(shape),), (0, 1, 2, 3, 4, 5))
        return
    count = int(np.prod(shape))
    yield from (shape, shape[::-1], (count,), (1, count), (count, 1, 1), (2, *shape), (*shape, 2), (count + 1,), (0,))
    yield tuple(3 if size == 1 else size for size in shape)
    yield (4, *(2 if size == 1 else size for size in shape))
    if len(shape) > 1:
        yield (shape[0] * shape[1], *shape[2:])
        yield (*shape[:-2], shape[-2] * shape[-1])
    for divisor in (2, 3):
        if shape and shape[0] % divisor == 0:
            yield (divisor, shape[0] // divisor, *shape[1:])


class ViewTests(OperatorTests):
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Views do not look at the elements: one dtype of each size is enough."""
        if "dtype" in metafunc.fixturenames:
            parametrize(metafunc, ("float32", "int8", "bfloat16", "float64"), frozenset(["float32"]))

    def variant_cases(self) -> list[Case]:
        cases = []
        for name in ("float32", "bfloat16", "bool"):
            values = np.arange(6).reshape(2, 3)
            x = tensor(values, DTYPES[name])
            for arguments in self.arguments((2, 3)):
                if self.admits(arguments, values):
                    cases.append(self.case(x, arguments))
        return cases

    def arguments(self, shape: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        spec = self.spec
        choices = [integers(name, len(shape)) for name in spec.ints] + [list(lists(name, shape)) for name in spec.lists]
        for chosen in itertools.product(*choices):
            yield dict(zip((*spec.ints, *spec.lists), chosen, strict=True))

    def reference(self, values: Any, arguments: dict[str, Any]) -> Any:
        """NumPy's view, or the exception that it raises."""
        try:
            return numpy_value(self.spec.reference or "self", {"self": values, **arguments})
        except (ValueError, IndexError, TypeError) as error:
            return error

    def admits(self, arguments: dict[str, Any], values: Any) -> bool:
        return isinstance(self.reference(values, arguments), np.ndarray)

    def call(self, x: opweave.Tensor, arguments: dict[str, Any]) -> opweave.Tensor:
        return self.functional(self.case(x, arguments))

    def case(self, x: opweave.Tensor, arguments: dict[str, Any]) -> Case:
        """Lists that may be given as separate integers have no name."""
        return Case(x, *arguments.values()) if self.spec.variadic else Case(x, **arguments)

    def test_names(self) -> None:
        """A list alone may be given as separate integers."""
        for case in self.variant_cases():
            if self.spec.variadic:
                x, values = case.arguments
                want = self.functional(case)
                for form in ((values,), (list(values),), (opweave.Size(values),), values):
                    check_same(getattr(x, self.spec.name)(*form), want, f"{self.spec.name}{form}")
        super().test_names()

    def test_layouts(self, dtype: str) -> None:
        facts = DTYPES[dtype]
        for shape in SHAPES:
            for layout in layouts(shape, facts):
                count = int(np.prod(shape))
                x, values = layout.place((np.arange(count) % 100).reshape(shape), facts)
                flat = layout.memory(values)
                based = layout.view(flat)
                for arguments in self.arguments(shape):
                    self.check_view(x, values, based, dtype, f"{dtype} {layout} {arguments}", arguments)

    def check_view(
        self, x: opweave.Tensor, values: Any, based: Any, dtype: str, what: str, arguments: dict[str, Any]
    ) -> None:
        """`based` has the strides of the tensor: where NumPy needs no copy there is a view."""
        want = self.reference(based, arguments)
        if isinstance(want, Exception):
            if x.ndim:  # NumPy refuses dimension 0 of a scalar
                with pytest.raises((IndexError, RuntimeError)):
                    self.call(x, arguments)
            return
        shares = np.shares_memory(want, based) or not values.size
        if not shares or self.spec.conditional:
            try:
                got = self.call(x, arguments)
            except (RuntimeError, IndexError):
                return
        else:
            got = self.call(x, arguments)
        check(got, np.asarray(self.reference(values, arguments)), dtype, 0, f"{self.spec.name} {what}")
        if shares or not self.spec.copies:
            assert got.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(), f"{what} does not share memory"

    def test_shares_memory(self) -> None:
        """What is written to the view appears in the base."""
        for case in self.variant_cases():
            base = case.arguments[0].clone()
            result = self.functional(Case(base, *case.arguments[1:], **case.keywords))
            if result.numel() == 0 or 0 in result.stride():
                continue
            assert result.dtype is base.dtype
            before = array(base)
            result.logical_not_()
            assert (array(base) != before).any(), f"{self.spec.name}{case}"

    def check_inplace(self, name: str, case: Case) -> None:
        """The receiver becomes the view of its own memory that the functional form gives."""
        x, *rest = case.arguments
        target = x.as_strided(x.shape, x.stride())
        want = self.functional(case)
        assert getattr(target, name)(*rest, **case.keywords) is target
        assert target.stride() == want.stride()
        assert target.data_ptr() == want.data_ptr()
        check_same(target, want, f"{name}{case}")

    def test_out(self) -> None:
        with pytest.raises(TypeError):
            self.functional(self.variant_cases()[0], out=opweave.zeros(()))

    def test_wrong_arguments(self) -> None:
        x = tensor(np.ones((2, 3)), DTYPES["float32"])
        good = next(each for each in self.arguments((2, 3)) if self.admits(each, array(x)))
        for name in self.spec.ints:
            for wrong in ("text", 1.5, object(), [1]):
                with pytest.raises(TypeError):
                    self.call(x, {**good, name: wrong})
            with pytest.raises((ValueError, RuntimeError, IndexError, TypeError)):
                self.call(x, {**good, name: 2**70})
        for name in self.spec.lists:
            for wrong in ("text", 1.5, [1.5], ["a"], object(), [[1]]):
                with pytest.raises(TypeError):
                    self.call(x, {**good, name: wrong})
            with pytest.raises(TypeError):
                self.call(x, {**good, name: [2**70, 1]})
        if self.spec.function:
            for wrong in (1, "text", None, np.ones(2)):
                with pytest.raises(TypeError):
                    self.call(wrong, good)
