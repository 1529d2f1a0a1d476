"""Functions of numpy.linalg that torch.linalg lacks, and that all of NumPy's are there."""

from __future__ import annotations

import numpy as np
import opweave

linalg = opweave.linalg
NUMBERS = np.random.default_rng(0).standard_normal((2, 3, 4))


def test_every_function_of_numpy_exists() -> None:
    missing = {name for name in np.linalg.__all__ if not hasattr(linalg, name)}
    assert missing == set()


def test_trace() -> None:
    x = opweave.tensor(NUMBERS)
    for offset in (0, 1, -2):
        np.testing.assert_allclose(linalg.trace(x, offset=offset).numpy(), np.linalg.trace(NUMBERS, offset=offset))
    whole = opweave.tensor([[1, 2], [3, 4]], dtype=opweave.int8)
    assert linalg.trace(whole).dtype is opweave.int64
    assert linalg.trace(whole, dtype=opweave.float32).dtype is opweave.float32


def test_transposition_is_a_view() -> None:
    x = opweave.tensor(NUMBERS)
    result = linalg.matrix_transpose(x)
    assert result.data_ptr() == x.data_ptr()
    np.testing.assert_array_equal(result.numpy(), np.linalg.matrix_transpose(NUMBERS))


def test_products() -> None:
    a, b = NUMBERS[0], NUMBERS[1]
    x, y = opweave.tensor(a), opweave.tensor(b)
    np.testing.assert_allclose(linalg.outer(x[0], y[0]).numpy(), np.linalg.outer(a[0], b[0]))
    np.testing.assert_allclose(linalg.tensordot(x, y, 2).item(), np.tensordot(a, b, 2))
