"""Promotion against torch: every pair of dtypes, tensors with and without dimensions and Python's numbers, through
every operator of several inputs. Values are compared as well: operands are rounded where torch rounds them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import opweave
import pytest
from harness import oracle
from harness.arrays import NAMES, PROMOTING
from harness.calls import moderate
from harness.catalog import specs
from harness.compare import FUNCTION_ULP
from harness.elementwise import NUMBERS
from harness.layouts import layouts
from harness.oracle import Like, Twin
from harness.outcome import Error, Values
from harness.spec import POLYNOMIALS, Spec, chooses

from codegen.dtypes import DTYPES, DType


def known(spec: Spec) -> bool:
    return oracle.has(f"{spec.module}.{spec.name}" if spec.module else spec.name)


REAL = {dtype.name: dtype for dtype in PROMOTING if not dtype.is_complex}
MIXING = [spec for spec in specs("elementwise") if len(spec.free) > 1 and known(spec)]
SHAPES = ((2, 5), (1,), ())
LIKE = Like(texts=False, lacks=True, few=4)


def operands(spec: Spec, dtypes: dict[str, DType], shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    kinds = tuple(dtypes.values())
    results = {}
    for name, dtype in dtypes.items():
        shape = shapes.get(name, (2, 5))
        results[name] = Twin(moderate(spec, name, kinds, shape, dtype), next(layouts(shape)), dtype)
    return results


def compare_call(spec: Spec, values: dict[str, Any], what: str) -> None:
    """`values` are twins, or numbers."""

    def call(library: Any) -> Any:
        return spec.find(library)(*oracle.of(library, [*values.values()]), **spec.keywords)

    ulp: float = FUNCTION_ULP if spec.inexact else 0
    bound: Any = None
    if spec.magnitude:  # neither is exact where larger numbers cancel
        ulp, bound = 2 * FUNCTION_ULP, 2.0**-24
    if (spec.name == "floor_divide" or spec.chosen) and "float16" in what:
        ulp, bound = 2, 1  # torch rounds every step to a half
    if spec.name in ("igamma", "igammac"):
        bound = 1e-5  # torch's error in float32
    if spec.name in POLYNOMIALS:
        ulp, bound = 2**16, 1e-2  # of large degrees torch loses many digits
    signed = not (chooses(spec) or spec.name in POLYNOMIALS)
    like = replace(LIKE, ulp=ulp, bound=bound, signed_zeros=signed, few=10)
    want = oracle.ask(call, f"{spec.name} {what}", like)
    if isinstance(want, Error) and "must be Tensor, not" in want.text:
        return  # many functions of torch want tensors only, where opweave takes numbers as NumPy does
    if spec.name in ("zeta", *POLYNOMIALS) and isinstance(want, Values):
        # The sum of two infinities in torch, where it is that of the larger one's sign, or small beyond its range.
        assert want.values is not None
        like = replace(like, bound=np.where(np.isnan(want.values), np.inf, bound).reshape(want.shape))
    oracle.agree(call, want, f"{spec.name} {what}", like)


@pytest.mark.parametrize("spec", MIXING, ids=lambda spec: spec.name)
def test_tensors(spec: Spec) -> None:
    cases = itertools.product(REAL.values(), REAL.values(), SHAPES, SHAPES)
    for first, second, *shapes in oracle.sweep(cases, 150):
        names = spec.free[-2:]
        dtypes = {n: DTYPES[spec.fixed[n]] if n in spec.fixed else first for n in spec.inputs}
        dtypes[names[1]] = second
        values = operands(spec, dtypes, dict(zip(names, shapes, strict=True)))
        compare_call(spec, values, f"{first} {shapes[0]} with {second} {shapes[1]}")


@pytest.mark.parametrize("spec", MIXING, ids=lambda spec: spec.name)
def test_numbers(spec: Spec) -> None:
    if spec.name.startswith("logical"):
        return  # torch takes no numbers here
    for dtype, shape, number in oracle.sweep(itertools.product(REAL.values(), SHAPES, NUMBERS), 60):
        if spec.name == "pow" and dtype.is_bool:
            continue  # torch has powers of bool
        if spec.name in POLYNOMIALS and not abs(number) < 1000:
            continue  # torch takes a step for each degree, and has values of those that are infinite or NaN
        if spec.fallible and number == 0 and not (dtype.is_floating or isinstance(number, float)):
            continue
        dtypes = {n: DTYPES[spec.fixed[n]] if n in spec.fixed else dtype for n in spec.inputs}
        values = operands(spec, dtypes, dict.fromkeys(spec.inputs, shape))
        last = spec.inputs[-1]
        if dtype.is_floating and dtype.itemsize == 2 and number == number and half(number, dtype) != number:
            continue  # torch rounds it in many operators, and refuses what is beyond halves in others
        values[last] = number
        if spec.optional:
            values = {spec.inputs[0]: values[spec.inputs[0]], spec.optional[0]: number}
        compare_call(spec, values, f"{dtype} {shape} with {number!r}")


def half(number: float, dtype: DType) -> float:
    return float(opweave.tensor(number, dtype=opweave.float64).to(getattr(opweave, dtype.name)).item())


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "<", "==", "!=", ">=", "&", "|", "^"])
def test_python_operators(symbol: str) -> None:
    """Numbers on both sides, and augmented assignment."""
    texts = [f"x {symbol} n", f"n {symbol} x", *([f"x {symbol}= n"] if symbol not in ("<", "==", "!=", ">=") else [])]
    for dtype, shape, number, text in oracle.sweep(
        itertools.product(REAL.values(), SHAPES, (True, 3, 2.5), texts), 120
    ):
        if symbol == "**" and dtype.is_bool:
            continue  # torch has powers of bool
        x = Twin(np.array([1, 2, 4, 3, 1] * 2)[: int(np.prod(shape))].reshape(shape), next(layouts(shape)), dtype)

        def call(library: Any, text: str = text, x: Twin = x, number: Any = number) -> Any:
            names = {"x": x.of(library).clone(), "n": number}
            exec(text if "= n" in text else f"x = {text}", names)
            return names["x"]

        oracle.check(call, f"{dtype} {shape} {text} {number}", replace(LIKE, ulp=4, few=10))


def test_promote_types() -> None:
    for first, second, name in itertools.product(NAMES, NAMES, ("promote_types", "can_cast")):
        oracle.check(
            lambda L, name=name, first=first, second=second: getattr(L, name)(getattr(L, first), getattr(L, second)),
            f"{name} {first} {second}",
            LIKE,
        )


def test_result_type() -> None:
    for first, second, *shapes in itertools.product(NAMES, NAMES, SHAPES, SHAPES):
        oracle.check(
            lambda L, names=(first, second), shapes=shapes: L.result_type(
                *(L.ones(shape, dtype=getattr(L, name)) for shape, name in zip(shapes, names, strict=True))
            ),
            f"{first} {second} {shapes}",
            LIKE,
        )


@pytest.mark.parametrize("name", ["nextafter", "nn.functional.mse_loss", "nn.functional.smooth_l1_loss"])
def test_composites_that_promote(name: str) -> None:
    """Their `dtypes` are about what the inputs promote to."""
    known = [dtype.name for dtype in REAL.values() if dtype.name not in ("uint16", "uint32", "uint64")]
    for dtypes, shape in itertools.product(itertools.product(known, repeat=2), SHAPES):

        def call(library: Any, dtypes: tuple[str, ...] = dtypes, shape: tuple[int, ...] = shape) -> Any:
            first, second = (getattr(library, each) for each in dtypes)
            return attrgetter(name)(library)(library.zeros(shape, dtype=first), library.ones(shape, dtype=second))

        oracle.check(call, f"{name} of {dtypes} {shape}", replace(LIKE, ulp=FUNCTION_ULP))
