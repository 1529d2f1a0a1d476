"""svd_lowrank, pca_lowrank and lobpcg: torch's results under the same seed, and its errors."""

from __future__ import annotations

from dataclasses import replace

import opweave
import pytest
from harness.programs import LIKE, check, programs

NEAR = replace(LIKE, atol=2e-5)
"""lobpcg ends at a residual, so its vectors are less exact than their dtype, and differ between processors."""
SETUP = """
def decomposed(U, S, V):
    return S, (U * S.unsqueeze(-2)) @ V.mH, U.mH @ U, U.dtype, tuple(V.shape)
def pairs(E, X):
    return E, X.abs(), tuple(X.shape)
A = (L.randn(20, 4) @ L.randn(4, 12)).double()
B = L.randn(20, 20).double()
B = B @ B.mT + 20 * L.eye(20).double()
D = L.arange(1, 21.).double().diag()
X = L.randn(20, 3).double()
"""
PROGRAMS = programs("""
decomposed(*L.svd_lowrank(A, 4))
---
decomposed(*L.svd_lowrank(A.mT, 3, niter=4, M=L.ones(20, dtype=L.float64)))
---
decomposed(*L.svd_lowrank(A.float().view(2, 10, 12), q=None, niter=None))
---
decomposed(*L.svd_lowrank(L.complex(A, A.flip(0)), 4))
---
decomposed(*L.svd_lowrank(A.relu().to_sparse(), 3))
---
decomposed(*L.svd_lowrank(A, 4))
a = A.clone().requires_grad_()
L.svd_lowrank(a, 4)[1].sum().backward()
a.grad
---
decomposed(*L.pca_lowrank(A))
---
decomposed(*L.pca_lowrank(A, 3, center=False, niter=1))
---
decomposed(*L.pca_lowrank(A.relu().to_sparse(), 3))
---
L.pca_lowrank(A, 13)
---
L.pca_lowrank(A, -1)
---
L.pca_lowrank(A, 2, niter=-1)
---
L.svd_lowrank(A[0])
---
pairs(*L.lobpcg(B, 3))
---
pairs(*L.lobpcg(B, X=X, largest=False))
---
pairs(*L.lobpcg(B, 2, n=3, method="basic", iK=(1 / B.diagonal()).diag()))
---
pairs(*L.lobpcg(B, 2, niter=3))
---
pairs(*L.lobpcg(B, 3, tol=1e-9, niter=-1, ortho_bparams={"ortho_use_drop": True}, ortho_iparams={"ortho_i_max": 2}))
---
pairs(*L.lobpcg(B, 2, D))
---
pairs(*L.lobpcg(B.to_sparse(), 2, D.to_sparse(), X[:, :2]))
---
pairs(*L.lobpcg(L.stack([B, D]).float(), 2))
---
seen = []
def track(worker):
    seen.append((worker.ivars["istep"], worker.ivars["converged_count"], worker.fvars["A_norm"], worker.tvars["rerr"]))
    worker.bvars["force_stop"] = worker.ivars["istep"] == 4
L.lobpcg(B, 2, X=X[:, :2], tracker=track)
seen
---
B.requires_grad_()
E, U = L.lobpcg(B, 2, X=X[:, :2], niter=200, tol=1e-12)
L.autograd.grad((E * L.arange(1, 3.)).sum() + (U[:3] ** 2).sum(), B)
---
b = L.stack([B, D + 0.01 * B]).requires_grad_()
E, U = L.lobpcg(b, 2, niter=200, tol=1e-12, largest=False)
L.autograd.grad(E.sum() + (U[..., :3, :] ** 2).sum(), b)
---
B.requires_grad_(); L.lobpcg(B, 2, D)[0].sum().backward()
---
L.lobpcg(B[:5])
---
L.lobpcg(B, 2, D[:5, :5])
---
L.lobpcg(B, 7)
---
L.lobpcg(B, X=X[:5])
---
L.lobpcg(B, X=X[:19])
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text, NEAR)


def test_gradients_of_eigenpairs_are_those_of_differences() -> None:
    opweave.manual_seed(0)
    base = opweave.randn(9, 9, dtype=opweave.float64)
    base = base @ base.mT + opweave.arange(9.0, dtype=opweave.float64).diag() * 5
    start = opweave.randn(9, 2, dtype=opweave.float64)

    def function(matrix: opweave.Tensor) -> opweave.Tensor:
        values, vectors = opweave.lobpcg(matrix, 2, X=start, niter=500, tol=1e-14)
        return values.sum() + (vectors[:3] ** 2).sum()

    symmetric = base.requires_grad_()
    assert opweave.autograd.gradcheck(function, symmetric, atol=1e-4)
