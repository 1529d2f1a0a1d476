"""Every operator of ops.yaml against torch: dtype, shape, strides and values of the result, or the type of the error.

Arithmetic agrees to the bit. Functions of the mathematics library may differ by some ULP, sums by their rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from harness import accumulate, products, views
from harness.arrays import Array, array, holder
from harness.calls import divisible, input_dtypes, shaped_values
from harness.catalog import specs
from harness.compare import FUNCTION_ULP, rounding_bound
from harness.extremes import extremes, largest, small_integers
from harness.layouts import Layout, layouts
from harness.reference import Elementwise
from harness.spec import POLYNOMIALS, Spec, chooses
from harness.suite import OperatorTests

from codegen.dtypes import DTYPES, DType

torch = pytest.importorskip("torch")
from harness.torch_twin import compare, is_known, named, place, translate  # noqa: E402  (needs torch)

SHAPES = ((), (6,), (0, 3), (4, 7), (3, 1, 5), (2, 3, 4))


def cases(family: str) -> Iterator[Any]:
    """Operators that torch has, with every dtype that they accept."""
    for spec in specs(family):
        for dtype in spec.dtypes if in_torch(spec) else ():
            yield pytest.param(spec, DTYPES[dtype], id=f"{spec.name}-{dtype}")


def in_torch(spec: Spec) -> bool:
    """Has torch the submodule's function? Some of linalg are NumPy's alone."""
    try:
        return not spec.module or callable(spec.find(torch))
    except AttributeError:
        return False


def suite(kind: type[OperatorTests], spec: Spec) -> Any:
    """The suite of the generated tests, for the arguments that it tries."""
    found = kind()
    found.spec = spec
    return found


def call(spec: Spec, library: ModuleType, *arguments: Any, **keywords: Any) -> Any:
    keywords = spec.keywords | keywords
    if spec.function and (spec.module or hasattr(torch, spec.name)):
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
"""torch's have nine digits, as those of GAMMA have, and Airy's six; they are NaN of infinity."""

ABSOLUTE = ("ndtr", "gelu", "logit")
"""torch computes these from numbers near one, however small the result."""

ZEROS = ("softshrink",)
"""torch's vectorised loop gives zeros of another sign than the one for the rest of a row."""

REORDERED = ("rsub", "logsigmoid", "hardswish")
"""torch has the operands of the first in the other order, and makes that of the second contiguous."""

DENORMAL = 2.0**-125
"""torch's vectorised functions round denormal float32 results to zero."""


def tolerance(spec: Spec, of: DType) -> dict[str, Any]:
    """torch's square root is off by one ULP in places, and some operators round every step on halves to a half.
    Of equal zeros of different signs, minimum and maximum may choose either."""
    if spec.name in (*BESSEL, *GAMMA):
        return {"ulp": FUNCTION_ULP, "bound": 1e-6 if spec.name == "airy_ai" else 1e-9}
    if spec.name == "hardswish":  # which divides before it multiplies, so as not to overflow
        return {"ulp": 2, "bound": DENORMAL}
    if spec.inexact or spec.name == "sqrt":
        return {"ulp": FUNCTION_ULP, "bound": DENORMAL, "signed_zeros": False}
    if (spec.name in ("floor_divide", "rsqrt") or spec.chosen) and not of.compute:
        return {"ulp": 2, "bound": 1 if spec.chosen else 0}
    return {"signed_zeros": spec.magnitude is None and spec.name not in ZEROS and not chooses(spec)}


def rounding(spec: Spec, pairs: dict[str, Any], dtypes: dict[str, DType]) -> Any:
    """What intermediate values may be off by: torch fuses multiplications and additions, or cancels."""
    values = {name: array(mine) for name, (mine, _) in pairs.items()}
    call = Elementwise(spec, values, {name: (dtype, 0) for name, dtype in dtypes.items()}, {})
    size = 1 if spec.name in ABSOLUTE else 0
    bound = call.bound
    if bound is None:
        return 0.0
    # Where an intermediate value overflows in one order of the operations, it need not in another.
    bound = np.where(bound > rounding_bound(call.computation, 0.49 * largest(call.computation), 4), np.inf, bound)
    return np.maximum(bound, size * rounding_bound(call.result, 1, 4)) + 2.0**-118


def comparable_values(spec: Spec, of: DType, shape: tuple[int, ...]) -> dict[str, Array]:
    """torch's remainder is NaN where the quotient is huge."""
    values = shaped_values(spec, of, shape)
    if spec.name in REMAINDERS:
        return {n: np.clip(np.nan_to_num(np.abs(array)), 1, 99).astype(array.dtype) for n, array in values.items()}
    one = np.ones((), holder(of))
    return {name: np.where(defined(spec, of, array), array, one) for name, array in values.items()}


