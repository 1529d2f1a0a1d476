"""Tests of factories: values, dtypes and sizes of tensors made from nothing."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType

from .arrays import Array, cast, opweave_dtype
from .compare import check
from .layouts import SHAPES
from .reference import numpy_value
from .suite import Case, OperatorTests

NUMBERS: dict[str, tuple[Any, ...]] = {
    "step": (1, 2, 0.25, 3.0),
    "end": (None, 0, 7, 10.5, 100),
    "start": (0, 5, 1.5, 100),
}
"""Numbers to try for a parameter; any other one gets those of ORDINARY."""
ORDINARY = (0, 1, 7, 2.5, True)


class FactoryTests(OperatorTests):
    def variant_cases(self) -> list[Case]:
        return [self.case(each) for each in itertools.islice(self.arguments(), 40) if self.is_sound(each)]

    def case(self, arguments: dict[str, Any], **more: Any) -> Case:
        """Sizes and numbers by position: a list that may be given as separate integers has no name."""
        return Case(*arguments.values(), **more)

    def is_sound(self, arguments: dict[str, Any]) -> bool:
        """Sequences that would step away from their end are errors, where NumPy has empty ones."""
        if self.spec.reference is None or self.spec.lists:
            return True
        return self.want(arguments, DTYPES["float64"]) is not None

    def arguments(self) -> Iterator[dict[str, Any]]:
        spec = self.spec
        sizes = [SHAPES] * len(spec.lists)
        numbers = [NUMBERS.get(name, ORDINARY) for name in spec.params]
        for chosen in itertools.product(*sizes, *numbers):
            yield dict(zip((*spec.lists, *spec.params), chosen, strict=True))

    def want(self, arguments: dict[str, Any], dtype: DType) -> Array | None:
        """Sequences are counted exactly, or computed in double precision; None where NumPy refuses, too."""
        numbers = [value for value in arguments.values() if isinstance(value, (bool, int, float))]
        wide = np.float64 if dtype.is_floating or any(isinstance(value, float) for value in numbers) else np.int64
        values = np.asarray(numpy_value(self.spec.reference or "", {**arguments, "dtype": wide}))
        return cast(values, dtype) if values.size or self.spec.lists else None

    def test_values(self, dtype: str) -> None:
        spec, facts = self.spec, DTYPES[dtype]
        for arguments in self.arguments():
            case = self.case(arguments, dtype=opweave_dtype(dtype))
            if spec.reference is None:
                got = self.functional(case)
                assert str(got.dtype) == f"opweave.{dtype}"
                assert all(tuple(got.shape) == tuple(arguments[name]) for name in spec.lists)
                continue
            if not facts.is_floating and not spec.lists and any(isinstance(each, float) for each in arguments.values()):
                continue  # a sequence of fractions, truncated: what an element is depends on the way it is computed
            if facts.is_bool and not spec.lists:
                continue
            want = self.want(arguments, facts)
            if want is None:
                with contextlib.suppress(RuntimeError):
                    assert self.functional(case).numel() == 0
                continue
            check(self.functional(case), want, dtype, 0, f"{spec.name} {arguments} {dtype}")

    def test_default_dtype(self) -> None:
        """That of the numbers given; without numbers, the default floating one."""
        for arguments in self.arguments():
            kinds = {type(arguments[name]) for name in self.spec.params if arguments[name] is not None}
            if kinds == {bool} and not self.spec.lists:
                continue
            want = "float32" if not kinds or float in kinds else "bool" if kinds == {bool} else "int64"
            if self.spec.reference is None or self.want(arguments, DTYPES[want]) is not None:
                assert str(self.functional(self.case(arguments)).dtype) == f"opweave.{want}", arguments

    def test_sizes(self) -> None:
        """A tuple, a list, or separate integers."""
        for case in self.variant_cases():
            if self.spec.lists:
                size, *numbers = case.arguments
                forms = [(tuple(size), *numbers), ([*size], *numbers)] + ([] if numbers or not size else [size])
                for form in forms:
                    got = self.spec.find(opweave)(*form)
                    assert tuple(got.shape) == size
                    assert got.is_contiguous()

    def test_names(self) -> None:
        for name in (self.spec.name, *self.spec.aliases):
            assert hasattr(opweave, name)
            assert not hasattr(opweave.Tensor, name)

    def test_out(self) -> None:
        if self.spec.reference is not None:
            super().test_out()

    def test_refused_out(self) -> None:
        for case in self.variant_cases():
            for wrong in (1, "text", np.zeros(2)):
                with pytest.raises(TypeError):
                    self.functional(case, out=wrong)

    def test_strided_out(self) -> None:
        if self.spec.reference is not None:
            super().test_strided_out()

    def test_placement(self) -> None:
        """Where a result may be is checked, although there is only one place."""
        case = self.variant_cases()[1]
        placed = self.functional(case, device="cpu", layout=opweave.strided, pin_memory=False, requires_grad=False)
        assert placed.device.type == "cpu"
        for wrong in ({"device": "nowhere"}, {"layout": 3}, {"dtype": "float32"}, {"dtype": 3}):
            with pytest.raises((TypeError, RuntimeError)):
                self.functional(case, **wrong)

    def test_wrong_arguments(self) -> None:
        good = dict(zip((*self.spec.lists, *self.spec.params), self.variant_cases()[1].arguments, strict=True))
        for name in self.spec.lists:
            for wrong in ("text", 1.5, [1.5], None, [None], [[1]], object()):
                with pytest.raises(TypeError):
                    self.functional(self.case({**good, name: wrong}))
            for negative in ((-1,), (2, -3)):
                with pytest.raises(RuntimeError):
                    self.functional(self.case({**good, name: negative}))
            for huge in ((2**62,), (2**31, 2**31, 2**31), (2**40, 2**10)):
                with pytest.raises(RuntimeError):
                    self.functional(self.case({**good, name: huge}))
            with pytest.raises((RuntimeError, ValueError, TypeError)):
                self.functional(self.case({**good, name: (2**70,)}))
        for name in self.spec.params:
            for wrong in ("text", [1], object()):
                with pytest.raises(TypeError):
                    self.functional(self.case({**good, name: wrong}))
        with pytest.raises(TypeError):
            self.functional(self.case(good, unknown=1))
