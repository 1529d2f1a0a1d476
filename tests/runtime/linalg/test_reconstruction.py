"""Factors multiply to the matrix, solutions solve, spectra belong to their matrices: for every dtype, for batches in
any memory order, for empty ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import opweave
import pytest

linalg = opweave.linalg
Array = np.ndarray[Any, Any]
DTYPES = ("float32", "float64", "complex64", "complex128")
SQUARES = ((1, 1), (2, 2), (5, 5), (70, 70), (3, 4, 4), (2, 3, 6, 6), (0, 3, 3), (2, 0, 0))
TALL = ((5, 3), (60, 40), (67, 64), (130, 105), (2, 4, 3), (3, 0))
WIDE = ((3, 5), (40, 70), (2, 100, 140), (2, 3, 4), (0, 3))
SHAPES = (*SQUARES, *TALL, *WIDE)


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if "complex" in dtype else real).astype(dtype)


def positive(shape: tuple[int, ...], dtype: str) -> Array:
    square = values(shape, dtype)
    return (square @ square.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def orders(array: Array) -> Iterator[Any]:
    """Tensors of these values: contiguous, column-major, with a step, backwards."""
    yield opweave.tensor(array)
    yield opweave.tensor(np.ascontiguousarray(array.swapaxes(-1, -2))).mT
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    yield opweave.from_numpy(wide)[..., ::2]
    yield opweave.from_numpy(np.ascontiguousarray(array[..., ::-1])[..., ::-1])


def check(got: Any, want: Array, what: str = "") -> None:
    result = np.asarray(got.tolist()).reshape(got.shape)
    assert result.shape == want.shape, what
    eps = 1e-3 if str(got.dtype).endswith(("float32", "complex64")) else 1e-10
    np.testing.assert_allclose(result, want, rtol=eps, atol=eps * (1 + np.abs(want).max(initial=0)), err_msg=what)


def adjoint(tensor: Any) -> Any:
    return tensor.mT.conj()


def identity(tensor: Any) -> Array:
    n = tensor.shape[-1]
    return np.broadcast_to(np.eye(n), (*tensor.shape[:-2], n, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_of_any_matrix(shape: tuple[int, ...], dtype: str) -> None:
    array = values(shape, dtype)
    for a in orders(array):
        p, lower, upper = linalg.lu(a)
        check(p @ lower @ upper, array, "lu")
        for mode in ("reduced", "complete"):
            q, r = linalg.qr(a, mode)
            check(q @ r, array, f"qr {mode}")
            check(adjoint(q) @ q, identity(q), f"qr {mode}: columns of Q")
            check(r.tril(-1), np.zeros(r.shape), f"qr {mode}: R")
        for full in (False, True):
            u, s, vh = linalg.svd(a, full)
            k = s.shape[-1]
            check(u[..., :k] * s.unsqueeze(-2).to(u.dtype) @ vh[..., :k, :], array, f"svd {full}")
            check(adjoint(u) @ u, identity(u), f"svd {full}: columns of U")
            check(vh @ adjoint(vh), np.broadcast_to(np.eye(vh.shape[-2]), (*shape[:-2], vh.shape[-2], vh.shape[-2])))
            check(linalg.svdvals(a), np.asarray(s.tolist()).reshape(s.shape), "svdvals")
        check(a @ linalg.pinv(a) @ a, array, "pinv")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_solutions(shape: tuple[int, ...], dtype: str) -> None:
    array = (values(shape, dtype) + shape[-1] * np.eye(shape[-1])).astype(dtype)
    right = values((*shape[:-1], 3), dtype, 1)
    for a, b in zip(orders(array), orders(right), strict=True):
        check(a @ linalg.solve(a, b), right, "solve")
        check(linalg.solve(a, b.mT, left=False) @ a, right.swapaxes(-1, -2), "solve on the right")
        check(linalg.inv(a) @ a, identity(a), "inv")
        factors = linalg.lu_factor(a)
        for adjointed in (False, True):
            matrix = adjoint(a) if adjointed else a
            check(matrix @ linalg.lu_solve(*factors, b, adjoint=adjointed), right, "lu_solve")
            result = linalg.lu_solve(*factors, b.mT, left=False, adjoint=adjointed)
            check(result @ matrix, right.swapaxes(-1, -2), "lu_solve on the right")
        for triangle, upper in ((a.triu(), True), (a.tril(), False)):
            check(triangle @ linalg.solve_triangular(a, b, upper=upper), right, "solve_triangular")
            result = linalg.solve_triangular(a, b.mT, upper=upper, left=False)
            check(result @ triangle, right.swapaxes(-1, -2), "solve_triangular on the right")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_positive_and_hermitian_matrices(shape: tuple[int, ...], dtype: str) -> None:
    array = positive(shape, dtype)
    right = values((*shape[:-1], 2), dtype, 1)
    for a, b in zip(orders(array), orders(right), strict=True):
        for upper in (False, True):
            factor = linalg.cholesky(a, upper=upper)
            check(adjoint(factor) @ factor if upper else factor @ adjoint(factor), array, "cholesky")
            check(a @ opweave.cholesky_solve(b, factor, upper), right, "cholesky_solve")
            check(a @ opweave.cholesky_inverse(factor, upper), identity(a), "cholesky_inverse")
        hermitian = dtype.startswith("complex")
        check(a @ linalg.ldl_solve(*linalg.ldl_factor(a, hermitian=hermitian), b, hermitian=hermitian), right, "ldl")
        for triangle in "LU":
            eigenvalues, vectors = linalg.eigh(a, triangle)
            check(vectors * eigenvalues.unsqueeze(-2).to(a.dtype) @ adjoint(vectors), array, "eigh")
            check(linalg.eigvalsh(a, triangle), np.linalg.eigvalsh(array), "eigvalsh")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARES, ids=str)
def test_eigenvectors(shape: tuple[int, ...], dtype: str) -> None:
    array = values(shape, dtype)
    for a in orders(array):
        eigenvalues, vectors = linalg.eig(a)
        check(a.to(vectors.dtype) @ vectors - vectors * eigenvalues.unsqueeze(-2), np.zeros(shape), "eig")
        check(opweave.linalg.vector_norm(vectors, dim=-2), np.ones(shape[:-1]), "eig: lengths")
        check(linalg.eigvals(a).sum(-1), np.trace(array, axis1=-2, axis2=-1), "eigvals")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (50, 20), (20, 50), (3, 6, 4), (2, 2, 3, 5), (1, 1)], ids=str)
def test_least_squares(shape: tuple[int, ...], driver: str, dtype: str) -> None:
    array, right = values(shape, dtype), values((*shape[:-1], 3), dtype, 1)
    want = np.linalg.pinv(array) @ right
    for a, b in zip(orders(array), orders(right), strict=True):
        solution, residuals, rank, singular = linalg.lstsq(a, b, driver=driver)
        check(solution, want, driver)
        if residuals.numel():
            check(residuals, (np.abs(array @ want - right) ** 2).sum(-2), "residuals")
        assert driver == "gels" or (rank == min(shape[-2:])).all()
        if driver in ("gelsd", "gelss"):
            check(singular, np.linalg.svd(array, compute_uv=False), "singular values")


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(120, 80), (80, 120), (90, 90)], ids=str)
def test_least_squares_of_deficient_rank(shape: tuple[int, ...], dtype: str) -> None:
    """Large matrices are first taken for regular ones; what is left of them must not show."""
    array, right = values(shape, dtype), values((shape[0], 2), dtype, 1)
    for rank in (80, 79) if shape != (90, 90) else (90, 89):
        if rank % 2:
            array[:, -1], array[-1] = array[:, 0], array[0]
        solution, _, got, _ = linalg.lstsq(opweave.tensor(array), opweave.tensor(right))
        assert got.item() == rank
        check(solution, np.linalg.pinv(array, rcond=1e-10) @ right)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-5, 0.03, 1.0, 30.0])
def test_exponential(size: float, dtype: str) -> None:
    """Through eigenvectors, in float64; a symmetric matrix has orthogonal ones."""
    array = values((3, 6, 6), "float64") * size
    array = (array + array.swapaxes(-1, -2)) / 4
    eigenvalues, vectors = np.linalg.eigh(array)
    want = vectors * np.exp(eigenvalues)[..., None, :] @ vectors.swapaxes(-1, -2)
    check(linalg.matrix_exp(opweave.tensor(array.astype(dtype))), want)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_products_of_reflections(mode: str) -> None:
    array = values((2, 6, 4), "complex128")
    reflections, tau = opweave.geqrf(opweave.tensor(array))
    q = linalg.qr(opweave.tensor(array), mode).Q
    other = opweave.tensor(values((2, 6, 6), "complex128", 1))
    if mode == "reduced":
        check(linalg.householder_product(reflections, tau), np.asarray(q.tolist()))
        return
    for name, transpose in (("Q", False), ("its adjoint", True)):
        matrix = adjoint(q) if transpose else q
        left = opweave.ormqr(reflections, tau, other, left=True, transpose=transpose)
        check(left, np.asarray((matrix @ other).tolist()), f"{name} on the left")
        right = opweave.ormqr(reflections, tau, other, left=False, transpose=transpose)
        check(right, np.asarray((other @ matrix).tolist()), f"{name} on the right")


@pytest.mark.parametrize("threads", [1, 2])
def test_large_lu_by_halves(threads: int) -> None:
    """Wide, tall and square matrices that are factorized in several panels, and a singular one."""
    before = opweave.get_num_threads()
    opweave.set_num_threads(threads)
    try:
        for shape in ((300, 300), (129, 400), (400, 129), (65, 65), (64, 1000)):
            array = values(shape, "float64")
            p, lower, upper = linalg.lu(opweave.tensor(array))
            check(p @ lower @ upper, array, str(shape))
            _, pivots, info = linalg.lu_factor_ex(opweave.tensor(array))
            assert info.item() == 0
            assert 1 <= pivots.amin().item() <= pivots.amax().item() <= shape[0]
        array = values((200, 200), "float64")
        array[:, 150] = 0
        assert linalg.lu_factor_ex(opweave.tensor(array)).info.item() == 151
        array[:, 20] = 0
        assert linalg.lu_factor_ex(opweave.tensor(array)).info.item() == 21
    finally:
        opweave.set_num_threads(before)
