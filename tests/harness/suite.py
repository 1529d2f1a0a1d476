"""What the suites of all families share: parametrization by dtype, and the variants of a function.

Every variant (method, alias, in place, `out=`, Python's operators) is compared with the functional form, which other
tests compare with NumPy.
"""

from __future__ import annotations

import keyword
import operator as python_operators
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES
from codegen.model.python_operators import PythonOperator

from .arrays import PROMOTING, array, dtype_of, tensor
from .compare import check_same
from .spec import Spec

SLOW = pytest.mark.slow
# Their kernels differ most: truth values, a wrapping integer, a format that computes in another, and the usual one.
_QUICK = ("bool", "int32", "bfloat16", "float32")


def quick_dtypes(name: str, dtypes: Sequence[str]) -> frozenset[str]:
    """The dtypes that every run tests, one of them another for each operator; `-m slow` tests the others."""
    rest = [dtype for dtype in dtypes if dtype not in _QUICK]
    return frozenset((*_QUICK, *([rest[zlib.crc32(name.encode()) % len(rest)]] if rest else [])))


class Case:
    """One call: positional arguments (the first tensor is the receiver of methods) and keywords."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.arguments = arguments
        self.keywords = keywords

    def __str__(self) -> str:
        shown = [
            f"{value.dtype}{list(value.shape)}" if isinstance(value, opweave.Tensor) else repr(value)
            for value in (*self.arguments, *self.keywords.values())
        ]
        return f"({', '.join(shown)})"


def python_function(symbol: PythonOperator) -> Callable[..., Any]:
    """That of module `operator`, which avoids keywords by an underscore."""
    function: Callable[..., Any] = getattr(python_operators, symbol.name + "_" * keyword.iskeyword(symbol.name))
    return function


Test = TypeVar("Test", bound=Callable[..., None])


def only_if(applies: Callable[[Spec], Any]) -> Callable[[Test], Test]:
    """Marks a test that has nothing to say about other operators."""

    def mark(test: Test) -> Test:
        test.applies = applies  # type: ignore[attr-defined]
        return test

    return mark


def only_floating(test: Test) -> Test:
    """Marks a test of floating dtypes."""
    test.floating = True  # type: ignore[attr-defined]
    return test


def parametrize(metafunc: pytest.Metafunc, dtypes: Sequence[str], quick: frozenset[str]) -> None:
    """By dtype; those that are not quick are slow, and not even collected where slow tests are left out."""
    wanted = "not slow" not in metafunc.config.getoption("markexpr")
    slow = [pytest.param(name, marks=SLOW) for name in dtypes if name not in quick] if wanted else []
    metafunc.parametrize("dtype", [*(name for name in dtypes if name in quick), *slow])


class OperatorTests:
    """Base of all suites. A class of the generated file adds the spec."""

    spec: Spec

    def __init_subclass__(cls) -> None:
        """Leaves out the tests that do not apply."""
        super().__init_subclass__()
        if "spec" not in vars(cls):
            return
        for name in dir(cls):
            applies = getattr(getattr(cls, name), "applies", None)
            if applies is not None and not applies(cls.spec):
                setattr(cls, name, None)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "dtype" not in metafunc.fixturenames:
            return
        names = self.spec.dtypes
        if getattr(metafunc.function, "floating", False):
            names = tuple(name for name in names if DTYPES[name].is_floating)
        parametrize(metafunc, names, quick_dtypes(self.spec.name, names))

    def variant_cases(self) -> Sequence[Case]:
        """Calls by which variants are compared: two or three dtypes, one of a strided tensor."""
        raise NotImplementedError

    # ---- names ----

    def functional(self, case: Case, **more: Any) -> opweave.Tensor:
        if self.spec.function:
            return self.spec.find(opweave)(*case.arguments, **case.keywords, **more)
        return self.method(self.spec.name, case, **more)

    def method(self, name: str, case: Case, **more: Any) -> opweave.Tensor:
        """`self` need not be the first argument of the function."""
        index = self.spec.inputs.index("input")
        rest = [value for other, value in enumerate(case.arguments) if other != index]
        return getattr(case.arguments[index], name)(*rest, **case.keywords, **more)

    def test_names(self) -> None:
        """Function, method and aliases are one operator."""
        spec = self.spec
        for case in self.variant_cases():
            want = self.functional(case)
            for name in (spec.name, *spec.aliases):
                if spec.function:
                    function = replace(spec, name=name).find(opweave)
                    check_same(function(*case.arguments, **case.keywords), want, f"opweave.{name}{case}")
                if spec.method:
                    check_same(self.method(name, case), want, f"Tensor.{name}{case}")
        for module, name in spec.exports:
            assert replace(spec, module=module, name=name).find(opweave) is spec.find(opweave)
        if spec.module is not None:
            return
        for name in (spec.name, *spec.aliases):
            assert hasattr(opweave, name) == spec.function
            assert hasattr(opweave.Tensor, name) == spec.method
            assert hasattr(opweave.Tensor, name + "_") == spec.inplace

    # ---- out= ----

    @only_if(lambda spec: spec.out)
    def test_out(self) -> None:
        for case in self.variant_cases():
            want = self.functional(case)
            same_dtype = want.dtype
            for shape in (tuple(want.shape), (0,)):
                out = opweave.empty(shape, dtype=same_dtype)
                assert self.functional(case, out=out) is out
                check_same(out, want, f"{self.spec.name}{case} with out= of shape {shape}")
            wrong = opweave.zeros((*want.shape, 2), dtype=same_dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.functional(case, out=wrong)
            check_same(wrong, want, f"{self.spec.name}{case} with out= of a wrong shape")

    @only_if(lambda spec: spec.out)
    def test_strided_out(self) -> None:
        """An `out` of the right shape keeps its strides, and what lies between its elements."""
        for case in self.variant_cases():
            want = self.functional(case)
            if not want.ndim:
                continue
            base = opweave.ones((*want.shape[:-1], 2 * want.shape[-1]), dtype=want.dtype)
            out = base[..., ::2]
            strides = out.stride()
            self.functional(case, out=out)
            assert out.stride() == strides
            check_same(out, want, f"{self.spec.name}{case} with a strided out=")
            assert np.all(array(base[..., 1::2]) == 1)

    @only_if(lambda spec: spec.out)
    def test_refused_out(self) -> None:
        for case in self.variant_cases():
            want = self.functional(case)
            with pytest.raises(TypeError):
                self.functional(case, out=array(want))
            if want.ndim and want.shape[0] > 1:
                expanded = opweave.zeros((1, *want.shape[1:]), dtype=want.dtype).expand(want.shape)
                with pytest.raises(RuntimeError):
                    self.functional(case, out=expanded)
            overlapping = [value for value in case.arguments if isinstance(value, opweave.Tensor) and value.numel() > 1]
            for argument in overlapping:
                if argument.is_contiguous() and argument.dtype == want.dtype and argument.shape == want.shape:
                    self.check_partial_overlap(case, argument)

    def check_partial_overlap(self, case: Case, argument: opweave.Tensor) -> None:
        """A result that is written one element beside where an input is read is refused, or right in spite of it."""
        memory = tensor(np.arange(argument.numel() + 1) + 1, dtype_of(argument))
        before = array(memory)
        strides = argument.stride()
        moved = [memory.as_strided(argument.shape, strides) if value is argument else value for value in case.arguments]
        want = self.functional(Case(*moved, **case.keywords))
        out = memory.as_strided(argument.shape, strides, 1)
        try:
            self.functional(Case(*moved, **case.keywords), out=out)
        except RuntimeError:
            assert np.array_equal(array(memory), before)
        else:
            check_same(out, want, f"{self.spec.name}{case} with an overlapping out=")

    # ---- in place ----

    @only_if(lambda spec: spec.inplace)
    def test_inplace(self) -> None:
        """The first input is overwritten where it can hold the result, and left alone where it cannot."""
        for case in self.variant_cases():
            for name in (self.spec.name, *self.spec.aliases):
                self.check_inplace(name + "_", case)

    def check_inplace(self, name: str, case: Case) -> None:
        want, call = self.functional(case), getattr(opweave.Tensor, name)
        check_inplace_call(want, call, case, f"{name}{case}", exact=self.spec.promotion == "to_double")

    @only_if(lambda spec: spec.inplace_argument)
    def test_inplace_argument(self) -> None:
        for case in self.variant_cases():
            want, target = self.functional(case), case.arguments[0].clone()
            result = self.functional(Case(target, *case.arguments[1:], **case.keywords), inplace=True)
            assert result is target
            check_same(target, want, f"{self.spec.name}{case} with inplace=True")

    # ---- Python's operators ----

    @only_if(lambda spec: spec.operator)
    def test_python_operator(self) -> None:
        symbol = self.spec.python_operator
        assert symbol is not None
        apply = python_function(symbol)
        for case in self.variant_cases():
            if case.keywords:
                continue
            want = self.functional(case)
            check_same(apply(*case.arguments), want, f"{symbol.symbol}{case}")
            if symbol.operands == 2:
                with pytest.raises(TypeError):
                    raise_unless_compared(apply(case.arguments[0], "text"))
            if symbol.augmented and self.spec.inplace:
                augmented = getattr(python_operators, "i" + symbol.name)
                check_inplace_call(want, augmented, case, f"{symbol.symbol}={case}")


def check_same_outcome(call: Callable[[], Any], other: Callable[[], Any], what: str) -> None:
    """The same result, or an exception of the same type."""
    try:
        want = other()
    except (RuntimeError, TypeError) as error:
        with pytest.raises(type(error)):
            call()
        return
    check_same(call(), want, what)


def raise_unless_compared(result: Any) -> None:
    """Equality with anything else is Python's own answer, not an error."""
    if result is True or result is False:
        raise TypeError


