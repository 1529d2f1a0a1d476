"""What cannot be computed: errors and codes for single matrices and batches, memory that stays as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import opweave
import pytest

linalg = opweave.linalg
NAN, INF = float("nan"), float("inf")

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "svd": linalg.svd,
    "svdvals": linalg.svdvals,
    "eigh": linalg.eigh,
    "eigvalsh": linalg.eigvalsh,
    "eig": linalg.eig,
    "eigvals": linalg.eigvals,
    "gelsd": lambda x: linalg.lstsq(x, x, driver="gelsd"),
    "gelss": lambda x: linalg.lstsq(x, x, driver="gelss"),
    "gelsy": lambda x: linalg.lstsq(x, x),
    "gels": lambda x: linalg.lstsq(x, x, driver="gels"),
    "pinv": linalg.pinv,
    "matrix_exp": linalg.matrix_exp,
    "ldl": linalg.ldl_factor_ex,
    "qr": linalg.qr,
    "cholesky": linalg.cholesky_ex,
    "inv": linalg.inv_ex,
}
DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_for_what_is_not_finite(name: str, dtype: str) -> None:
    """With a result or an error; LAPACK alone would go on for ever."""
    for n in (1, 2, 3, 8, 40):
        for value in (NAN, INF, -INF):
            for where in (slice(None), n // 2):
                x = opweave.eye(n, dtype=getattr(opweave, dtype))
                x[where, n // 3] = value
                try:
                    FUNCTIONS[name](x)
                except RuntimeError as error:
                    assert "linalg" in str(error)  # noqa: PT017


def test_only_one_triangle_is_looked_at() -> None:
    x = opweave.tensor([[2.0, NAN], [0.0, 3.0]])
    assert linalg.eigvalsh(x).tolist() == [2.0, 3.0]
    assert linalg.cholesky(x)[1, 0] == 0
    assert linalg.ldl_factor(x).LD[0, 1] == 0
    with pytest.raises(linalg.LinAlgError):
        linalg.eigvalsh(x, "U")


def test_the_others_of_a_batch_are_computed() -> None:
    good = opweave.eye(3, dtype=opweave.float64) * 2
    batch = opweave.stack([good, good * 0, -good])
    inverse, info = linalg.inv_ex(batch)
    assert info.tolist() == [0, 1, 0]
    assert inverse[0].equal(good / 4)
    assert inverse[2].equal(good / -4)
    factor, info = linalg.cholesky_ex(batch)
    assert info.tolist() == [0, 1, 1]
    assert factor[0].diagonal().tolist() == [2**0.5] * 3
    with pytest.raises(linalg.LinAlgError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 1 is zero"):
        linalg.inv(batch)


@pytest.mark.parametrize("pivots", [[0, 1, 1], [1, 4, 1], [-4, -4, 1], [1, 1, -1], [-1, 1, 1], [1, 2, -(2**31)]])
def test_pivots_that_are_none_are_refused(pivots: list[int]) -> None:
    """LAPACK would write beside the matrix."""
    x, rows = opweave.eye(3), opweave.tensor(pivots, dtype=opweave.int32)
    with pytest.raises(RuntimeError, match="properly pass the result of ldl_factor"):
        linalg.ldl_solve(x, rows, x)
    with pytest.raises(RuntimeError, match="properly pass the result of lu_factor"):
        linalg.lu_solve(x, rows, x)


def test_linalg_error() -> None:
    assert linalg.LinAlgError is opweave.LinAlgError
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_failures_keep_no_memory() -> None:
    x = opweave.zeros(40, 40)
    wrong = opweave.full((40, 40), NAN)

    def fail() -> None:
        for function, argument in ((linalg.inv, x), (linalg.cholesky, x), (linalg.svd, wrong), (linalg.eigh, wrong)):
            with pytest.raises(linalg.LinAlgError):
                function(argument)

    fail()
    before = opweave.cpu.memory_stats()["allocated_bytes.all.current"]
    for _ in range(50):
        fail()
    assert opweave.cpu.memory_stats()["allocated_bytes.all.current"] <= before


def test_threads_of_python() -> None:
    """The interpreter's lock is dropped: matrices of different threads do not disturb each other."""
    matrices = [opweave.randn(60, 60, dtype=opweave.float64) for _ in range(4)]
    results: list[bool] = []

    def work(x: Any) -> None:
        for _ in range(10):
            u, s, vh = linalg.svd(x)
            product = linalg.inv(x) @ x
            results.append((u * s @ vh).allclose(x) and product.allclose(opweave.eye(60).double(), atol=1e-6))

    threads = [threading.Thread(target=work, args=(x,)) for x in matrices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    assert all(results)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_lu_factorization_has_one_pivot_for_each_row_of_u(count: int) -> None:
    lu, pivots = opweave.linalg.lu_factor(opweave.tensor([[1.0, 2.0, 0.5], [3.0, 4.0, 0.5]]))
    wrong = pivots.repeat(2)[:count]
    for data in (lu, lu.expand(2, 2, 3)):
        with pytest.raises(RuntimeError, match="Expected pivots of shape"):
            opweave.lu_unpack(data, wrong)
    with pytest.raises(RuntimeError, match="Expected pivots of shape"):
        opweave.lu_unpack(lu.expand(2, 2, 3), pivots)
    lower, upper = opweave.lu_unpack(lu, wrong, unpack_pivots=False)[1:]
    assert (lower @ upper).tolist() == [[3.0, 4.0, 0.5], [1.0, 2.0, 0.5]]


def test_lu_with_codes_is_a_named_tuple() -> None:
    result = opweave.lu(opweave.eye(2), get_infos=True)
    assert (type(result).__name__, type(result)._fields) == ("_lu_with_info", ("LU", "pivots", "info"))
    assert type(opweave.lu(opweave.eye(2))) is tuple
    assert type(opweave.lu(opweave.eye(2), out=(opweave.empty(0), opweave.empty(0, dtype=opweave.int32)))) is tuple
