"""The in-place and `out=` forms of operators against torch, with every two dtypes and shapes that fit or do not.

The operators and their arguments come from ops.yaml. Values of every layout are in test_operators_oracle.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
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
SHARED = [
    spec
    for family in FAMILIES
    for spec in specs(family)
    if spec.module is None and spec.name in FUNCTIONS and hasattr(torch, spec.name)
]

WITHOUT_OUT = ("relu", "selu", "celu", "rsub", "isnan", "isinf", "isreal", "isfinite")
"""torch has no `out=` for these."""

BINARY = [
    spec
    for spec in SHARED
    if spec.out and spec.name not in WITHOUT_OUT and spec in specs("elementwise") and len(spec.inputs) == 2
]

POWERS = ("pow", "float_power")
"""Complex zero to the power zero is NaN in torch, unless that is a number; here it is one, as in NumPy."""

OUT_OTHERWISE = (
    "Found dtype",
    "Expected out type to be",
    "Expected out tensor to have dtype",
    "Expected the dtype for input and out to match",
    "only supports bool tensor for result",
    "does not support non-boolean outputs",
    "is not yet implemented for tensors with different dtypes",
    "operation's result requires dtype",
    "should be same as input",
    "expected scalar_type",
    "is not yet implemented for complex tensors",
)
"""What torch says to an `out` of another dtype where not every operator casts to it; in opweave all but products do."""


def tensors(values: Any, dtype: str | DType) -> Pair:
    array = np.array(values)
    return place(array, next(layouts(array.shape)), DTYPES[str(dtype)])


def identifiers(found: list[Any]) -> Any:
    return pytest.mark.parametrize("spec", found, ids=lambda spec: spec.name)


def arguments_of(spec: Spec) -> dict[str, Any]:
    """Those besides tensors that the call needs."""
    accumulates = spec in (*specs("reduce"), *specs("scan"))
    return spec.keywords | ({"dim": 0} if accumulates else dict.fromkeys(spec.ints, 0))


def ulp(spec: Spec) -> float:
    if spec.name == "sqrt":
        return 1  # torch's, on some processors: sqrt(2.0) is the double below the right one
    return FUNCTION_ULP if spec.inexact else 0


def bound(spec: Spec) -> float | None:
    """What results near zero may be off by whose intermediate values are not."""
    return 2.0**-50 if spec.magnitude else None


# ---- in place and out= --------------------------------------------------------------------------------------


def given(spec: Spec, library: ModuleType, *others: Any, own: Pair) -> Any:
    """Calls the method that works in place."""
    mine = [each[library is torch] if isinstance(each, tuple) else each for each in others]
    target = own[library is torch].clone()
    result = getattr(target, spec.name + "_")(*mine, **arguments_of(spec))
    assert result is target
    return result


def agree(call: Callable[[ModuleType], Any], what: str, ulp: float = 0, bound: float | None = None) -> None:
    """As compare(); of two mistakes in one call either may be named."""
    got, want = outcome(call, opweave), outcome(call, torch)
    if isinstance(got, RuntimeError) and isinstance(want, RuntimeError):
        return
    # torch's vectorised loops give zeros of other signs than the ones for the rest of a row.
    signed_zeros = not isinstance(want, torch.Tensor) or not want.is_complex()
    compare(lambda library: raised(want if library is torch else got), what, ulp, bound, signed_zeros)


def raised(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


@identifiers([spec for spec in SHARED if spec.inplace and hasattr(torch.Tensor, spec.name + "_")])
def test_in_place(spec: Spec) -> None:
    """With every dtype of the target and of the other operand, and shapes that fit or do not."""
    values: tuple[Any, ...] = (2, [[1, 2, 3], [0, 1, 2]], [2, 1, 3])
    others: Any = (*values, [[1], [2]], [1, 2, 3, 1], np.ones((0, 3)))
    for of in DTYPES:
        first, *rest = inputs_of(spec, DTYPES[of])
        what = f"{spec.name}_ {of}"
        agree(lambda library, own=first, rest=rest: given(spec, library, *rest, own=own), what, ulp(spec), bound(spec))
    for value, of in itertools.product(values, DTYPES):
        own = tensors(value, of)
        if spec.name in POWERS and own[1].is_complex():
            continue
        cases: list[Any] = [None]
        if len(spec.inputs) > 1:
            cases = [tensors(*case) for case in itertools.product(others, DTYPES)]
            cases += [number for number in NUMBERS if takes_number(spec, own, number)]
            # torch has no powers of bool either, but copies where the exponent is the number one.
            cases = [case for case in cases if (spec.name, of, case) != ("pow", "bool", True)]
        for case in cases:
            rest = [case] * (len(spec.inputs) - 1)
            what = f"{spec.name}_ {own[1]}, {case[1] if isinstance(case, tuple) else case}"
            agree(
                lambda library, own=own, rest=rest: given(spec, library, *rest, own=own), what, ulp(spec), bound(spec)
            )


def takes_number(spec: Spec, own: Pair, number: float) -> bool:
    """Some functions of torch want tensors only, where opweave takes numbers beside a tensor."""
    numbers = [number] * (len(spec.inputs) - 1)
    return not isinstance(outcome(lambda library: given(spec, library, *numbers, own=own), torch), TypeError)


def inputs_of(spec: Spec, of: DType) -> list[Pair]:
    """Small operands of the dimensions that the operator takes; every size is 3."""
    ndims = [2] * len(spec.inputs)
    if spec.signature:
        ndims = [len(each.split(",")) for each in spec.signature.split("->")[0].strip("()").split("),(")]
    fixed = [spec.fixed.get(name, of) for name in spec.inputs]
    return [
        tensors((np.arange(3**ndim) % 3 + 1).reshape((3,) * ndim), dtype)
        for ndim, dtype in zip(ndims, fixed, strict=True)
    ]


Out = Callable[[ModuleType, Any, Any], Any]
OUTS: dict[str, Out] = {
    "of the shape": lambda library, shape, dtype: library.zeros(shape, dtype=dtype),
    "empty": lambda library, shape, dtype: library.zeros(0, dtype=dtype),
    "of another shape": lambda library, shape, dtype: library.zeros(5, 2, dtype=dtype),
    "transposed": lambda library, shape, dtype: library.zeros(shape, dtype=dtype).permute(
        tuple(range(len(shape)))[::-1]
    ),
    "expanded": lambda library, shape, dtype: library.zeros((), dtype=dtype).expand(shape),
    "with steps": lambda library, shape, dtype: library.zeros((*shape, 2), dtype=dtype)[..., 1],
}


@identifiers([spec for spec in SHARED if spec.out and spec.name not in WITHOUT_OUT])
@pytest.mark.parametrize("kind", OUTS)
def test_out(spec: Spec, kind: str) -> None:
    arguments = arguments_of(spec)
    for of, of_out in itertools.product(DTYPES, repeat=2):
        inputs = inputs_of(spec, DTYPES[of])

        def apply(library: ModuleType, inputs: Any = inputs, of_out: str = of_out) -> Any:
            mine = [pair[library is torch] for pair in inputs]
            call = spec.find(library)
            result = call(*mine, **arguments)
            out = OUTS[kind](library, tuple(result.shape), getattr(library, of_out))
            assert call(*mine, **arguments, out=out) is out
            return out

        if any(reason in str(outcome(apply, torch)) for reason in OUT_OTHERWISE):
            continue
        if spec.complex_refusal and DTYPES[of_out].is_complex:
            continue  # torch refuses complex inputs, opweave a complex result as well
        assert not isinstance(outcome(apply, torch), TypeError)
        if kind == "expanded" and isinstance(outcome(apply, opweave), RuntimeError):
            continue  # torch lets reductions and some products write there
        # An `out` that is wider than the dtype of the computation shows its rounding errors.
        rounded = spec.inexact or spec.promotion == "int_to_float"
        error = 21 * (2**-8 if DTYPES[of].itemsize == 2 else 2**-22) if rounded and of != of_out else bound(spec)
        if rounded and of_out == "complex32":
            error = max(error or 0, 2.0**-11)  # its parts are compared as float32
        agree(apply, f"{spec.name} {of}, out {of_out} {kind}", ulp(spec), error)


@identifiers(BINARY)
def test_out_that_overlaps(spec: Spec) -> None:
    of = "bool" if spec.promotion == "always_bool" else spec.dtypes[-1]
    for begin, end in ((0, 3), (1, 4), (3, 6)):

        def apply(library: ModuleType, begin: int = begin, end: int = end) -> Any:
            memory = tensors([1, 2, 3, 1, 2, 3], of)[library is torch].clone()
            return spec.find(library)(memory[:3], memory[:3], **spec.keywords, out=memory[begin:end])

        compare(apply, f"{spec.name} out [{begin}:{end}]", ulp(spec), bound(spec))
