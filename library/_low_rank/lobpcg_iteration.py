"""The steps of LOBPCG (Knyazev, 2001), and of the variant that keeps its basis orthonormal (Duersch et al., 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _linalg as linalg
from .. import _operators as ops
from .._base.tensor_class import Tensor
from .approximations import product

__all__ = ["LOBPCG"]


def _form(A: Tensor | None, S: Tensor) -> Tensor:
    return ops.matmul(S.mT, product(A, S))


def _eigenpairs(A: Tensor, largest: bool = False) -> tuple[Tensor, Tensor]:
    values, vectors = linalg.eigh(A, UPLO="U")
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)


class LOBPCG:
    """A matrix, approximations of its eigenvectors, and what a tracker may look at and change between steps.

    `A`, `B` and `iK` are the arguments; `X` are the approximations of eigenvectors, `E` of eigenvalues, `R` the
    residuals, `S` the basis in which the next ones are looked for. `iparams`, `fparams` and `bparams` are what was
    asked for, `ivars`, `fvars`, `bvars` and `tvars` what changes: integers, floats, bools and tensors.
    """

    def __init__(
        self,
        A: Tensor,
        B: Tensor | None,
        X: Tensor,
        iK: Tensor | None,
        iparams: dict[str, int],
        fparams: dict[str, float],
        bparams: dict[str, bool],
        method: str,
        tracker: Callable[[LOBPCG], Any] | None,
    ) -> None:
        self.A, self.B, self.iK = A, B, iK
        self.iparams, self.fparams, self.bparams = iparams, fparams, bparams
        self.method, self.tracker = method, tracker
        m, n = iparams["m"], iparams["n"]
        self.X = X
        self.E, self.R, self.S = X.new_zeros(n), X.new_zeros(m, n), X.new_zeros(m, 3 * n)
        self.tvars: dict[str, Tensor] = {}
        self.ivars = {"istep": 0, "iterations_left": iparams["niter"], "converged_count": 0, "converged_end": 0}
        self.fvars: dict[str, float] = {}
        self.bvars: dict[str, bool] = {}

    def run(self) -> None:
        """Take steps until enough eigenpairs have converged, none is left, or a tracker says so in `bvars`."""
        norm = float(self.X.norm())
        self.fvars["X_norm"] = norm
        self.fvars["A_norm"] = float(product(self.A, self.X).norm()) / norm
        self.fvars["B_norm"] = float(product(self.B, self.X).norm()) / norm
        while True:
            (self._first_step if self.ivars["istep"] == 0 else self._step)()
            self.ivars["iterations_left"] -= 1
            self.ivars["istep"] += 1
            if self.tracker is not None:
                self.tracker(self)
            if self.stop_iteration():
                return

    def stop_iteration(self) -> bool:
        """Return whether this was the last step."""
        has_converged = self.ivars["converged_count"] >= self.iparams["k"]
        return self.bvars.get("force_stop", False) or self.ivars["iterations_left"] == 0 or has_converged

    # ---- steps ----

    def _first_step(self) -> None:
        E, Z = self._ritz_pairs(self.X)
        self.X = ops.matmul(self.X, Z)
        if self.method != "ortho":
            self.E[:] = E
        self._set_basis(self.X[:, :0])

    def _step(self) -> None:
        n, done = self.iparams["n"], self.ivars["converged_count"]
        S = self.S[:, done : self.ivars["converged_end"]]
        if self.method == "ortho":
            E, Z = _eigenpairs(_form(self.A, S), self.bparams["largest"])
            new = n - done
            P = ops.matmul(S, ops.matmul(Z[:, new:], linalg.qr(Z[:new, new:].mT).Q))
        else:
            E, Z = self._ritz_pairs(S)
            P = ops.matmul(S, Z[:, n : 2 * n - done])
        self.X[:, done:] = ops.matmul(S, Z[:, : n - done])
        self.E[done:] = E[: n - done]
        self._set_basis(P)

    def _set_basis(self, P: Tensor) -> None:
        """Look at what has converged; the basis of the next step is X, P and the residuals."""
        self.R = product(self.A, self.X) - product(self.B, self.X) * self.E
        done = self._count_converged()
        end = self.iparams["n"] + P.shape[-1]
        self.S[:, : self.iparams["n"]] = self.X
        self.S[:, self.iparams["n"] : end] = P
        R = self.R if self.ivars["istep"] == 0 else self.R[:, done:]
        W = self._orthonormal(R, self.S[:, :end]) if self.method == "ortho" else product(self.iK, R)
        self.ivars["converged_end"] = end + W.shape[-1]
        self.S[:, end : end + W.shape[-1]] = W

    def _count_converged(self) -> int:
        scale = self.fvars["A_norm"] + self.E[: self.X.shape[-1]].abs() * self.fvars["B_norm"]
        error = self.R.norm(2, (0,)) / (self.X.norm(2, (0,)) * scale)
        # Pairs behind one that has not converged do not count, so that the pairs stay in order.
        has_converged = [*(error < self.fparams["tol"]).tolist(), False]
        count, before = has_converged.index(False), self.ivars["converged_count"]
        if count < before:
            raise AssertionError(f"the number of converged eigenpairs (was {before}, got {count}) cannot decrease")
        self.ivars["converged_count"], self.tvars["rerr"] = count, error
        return count

    def _ritz_pairs(self, S: Tensor) -> tuple[Tensor, Tensor]:
        """Approximations of eigenvalues within the span of S, and of eigenvectors as combinations of its columns."""
        gram = _form(self.B, S)
        scale = gram.diagonal(0, -2, -1) ** -0.5
        R = linalg.cholesky(gram * scale * scale.unsqueeze(-1), upper=True)
        to_orthonormal = linalg.solve_triangular(R, scale.diag_embed(), upper=True, left=False)
        E, Z = _eigenpairs(_form(_form(self.A, S), to_orthonormal), self.bparams["largest"])
        return E, ops.matmul(to_orthonormal, Z)

    # ---- orthonormal bases ----

    def _orthonormal(self, U: Tensor, V: Tensor) -> Tensor:
        """Columns that span what those of U add to those of V, orthonormal with respect to B."""
        use_drop, tolerance = self.bparams["ortho_use_drop"], self.fparams["ortho_tol"]
        for name in [name for name in self.fvars if name.startswith("ortho_")]:
            del self.fvars[name]
        norm_of_V = float(product(self.B, V).norm())
        VBU = ops.matmul(V.mT, product(self.B, U))
        i = j = 0
        for i in range(self.iparams["ortho_i_max"]):
            U = U - ops.matmul(V, VBU)
            for j in range(self.iparams["ortho_j_max"]):
                is_first = use_drop and j == 0
                least = self.fparams["ortho_tol_drop" if is_first else "ortho_tol_replace"]
                U = self._svqb(U, use_drop and not is_first, least)
                if U.numel() == 0:
                    self.ivars["ortho_i"], self.ivars["ortho_j"] = i, j
                    return U
                BU = product(self.B, U)
                UBU = ops.matmul(U.mT, BU)
                off = float((UBU - ops.eye(UBU.shape[-1], dtype=UBU.dtype, device=UBU.device)).norm())
                error = self.fvars[f"ortho_UBUmI_rerr[{i}, {j}]"] = off / float(BU.norm() * U.norm())
                if error < tolerance:
                    break
            VBU = ops.matmul(V.mT, BU)
            error = self.fvars[f"ortho_VBU_rerr[{i}]"] = float(VBU.norm()) / (norm_of_V * float(U.norm()))
            if error < tolerance:
                break
            if self.iparams["m"] < U.shape[-1] + V.shape[-1]:
                raise ValueError(
                    f"Overdetermined shape of U: #B-cols(={self.iparams['m']}) >= #U-cols(={U.shape[-1]}) + "
                    f"#V-cols(={V.shape[-1]}) must hold"
                )
        self.ivars["ortho_i"], self.ivars["ortho_j"] = i, j
        return U

    def _svqb(self, U: Tensor, drop: bool, least: float) -> Tensor:
        """Columns that span what those of U span, orthonormal with respect to B by an eigendecomposition of their
        products (Stathopoulos and Wu, 2002). Directions of a small share are left out, or kept as if it were larger."""
        U = U[:, _form(self.B, U).diagonal(0, -2, -1) != 0]
        if U.numel() == 0:
            return U
        gram = _form(self.B, U)
        scale = (gram.diagonal(0, -2, -1) ** -0.5).unsqueeze(-1)
        E, Z = _eigenpairs(gram * scale * scale.mT)
        smallest = least * E.abs().max()
        if drop:
            kept = smallest < E
            E, Z = E[kept], Z[:, kept]
        else:
            E = E.maximum(smallest)
        return ops.matmul(U * scale.mT, Z * E**-0.5)