def defined(spec: Spec, of: DType, values: Array) -> Array:
    """Where torch has a result that can be compared."""
    size = np.abs(values.astype(np.float64))
    if spec.name in LARGEST or spec.name in DENORMAL_LOST or spec.name in BESSEL:
        chosen = ~(size > LARGEST.get(spec.name, math.inf))
        chosen &= (size == size) | (spec.name not in NUMBERS_ONLY)
        chosen &= (size == 0) | (size > 1e-36) | (spec.name not in DENORMAL_LOST)
        chosen &= (size == 1) | (np.abs(size - 1) > 1e-3) | (spec.name not in POLYNOMIALS)
        return chosen & ~(np.isinf(size) & (spec.name in BESSEL))
    if spec.name in SMALL_INTEGERS:
        return size < math.isqrt(of.highest)
    if spec.chosen and of.is_integer:
        return values > of.lowest  # whose quotient by -1 ends the process in torch
    return np.ones(values.shape, bool)


# ---- elementwise --------------------------------------------------------------------------------------------


def compare_elementwise(spec: Spec, of: DType, values: dict[str, Array], chosen: tuple[Layout, ...]) -> None:
    dtypes = input_dtypes(spec, of)
    pairs = {n: place(values[n], layout, dtypes[n]) for n, layout in zip(spec.inputs, chosen, strict=True)}
    what = f"{spec.name} {of} {', '.join(map(str, chosen))}"
    allowed = tolerance(spec, of)
    if spec.magnitude is not None:
        allowed["bound"] = np.maximum(allowed.get("bound", 0), rounding(spec, pairs, dtypes))
    compare(lambda library: call(spec, library, *named(pairs, library).values()), what, **allowed)


