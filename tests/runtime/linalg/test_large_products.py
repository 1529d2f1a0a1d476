"""Products and solutions of sizes at which matrices are cut: into tiles, halves, shares of threads."""

from __future__ import annotations

import numpy as np
import opweave
import pytest

FLOATING = [np.float32, np.float64]


def error(result: np.ndarray, a: np.ndarray, b: np.ndarray, wanted: np.ndarray) -> float:
    """In units of the rounding that `a @ b` may have."""
    bound = np.abs(a).max(initial=0) * np.abs(b).max(initial=0) * a.shape[-1] * np.finfo(a.dtype).eps
    return float(np.abs(result - wanted).max(initial=0) / bound)


def laid_out(values: np.ndarray, by_columns: bool) -> opweave.Tensor:
    tensor = opweave.from_numpy(values)
    return tensor.mT.contiguous().mT if by_columns else tensor


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("layouts", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("shape", [(128, 784, 256), (130, 113, 71), (33, 1500, 40), (2, 3000, 300), (500, 65, 333)])
def test_products(shape: tuple[int, int, int], layouts: tuple[bool, bool], dtype: type) -> None:
    rng = np.random.default_rng(0)
    m, k, n = shape
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    c = rng.standard_normal((m, n)).astype(dtype)
    left, right = laid_out(a, layouts[0]), laid_out(b, layouts[1])
    wanted = a.astype(np.longdouble) @ b.astype(np.longdouble)
    assert error(left.mm(right).numpy(), a, b, wanted) < 1
    sums = opweave.addmm(opweave.from_numpy(c), left, right, beta=0.5, alpha=2)
    assert error(sums.numpy(), a, b, 2 * wanted + c / 2) < 2
    out = opweave.full((n, m), float("nan"), dtype=left.dtype).t()
    assert error(opweave.mm(left, right, out=out).numpy(), a, b, wanted) < 1


@pytest.mark.parametrize("dtype", [*FLOATING, np.complex64, np.int32])
@pytest.mark.parametrize("batch", [1, 2, 3, 300])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches(dtype: type, batch: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, (batch, *shape)).astype(dtype) for shape in ((40, 30), (30, 50)))
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        result = opweave.from_numpy(a).bmm(laid_out(b, True))
        repeated = opweave.from_numpy(a[:1]).expand(batch, 40, 30).bmm(opweave.from_numpy(b))
    finally:
        opweave.set_num_threads(before)
    assert np.array_equal(result.numpy(), a @ b)
    assert np.array_equal(repeated.numpy(), a[:1] @ b)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("n", [31, 32, 33, 65, 130, 300])
@pytest.mark.parametrize("columns", [15, 16, 17, 100, 129])
def test_triangles(n: int, columns: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    b = rng.standard_normal((n, columns)).astype(dtype)
    for upper in (False, True):
        for unit in (False, True):
            stored = (rng.standard_normal((n, n)) / np.sqrt(n)).astype(dtype)  # the other triangle is not to be read
            stored[np.arange(n), np.arange(n)] = rng.uniform(1, 2, n)
            triangle = np.triu(stored) if upper else np.tril(stored)
            if unit:
                triangle[np.arange(n), np.arange(n)] = 1
            for by_columns in (False, True):
                x = opweave.linalg.solve_triangular(
                    laid_out(stored, by_columns), opweave.from_numpy(b), upper=upper, unitriangular=unit
                ).numpy()
                assert error(triangle.astype(np.longdouble) @ x, triangle, x, b) < 2


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("n", [33, 129, 300])
def test_factors(n: int, dtype: type) -> None:
    a = np.random.default_rng(0).standard_normal((n, n)).astype(dtype)
    b = np.random.default_rng(1).standard_normal((n, 50)).astype(dtype)
    matrix, right = opweave.from_numpy(a), opweave.from_numpy(b)
    factors = opweave.linalg.lu_factor(matrix)
    for adjoint in (False, True):
        x = opweave.linalg.lu_solve(*factors, right, adjoint=adjoint).numpy()
        exact = (a.T if adjoint else a).astype(np.longdouble)
        assert error(exact @ x, a, x, b) < 4
    inverse = opweave.linalg.inv(matrix).numpy()
    assert error(a.astype(np.longdouble) @ inverse, a, inverse, np.eye(n)) < 4


@pytest.mark.parametrize("dtype", FLOATING)
def test_what_is_not_finite_stays_in_its_columns(dtype: type) -> None:
    a = np.eye(100, dtype=dtype) * 2
    b = np.ones((100, 40), dtype)
    b[3, 7] = np.nan
    x = opweave.linalg.solve_triangular(opweave.from_numpy(a), opweave.from_numpy(b), upper=False).numpy()
    assert np.isnan(x[:, 7]).any()
    assert (np.delete(x, 7, 1) == 0.5).all()


@pytest.mark.parametrize("n", [3, 20, 70])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_matrices(n: int, threads: int) -> None:
    a = np.random.default_rng(0).standard_normal((40, n, n))
    b = np.random.default_rng(1).standard_normal((40, n, 5))
    positive = a @ a.transpose(0, 2, 1) + np.eye(n)
    matrices, right = opweave.from_numpy(a), opweave.from_numpy(b)
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        x, inverse = opweave.linalg.solve(matrices, right), opweave.linalg.inv(matrices)
        again = opweave.linalg.lu_solve(*opweave.linalg.lu_factor(matrices), right)
        lower = opweave.linalg.cholesky(opweave.from_numpy(positive))
        y = opweave.linalg.solve_triangular(lower, right, upper=False)
    finally:
        opweave.set_num_threads(before)
    assert np.allclose(a @ x.numpy(), b)
    assert np.allclose(again.numpy(), x.numpy())
    assert np.allclose(a @ inverse.numpy(), np.eye(n))
    assert np.allclose(lower.numpy() @ lower.numpy().transpose(0, 2, 1), positive)
    assert np.allclose(lower.numpy() @ y.numpy(), b)


def test_strides_of_dimensions_of_size_one_mean_nothing() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((1, 5, 3)), rng.standard_normal((3, 4))
    turned = opweave.from_numpy(a).transpose(0, 1)
    assert turned.is_contiguous()
    assert np.allclose((turned @ opweave.from_numpy(b)).numpy(), a.transpose(1, 0, 2) @ b)
    assert np.allclose((turned @ opweave.from_numpy(b[:, 0].copy())).numpy(), a.transpose(1, 0, 2) @ b[:, 0])
    many = opweave.from_numpy(rng.standard_normal((1, 5, 2, 3))).transpose(0, 1)
    assert np.allclose((many @ many.mT.contiguous()).numpy(), many.numpy() @ many.mT.numpy())
