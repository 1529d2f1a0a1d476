"""Every operator of ops.yaml against torch: dtype, shape, strides and values of the result, or the type of the error.

Arithmetic agrees to the bit. Functions of the mathematics library may differ by some ULP, sums by their rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from harness import accumulate, oracle, products, views
from harness.arrays import NAMES, PROMOTING, Array, array, holder
from harness.calls import divisible, input_dtypes, shaped_values
from harness.catalog import specs
from harness.compare import FUNCTION_ULP, rounding_bound
from harness.extremes import extremes, largest, small_integers
from harness.layouts import Layout, layouts
from harness.oracle import Like, Twin
from harness.reference import Elementwise
from harness.spec import POLYNOMIALS, Spec, chooses
from harness.suite import OperatorTests

from codegen.dtypes import DTYPES, DType

SHAPES = ((), (6,), (0, 3), (4, 7), (3, 1, 5), (2, 3, 4))


def operators(family: str) -> Any:
    """Operators that torch has."""
    return pytest.mark.parametrize("spec", [*filter(in_torch, specs(family))], ids=str)


def in_torch(spec: Spec) -> bool:
    """Has torch the function or the method? Some of linalg are NumPy's alone."""
    path = f"{spec.module}.{spec.name}" if spec.module else spec.name
    return oracle.has(path) or (not spec.module and oracle.has(f"Tensor.{spec.name}"))


def dtypes_of(spec: Spec) -> list[DType]:
    return [DTYPES[name] for name in spec.dtypes]


def suite(kind: type[OperatorTests], spec: Spec) -> Any:
    """The suite of the generated tests, for the arguments that it tries."""
    result = kind()
    result.spec = spec
    return result


def call(spec: Spec, library: ModuleType, *arguments: Any, **keywords: Any) -> Any:
    keywords = spec.keywords | keywords
    if spec.function and (spec.module or oracle.has(spec.name)):
        return spec.find(library)(*arguments, **keywords)
    receiver, *rest = arguments
    return getattr(receiver, spec.name)(*rest, **keywords)


def positive_layouts(shape: tuple[int, ...]) -> list[Layout]:
    """torch has no negative strides."""
    return [layout for layout in layouts(shape) if not layout.negative]


REMAINDERS = ("remainder", "floor_divide", "fmod")


def orders(spec: Spec, shape: tuple[int, ...]) -> list[Layout]:
    """The layouts in which the result's memory order is that of torch."""
    return positive_layouts(shape)[: 1 if spec.name in REORDERED else None]


GAMMA = ("igamma", "igammac")

LARGEST = {"gelu": 1e12, "hardswish": 1e4, "zeta": 1e3, "airy_ai": 20}
LARGEST |= dict.fromkeys(GAMMA, 1e5) | dict.fromkeys(POLYNOMIALS, 20)
"""Beyond these torch gives NaN, has lost its digits, or takes a step for each degree. Polynomials have few digits close
to 1, too."""

NUMBERS_ONLY = (*GAMMA, *POLYNOMIALS)
"""torch gives a number where one operand is NaN."""

DENORMAL_LOST = (*GAMMA, "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "hardswish")
"""torch is wrong for denormal numbers."""

SMALL_INTEGERS = ("gcd", "lcm", "softsign")
"""Of the least integer, and where a multiple or a sum overflows, torch gives negative numbers or ends the process."""

BESSEL = ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "airy_ai")
"""torch's have six digits of large numbers, and those of GAMMA nine; they are NaN of infinity."""

ABSOLUTE = ("ndtr", "gelu", "logit")
"""torch computes these from numbers near one, however small the result."""

ZEROS = ("softshrink",)
"""torch's vectorised loop gives zeros of another sign than the one for the rest of a row."""

REORDERED = ("rsub", "logsigmoid", "hardswish")
"""torch has the operands of the first in the other order, and makes that of the second contiguous."""

DENORMAL = 2.0**-125
"""torch's vectorised functions round denormal float32 results to zero."""


FORGIVING = Like(texts=False, lacks=True, few=4)
"""Errors are of the same type, and what torch has no kernel for is opweave's own affair."""