@pytest.mark.parametrize(("spec", "of"), cases("elementwise"))
def test_extreme_values(spec: Spec, of: DType) -> None:
    tables = [extremes(each) for each in input_dtypes(spec, of).values()]
    if len(tables) == 3:
        tables = [table[:: 1 + table.size // 12] for table in tables]
    if spec.name in REMAINDERS:
        tables = [table[np.abs(table) < 1000] if of.is_floating else table for table in tables]  # torch gives NaN
        tables = [table[np.abs(table) > 0.1] if of.is_floating else table for table in tables]  # for huge quotients
    tables = [table[defined(spec, of, table)] for table in tables]
    grids = np.meshgrid(*tables, indexing="ij")
    values = {n: divisible(spec, n, grid) for n, grid in zip(spec.inputs, grids, strict=True)}
    compare_elementwise(spec, of, values, (next(layouts(grids[0].shape)),) * len(grids))


@pytest.mark.parametrize(("spec", "of"), cases("elementwise"))
def test_layouts(spec: Spec, of: DType) -> None:
    """Two operands in every pair of layouts; the strides of the result follow from both."""
    for shape in SHAPES:
        values = comparable_values(spec, of, shape)
        for first, last in itertools.product(orders(spec, shape), repeat=2):
            chosen = (first, *(last for _ in spec.inputs[1:]))
            compare_elementwise(spec, of, values, chosen)
            if len(spec.inputs) == 1:
                break


@pytest.mark.parametrize("spec", [*filter(is_known, specs("elementwise"))], ids=lambda spec: spec.name)
def test_strides_of_broadcast_results(spec: Spec) -> None:
    of = DTYPES[spec.dtypes[-1]]
    shapes = [(2, 3, 4), (3, 1), (1, 4), (4,), (2, 1, 1), ()]
    for chosen in itertools.product(shapes, repeat=len(spec.inputs)):
        if len(chosen) == 3 and chosen[1] != chosen[2]:
            continue
        values = {n: comparable_values(spec, of, shape)[n] for n, shape in zip(spec.inputs, chosen, strict=True)}
        for made in itertools.product(*(orders(spec, shape) for shape in chosen[:2])):
            compare_elementwise(spec, of, values, (*made, *(next(layouts(shape)) for shape in chosen[2:])))


# ---- reductions, scans, views -------------------------------------------------------------------------------


def compare_accumulated(kind: type[accumulate.AccumulateTests], spec: Spec, of: DType, **more: Any) -> None:
    """Sums may differ by their rounding errors: torch adds in another order."""
    for shape in (*SHAPES, (3, 600), (600, 3)):
        values = accumulate.values_of(of, shape)
        exact = not of.is_floating or of.name not in spec.inexact
        for layout, arguments in itertools.product(positive_layouts(shape), suite(kind, spec).arguments(shape)):
            pair = place(values, layout, of)
            dim = arguments.get("dim")
            if (dim == () and spec.name in ("any", "all")) or (isinstance(dim, tuple) and spec.name == "prod"):
                continue  # torch reduces no dimension, or takes no tuple
            bound, steps = None, 0
            if not exact:
                steps = 4 * values.size if spec.multiplies else 0
                bound = rounding_bound(of, np.abs(values).astype(float).sum(), values.size if kind.scans else 64)
            what = f"{spec.name} {of} {layout} {arguments}"
            compare(
                lambda library, pair=pair, arguments=arguments: call(
                    spec, library, pair[library is torch], **translate({**arguments, **more}, library)
                ),
                what,
                steps,
                None if steps else bound,
            )


@pytest.mark.parametrize(("spec", "of"), cases("reduce"))
def test_reductions(spec: Spec, of: DType) -> None:
    compare_accumulated(accumulate.ReduceTests, spec, of)


@pytest.mark.parametrize(("spec", "of"), cases("scan"))
def test_scans(spec: Spec, of: DType) -> None:
    compare_accumulated(accumulate.ScanTests, spec, of)


@pytest.mark.parametrize("spec", [*specs("reduce"), *specs("scan")], ids=lambda spec: spec.name)
def test_dtype_argument(spec: Spec) -> None:
    if not spec.dtype_argument:
        return
    for source, target in itertools.product(DTYPES.values(), DTYPES):
        if spec.complex_refusal and DTYPES[target].is_complex:
            continue  # torch refuses complex inputs, opweave a complex result as well
        pair = place(np.array([[1.0, 2, 0], [3, 1, 2]]), next(layouts((2, 3))), source)
        compare(
            lambda library, pair=pair, target=target: call(
                spec, library, pair[library is torch], dim=1, dtype=getattr(library, target)
            ),
            f"{spec.name} of {source} to {target}",
        )


@pytest.mark.parametrize("spec", specs("view"), ids=lambda spec: spec.name)
def test_views(spec: Spec) -> None:
    """Strides and offset as well: they are all that a view is."""
    trial = suite(views.ViewTests, spec)
    if spec.name == "slice":
        pytest.skip("torch's method of this name is not public")
    for shape in SHAPES:
        for layout, arguments in itertools.product(positive_layouts(shape), trial.arguments(shape)):
            if spec.name == "permute" and len(arguments["dims"]) != len(shape):
                continue  # torch counts the dimensions before it looks at them
            pair = place(np.arange(int(np.prod(shape))).reshape(shape), layout, DTYPES["int16"])

            def apply(library: ModuleType, pair: Any = pair, arguments: Any = arguments) -> Any:
                x = pair[library is torch]
                case = trial.case(x, arguments)
                return getattr(x, spec.name)(*case.arguments[1:], **case.keywords)

            what = f"{spec.name} {layout} {arguments}"
            compare(apply, what)
            try:
                offsets = [apply(library).storage_offset() for library in (opweave, torch)]
            except Exception:  # compared above
                continue
            assert offsets[0] == offsets[1], what


# ---- products, composites, factories ------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "of"), cases("extern"))
def test_extern(spec: Spec, of: DType) -> None:
    trial = suite(products.ExternTests, spec)
    for sizes in products.SIZES:
        arrays = trial.operands(of, sizes)
        for chosen in itertools.product(*(positive_layouts(values.shape)[:5] for values in arrays)):
            pairs = [place(values, layout, of) for values, layout in zip(arrays, chosen, strict=True)]
            what = f"{spec.name} {of} {', '.join(map(str, chosen))}"
            compare(lambda library, pairs=pairs: call(spec, library, *(pair[library is torch] for pair in pairs)), what)


@pytest.mark.parametrize(("spec", "of"), cases("composite"))
def test_composites(spec: Spec, of: DType) -> None:
    trial = suite(products.CompositeTests, spec)
    for shapes in itertools.product(trial.SHAPES, repeat=len(spec.inputs)):
        arrays = [small_integers(of, shape, seed) for seed, shape in enumerate(shapes)]
        pairs = [place(values, next(layouts(values.shape)), of) for values in arrays]
        for arguments in trial.arguments(len(shapes[0])):
            compare(
                lambda library, pairs=pairs, arguments=arguments: call(
                    spec, library, *(pair[library is torch] for pair in pairs), **arguments
                ),
                f"{spec.name} {of} {shapes} {arguments}",
                FUNCTION_ULP * of.is_floating,
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


@pytest.mark.parametrize("text", [text.strip() for text in FACTORIES.replace("\n", ";").split(";") if text.strip()])
def test_factories(text: str) -> None:
    compare(lambda library: eval(text, dict(vars(library))), text)
