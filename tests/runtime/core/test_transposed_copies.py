"""Copies between matrices of which one is dense along its rows, the other along its columns."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

ITEMS = ("int8", "int16", "float32", "float64", "complex128")


@pytest.mark.parametrize("dtype", ITEMS)
@pytest.mark.parametrize("shape", [(16, 16), (15, 64), (64, 15), (33, 47), (64, 48), (3, 32, 40)])
def test_every_element_arrives(dtype: str, shape: tuple[int, ...]) -> None:
    bits = np.random.default_rng(1).integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype=np.uint8)
    source = bits.view(dtype).reshape(shape)
    copied = opweave.from_numpy(source).transpose(-1, -2).contiguous().numpy()
    assert copied.tobytes() == np.ascontiguousarray(np.swapaxes(source, -1, -2)).tobytes()


@pytest.mark.parametrize("dtype", ITEMS)
def test_no_other_element_is_written(dtype: str) -> None:
    source = np.arange(40 * 36).astype(dtype).reshape(40, 36)
    whole = np.full((38, 44), 7, dtype)
    opweave.from_numpy(whole)[1:37, 2:42].copy_(opweave.from_numpy(source).t())
    expected = np.full((38, 44), 7, dtype)
    expected[1:37, 2:42] = source.T
    np.testing.assert_array_equal(whole, expected)