def check_inplace_call(
    want: opweave.Tensor, call: Callable[..., Any], case: Case, what: str, exact: bool = False
) -> None:
    """The receiver becomes `want` in its own dtype, which is that of `want` (`exact`), or a RuntimeError is raised."""
    receiver, *rest = case.arguments
    target = receiver.clone()
    strides = target.stride()
    holds = want.dtype == receiver.dtype if exact else opweave.can_cast(want.dtype, receiver.dtype)
    if not holds or tuple(want.shape) != tuple(receiver.shape):
        with pytest.raises(RuntimeError):
            call(target, *rest, **case.keywords)
        check_same(target, receiver, f"{what} was refused but wrote")
        return
    assert call(target, *rest, **case.keywords) is target, f"{what} gives another tensor"
    assert target.stride() == strides
    check_same(target, want.to(receiver.dtype), what)


def dtypes_of_variants(spec: Spec) -> list[str]:
    """A few dtypes of different kinds: the first and last accepted ones, and what computes in another dtype."""
    chosen = [spec.dtypes[0], spec.dtypes[-1], *(name for name in ("int32", "bfloat16") if name in spec.dtypes)]
    return list(dict.fromkeys(chosen))


def refused_dtypes(spec: Spec) -> list[str]:
    return [each.name for each in PROMOTING if each.name not in (*spec.dtypes, *spec.complex_dtypes)]