def tolerance(spec: Spec, dtype: DType) -> Like:
    """torch's square root is off by one ULP in places, and some operators round every step on halves to a half.
    Of equal zeros of different signs, minimum and maximum may choose either."""
    if spec.name in (*BESSEL, *GAMMA):
        bound = 1e-6 if spec.name in BESSEL else 5e-9 if dtype.itemsize == 8 else 1e-7
        return replace(FORGIVING, ulp=FUNCTION_ULP, bound=bound)
    if spec.name == "hardswish":  # which divides before it multiplies, so as not to overflow
        return replace(FORGIVING, ulp=2, bound=DENORMAL)
    if spec.inexact or spec.name == "sqrt":
        return replace(FORGIVING, ulp=FUNCTION_ULP, bound=DENORMAL, signed_zeros=False)
    if (spec.name in ("floor_divide", "rsqrt") or spec.chosen) and not dtype.compute:
        return replace(FORGIVING, ulp=2, bound=1 if spec.chosen else 0)
    return replace(FORGIVING, signed_zeros=spec.magnitude is None and spec.name not in ZEROS and not chooses(spec))


def rounding(spec: Spec, twins: dict[str, Twin], dtypes: dict[str, DType]) -> Any:
    """What intermediate values may be off by: torch fuses multiplications and additions, or cancels."""
    values = {name: array(twin.mine) for name, twin in twins.items()}
    call = Elementwise(spec, values, {name: (dtype, 0) for name, dtype in dtypes.items()}, {})
    size = 1 if spec.name in ABSOLUTE else 0
    bound = call.bound
    if bound is None:
        return 0.0
    # Where an intermediate value overflows in one order of the operations, it need not in another.
    bound = np.where(bound > rounding_bound(call.computation, 0.49 * largest(call.computation), 4), np.inf, bound)
    return np.maximum(bound, size * rounding_bound(call.result, 1, 4)) + 2.0**-118


def comparable_values(spec: Spec, dtype: DType, shape: tuple[int, ...]) -> dict[str, Array]:
    """torch's remainder is NaN where the quotient is huge."""
    values = shaped_values(spec, dtype, shape)
    if spec.name in REMAINDERS:
        return {n: np.clip(np.nan_to_num(np.abs(array)), 1, 99).astype(array.dtype) for n, array in values.items()}
    one = np.ones((), holder(dtype))
    return {name: np.where(defined(spec, dtype, array), array, one) for name, array in values.items()}


def defined(spec: Spec, dtype: DType, values: Array) -> Array:
    """Where torch has a result that can be compared."""
    size = np.abs(values.astype(np.float64))
    if spec.name in LARGEST or spec.name in DENORMAL_LOST or spec.name in BESSEL:
        chosen = ~(size > LARGEST.get(spec.name, math.inf))
        chosen &= (size == size) | (spec.name not in NUMBERS_ONLY)
        chosen &= (size == 0) | (size > 1e-36) | (spec.name not in DENORMAL_LOST)
        chosen &= (size == 1) | (np.abs(size - 1) > 1e-3) | (spec.name not in POLYNOMIALS)
        return chosen & ~(np.isinf(size) & (spec.name in BESSEL))
    if spec.name in SMALL_INTEGERS:
        return size < math.isqrt(dtype.highest)
    if spec.chosen and dtype.is_integer:
        return values > dtype.lowest  # whose quotient by -1 ends the process in torch
    return np.ones(values.shape, bool)


# ---- elementwise --------------------------------------------------------------------------------------------


def compare_elementwise(
    spec: Spec, dtype: DType, values: dict[str, Array], chosen: Sequence[Layout], few: int = 4
) -> None:
    dtypes = input_dtypes(spec, dtype)
    twins = {n: Twin(values[n], layout, dtypes[n]) for n, layout in zip(spec.inputs, chosen, strict=True)}
    like = replace(tolerance(spec, dtype), few=few)
    if spec.magnitude is not None:
        like = replace(like, bound=np.maximum(like.bound or 0, rounding(spec, twins, dtypes)))
    what = f"{spec.name} {dtype} {', '.join(map(str, chosen))}"
    oracle.check(lambda L: call(spec, L, *oracle.of(L, [*twins.values()])), what, like)


