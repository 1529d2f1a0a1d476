"""`hspmm`, `smm` and `sspaddmm`: products of sparse and dense matrices that are sparse themselves."""

from __future__ import annotations

import opweave as ow
import pytest

LEFT = ow.tensor([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
RIGHT = ow.arange(6.0).reshape(3, 2) - 2
BASE = ow.tensor([[0.0, 1.0], [5.0, 0.0], [0.0, 0.0], [0.0, 7.0]])


def test_rows_that_have_elements() -> None:
    found = ow.hspmm(LEFT.to_sparse(), RIGHT)
    assert (found.sparse_dim(), found.dense_dim(), found._nnz()) == (1, 1, 2)
    assert found.coalesce().indices().tolist() == [[0, 2]]
    assert ow.equal(found.to_dense(), LEFT @ RIGHT)


def test_elements_of_these_rows() -> None:
    for found in (ow.smm(LEFT.to_sparse(), RIGHT), LEFT.to_sparse().smm(RIGHT)):
        assert found.indices().tolist() == [[0, 0, 2, 2], [0, 1, 0, 1]]
        assert ow.equal(found.to_dense(), LEFT @ RIGHT)
    assert ow.smm(ow.zeros(2, 3).to_sparse(), RIGHT)._nnz() == 0


def test_sums() -> None:
    base, left = BASE.to_sparse(), LEFT.to_sparse()
    for found in (ow.sspaddmm(base, left, RIGHT, beta=2, alpha=3), base.sspaddmm(left, RIGHT, beta=2, alpha=3)):
        assert found._nnz() == 3 + 4
        assert ow.equal(found.to_dense(), 2 * BASE + 3 * (LEFT @ RIGHT))


@pytest.mark.parametrize("function", [ow.smm, ow.hspmm, lambda a, b: ow.sspaddmm(BASE.to_sparse(), a, b)])
def test_gradients(function) -> None:
    values, right = ow.tensor([2.0, 1.0, 3.0], requires_grad=True), RIGHT.clone().requires_grad_()
    left = ow.sparse_coo_tensor([[0, 0, 2], [1, 2, 0]], values, (4, 3))
    factors = ow.arange(8.0).reshape(4, 2)
    (function(left, right).to_dense() * factors).sum().backward()
    assert ow.equal(right.grad, LEFT.T @ factors)
    assert ow.equal(values.grad, (factors @ RIGHT.T)[[0, 0, 2], [1, 2, 0]])


def test_errors() -> None:
    left = LEFT.to_sparse()
    for call in (
        lambda: ow.hspmm(LEFT, RIGHT),
        lambda: ow.hspmm(left, RIGHT.to_sparse()),
        lambda: ow.smm(left.to_sparse_csr(), RIGHT),
        lambda: ow.smm(left, RIGHT[:2]),
        lambda: ow.smm(left, RIGHT.double()),
        lambda: ow.smm(left, RIGHT[0]),
        lambda: ow.sspaddmm(BASE, left, RIGHT),
        lambda: ow.sspaddmm(BASE[:2].to_sparse(), left, RIGHT),
        lambda: ow.sspaddmm(BASE.double().to_sparse(), left, RIGHT),
    ):
        with pytest.raises(RuntimeError, match="xpected"):
            call()
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        ow.smm(left, 3)
    with pytest.raises(RuntimeError, match="Expected dim 0 size 3, got 2"):
        ow.hspmm(left, RIGHT[:2])


def test_older_names() -> None:
    left, base = LEFT.to_sparse(), BASE.to_sparse()
    for name in ("spmm", "dsmm"):
        found = getattr(ow, name)(left, RIGHT)
        assert found.layout is ow.strided
        assert found.equal(LEFT @ RIGHT)
    assert ow.hsmm(left, RIGHT).to_dense().equal(LEFT @ RIGHT)
    assert ow.saddmm(base, left, RIGHT, beta=2, alpha=3).to_dense().equal(2 * BASE + 3 * (LEFT @ RIGHT))
