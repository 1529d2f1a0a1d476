"""Linear algebra against torch: types, shapes, strides, values and errors.

A call sees the library as `L` and what SETUP makes; what is compared of eigenvectors and the like does not depend on
their signs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import oracle
from harness.drawn import Drawn
from harness.oracle import Like

LINES = (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").splitlines()
CALLS = [line for line in LINES if line and not line.startswith("#")]
BLOCKS = 16

SETUP = """
g = lambda *shape: L.tensor(R.normal(shape).tolist(), dtype=L.float64).reshape(shape)
A = g(4, 4)
B = g(4, 3)
v = g(4)
T = g(5, 3)
W = g(3, 5)
AA = g(2, 3, 4, 4)
BB = g(3, 4, 2)
E = g(0, 0)
Z = g(0, 3, 3)
S = A @ A.mT + 4 * L.eye(4, dtype=L.float64)
SS = AA @ AA.mT + 4 * L.eye(4, dtype=L.float64)
C = L.complex(A, g(4, 4))
H = C @ C.mH + 4 * L.eye(4, dtype=L.complex128)
D = L.complex(T, g(5, 3))
f = A.float()
one = L.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=L.float64)
sing = L.stack([L.eye(2, dtype=L.float64), one])
n = L.full((3, 3), float("nan"))
i = L.arange(9).reshape(3, 3)
h = L.ones(3, 3, dtype=L.float16)
inf = L.full((3, 3), float("inf"))
lin = L.linalg
"""

SINGLE, DOUBLE = 1e-4, 1e-9
ERRORS = {"float32": SINGLE, "complex64": SINGLE, "float64": DOUBLE, "complex128": DOUBLE}
LIKE = Like(rtol=ERRORS, atol=ERRORS, scale=True, few=16)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_agrees_with_torch(block: int) -> None:
    for text in CALLS[block::BLOCKS]:

        def call(library: Any, text: str = text) -> Any:
            names: dict[str, Any] = {"L": library, "R": Drawn(0)}
            exec(SETUP, names)
            return eval(text, names)

        oracle.check(call, text, LIKE)
