"""Promotion against torch: every pair of dtypes, tensors with and without dimensions and Python's numbers, through
every operator of several inputs. Values are compared as well: operands are rounded where torch rounds them."""

from __future__ import annotations

import itertools
from operator import attrgetter
from typing import Any

import numpy as np
import opweave
import pytest
from harness.calls import moderate
from harness.catalog import specs
from harness.compare import FUNCTION_ULP
from harness.elementwise import NUMBERS
from harness.layouts import layouts
from harness.spec import POLYNOMIALS, Spec, chooses

from codegen.dtypes import DTYPES, DType

torch = pytest.importorskip("torch")
from harness.torch_twin import TORCH_LACKS, Pair, compare, is_known, outcome, place, torch_array  # noqa: E402  (needs torch)

REAL = {name: dtype for name, dtype in DTYPES.items() if not dtype.is_complex}
MIXING = [spec for spec in specs("elementwise") if len(spec.free) > 1 and is_known(spec)]
SHAPES = ((2, 5), (1,), ())


def operands(spec: Spec, dtypes: dict[str, DType], shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    kinds = tuple(dtypes.values())
    found = {}
    for name, of in dtypes.items():
        shape = shapes.get(name, (2, 5))
        found[name] = place(moderate(spec, name, kinds, shape, of), next(layouts(shape)), of)
    return found


def compare_call(spec: Spec, values: dict[str, Any], what: str) -> None:
    """`values` are pairs of tensors, or numbers."""

    def call(library: Any) -> Any:
        chosen = [v[library is torch] if isinstance(v, tuple) else v for v in values.values()]
        return spec.find(library)(*chosen, **spec.keywords)

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
    want = outcome(call, torch)
    if spec.name in ("zeta", *POLYNOMIALS) and isinstance(want, torch.Tensor):
        # The sum of two infinities in torch, where it is that of the larger one's sign, or small beyond its range.
        bound = np.where(np.isnan(torch_array(want)), np.inf, bound)
    compare(call, f"{spec.name} {what}", ulp, bound, signed_zeros=not (chooses(spec) or spec.name in POLYNOMIALS))


@pytest.mark.parametrize("spec", MIXING, ids=lambda spec: spec.name)
def test_tensors(spec: Spec) -> None:
    for first, second in itertools.product(REAL.values(), repeat=2):
        for shapes in itertools.product(SHAPES, repeat=2):
            names = spec.free[-2:]
            dtypes = {n: DTYPES[spec.fixed[n]] if n in spec.fixed else first for n in spec.inputs}
            dtypes[names[1]] = second
            values = operands(spec, dtypes, dict(zip(names, shapes, strict=True)))
            compare_call(spec, values, f"{first} {shapes[0]} with {second} {shapes[1]}")


@pytest.mark.parametrize("spec", MIXING, ids=lambda spec: spec.name)
def test_numbers(spec: Spec) -> None:
    if spec.name.startswith("logical"):
        return  # torch takes no numbers here
    for of, shape, number in itertools.product(REAL.values(), SHAPES, NUMBERS):
        if spec.name == "pow" and of.is_bool:
            continue  # torch has powers of bool
        if spec.name in POLYNOMIALS and not abs(number) < 1000:
            continue  # torch takes a step for each degree, and has values of those that are infinite or NaN
        if spec.fallible and number == 0 and not (of.is_floating or isinstance(number, float)):
            continue
        dtypes = {n: DTYPES[spec.fixed[n]] if n in spec.fixed else of for n in spec.inputs}
        values = operands(spec, dtypes, dict.fromkeys(spec.inputs, shape))
        last = spec.inputs[-1]
        if of.is_floating and of.itemsize == 2 and number == number and half(number, of) != number:
            continue  # torch rounds it in many operators, and refuses what is beyond halves in others
        values[last] = number
        if spec.optional:
            values = {spec.inputs[0]: values[spec.inputs[0]], spec.optional[0]: number}
        if takes_number(spec, values):
            compare_call(spec, values, f"{of} {shape} with {number!r}")


def half(number: float, of: DType) -> float:
    return float(opweave.tensor(number, dtype=opweave.float64).to(getattr(opweave, of.name)).item())


def takes_number(spec: Spec, values: dict[str, Any]) -> bool:
    """Many functions of torch want tensors only, where opweave takes numbers as NumPy does."""

    def call(library: Any) -> Any:
        return spec.find(library)(*(v[1] if isinstance(v, tuple) else v for v in values.values()), **spec.keywords)

    return "must be Tensor, not" not in str(outcome(call, torch))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "<", "==", "!=", ">=", "&", "|", "^"])
def test_python_operators(symbol: str) -> None:
    """Numbers on both sides, and augmented assignment."""
    for of, shape, number in itertools.product(REAL.values(), SHAPES, (True, 3, 2.5)):
        pair = place(np.array([1, 2, 4, 3, 1] * 2)[: int(np.prod(shape))].reshape(shape), next(layouts(shape)), of)
        for text in (f"x {symbol} n", f"n {symbol} x"):
            if symbol == "**" and of.is_bool:
                continue  # torch has powers of bool
            compare(lambda library, text=text, pair=pair, n=number: evaluate(text, pair, n, library), f"{of} {text}", 4)
        if symbol not in ("<", "==", "!=", ">=") and not (symbol == "**" and of.is_bool):
            compare(
                lambda library, pair=pair, n=number: augmented(symbol, pair, n, library), f"{of} {symbol}= {number}", 4
            )


def evaluate(text: str, pair: Pair, number: Any, library: Any) -> Any:
    return eval(text, {"x": pair[library is torch], "n": number})


def augmented(symbol: str, pair: Pair, number: Any, library: Any) -> Any:
    names = {"x": pair[library is torch].clone(), "n": number}
    exec(f"x {symbol}= n", names)
    return names["x"]


def compare_dtypes(call: Any, what: Any) -> None:
    """The same dtype or truth value, where torch has one."""
    got, want = outcome(call, opweave), outcome(call, torch)
    if not any(reason in str(want) for reason in TORCH_LACKS):
        assert str(got).removeprefix("opweave.") == str(want).removeprefix("torch."), what


def test_promote_types() -> None:
    for first, second in itertools.product(DTYPES, repeat=2):
        for name in ("promote_types", "can_cast"):
            compare_dtypes(
                lambda lib, name=name, first=first, second=second: getattr(lib, name)(
                    getattr(lib, first), getattr(lib, second)
                ),
                (name, first, second),
            )


def test_result_type() -> None:
    for first, second, *shapes in itertools.product(DTYPES, DTYPES, SHAPES, SHAPES):
        compare_dtypes(
            lambda lib, names=(first, second), shapes=shapes: lib.result_type(
                *(lib.ones(shape, dtype=getattr(lib, name)) for shape, name in zip(shapes, names, strict=True))
            ),
            (first, second, shapes),
        )


@pytest.mark.parametrize("name", ["nextafter", "nn.functional.mse_loss", "nn.functional.smooth_l1_loss"])
def test_composites_that_promote(name: str) -> None:
    """Their `dtypes` are about what the inputs promote to."""
    known = [dtype.name for dtype in REAL.values() if dtype.name not in ("uint16", "uint32", "uint64")]
    for dtypes, shape in itertools.product(itertools.product(known, repeat=2), SHAPES):

        def call(library: Any, dtypes: tuple[str, ...] = dtypes, shape: tuple[int, ...] = shape) -> Any:
            first, second = (getattr(library, of) for of in dtypes)
            return attrgetter(name)(library)(library.zeros(shape, dtype=first), library.ones(shape, dtype=second))

        compare(call, f"{name} of {dtypes}")
