"""histc and histogram beside NumPy's: edges, sizes beside those of parts, threads, and what lies in no bin."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import opweave
import pytest

PART = 1 << 16
"""Values of which each has sums of its own, in the core."""


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = opweave.get_num_threads()
    yield opweave.set_num_threads
    opweave.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("numel", [0, 1, PART - 1, PART, 2 * PART - 1, 2 * PART + 1])
@pytest.mark.parametrize("bins", [1, 7, 100])
def test_values_are_counted_as_by_numpy(dtype: str, numel: int, bins: int) -> None:
    values = np.random.default_rng(0).standard_normal(numel).astype(dtype)
    weights = np.random.default_rng(1).random(numel).astype(dtype)
    x, w = opweave.from_numpy(values), opweave.from_numpy(weights)
    edges = opweave.linspace(-1, 1, bins + 1, dtype=x.dtype)
    expected = np.histogram(values, edges.numpy())[0]
    assert opweave.histogram(x, edges).hist.tolist() == expected.tolist()
    assert opweave.histogram(x, bins, range=(-1, 1)).hist.tolist() == expected.tolist()
    assert opweave.histc(x, bins, -1, 1).sum().item() == expected.sum()
    weighted = np.histogram(values.astype(float), edges.numpy().astype(float), weights=weights.astype(float))[0]
    for found in (opweave.histogram(x, edges, weight=w), opweave.histogram(x, bins, range=(-1, 1), weight=w)):
        np.testing.assert_allclose(found.hist.numpy(), weighted, rtol=1e-6)


def test_values_at_edges_belong_to_the_bin_above() -> None:
    """Also where a division of float32 misses an edge; the last bin has its upper edge."""
    for bins in (3, 10, 49, 1000):
        edges = opweave.linspace(0.1, 0.7, bins + 1)
        expected = [1.0] * (bins - 1) + [2.0]
        assert opweave.histogram(edges, edges).hist.tolist() == expected
        assert opweave.histogram(edges, bins).hist.tolist() == expected
    assert opweave.histc(opweave.tensor([0.0, 1, 2, 3, 4]), 4).tolist() == [1, 1, 1, 2]


def test_uneven_edges() -> None:
    edges = opweave.tensor([0.0, 0.0, 1.0, 1.0, 10.0, 10.0])
    assert opweave.histogram(opweave.tensor([0.0, 1.0, 0.5, 10.0, -0.0]), edges).hist.tolist() == [0, 3, 0, 1, 1]
    assert opweave.histogram(opweave.tensor([1.0]), opweave.tensor([1.0])).hist.tolist() == []
    with pytest.raises(ValueError, match="increase monotonically"):
        opweave.histogram(edges, opweave.tensor([1.0, 0.0]))


def test_what_lies_in_no_bin() -> None:
    nan, inf = float("nan"), float("inf")
    x = opweave.tensor([nan, inf, -inf, -0.5, 0.0, 1.0, 1.5])
    assert opweave.histc(x, 2, 0, 1).tolist() == [1, 1]
    assert opweave.histogram(x, 2, range=(0, 1)).hist.tolist() == [1, 1]
    assert opweave.histogram(x, opweave.tensor([0.0, 1.0]), weight=x).hist.tolist() == [1]
    assert opweave.histogram(x, opweave.tensor([-inf, 0.0, inf])).hist.tolist() == [2, 4]


def test_strides_and_halves() -> None:
    x = opweave.arange(12.0).view(3, 4)
    assert opweave.histc(x.t()[1:], 3, 1, 10).tolist() == [3, 2, 3]
    assert opweave.histogram(x[:, ::2], 2, weight=x[:, 1::2]).hist.tolist() == [9, 27]
    for dtype in (opweave.float16, opweave.bfloat16):
        assert opweave.histc(x.to(dtype), 3).tolist() == [4, 4, 4]
        assert opweave.histogram(x.to(dtype), 3).hist.dtype is dtype


def test_sums_do_not_depend_on_threads(threads: Callable[[int], None]) -> None:
    x = opweave.from_numpy(np.random.default_rng(0).standard_normal(20 * PART + 3))
    results = []
    for count in (1, 2, 5):
        threads(count)
        results.append(opweave.histogram(x, 50, weight=x * 0.1).hist.tolist())
    assert results[0] == results[1] == results[2]


def test_tensors_that_require_gradients_are_counted() -> None:
    x = opweave.tensor([1.0, 2.0, 3.0], requires_grad=True)
    weight = opweave.tensor([1.0, 2.0, 4.0], requires_grad=True)
    assert opweave.histc(x, 2, 1, 3).tolist() == [1, 2]
    assert opweave.histogram(x, 2, weight=weight).hist.tolist() == [1, 6]
