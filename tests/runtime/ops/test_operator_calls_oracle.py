"""The in-place and `out=` forms of operators against torch, with every two dtypes and shapes that fit or do not.

The operators and their arguments come from ops.yaml. Values of every layout are in test_operators_oracle.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.arrays import NAMES
from harness.catalog import specs
from harness.compare import FUNCTION_ULP
from harness.layouts import layouts
from harness.oracle import Like, Twin
from harness.outcome import Described, Error, outcome
from harness.spec import Spec
from opweave._operators import FUNCTIONS

from codegen.dtypes import DTYPES, DType

NUMBERS = (True, 2, 2.5)
FAMILIES = ("elementwise", "reduce", "scan", "extern", "composite")
SHARED = [
    spec
    for family in FAMILIES
    for spec in specs(family)
    if spec.module is None and spec.name in FUNCTIONS and oracle.has(spec.name)
]

WITHOUT_OUT = (
    *("relu", "selu", "celu", "rsub", "isnan", "isinf", "isreal", "isfinite"),
    "fake_quantize_per_tensor_affine",
)
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


def tensors(values: Any, dtype: str | DType) -> Twin:
    array = np.array(values)
    return Twin(array, next(layouts(array.shape)), DTYPES[str(dtype)])


def identifiers(result: list[Any]) -> Any:
    return pytest.mark.parametrize("spec", result, ids=lambda spec: spec.name)


def arguments_of(spec: Spec) -> dict[str, Any]:
    """Those besides tensors that the call needs."""
    accumulates = spec in (*specs("reduce"), *specs("scan"))
    return spec.keywords | ({"dim": 0} if accumulates else dict.fromkeys(spec.ints, 0))


def like(spec: Spec, dtype: DType) -> Like:
    """Results near zero may be off by more whose intermediate values are not. torch's sqrt(2.0) is the double below
    the right one on some processors, and its vectorised loops over complex numbers give zeros of other signs than
    those for the rest of a row."""
    ulp = 1 if spec.name == "sqrt" else FUNCTION_ULP if spec.inexact else 0
    bound = 2.0**-50 if spec.magnitude else None
    return Like(ulp=ulp, bound=bound, signed_zeros=not dtype.is_complex, texts=False, lacks=True, few=8)


# ---- in place and out= --------------------------------------------------------------------------------------


def given(spec: Spec, library: ModuleType, *others: Any, own: Twin) -> Any:
    """Calls the method that works in place."""
    target = own.of(library).clone()
    result = getattr(target, spec.name + "_")(*oracle.of(library, others), **arguments_of(spec))
    assert result is target
    return result


def agree(got: Described, want: Described, what: str, alike: Like) -> None:
    """Of two mistakes in one call either may be named."""
    if isinstance(want, Error) and isinstance(got, Error) and {got.kind, want.kind} <= RUNTIME_ERRORS:
        return
    oracle.judge(got, want, what, alike)


RUNTIME_ERRORS = {"RuntimeError", "NotImplementedError"}


@identifiers([spec for spec in SHARED if spec.inplace and oracle.has(f"Tensor.{spec.name}_")])
def test_in_place(spec: Spec) -> None:
    """With every dtype of the target and of the other operand, and shapes that fit or do not."""
    values: tuple[Any, ...] = (2, [[1, 2, 3], [0, 1, 2]], [2, 1, 3])
    others: Any = (*values, [[1], [2]], [1, 2, 3, 1], np.ones((0, 3)))
    for dtype in NAMES:
        first, *rest = inputs_of(spec, DTYPES[dtype])
        in_place(spec, f"{spec.name}_ {dtype}", first, rest)
    cases: list[Any] = [None]
    if len(spec.inputs) > 1:
        cases = [*itertools.product(others, NAMES), *NUMBERS]
    for value, dtype, case in oracle.sweep(itertools.product(values, NAMES, cases), 80):
        # torch has no powers of bool either, but copies where the exponent is the number one.
        if spec.name in POWERS and (DTYPES[dtype].is_complex or (dtype, case) == ("bool", True)):
            continue
        rest = [tensors(*case) if isinstance(case, tuple) else case] * (len(spec.inputs) - 1)
        in_place(spec, f"{spec.name}_ {dtype} {value}, {case}", tensors(value, dtype), rest)


def in_place(spec: Spec, what: str, own: Twin, rest: list[Any]) -> None:
    def call(library: ModuleType) -> Any:
        return given(spec, library, *rest, own=own)

    alike = like(spec, own.dtype)
    want = oracle.ask(call, what, alike)
    if isinstance(want, Error) and want.kind == "TypeError" and rest and not isinstance(rest[0], Twin):
        return  # some functions of torch want tensors only, where opweave takes numbers beside a tensor
    agree(outcome(call, opweave), want, what, alike)


def inputs_of(spec: Spec, facts: DType) -> list[Twin]:
    """Small operands of the dimensions that the operator takes; every size is 3."""
    ndims = [2] * len(spec.inputs)
    if spec.signature:
        ndims = [len(each.split(",")) for each in spec.signature.split("->")[0].strip("()").split("),(")]
    fixed = [spec.fixed.get(name, facts) for name in spec.inputs]
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
def test_out(spec: Spec) -> None:
    arguments = arguments_of(spec)
    for kind, dtype, of_out in oracle.sweep(itertools.product(OUTS, NAMES, NAMES), 60):
        inputs = inputs_of(spec, DTYPES[dtype])

        def apply(library: ModuleType, kind: str = kind, inputs: Any = inputs, of_out: str = of_out) -> Any:
            mine = oracle.of(library, inputs)
            call = spec.find(library)
            result = call(*mine, **arguments)
            out = OUTS[kind](library, tuple(result.shape), getattr(library, of_out))
            assert call(*mine, **arguments, out=out) is out
            return out

        # An `out` that is wider than the dtype of the computation shows its rounding errors.
        alike = like(spec, DTYPES[of_out])
        rounded = spec.inexact or spec.promotion == "int_to_float"
        if rounded and dtype != of_out:
            alike = replace(alike, bound=21 * (2**-8 if DTYPES[dtype].itemsize == 2 else 2**-22))
        if rounded and of_out == "complex32":
            alike = replace(alike, bound=max(alike.bound or 0, 2.0**-11))  # its parts are compared as float32
        what = f"{spec.name} {dtype}, out {of_out} {kind}"
        want = oracle.ask(apply, what, alike)
        if isinstance(want, Error) and any(reason in want.text for reason in OUT_OTHERWISE):
            continue
        if spec.complex_refusal and DTYPES[of_out].is_complex:
            continue  # torch refuses complex inputs, opweave a complex result as well
        assert not (isinstance(want, Error) and want.kind == "TypeError"), want
        got = outcome(apply, opweave)
        if kind == "expanded" and isinstance(got, Error) and got.kind in RUNTIME_ERRORS:
            continue  # torch lets reductions and some products write there
        agree(got, want, what, alike)


@identifiers(BINARY)
def test_out_that_overlaps(spec: Spec) -> None:
    dtype = "bool" if spec.promotion == "always_bool" else spec.dtypes[-1]
    whole = tensors([1, 2, 3, 1, 2, 3], dtype)
    for begin, end in ((0, 3), (1, 4), (3, 6)):

        def apply(library: ModuleType, begin: int = begin, end: int = end) -> Any:
            memory = whole.of(library).clone()
            return spec.find(library)(memory[:3], memory[:3], **spec.keywords, out=memory[begin:end])

        oracle.check(apply, f"{spec.name} out [{begin}:{end}]", like(spec, DTYPES[dtype]))
