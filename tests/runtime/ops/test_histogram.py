"""histogram: its two forms of bins, and what it refuses."""

from __future__ import annotations

from typing import Any

import opweave
import pytest

X = opweave.tensor([0.5, 1.5, 1.5])
EDGES = opweave.tensor([0.0, 1.0, 2.0])


def test_bins() -> None:
    assert opweave.histogram(X, EDGES).hist.tolist() == [1.0, 2.0]
    assert opweave.histogram(X, 2, range=(0, 2)).bin_edges.tolist() == [0.0, 1.0, 2.0]
    assert opweave.histogram(X).hist.shape == (100,)
    assert opweave.histogram(X.view(3, 1), EDGES, weight=X.view(3, 1), density=False).hist.tolist() == [0.5, 3.0]


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((X, 0), {}, r"histogram\(\): bins must be > 0, but got 0 for dimension 0"),
        ((X, 2), {"range": (1,)}, "for a 1-dimensional histogram range should have 2 elements, but got 1"),
        ((X, 2), {"range": (2, 1)}, "min should not exceed max, but got min 2 max 1 for dimension 0"),
        ((X, 2), {"range": (0, float("nan"))}, r"dimension 0's range \[0, nan\] is not finite"),
        (
            (X, opweave.tensor([0, 1])),
            {},
            "but got input with dtype float and bins for dimension 0 with dtype long int",
        ),
        ((X, EDGES.view(1, 3)), {}, "bins tensor should have one dimension, but got 2 dimensions"),
        ((X, EDGES[:0]), {}, "bins tensor should have at least 1 element, but got 0 elements"),
        ((X, EDGES), {"weight": X[:2]}, r"but got input with shape \[3, 1\] and weight with shape \[2\]"),
        ((X, EDGES), {"weight": X.double()}, r"the same dtype, but got input\(float\), and weight\(double\)"),
        ((X, 2), {"out": (EDGES.double(), EDGES.clone())}, "Expected out tensor to have dtype float, but got double"),
    ],
)
def test_refusals(args: Any, named: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        opweave.histogram(*args, **named)


def test_refused_types() -> None:
    with pytest.raises(NotImplementedError, match="\"histogramdd\" not implemented for 'Long'"):
        opweave.histogram(opweave.arange(3), 2)
    with pytest.raises(TypeError, match=r"argument 'range' excludes edges of bins"):
        opweave.histogram(X, EDGES, range=(0, 1))


@pytest.mark.parametrize("value", [1.0, 1e17, 1e30, -3e38])
@pytest.mark.parametrize("bins", [1, 4, 5])
def test_a_single_value_is_in_the_middle(value: float, bins: int) -> None:
    """The range is widened by 1 on both sides, which may be less than the last digit of the value."""
    expected = [0.0] * bins
    expected[bins // 2] = 2.0
    assert opweave.histc(opweave.tensor([value, value], dtype=opweave.float64), bins).tolist() == expected
    if abs(value) > 1:
        assert opweave.histc(opweave.tensor([value, value]), bins).sum().item() == 2
