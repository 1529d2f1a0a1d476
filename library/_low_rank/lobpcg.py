"""The function `lobpcg`: some eigenvalues of a large symmetric matrix, by products with it alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import _operators as ops
from .._base.dtypes import EXPORTS
from .._base.tensor_class import Tensor
from .approximations import floating_dtype
from .lobpcg_iteration import LOBPCG

__all__ = ["lobpcg"]
_PACKAGE_NAMES = __all__

_EPSILON = {EXPORTS["float32"]: 1.2e-07, EXPORTS["float64"]: 2.23e-16}


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[LOBPCG], Any] | None = None,
    ortho_iparams: Mapping[str, int] | None = None,
    ortho_fparams: Mapping[str, float] | None = None,
    ortho_bparams: Mapping[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest or smallest eigenvalues of a symmetric positive definite matrix and their vectors, `A X = B X E`, by
    products with `A` and `B`.

    Args:
        A: shape (*, m, m), float32 or float64; a sparse matrix has shape (m, m).
        k (int or None): how many, the number of columns of `X` or 1 for None.
        B: of the shape of `A`, or None for the identity. It may be sparse.
        X: first approximations of eigenvectors, shape (*, m, n), or None: numbers are drawn.
        n (int or None): how many approximations there are without `X`, k for None.
        iK: a preconditioner, shape (*, m, m), or None for the identity. The method `basic` takes it.
        niter (int or None): the greatest number of steps, 1000 for None; -1 for no limit.
        tol (float or None): the relative error of residuals, the square root of the dtype's epsilon for None.
        largest (bool or None): whether to find the largest eigenvalues, or the smallest. None stands for the largest.
        method (str or None): `basic`, or `ortho` for None, which keeps its basis orthonormal.
        tracker: is called after each step with what is computing, whose `bvars["force_stop"] = True` ends it.
        ortho_iparams, ortho_fparams, ortho_bparams (dict or None): `ortho_i_max` and `ortho_j_max`; `ortho_tol`,
            `ortho_tol_drop` and `ortho_tol_replace`; `ortho_use_drop`.

    Returns eigenvalues of shape (*, k) and eigenvectors of shape (*, m, k); dtype of `A`. Gradients go to a dense `A`
    where there is no `B`.

    Raises:
        AssertionError: `A` is not square, `B` or `X` does not fit.
        ValueError: m is less than three times n; in a backward pass, there is `B` or `A` is sparse.
        KeyError: `A` has another dtype.
    """
    if A.requires_grad or (B is not None and B.requires_grad):
        from .lobpcg_derivative import Differentiable

        # The gradient of a symmetric matrix is made symmetric by what comes before.
        result: Any = Differentiable.apply(
            (A + A.mT) / 2,
            None if B is None else (B + B.mT) / 2,
            lambda A, B: lobpcg(
                A, k, B, X, n, iK, niter, tol, largest, method, tracker, ortho_iparams, ortho_fparams, ortho_bparams
            ),
        )
        return result  # type: ignore[no-any-return]
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    dtype = floating_dtype(A)
    if tol is None:
        tol = _EPSILON[dtype] ** 0.5
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of "
            f"requested eigenpairs (={n})"
        )
    integers = {"m": m, "n": n, "k": k, "niter": 1000 if niter is None else niter, "ortho_i_max": 3, "ortho_j_max": 3}
    floats = {"tol": tol, "ortho_tol": tol, "ortho_tol_drop": tol, "ortho_tol_replace": tol}
    bools = {"largest": True if largest is None else largest, "ortho_use_drop": False}
    integers.update(ortho_iparams or {})
    floats.update(ortho_fparams or {})
    bools.update(ortho_bparams or {})

    def of_matrix(A: Tensor, B: Tensor | None, X: Tensor | None, **more: int) -> tuple[Tensor, Tensor]:
        X = ops.randn((m, n), dtype=dtype, device=A.device) if X is None else X
        if X.shape != (m, n):
            raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(m, n)}")
        worker = LOBPCG(A, B, X, iK, {**integers, **more}, floats, bools, method or "ortho", tracker)
        worker.run()
        return worker.E[:k], worker.X[:, :k]

    if A.ndim == 2:
        return of_matrix(A, B, X)
    batch = A.shape[:-2]
    A, B, X = (None if each is None else each.reshape(-1, *each.shape[-2:]) for each in (A, B, X))
    pairs = [
        of_matrix(A[i], None if B is None else B[i], None if X is None else X[i], batch_index=i) for i in range(len(A))
    ]
    E, vectors = (ops.stack(each) for each in zip(*pairs, strict=True))
    return E.reshape(*batch, k), vectors.reshape(*batch, m, k)
