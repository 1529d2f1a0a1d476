"""Elementwise operators of one input, for every number that a half format holds.

Halves are computed in float32 and rounded once, whatever loop a kernel takes: rows that stay in vector registers,
chunks that are converted, single elements. That is what they are compared with, bit for bit.
"""

from __future__ import annotations

import opweave
import pytest
from harness.catalog import specs
from harness.spec import Spec

UNARY = [
    spec
    for spec in specs("elementwise")
    if len(spec.inputs) == 1
    and spec.function
    and "float16" in spec.dtypes
    and not any(isinstance(default, str) for default in spec.params.values())  # ends of the dtype's own range
]


@pytest.mark.parametrize("dtype", [opweave.float16, opweave.bfloat16], ids=str)
@pytest.mark.parametrize("spec", UNARY, ids=str)
def test_is_that_of_float32_rounded(spec: Spec, dtype: opweave.dtype) -> None:
    function = spec.find(opweave)
    x = opweave.arange(-(1 << 15), 1 << 15).to(opweave.int16).view(dtype)
    result, wide = function(x, **spec.keywords), function(x.float(), **spec.keywords)
    expected = wide.to(result.dtype)
    assert result.dtype == (dtype if wide.dtype == opweave.float32 else wide.dtype)
    bits = {opweave.bool: opweave.uint8, dtype: opweave.int16}.get(result.dtype, result.dtype)
    differ = (result.view(bits) != expected.view(bits)) & ~(result.isnan() & expected.isnan())
    assert not differ.any(), (x[differ][:5], result[differ][:5], expected[differ][:5])
