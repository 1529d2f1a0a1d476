"""Elementwise operators of halves in every layout give, bit for bit, what they give for contiguous copies.

Rows without gaps stay in vector registers, a last operand may be one number, and all else goes through rows of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import opweave
import pytest
from harness.catalog import specs
from harness.spec import Spec
from opweave import Tensor

SPECS = [
    spec
    for spec in specs("elementwise")
    if spec.function and "float16" in spec.dtypes and not any(isinstance(given, str) for given in spec.params.values())
]
SHAPE = (12, 291)
LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.t().contiguous().t(),
    "steps": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "row": lambda x: x[:1].expand(x.shape),
    "column": lambda x: x[:, :1].expand(x.shape),
    "element": lambda x: x[:1, :1],
    "expanded element": lambda x: x[:1, :1].expand(x.shape),
}


def operands(spec: Spec, dtype: opweave.dtype) -> list[Tensor]:
    """Positive and negative numbers, zeros, infinities and NaN; rows that begin and end within a register."""
    opweave.manual_seed(len(spec.inputs))
    results = [opweave.randn(SHAPE).mul(3).to(dtype) for _ in spec.inputs]
    for x in results:
        x[3, 5], x[7, 9], x[8, 10], x[9, 70] = float("nan"), float("inf"), -float("inf"), -0.0
    return [
        x.to(getattr(opweave, spec.fixed.get(name, ""), dtype)) for name, x in zip(spec.inputs, results, strict=True)
    ]


def assert_same_bits(result: Tensor, expected: Tensor) -> None:
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    if result.dtype in (opweave.float16, opweave.bfloat16):
        nan = result.isnan() & expected.isnan()
        same = (result.contiguous().view(opweave.int16) == expected.contiguous().view(opweave.int16)) | nan
        assert same.all(), (result[~same][:5], expected[~same][:5])
    else:
        assert opweave.allclose(result, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [opweave.float16, opweave.bfloat16], ids=str)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_layouts_of_halves(spec: Spec, dtype: opweave.dtype) -> None:
    function = spec.find(opweave)
    results = operands(spec, dtype)
    for index in range(len(results)):
        for name, layout in LAYOUTS.items():
            inputs = [LAYOUTS["transposed" if name == "transposed" else "contiguous"](x) for x in results]
            inputs[index] = layout(results[index])
            copies = [x.expand(results[0].shape).contiguous() for x in inputs]
            result, expected = function(*inputs, **spec.keywords), function(*copies, **spec.keywords)
            if len(results) == 1 and name == "element":
                expected = expected[:1, :1]
            assert_same_bits(result, expected)


@pytest.mark.parametrize("layout", ["transposed", "steps"])
@pytest.mark.parametrize("dtype", [opweave.float16, opweave.bfloat16], ids=str)
def test_results_in_place_and_out(dtype: opweave.dtype, layout: str) -> None:
    x, y = opweave.randn(SHAPE).to(dtype), opweave.randn(SHAPE).to(dtype)
    expected = x * y
    out = LAYOUTS[layout](opweave.zeros(SHAPE, dtype=dtype))
    assert_same_bits(opweave.mul(x, y, out=out), expected)
    target = LAYOUTS[layout](x.clone())
    assert_same_bits(target.mul_(y), expected)
    assert_same_bits(LAYOUTS[layout](x.clone()).mul_(y[:, :1]), x * y[:, :1].expand(x.shape).contiguous())
