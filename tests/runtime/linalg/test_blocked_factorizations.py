"""Factorizations of matrices that are cut into panels and strips, by several threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import opweave
import pytest

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
Array = np.ndarray


def general(m: int, n: int, dtype: type) -> Array:
    rng = np.random.default_rng(m)
    values = rng.standard_normal((m, n))
    if np.issubdtype(dtype, np.complexfloating):
        return (values + 1j * rng.standard_normal((m, n))).astype(dtype)
    return values.astype(dtype)


def positive_definite(n: int, dtype: type) -> Array:
    values = general(n, n, dtype)
    return values @ values.conj().T / n + np.eye(n, dtype=dtype)


def same_for_all_threads(call: Callable[[], tuple[opweave.Tensor, ...]]) -> list[Array]:
    """The results, whose every bit is the same by one, two and three threads."""
    before, found = opweave.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            opweave.set_num_threads(threads)
            found.append([result.numpy() for result in call()])
    finally:
        opweave.set_num_threads(before)
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert np.array_equal(one, same)
    return found[0]


def error(result: Array, wanted: Array) -> float:
    """In units of rounding of the largest number."""
    return float(np.abs(result - wanted).max() / (np.finfo(wanted.dtype).eps * np.abs(wanted).max()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [1, 63, 191, 192, 193, 255, 256, 257, 400])
def test_cholesky(n: int, upper: bool, dtype: type) -> None:
    a, b = positive_definite(n, dtype), general(n, 70, dtype)
    matrix, right = opweave.from_numpy(a), opweave.from_numpy(b)

    (factor,) = same_for_all_threads(lambda: (opweave.linalg.cholesky(matrix, upper=upper),))
    x = opweave.cholesky_solve(right[:, :49], opweave.from_numpy(factor), upper=upper).numpy()
    assert not np.any(np.tril(factor, -1) if upper else np.triu(factor, 1))
    assert error(factor.conj().T @ factor if upper else factor @ factor.conj().T, a) < 20
    assert error(a @ x, b[:, :49]) < 60
    one_row_apart = np.zeros((n, 2 * n), dtype)
    one_row_apart[:, ::2] = a
    strided = opweave.from_numpy(one_row_apart)[:, ::2]
    out = opweave.full((n, n), float("nan"), dtype=matrix.dtype)
    opweave.linalg.cholesky(strided, upper=upper, out=out)
    assert np.array_equal(out.numpy(), factor)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("place", [0, 63, 64, 65, 128, 150, 299])
def test_code_of_what_is_not_positive_definite(place: int, upper: bool) -> None:
    a = positive_definite(300, np.float64)
    a[place, place] = -1
    wrong = opweave.from_numpy(np.stack([a, np.eye(300), a]))
    assert opweave.linalg.cholesky_ex(wrong, upper=upper).info.tolist() == [place + 1, 0, place + 1]
    a[place, place] = np.nan
    code = opweave.linalg.cholesky_ex(opweave.from_numpy(a), upper=upper).info.item()
    assert code == place + 1
    with pytest.raises(opweave.linalg.LinAlgError, match=rf"leading minor of order {place + 1} is not"):
        opweave.linalg.cholesky(opweave.from_numpy(a), upper=upper)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(99, 99), (100, 100), (101, 129), (129, 101), (300, 160), (160, 300), (257, 257)])
def test_qr(shape: tuple[int, int], dtype: type) -> None:
    a = general(*shape, dtype)
    matrix = opweave.from_numpy(a)
    for mode in ("reduced", "complete"):
        q, r = same_for_all_threads(lambda mode=mode: tuple(opweave.linalg.qr(matrix, mode)))
        assert not np.any(np.tril(r, -1))
        assert error(q @ r, a) < 60
        assert error(q.conj().T @ q, np.eye(q.shape[1], dtype=dtype)) < 60
    turned = opweave.linalg.qr(matrix.mT.contiguous().mT)
    assert np.array_equal(turned.R.numpy(), opweave.linalg.qr(matrix).R.numpy())


def test_signs_of_qr_are_those_of_the_unblocked_factorization() -> None:
    a = general(150, 150, np.float64)
    ours, theirs = opweave.linalg.qr(opweave.from_numpy(a)), np.linalg.qr(a)
    assert np.allclose(ours.Q.numpy(), theirs[0])
    assert np.allclose(ours.R.numpy(), theirs[1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_gives_nan(value: float) -> None:
    a = general(300, 300, np.float64)
    a[200, 200] = value
    q, r = opweave.linalg.qr(opweave.from_numpy(a))
    assert np.isnan(q.numpy()).any()
    assert np.isnan(r.numpy()[:, 200:]).any()
    assert np.isfinite(r.numpy()[:, :200]).all()


def test_batches_and_no_matrices() -> None:
    a = np.stack([positive_definite(200, np.float64) * (k + 1) for k in range(3)])
    factors = opweave.linalg.cholesky(opweave.from_numpy(a)).numpy()
    q, r = (result.numpy() for result in opweave.linalg.qr(opweave.from_numpy(a)))
    assert np.allclose(factors @ factors.transpose(0, 2, 1), a)
    assert np.allclose(q @ r, a)
    assert opweave.linalg.cholesky(opweave.zeros(0, 300, 300)).shape == (0, 300, 300)
    assert opweave.linalg.qr(opweave.zeros(2, 300, 0)).R.shape == (2, 0, 0)
    assert opweave.cholesky_solve(opweave.zeros(300, 0), opweave.eye(300)).shape == (300, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 4, 15, 16, 17])
def test_small_matrices(n: int, dtype: type) -> None:
    """Batches beside the size up to which LAPACK has no part in it; a singular matrix, and pivots of equal size."""
    a = np.stack([general(n, n, dtype) + k * np.eye(n, dtype=dtype) for k in range(5)])
    a[3, :, n // 2] = 0
    lu, pivots, info = opweave.linalg.lu_factor_ex(opweave.from_numpy(a))
    assert info.tolist() == [0, 0, 0, n // 2 + 1, 0]
    p, lower, upper = (each.numpy() for each in opweave.lu_unpack(lu, pivots))
    assert error(p @ lower @ upper, a) < 20
    assert np.abs(lower).max() == 1
    with pytest.raises(opweave.linalg.LinAlgError, match=r"\(Batch element 3\)"):
        opweave.linalg.inv(opweave.from_numpy(a))
    regular = np.delete(a, 3, 0)
    for b in (general(n, 3, dtype), general(n, 1, dtype)):
        for adjoint in (False, True):
            x = opweave.linalg.lu_solve(
                *opweave.linalg.lu_factor(opweave.from_numpy(regular)), opweave.from_numpy(b), adjoint=adjoint
            )
            assert (
                np.abs((regular.swapaxes(1, 2) if adjoint else regular) @ x.numpy() - b).max()
                < 1e4 * np.finfo(dtype).eps
            )
    equal = opweave.from_numpy(np.array([[1, 2], [-1, 1], [1, 5]], dtype))
    assert opweave.linalg.lu_factor(equal).pivots.tolist() == [1, 2]


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [1, 2, 4, 15, 16, 17])
def test_codes_of_small_matrices(n: int, upper: bool) -> None:
    batch = np.stack([positive_definite(n, np.float64)] * 4)
    batch[1, n - 1, n - 1], batch[2, n // 2, n // 2] = np.nan, -1
    factor, info = opweave.linalg.cholesky_ex(opweave.from_numpy(batch), upper=upper)
    assert info.tolist() == [0, n, n // 2 + 1, 0]
    found = factor.numpy()[3]
    assert error(found.T @ found if upper else found @ found.T, batch[3]) < 20
    assert not np.any(np.tril(found, -1) if upper else np.triu(found, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(200, 200), (260, 130), (130, 260)])
def test_rank_of_least_squares(shape: tuple[int, int], dtype: type) -> None:
    """One singular value is around the limit, whether or not a factorization without exchanges of columns would do."""
    least = min(shape)
    u, v = (np.linalg.qr(general(each, least, dtype))[0] for each in shape)
    right = general(shape[0], 2, dtype)
    for smallest, lost in ((1e-1, 0), (1e-2, 0), (2e-4, 0), (1e-5, 1), (0, 1)):
        values = np.ones(least)
        values[-1] = smallest
        a = ((u * values) @ v.conj().T).astype(dtype)
        found = opweave.linalg.lstsq(opweave.from_numpy(a), opweave.from_numpy(right), rcond=5e-5, driver="gelsy")
        assert found.rank.item() == least - lost
        if lost:
            continue
        wanted = np.linalg.lstsq(a, right, rcond=5e-5)[0]
        assert error(found.solution.numpy(), wanted) < 1e3 / smallest
