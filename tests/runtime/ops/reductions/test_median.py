"""The median of all elements, which is found without sorting them: every dtype and size, NaN, equal elements."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

DTYPES = ["uint8", "int8", "int16", "int64", "uint16", "uint64", "float16", "float32", "float64"]
SIZES = [1, 2, 3, 48, 49, 511, 512, 513, 5000]


def middle(values: np.ndarray) -> object:
    return np.sort(values, axis=None)[(values.size - 1) // 2]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_the_lower_one_in_the_middle(dtype: str, size: int) -> None:
    random = np.random.default_rng(size)
    for spread in (1e-3, 3.0, 1e4):
        values = (random.standard_normal(size) * spread).astype(np.float64)
        values = (values if "float" in dtype else np.abs(values) % 127).astype(dtype)
        x = opweave.from_numpy(values)
        assert x.median().item() == middle(values)
        assert x.reshape(-1, 1).expand(size, 2)[:, 1].median().item() == middle(values)
        assert x.median().dtype is x.dtype
    whole = np.iinfo(dtype) if "int" in dtype else np.finfo(dtype)
    ends = np.array([whole.min, whole.max] * size, dtype)
    assert opweave.from_numpy(ends).median().item() == whole.min


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_missing_values(dtype: str, size: int) -> None:
    ow_dtype = getattr(opweave, dtype)
    x = opweave.arange(size, dtype=opweave.float64).remainder(100).to(ow_dtype)
    x[size // 2] = float("nan")
    assert x.median().isnan()
    rest = [value for value in sorted(x.tolist()) if value == value]
    assert opweave.equal(x.nanmedian().isnan(), opweave.tensor(not rest))
    if rest:
        assert x.nanmedian().item() == sorted(rest)[(len(rest) - 1) // 2]
    assert opweave.full((size,), float("nan"), dtype=ow_dtype).nanmedian().isnan()
    infinite = opweave.full((size,), float("inf"), dtype=ow_dtype)
    assert infinite.median().item() == float("inf")


def test_results_of_both_forms() -> None:
    x = opweave.tensor([[3.0, 1.0, 2.0]])
    assert type(x.median()) is opweave.Tensor
    assert x.median(1).values.tolist() == [2.0]
    assert opweave.empty(0).median().isnan()
    assert opweave.tensor(5).median().item() == 5
