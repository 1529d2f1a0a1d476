"""How operators are called, against torch: dtypes that operands promote to, in-place and `out=` forms.

The operators and their arguments come from ops.yaml. Values of every layout are in test_operators_oracle.py.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness.catalog import specs
from harness.compare import FUNCTION_ULP
from harness.layouts import layouts
from harness.spec import Spec
from opweave._operators import FUNCTIONS

from codegen.dtypes import DTYPES, DType

torch = pytest.importorskip("torch")
from harness.torch_twin import Pair, compare, outcome, place  # noqa: E402  (needs torch)

NUMBERS = (True, 2, 2.5)
FAMILIES = ("elementwise", "reduce", "scan", "extern", "composite")
SHARED = [spec for family in FAMILIES for spec in specs(family) if spec.name in FUNCTIONS and hasattr(torch, spec.name)]
BINARY = [spec for spec in SHARED if spec in specs("elementwise") and len(spec.inputs) == 2]

def tensors(values: Any, dtype: str | DType) -> Pair:
    array = np.array(values)
    return place(array, next(layouts(array.shape)), DTYPES[str(dtype)])


def identifiers(found: list[Any]) -> Any:
    return pytest.mark.parametrize("spec", found, ids=lambda spec: spec.name)


def ulp(spec: Spec) -> float:
    return FUNCTION_ULP if spec.inexact else 0


# ---- promotion ----------------------------------------------------------------------------------------------


def operands() -> Iterator[tuple[Any, Any]]:
    """Tensors with and without dimensions, of every two dtypes, and each of them with a number."""
    ones = [tensors(np.ones((1,) * ndim), dtype) for ndim in (0, 1) for dtype in DTYPES]
    yield from itertools.product(ones, repeat=2)
    yield from itertools.product(ones, NUMBERS)


def resulting_dtype(function: Callable[..., Any], library: ModuleType, *arguments: Any) -> str:
    """Of the result; or the class of the exception."""
    mine = [each[library is torch] if isinstance(each, tuple) else each for each in arguments]
    result = outcome(lambda _: function(*mine), library)
    if isinstance(result, Exception):
        return "not implemented" if "not implemented for" in str(result) else type(result).__name__
    return str(result.dtype).rpartition(".")[2]


def differences(function_of: Callable[[ModuleType], Callable[..., Any]], cases: Any) -> list[str]:
    found = []
    for case in cases:
        got, want = (resulting_dtype(function_of(library), library, *case) for library in (opweave, torch))
        if got != want and want != "not implemented":
            shown = [each if not isinstance(each, tuple) else (each[1].dtype, each[1].ndim) for each in case]
            found.append(f"{shown}: {got}, torch has {want}")
    return found


@identifiers(BINARY)
def test_promotion(spec: Spec) -> None:
    assert not differences(lambda library: getattr(library, spec.name), operands())


@identifiers([spec for spec in BINARY if spec.python_operator])
def test_promotion_of_python_operators(spec: Spec) -> None:
    """Numbers on the left as well; there are no functions for that."""
    assert spec.python_operator is not None
    function = getattr(operator, spec.python_operator.method)
    assert not differences(lambda library: function, (case[::-1] for case in operands()))


@identifiers([spec for spec in SHARED if spec in specs("elementwise") and len(spec.inputs) == 3])
def test_promotion_of_three(spec: Spec) -> None:
    of = "bool" if spec.fixed else "int16"
    for first in (tensors(1, of), tensors([1], of)):
        cases = ((first, *rest) for rest in operands())
        assert not differences(lambda library: getattr(library, spec.name), cases)


# ---- in place and out= --------------------------------------------------------------------------------------

EXACT_VALUES = {(): 2, (2, 3): [[1, 2, 3], [0, 1, 2]], (3,): [2, 1, 3], (2, 1): [[1], [2]], (4,): [1, 2, 3, 1]}


def arguments_of(spec: Spec) -> dict[str, Any]:
    """Those besides tensors that must be given."""
    return dict.fromkeys(spec.ints, 0)


@identifiers([spec for spec in SHARED if spec.inplace])
def test_in_place(spec: Spec) -> None:
    """With every dtype of the target and of the other operand, and shapes that fit or do not."""
    shapes = ((), (2, 3), (3,), (2, 1), (4,), (0, 3))
    others = [s for s in (*shapes, *NUMBERS) if len(spec.inputs) > 1] or [None]
    for target, other, of in itertools.product(shapes[:3], others, DTYPES):
        for of_other in DTYPES if isinstance(other, tuple) else ("float32",):
            values = EXACT_VALUES.get(target)

            def apply(
                library: ModuleType, other: Any = other, make: Any = (values, of), of_other: Any = of_other
            ) -> Any:
                own = tensors(*make)[library is torch]
                if isinstance(other, tuple):
                    given = tensors(EXACT_VALUES.get(other, np.ones(other)), of_other)[library is torch]
                else:
                    given = other
                rest = [given] * (len(spec.inputs) - 1)
                result = getattr(own, spec.name + "_")(*rest, **arguments_of(spec))
                assert result is own
                return own

            compare(apply, f"{spec.name}_ {of} {target}, {of_other} {other}", ulp(spec))


def inputs_of(spec: Spec, of: str) -> list[Pair]:
    """Small operands of shapes that the operator takes; every size is 3."""
    if spec.signature:
        dimensions = [len(each.split(",")) for each in spec.signature.split("->")[0].strip("()").split("),(")]
    else:
        dimensions = [2] * len(spec.inputs)
    fixed = [spec.fixed.get(name, of) for name in spec.inputs]
    return [
        tensors((np.arange(3**ndim) % 3 + 1).reshape((3,) * ndim), dtype)
        for ndim, dtype in zip(dimensions, fixed, strict=True)
    ]


OUTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "of the shape": lambda library, result, dtype: library.zeros(tuple(result.shape), dtype=dtype),
    "empty": lambda library, result, dtype: library.zeros(0, dtype=dtype),
    "of another shape": lambda library, result, dtype: library.zeros(5, 2, dtype=dtype),
    "transposed": lambda library, result, dtype: library.zeros(tuple(result.shape)[::-1], dtype=dtype).permute(
        *reversed(range(result.ndim))
    ),
    "expanded": lambda library, result, dtype: library.zeros((), dtype=dtype).expand(result.shape),
    "with steps": lambda library, result, dtype: library.zeros((*result.shape, 2), dtype=dtype)[..., 1],
}


@identifiers([spec for spec in SHARED if spec.out])
@pytest.mark.parametrize("kind", OUTS)
def test_out(spec: Spec, kind: str) -> None:
    for of, of_out in itertools.product(DTYPES, repeat=2):
        inputs = inputs_of(spec, of)

        def apply(library: ModuleType, inputs: Any = inputs, of_out: Any = of_out) -> Any:
            mine = [pair[library is torch] for pair in inputs]
            call = getattr(library, spec.name)
            out = OUTS[kind](library, call(*mine, **arguments_of(spec)), getattr(library, of_out))
            assert call(*mine, **arguments_of(spec), out=out) is out
            return out

        compare(
            apply, f"{spec.name} {of}, out {of_out} {kind}", max(ulp(spec), FUNCTION_ULP * (spec in specs("composite")))
        )


@identifiers([spec for spec in SHARED if spec.out and spec in specs("elementwise")])
def test_out_that_overlaps(spec: Spec) -> None:
    of = spec.dtypes[-1] if spec.promotion != "always_bool" else "bool"
    for begin, end in ((0, 3), (1, 4), (3, 6)):

        def apply(library: ModuleType, begin: int = begin, end: int = end) -> Any:
            memory = tensors([1, 2, 3, 1, 2, 3], of)[library is torch]
            first = tensors([1, 0, 1], spec.fixed.get(spec.inputs[0], of))[library is torch]
            rest = [memory[:3]] * (len(spec.inputs) - 1)
            return getattr(library, spec.name)(*([first, *rest] if rest else [memory[:3]]), out=memory[begin:end])

        compare(apply, f"{spec.name} out [{begin}:{end}]", ulp(spec))
