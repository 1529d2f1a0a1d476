"""SparseAdam beside torch's: steps along sparse gradients, its state and its errors."""

from __future__ import annotations

import pytest
from harness.programs import check

GRADIENTS = {
    "rows": "L.sparse_coo_tensor(L.tensor([[0, 2, 0]]), x(3, 3) * k, (4, 3))",
    "elements": "L.sparse_coo_tensor(L.tensor([[0, 3, 1], [2, 0, 1]]), x(3) * k, (4, 3))",
    "none": "L.sparse_coo_tensor(L.zeros(1, 0, dtype=L.int64), L.zeros(0, 3), (4, 3))",
}


@pytest.mark.parametrize("options", ["", "lr=0.1, betas=(0.5, 0.9), eps=1e-3, maximize=True"])
@pytest.mark.parametrize("kind", GRADIENTS)
def test_steps(kind: str, options: str) -> None:
    check(
        f"""
p = g(4, 3)
o = L.optim.SparseAdam([p], {options})
for k in range(1, 4):
    p.grad = {GRADIENTS[kind]}
    o.step()
p, o.state_dict(), repr(o)
"""
    )


@pytest.mark.parametrize("call", ["SparseAdam([g(3)], lr=0)", "SparseAdam([g(3)], eps=-1)",
                                  "SparseAdam([g(3)], betas=(1.0, 0.9))", "SparseAdam([g(3)], lr=L.ones(2))",
                                  "SparseAdam([g(3), x(3).to_sparse()])",
                                  "SparseAdam([g(3), L.zeros(2, dtype=L.complex64)])"])  # fmt: skip
def test_wrong_options(call: str) -> None:
    check(f"L.optim.{call}")


def test_dense_gradients_are_refused() -> None:
    check("a = g(3)\na.sum().backward()\no = L.optim.SparseAdam([a])\no.step()")
