"""Derivatives of functions of matrices: first and second ones beside differences, first ones beside torch's.

Eigenvectors and singular vectors are known but for their signs or phases: what is differentiated does not depend on
these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from derivatives import Array, check, check_with_torch, values
from harness import oracle

Function = Callable[..., Any]
Case = tuple[Function, tuple[tuple[int, ...], ...]]

DTYPES = ("float64", "complex128")


def positive(A: Any) -> Any:
    """A positive definite matrix made of any."""
    return A @ A.mH + (A * A.conj()).sum((-2, -1), keepdim=True).diagonal(0, -2, -1).diag_embed()


def hermitian(A: Any) -> Any:
    return A + A.mH


def outer(V: Any, W: Any) -> Any:
    """Of each pair of vectors in the columns the products, in which a phase that they share is no more."""
    return V.unsqueeze(-2) * W.conj().unsqueeze(-3)


def of_eigh(L: Any, A: Any, UPLO: str = "L") -> Any:
    values, V = L.linalg.eigh(hermitian(A), UPLO)
    return values, outer(V, V)


def of_eig(L: Any, A: Any) -> Any:
    """In the order of the sizes of the eigenvalues: of real matrices LAPACK gives pairs in an order of its own."""
    values, V = L.linalg.eig(A)
    return values * values, (outer(V, V) * values.unsqueeze(-2).unsqueeze(-2)).sum(-1)


def of_svd(L: Any, A: Any, full: bool = False) -> Any:
    U, S, Vh = L.linalg.svd(A, full_matrices=full)
    k = S.shape[-1]
    U, V = U[..., :k], Vh.mH[..., :k]
    return S, outer(U, V), outer(U, U), outer(V, V)


def factors(L: Any, B: Any) -> Any:
    """Positive on the diagonal."""
    return B.tril(-1) + (1 + B.abs()).tril().triu()


SQUARE: dict[str, Function] = {
    "det": lambda L, A: L.linalg.det(A),
    "slogdet": lambda L, A: L.linalg.slogdet(A),
    "slogdet of the old name": lambda L, A: L.slogdet(A)[1],
    "logdet": lambda L, A: L.logdet(positive(A)),
    "inv": lambda L, A: L.linalg.inv(A),
    "inv_ex": lambda L, A: L.linalg.inv_ex(A)[0],
    "inverse": lambda L, A: L.inverse(A),
    "cholesky": lambda L, A: L.linalg.cholesky(positive(A)),
    "cholesky upper": lambda L, A: L.linalg.cholesky(positive(A), upper=True),
    "cholesky_ex": lambda L, A: L.linalg.cholesky_ex(positive(A))[0],
    "cholesky of the old name": lambda L, A: L.cholesky(positive(A)),
    "cholesky_inverse": lambda L, A: L.cholesky_inverse(factors(L, A)),
    "cholesky_inverse upper": lambda L, A: L.cholesky_inverse(factors(L, A).mH, upper=True),
    "eigh": of_eigh,
    "eigh upper": lambda L, A: of_eigh(L, A, "U"),
    "eigvalsh": lambda L, A: L.linalg.eigvalsh(hermitian(A)),
    "eigvalsh upper": lambda L, A: L.linalg.eigvalsh(hermitian(A), UPLO="U"),
    "eig": of_eig,
    "eigvals": lambda L, A: L.linalg.eigvals(A),
    "matrix_power": lambda L, A: L.linalg.matrix_power(A, 5),
    "matrix_power negative": lambda L, A: L.linalg.matrix_power(A, -3),
    "matrix_exp": lambda L, A: L.linalg.matrix_exp(A),
    "matrix_exp of a large matrix": lambda L, A: L.linalg.matrix_exp(3 * A) / 1000,
    "cond": lambda L, A: L.linalg.cond(A),
    "cond nuc": lambda L, A: L.linalg.cond(A, "nuc"),
    "cond 1": lambda L, A: L.linalg.cond(A, 1),
    "pinv hermitian": lambda L, A: L.linalg.pinv(hermitian(A), hermitian=True),
}
ANY: dict[str, Function] = {
    "svd": of_svd,
    "svd full": lambda L, A: of_svd(L, A, full=True),
    "svdvals": lambda L, A: L.linalg.svdvals(A),
    "pinv": lambda L, A: L.linalg.pinv(A),
    "pinverse": lambda L, A: L.pinverse(A),
    "nuclear norm": lambda L, A: L.linalg.matrix_norm(A, "nuc"),
    "norm 2": lambda L, A: L.linalg.matrix_norm(A, 2),
    "norm -2": lambda L, A: L.linalg.matrix_norm(A, -2, keepdim=True),
    "norm fro": lambda L, A: L.linalg.norm(A, "fro", (-2, -1)),
    "qr": lambda L, A: L.linalg.qr(A),
    "qr of the old name": lambda L, A: L.qr(A)[1],
    "lu": lambda L, A: L.linalg.lu(A)[1:],
    "lu_factor": lambda L, A: L.linalg.lu_factor(A)[0],
    "lu_factor_ex": lambda L, A: L.linalg.lu_factor_ex(A)[0],
    "lu_unpack": lambda L, A: L.lu_unpack(*L.linalg.lu_factor(A))[2],
}


def solved(L: Any, A: Any, B: Any, **options: Any) -> Any:
    return L.linalg.lu_solve(*L.linalg.lu_factor(A), B, **options)


S, W, T, B, R = (4, 4), (3, 5), (5, 3), (4, 2), (2, 4)
PAIRS: dict[str, Case] = {
    "solve": (lambda L, A, B: L.linalg.solve(A, B), (S, B)),
    "solve vector": (lambda L, A, B: L.linalg.solve(A, B), (S, (4,))),
    "solve right": (lambda L, A, B: L.linalg.solve(A, B, left=False), (S, R)),
    "solve of a batch": (lambda L, A, B: L.linalg.solve(A, B), ((2, 1, 3, 3), (2, 3, 2))),
    "solve_ex": (lambda L, A, B: L.linalg.solve_ex(A, B)[0], (S, B)),
    "tensorsolve": (lambda L, A, B: L.linalg.tensorsolve(A, B), ((2, 2, 4), (2, 2))),
    "lu_solve": (solved, (S, B)),
    "lu_solve adjoint": (lambda L, A, B: solved(L, A, B, adjoint=True), (S, B)),
    "lu_solve right": (lambda L, A, B: solved(L, A, B, left=False), (S, R)),
    "lu_solve right adjoint": (lambda L, A, B: solved(L, A, B, left=False, adjoint=True), (S, R)),
    "solve_triangular": (lambda L, A, B: L.linalg.solve_triangular(factors(L, A), B, upper=False), (S, B)),
    "solve_triangular right": (
        lambda L, A, B: L.linalg.solve_triangular(factors(L, A).mT, B, upper=True, left=False), (S, R)),
    "solve_triangular unit": (
        lambda L, A, B: L.linalg.solve_triangular(A, B, upper=True, unitriangular=True), (S, B)),
    "triangular_solve": (
        lambda L, A, B: L.triangular_solve(B, factors(L, A), upper=False, transpose=True)[0], (S, B)),
    "cholesky_solve": (lambda L, A, B: L.cholesky_solve(B, factors(L, A)), (S, B)),
    "cholesky_solve upper": (lambda L, A, B: L.cholesky_solve(B, factors(L, A).mH, upper=True), (S, B)),
    "lstsq tall": (lambda L, A, B: L.linalg.lstsq(A, B)[0], (T, (5, 2))),
    "lstsq residuals": (lambda L, A, B: L.linalg.lstsq(A, B, driver="gelsd")[:2], (T, (5, 2))),
    "lstsq wide": (lambda L, A, B: L.linalg.lstsq(A, B)[0], (W, (3, 2))),
    "lstsq vector": (lambda L, A, B: L.linalg.lstsq(A, B)[0], ((2, 5, 3), (2, 5))),
    "householder_product": (lambda L, A, t: L.linalg.householder_product(A, t), (T, (3,))),
    "householder_product of fewer": (lambda L, A, t: L.linalg.householder_product(A, t), ((2, *T), (2, 2))),
    "ormqr": (lambda L, A, t, C: L.ormqr(A, t, C), (T, (3,), (5, 2))),
    "ormqr transposed": (lambda L, A, t, C: L.ormqr(A, t, C, transpose=True), (T, (3,), (5, 2))),
    "ormqr right": (lambda L, A, t, C: L.ormqr(A, t, C, left=False), (T, (3,), (2, 5))),
    "ormqr right transposed": (lambda L, A, t, C: L.ormqr(A, t, C, False, True), (T, (3,), (2, 5))),
    "multi_dot": (lambda L, A, B, C: L.linalg.multi_dot([A, B, C]), (W, T, (3, 2))),
}  # fmt: skip
CASES: dict[str, Case] = {
    **{f"{name} {shape}": (function, (shape,)) for name, function in SQUARE.items() for shape in (S, (2, 3, 3))},
    **{f"{name} {shape}": (function, (shape,)) for name, function in ANY.items() for shape in (S, W, (2, *T))},
    **PAIRS,
}

# torch overwrites what the derivative of this one needs.
NOT_OF_TORCH = ("cond 1",)


def arrays(name: str, dtype: str) -> list[Array]:
    return [values(*shape, dtype=dtype, seed=index) for index, shape in enumerate(CASES[name][1])]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_beside_differences(name: str, dtype: str) -> None:
    check(CASES[name][0], *arrays(name, dtype))


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith(NOT_OF_TORCH)])
def test_beside_torch(name: str, dtype: str) -> None:
    check_with_torch(CASES[name][0], *arrays(name, dtype))


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [2, 1, 0])
def test_determinants_of_singular_matrices(rank: int, dtype: str) -> None:
    """Their cofactors are zero from two missing ranks on."""
    A = values(3, rank, dtype=dtype) @ values(rank, 3, dtype=dtype, seed=1)
    A[2] = 0 if rank < 2 else A[0]  # in all digits
    check(lambda L, A: L.linalg.det(A), A, second=False)
    # Of complex ones torch has zeros, and of those of rank two where its LU rounds to an exact zero (by processor).
    if dtype == "float64" and rank < 2:
        check_with_torch(lambda L, A: L.linalg.det(A), A)


def test_a_batch_with_one_singular_matrix() -> None:
    A = values(2, 3, 3)
    A[1, 2] = A[1, 0]
    check(lambda L, A: L.linalg.det(A), A)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "call",
    [
        lambda L, A: L.linalg.qr(A, "r")[1],
        lambda L, A: L.linalg.qr(A, "complete")[1],
        lambda L, A: L.linalg.svd(L.complex(A, A * A))[0].sum().abs(),
        lambda L, A: L.linalg.svd(L.complex(A, A * A))[2].sum().abs(),
        lambda L, A: L.linalg.eigh(hermitian(L.complex(A[:3], A[2:])))[1].sum().abs(),
        lambda L, A: L.linalg.eig(A[:3])[1].sum().abs(),
    ],
)
def test_refusals_are_those_of_torch(call: Function) -> None:
    """Where the gradient does not exist, or depends on phases that nobody chose."""
    want = oracle.ask(lambda L: call(L, L.tensor(values(5, 3), requires_grad=True)).sum().backward(), "refusal")
    assert want.kind == "RuntimeError"
    oracle.agree(lambda L: call(L, L.tensor(values(5, 3), requires_grad=True)).sum().backward(), want, "refusal")


@pytest.mark.parametrize("name", ["geqrf", "ldl_factor"])
def test_what_has_no_derivative_says_so(name: str) -> None:
    A = opweave.eye(3, requires_grad=True)
    result = opweave.geqrf(A)[0] if name == "geqrf" else opweave.linalg.ldl_factor(A)[0]
    with pytest.raises(RuntimeError, match=f"derivative for .*{name}.* is not implemented"):
        result.sum().backward()


def test_constants_have_gradients_of_zero() -> None:
    A = opweave.ones(2, 2, requires_grad=True)
    opweave.linalg.matrix_power(A, 0).sum().backward()
    assert A.grad is not None
    assert A.grad.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)], ids=str)
@pytest.mark.parametrize("name", SQUARE)
def test_empty_batches_and_matrices(name: str, shape: tuple[int, ...]) -> None:
    if name.startswith("cond"):
        pytest.skip("a constant")
    A = opweave.zeros(shape, dtype=opweave.float64, requires_grad=True)
    result = SQUARE[name](opweave, A)
    parts = result if isinstance(result, tuple) else (result,)
    gradient = opweave.autograd.grad([each.sum().abs() for each in parts], [A])[0]
    assert gradient.shape == shape
