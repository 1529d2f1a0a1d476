"""`unique` and `unique_consecutive`: results, their types and shapes, and errors against torch."""

from __future__ import annotations

import itertools

import numpy as np
import opweave
import pytest
from harness import expressions

NAN = "L.tensor([3, 1, float('nan'), 0.0, -0.0, float('nan'), 1])"
ROWS = "L.tensor([[2, 1, 2], [0, 1, 0], [2, 1, 2]])"
TENSORS = ("a", "b", "u", "z", "zi", "e", "i.t()", "i[:, 0]", "a == 1", NAN, ROWS)
FLAGS = ("True, True", "True, False", "False, True", "False, False")
DIMS = (0, 1, -1, 2, -4)
EXPRESSIONS = [
    *(f"L.unique({x}, True, {flags})" for x in TENSORS for flags in FLAGS),
    *(f"{x}.unique_consecutive({flags})" for x in TENSORS for flags in FLAGS),
    *(f"{x}.unique(True, True, True, dim={dim})" for x in TENSORS if x != NAN for dim in DIMS),
    *(f"L.unique_consecutive({x}, True, True, dim={dim})" for x in TENSORS for dim in DIMS),
    *(f"L.tensor([7, 1, 7, 3]).to(L.{dtype}).unique(return_counts=True)" for dtype in (
        "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float16", "bfloat16", "float64")),
    "(L.tensor([[7, 1], [7, 1], [3, 9]]) > 5).unique(dim=0, return_inverse=True)",
    "L.tensor([[7, 1], [7, 1], [3, 9]]).bfloat16().unique(dim=0, return_inverse=True)",
    "L.unique(L.tensor([-0.0, 0.0]))",
    "L.unique(L.tensor([5, 3, 5]), sorted=False)",
    "L.unique(L.arange(24).view(2, 3, 4) // 12, dim=2, return_counts=True)",
    "L.unique(L.zeros(3, 0), dim=0)",
    "L.unique(L.zeros(0, 3), dim=0, return_inverse=True, return_counts=True)",
    "L.unique(L.zeros(0, 0), dim=0)",
    "L.unique_consecutive(L.zeros(3, 0), dim=0)",
    "L.unique_consecutive(L.tensor([1, 1, 2, 1]), True, True)",
    "L.unique(a + 1j)",
    "L.unique_consecutive([1])",
]  # fmt: skip


def test_as_torch() -> None:
    expressions.check_all(EXPRESSIONS)


def test_refused() -> None:
    x = opweave.ones(3)
    for call in (
        lambda: opweave.unique("x"),
        lambda: opweave.unique(x, return_inverse=1),  # type: ignore[arg-type]
        lambda: opweave.unique(x, dim=1.5),  # type: ignore[arg-type]
        lambda: opweave.unique(x, out=x),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError):
            call()


def test_many() -> None:
    """Longer inputs than one block of the sort, against NumPy."""
    values = np.random.default_rng(0).integers(0, 300, 20_000)
    want = np.unique(values, return_inverse=True, return_counts=True)
    for got, expected in itertools.zip_longest(opweave.from_numpy(values).unique(True, True, True), want):
        assert np.array_equal(np.asarray(got), expected)
    rows = values.reshape(-1, 2) % 20
    wanted = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    for got, expected in itertools.zip_longest(opweave.from_numpy(rows).unique(True, True, True, dim=0), wanted):
        assert np.array_equal(np.asarray(got), expected.reshape(got.shape))
