"""Every operator answers for tensors on the device `meta` as for real ones: dtype, shape, strides, errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import opweave
import pytest
from harness import accumulate, products, samples, views
from harness.beside import Beside, tensors
from harness.catalog import described, specs
from harness.layouts import Layout, layouts
from harness.spec import Spec

from codegen.dtypes import DTYPES

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPE_PAIRS = (*samples.REAL, *samples.COMPLEX, ("int64", "int64"), ("float32", "int64"))
SHAPES = ((), (6,), (0, 3), (4, 7), (3, 1, 5))


@pytest.fixture
def beside() -> Iterator[Beside]:
    calls = Beside()
    yield calls
    calls.check()


# ---- all operators ------------------------------------------------------------------------------------------


PUBLIC = [each for each in described() if [*samples.calls_of(each)]]
"""What users can call; internal operators are parts of these."""


@pytest.mark.parametrize("operator", PUBLIC, ids=lambda operator: operator["name"])
def test_operator(operator: dict[str, Any], beside: Beside) -> None:
    for given in samples.arguments(operator["schema"], DTYPE_PAIRS):
        shown = [each if isinstance(each, (int, float)) else np.shape(each) for each in given]
        for kind, path in samples.calls_of(operator):
            function = samples.function_of(kind, path, opweave)
            args = samples.own(given[0] if "varargs" in operator["tags"] else given, opweave)
            what = f"{kind} {path} {shown}"
            result = beside.call(what, function, *args)
            if kind == "function" and operator["out"]:
                check_out(beside, what, function, args, result)
            if kind == "method" and hasattr(opweave.Tensor, f"{path}_") and isinstance(args[0], opweave.Tensor):
                beside.call(f"{what} in place", getattr(opweave.Tensor, f"{path}_"), args[0].clone(), *args[1:])
    assert beside.is_unknown == (operator["data_dependent"] or operator["dynamic_shape"])


def check_out(beside: Beside, what: str, function: Any, args: list[Any], result: Any) -> None:
    """With results of the right shape, without elements, with gaps, and of another dtype."""
    found = list(tensors(result))
    if not found:
        return
    for made in (
        [opweave.empty_like(each) for each in found],
        [each.new_empty((0,)) for each in found],
        [each.new_empty((*each.shape, 2))[..., 0] for each in found],
        [each.to(opweave.int8) for each in found],
    ):
        out = tuple(made) if isinstance(result, tuple) else made[0]
        beside.call(f"{what} out={made[0].dtype}{list(made[0].shape)}", function, *args, out=out)


# ---- layouts ------------------------------------------------------------------------------------------------


def placed(layout: Layout, dtype: str) -> Any:
    values = np.arange(1, 1 + int(np.prod(layout.shape))).reshape(layout.shape) % 100
    return layout.place(values, DTYPES[dtype])[0].detach()


unchanged = cache(placed)
"""As placed(), for calls that write to none of their arguments."""


def positive(shape: tuple[int, ...]) -> list[Layout]:
    return [layout for layout in layouts(shape) if not layout.negative]


def dtypes_of(spec: Spec) -> list[str]:
    return [spec.dtypes[0], spec.dtypes[-1]]


def calls_of(spec: Spec) -> Iterator[tuple[str, Any, Any]]:
    """The function or method, in place as well, and what makes its operands."""
    if spec.function:
        yield spec.name, spec.find(opweave), unchanged
    for name, operand in ((spec.name, unchanged), (f"{spec.name}_", placed)):
        if hasattr(opweave.Tensor, name):
            yield f"Tensor.{name}", getattr(opweave.Tensor, name), operand


def suite(kind: type[Any], spec: Spec) -> Any:
    result = kind()
    result.spec = spec
    return result


@pytest.mark.parametrize("spec", specs("elementwise"), ids=str)
def test_layouts(spec: Spec, beside: Beside) -> None:
    """The strides of a result follow from those of all operands, which may be broadcast."""
    shapes = [*SHAPES, (4, 1), (7,)]
    cases = [layout for shape in shapes for layout in positive(shape)]
    for dtype in dtypes_of(spec):
        for number, chosen in enumerate(itertools.product(cases, cases if len(spec.inputs) > 1 else cases[:1])):
            if number % 29 and len(spec.inputs) > 1:
                continue
            layers = [*chosen[: len(spec.inputs)], *[chosen[-1]] * (len(spec.inputs) - 2)]
            dtypes = [spec.fixed.get(name, dtype) for name in spec.inputs]
            for what, function, operand in calls_of(spec):
                operands = [operand(layer, each) for layer, each in zip(layers, dtypes, strict=True)]
                beside.call(f"{what} {dtype} {[*map(str, layers)]}", function, *operands, **spec.keywords)


@pytest.mark.parametrize("spec", specs("reduce") + specs("scan"), ids=str)
def test_accumulation(spec: Spec, beside: Beside) -> None:
    kind = accumulate.ReduceTests if spec in specs("reduce") else accumulate.ScanTests
    for dtype, shape in itertools.product(dtypes_of(spec), SHAPES):
        for layout, arguments in itertools.product(positive(shape), suite(kind, spec).arguments(shape)):
            for what, function, operand in calls_of(spec):
                beside.call(f"{what} {dtype} {layout} {arguments}", function, operand(layout, dtype), **arguments)


@pytest.mark.parametrize("spec", specs("view"), ids=str)
def test_views(spec: Spec, beside: Beside) -> None:
    trial = suite(views.ViewTests, spec)
    for shape in SHAPES:
        cases = [*itertools.product(positive(shape), trial.arguments(shape))]
        for layout, arguments in cases[:: 1 + len(cases) // 200]:
            for what, function, operand in calls_of(spec):
                case = trial.case(operand(layout, "float32"), arguments)
                beside.call(f"{what} {layout} {arguments}", function, *case.arguments, **case.keywords)


@pytest.mark.parametrize("spec", specs("extern"), ids=str)
def test_products(spec: Spec, beside: Beside) -> None:
    trial = suite(products.ExternTests, spec)
    for dtype, sizes in itertools.product(dtypes_of(spec), products.SIZES):
        for layers in itertools.product(*(positive(shape)[:4] for shape in trial.shapes(sizes))):
            for what, function, operand in calls_of(spec):
                operands = [operand(layer, dtype) for layer in layers]
                beside.call(f"{what} {dtype} {[*map(str, layers)]}", function, *operands)


@pytest.mark.parametrize("spec", specs("composite"), ids=str)
def test_composites(spec: Spec, beside: Beside) -> None:
    trial = suite(products.CompositeTests, spec)
    for dtype, shape in itertools.product(dtypes_of(spec), trial.SHAPES):
        for layout, arguments in itertools.product(positive(shape)[:4], trial.arguments(len(shape))):
            for what, function, operand in calls_of(spec):
                operands = [operand(layout, dtype) for _ in spec.inputs]
                beside.call(f"{what} {dtype} {layout} {arguments}", function, *operands, **arguments)


# ---- what it costs ------------------------------------------------------------------------------------------

HUGE = 2**21
MANY_RESULTS = ("split_copy", "unbind", "unbind_copy", "unsafe_split")
"""Of these every position has one."""


def test_nothing_is_allocated() -> None:
    before = opweave.cpu.memory_allocated()
    opweave.cpu.reset_peak_memory_stats()
    for operator in PUBLIC:
        for kind, path in samples.calls_of(operator):
            if kind == "function" and operator["name"] not in MANY_RESULTS:
                huge_calls(operator, samples.function_of(kind, path, opweave))
    assert opweave.cpu.max_memory_allocated() - before < 2**20


def huge_calls(operator: dict[str, Any], function: Any) -> None:
    for given in samples.arguments(operator["schema"], (("float32", "float32"),)):
        args = [huge(each) for each in (given[0] if "varargs" in operator["tags"] else given)]
        if not [*tensors(args)]:
            continue
        try:
            result = function(*args)
        except (IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):
            continue
        assert all(each.is_meta for each in tensors(result))


def huge(value: Any) -> Any:
    """Arrays as tensors on the device `meta` of 2 ** 21 positions along each dimension."""
    if isinstance(value, list):
        return [huge(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    return opweave.empty([HUGE] * min(value.ndim, 2), dtype=getattr(opweave, value.dtype.name), device="meta")
