"""A column of another dtype, one element of which serves each row, gives what the full tensor of that dtype gives."""

from __future__ import annotations

import opweave
import pytest
from opweave import Tensor

DTYPES = ["bool", "uint8", "int16", "int64", "uint64", "bfloat16", "float16", "float32", "float64", "complex64"]
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "long rows": ((600, 40), (600, 1)),
    "short rows": ((600, 5), (600, 1)),
    "in the middle": ((3, 30, 40), (30, 1)),
    "along two dimensions": ((30, 40, 20), (30, 40, 1)),
    "along two that do not merge": ((6, 5, 7, 20), (6, 1, 7, 1)),
    "in an expanded stack": ((4, 30, 40), (1, 30, 1)),
}


def numbers(shape: tuple[int, ...], dtype: str) -> Tensor:
    return (opweave.rand(shape) * 100).to(getattr(opweave, dtype))


def full(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x.expand(shape).clone(memory_format=opweave.contiguous_format)


@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_two_operands(dtype: str, other: str, layout: str) -> None:
    shape, of_column = SHAPES[layout]
    x, y = numbers(shape, dtype), numbers(of_column, other)
    assert opweave.equal(x * y, x * full(y, shape))
    assert opweave.equal(y + x, full(y, shape) + x)


@pytest.mark.parametrize("layout", SHAPES)
def test_two_columns(layout: str) -> None:
    """Of different sizes, that both need a conversion."""
    shape, of_column = SHAPES[layout]
    mask, y, x = numbers(of_column, "int16") > 50, numbers(of_column, "uint8"), numbers(shape, "float64")
    result = opweave.where(mask, x, y)
    assert result.dtype == opweave.float64
    assert opweave.equal(result, opweave.where(full(mask, shape), x, full(y, shape)))
    assert opweave.equal(opweave.addcmul(y, y.short(), x), opweave.addcmul(full(y, shape), full(y.short(), shape), x))


def test_a_column_of_itself() -> None:
    x = numbers((50, 40), "float32")
    expected = x * full(x[:, :1].int(), (50, 40))
    assert opweave.equal(x.mul_(x[:, :1].int()), expected)