@operators("elementwise")
def test_extreme_values(spec: Spec) -> None:
    for dtype in dtypes_of(spec):
        tables = [extremes(each) for each in input_dtypes(spec, dtype).values()]
        if len(tables) == 3:
            tables = [table[:: 1 + table.size // 12] for table in tables]
        if spec.name in REMAINDERS and dtype.is_floating:  # torch gives NaN for huge quotients
            tables = [table[(np.abs(table) < 1000) & (np.abs(table) > 0.1)] for table in tables]
        tables = [table[defined(spec, dtype, table)] for table in tables]
        grids = np.meshgrid(*tables, indexing="ij")
        values = {n: divisible(spec, n, grid) for n, grid in zip(spec.inputs, grids, strict=True)}
        compare_elementwise(spec, dtype, values, (next(layouts(grids[0].shape)),) * len(grids), 32)


@operators("elementwise")
def test_layouts(spec: Spec) -> None:
    """Two operands in every pair of layouts; the strides of the result follow from both."""
    for dtype in dtypes_of(spec):
        cases = []
        for shape in SHAPES:
            result = orders(spec, shape)
            pairs = itertools.product(result, result if len(spec.inputs) > 1 else result[:1])
            cases += [(shape, (first, *(last for _ in spec.inputs[1:]))) for first, last in pairs]
        for shape, chosen in oracle.sweep(cases, 6):
            compare_elementwise(spec, dtype, comparable_values(spec, dtype, shape), chosen)


@operators("elementwise")
def test_strides_of_broadcast_results(spec: Spec) -> None:
    dtype = DTYPES[spec.dtypes[-1]]
    shapes = [(2, 3, 4), (3, 1), (1, 4), (4,), (2, 1, 1), ()]
    cases = []
    for chosen in itertools.product(shapes, repeat=len(spec.inputs)):
        if len(chosen) < 3 or chosen[1] == chosen[2]:
            rest = tuple(next(layouts(shape)) for shape in chosen[2:])
            cases += [
                (*results, *rest) for results in itertools.product(*(orders(spec, shape) for shape in chosen[:2]))
            ]
    for results in oracle.sweep(cases, 30):
        each = zip(spec.inputs, results, strict=True)
        values = {name: comparable_values(spec, dtype, layout.shape)[name] for name, layout in each}
        compare_elementwise(spec, dtype, values, results)


# ---- reductions, scans, views -------------------------------------------------------------------------------


def compare_accumulated(kind: type[accumulate.AccumulateTests], spec: Spec, dtype: DType) -> None:
    """Sums may differ by their rounding errors: torch adds in another order."""
    cases = []
    for shape in (*SHAPES, (3, 600), (600, 3)):
        cases += [*itertools.product(positive_layouts(shape), suite(kind, spec).arguments(shape))]
    exact = not dtype.is_floating or dtype.name not in spec.inexact
    for layout, arguments in oracle.sweep(cases, 24):
        dim = arguments.get("dim")
        if (dim == () and spec.name in ("any", "all")) or (isinstance(dim, tuple) and spec.name == "prod"):
            continue  # torch reduces no dimension, or takes no tuple
        values = accumulate.values_of(dtype, layout.shape)
        twin = Twin(values, layout, dtype)
        like = FORGIVING
        if not exact and spec.multiplies:
            like = replace(FORGIVING, ulp=4 * values.size)
        elif not exact:
            terms = values.size if kind.scans else 64
            like = replace(FORGIVING, bound=rounding_bound(dtype, np.abs(values).astype(float).sum(), terms))
        oracle.check(
            lambda L, twin=twin, arguments=arguments: call(spec, L, twin.of(L), **arguments),
            f"{spec.name} {dtype} {layout} {arguments}",
            like,
        )


@operators("reduce")
def test_reductions(spec: Spec) -> None:
    for dtype in dtypes_of(spec):
        compare_accumulated(accumulate.ReduceTests, spec, dtype)


@operators("scan")
def test_scans(spec: Spec) -> None:
    for dtype in dtypes_of(spec):
        compare_accumulated(accumulate.ScanTests, spec, dtype)


@pytest.mark.parametrize("spec", [each for each in specs("reduce") + specs("scan") if each.dtype_argument], ids=str)
def test_dtype_argument(spec: Spec) -> None:
    for source, target in oracle.sweep(itertools.product(PROMOTING, NAMES), 60):
        if spec.complex_refusal and DTYPES[target].is_complex:
            continue  # torch refuses complex inputs, opweave a complex result as well
        twin = Twin(np.array([[1.0, 2, 0], [3, 1, 2]]), next(layouts((2, 3))), source)
        oracle.check(
            lambda L, twin=twin, target=target: call(spec, L, twin.of(L), dim=1, dtype=getattr(L, target)),
            f"{spec.name} of {source} to {target}",
            FORGIVING,
        )


@pytest.mark.parametrize("spec", [spec for spec in specs("view") if spec.name != "slice"], ids=str)
def test_views(spec: Spec) -> None:
    """Strides and offset as well: they are all that a view is."""
    trial = suite(views.ViewTests, spec)
    cases = []
    for shape in SHAPES:
        cases += [*itertools.product(positive_layouts(shape), trial.arguments(shape))]
    for layout, arguments in oracle.sweep(cases, 150):
        if spec.name == "permute" and len(arguments["dims"]) != len(layout.shape):
            continue  # torch counts the dimensions before it looks at them
        twin = Twin(np.arange(int(np.prod(layout.shape))).reshape(layout.shape), layout, DTYPES["int16"])

        def apply(library: ModuleType, twin: Twin = twin, arguments: Any = arguments) -> Any:
            x = twin.of(library)
            case = trial.case(x, arguments)
            view = getattr(x, spec.name)(*case.arguments[1:], **case.keywords)
            return view, view.storage_offset()

        oracle.check(apply, f"{spec.name} {layout} {arguments}", FORGIVING)


# ---- products, composites, factories ------------------------------------------------------------------------


@operators("extern")
def test_extern(spec: Spec) -> None:
    trial = suite(products.ExternTests, spec)
    for dtype in dtypes_of(spec):
        cases = []
        for sizes in products.SIZES:
            shapes = trial.shapes(sizes)
            each = itertools.product(*(positive_layouts(shape)[:5] for shape in shapes))
            cases += [(sizes, chosen) for chosen in each]
        for sizes, chosen in oracle.sweep(cases, 24):
            arrays = trial.operands(dtype, sizes)
            twins = [Twin(values, layout, dtype) for values, layout in zip(arrays, chosen, strict=True)]
            what = f"{spec.name} {dtype} {', '.join(map(str, chosen))}"
            oracle.check(lambda L, twins=twins: call(spec, L, *oracle.of(L, twins)), what, FORGIVING)


@operators("composite")
def test_composites(spec: Spec) -> None:
    trial = suite(products.CompositeTests, spec)
    for dtype in dtypes_of(spec):
        like = replace(FORGIVING, ulp=FUNCTION_ULP * dtype.is_floating)
        cases = []
        for shapes in itertools.product(trial.SHAPES, repeat=len(spec.inputs)):
            cases += [(shapes, arguments) for arguments in trial.arguments(len(shapes[0]))]
        for shapes, arguments in oracle.sweep(cases, 40):
            arrays = [small_integers(dtype, shape, seed) for seed, shape in enumerate(shapes)]
            twins = [Twin(values, next(layouts(values.shape)), dtype) for values in arrays]
            oracle.check(
                lambda L, twins=twins, arguments=arguments: call(spec, L, *oracle.of(L, twins), **arguments),
                f"{spec.name} {dtype} {shapes} {arguments}",
                like,
            )


FACTORIES = """
zeros(2, 3); zeros((2, 3), dtype=int8); zeros([]); zeros(()); zeros(0, 4); zeros(3, dtype=bfloat16)
zeros(2, device='cpu'); ones(2, 3); ones(2, dtype=bool); ones((2, 2), dtype=float16); ones([3, 0])
zeros(2, pin_memory=False); full((2, 3), 1.5); full((2,), 3); full((2,), True); full((), 2.0)
full([2], 2, dtype=float64); full((3,), 2.5, dtype=int32); full((2,), float('nan'))
full((2,), float('-inf'), dtype=bfloat16); full((2,), 300, dtype=int16); full((2,), 0.5, dtype=bool); full((0,), 1)
full((2,), -1, dtype=uint8); full((2,), 0.1, dtype=float16); arange(5); arange(0); arange(2, 7); arange(2, 7, 2)
arange(7, 2, -2); arange(0, 1, 0.1); arange(1.5); arange(5, dtype=float32); arange(0, 3, 0.3, dtype=float64)
arange(3, dtype=int8); arange(0.5, 4.5, dtype=float16); arange(10, 0, -3, dtype=bfloat16); arange(0, 2**40, 2**38)
arange(-3, 3); arange(1, 2, 0.25, dtype=float32); arange(100000, dtype=float32); arange(True); arange(2.0, 5)
arange(1, 10.5, 3); arange(0, 5, 2.5); arange(start=1, end=4); arange(1, end=5, step=2)
"""


def test_factories() -> None:
    for text in filter(None, map(str.strip, FACTORIES.replace("\n", ";").split(";"))):
        oracle.check(lambda L, text=text: eval(text, dict(vars(L))), text, FORGIVING)
