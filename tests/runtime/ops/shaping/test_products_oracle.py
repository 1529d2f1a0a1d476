"""Products of vectors, batches and chains, covariances, distances, losses and draws by weight against torch."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from harness import expressions, oracle
from harness.drawn import Drawn
from harness.layouts import first_layout
from harness.oracle import Like, Twin

from codegen.dtypes import FLOAT16

SETUP = """v = L.arange(3.0); w = L.arange(2.0); c = L.arange(12.0).view(3, 4); n = float("nan"); F = L.nn.functional; \
B = L.arange(24.0).view(2, 3, 4); C = L.arange(40.0).view(2, 4, 5) / 8; D = L.ones(2, 3, 5); G = L.ones(3, 5); \
x = L.tensor([[0.0, 2, 1], [1, 0, 5]]); f = L.tensor([1, 2, 1]); g = L.tensor([0.5, 2, 1]); """
EXPRESSIONS = r"""
L.outer(v, w)
v.outer(L.arange(2))
L.ger(v > 1, w > 0)
L.outer(a, v)
L.outer(v, a)
L.outer(v, w, out=L.zeros(3, 2))
L.outer(v[:0], w)
L.inner(v, v)
a.inner(v)
L.inner(a, a)
L.inner(B, c.t().contiguous().t())
L.inner(i, i)
L.inner(a, z)
L.inner(z, i)
L.inner(a, i)
L.inner(v, L.arange(3))
L.inner(v, v, out=L.zeros(()))
L.addr(L.ones(3, 2), v, w)
L.addr(L.ones(3, 2), v, w, beta=2, alpha=3)
L.addr(L.full((3, 2), n), v, w, beta=0)
L.addr(L.ones(2), v, w)
L.addr(L.ones(3), v, w)
L.addr(z, v, w)
L.addr(L.ones(3, 2), a, w)
L.addr(L.ones(3, 2), v, a)
L.addr(i, f[:2], f[:2], beta=2, alpha=-1)
L.addr(i, f[:2], f[:2], beta=1.5)
L.addr(i, f[:2], f[:2], alpha=1.5)
L.addr(i > 1, f[:2] > 1, f[:2] > 0)
L.addr(i > 1, f[:2] > 1, f[:2] > 0, beta=0, alpha=2)
L.addr(i, w, w)
L.addr(L.ones(3, 2), v, f[:2])
L.ones(3, 2).addr_(v, w, beta=0.5)
i.addr_(w, w)
L.addr(L.ones(3, 2), v, w, out=L.zeros(3, 2))
L.addr(L.ones(3, 2), v, "x")
B.transpose(0, 1) @ C[0], (B.transpose(0, 1) @ C[0]).stride()
B[:, ::2] @ C[0], B[:1, 1:2, ::2] @ C[0][::2], B[:1].expand(3, 3, 4) @ C[0]
B[..., :2] @ C[0, :2], B[..., :2] @ v[:2], B.view(1, 2, 3, 4)[..., :2] @ C.view(1, 2, 4, 5)[:, :, :2]
L.matmul(B.transpose(0, 1), C[0], out=L.zeros(3, 2, 5))
L.baddbmm(D, B, C)
D.baddbmm(B, C, beta=2, alpha=0.5)
L.baddbmm(D * n, B, C, beta=0)
L.baddbmm(L.ones(5), B, C)
L.baddbmm(L.ones(4), B, C)
L.baddbmm(D, B, B)
L.baddbmm(D, B[0], C)
L.baddbmm(D, B, C[0])
L.baddbmm(D, B, C[:1])
L.baddbmm(D, B, D)
L.baddbmm(D, B.double(), C)
L.baddbmm(D.int(), B.int(), C.int(), beta=1.5, alpha=2.5)
D.baddbmm_(B, C, beta=2)
L.baddbmm(D, B, C, out=L.zeros(2, 3, 5))
L.baddbmm(D, B[:, :, :0], C[:, :0], beta=2)
L.addbmm(G, B, C)
G.addbmm(B, C, beta=2, alpha=0.5)
L.addbmm(G * n, B, C, beta=0)
L.addbmm(L.ones(5), B, C)
L.addbmm(G, B, C[0])
L.addbmm(G, B, C[:1])
L.addbmm(G, B, D.mT)
L.addbmm(G.double(), B.double(), C)
L.addbmm(G.int(), B.int(), C.int(), alpha=2)
G.addbmm_(B, C, beta=2)
L.addbmm(G, B, C, out=L.zeros(3, 5))
L.addbmm(G, B[:0], C[:0], beta=2)
L.chain_matmul(a, c)
L.chain_matmul(a, c, L.ones(4, 1), L.ones(1, 3))
L.chain_matmul(i, i, i)
L.chain_matmul(a)
L.chain_matmul()
L.chain_matmul(a, v)
L.chain_matmul(a, c, a)
L.chain_matmul(a, c.double())
L.chain_matmul(a, 3)
L.chain_matmul(a, c, out=L.zeros(2, 4))
L.cov(x)
x.cov(correction=0)
L.cov(v)
L.cov(z)
L.cov(x, fweights=f)
L.cov(x, aweights=g)
L.cov(x, fweights=f, aweights=g, correction=2)
L.cov(x, fweights=f, aweights=g, correction=0)
L.cov(x.int())
L.cov(x > 0)
L.cov(x + 1j * x.flip(0))
L.cov(B)
L.cov(x, fweights=g)
L.cov(x, fweights=f[:2])
L.cov(x, fweights=i)
L.cov(x, fweights=-f)
L.cov(x, aweights=f)
L.cov(x, aweights=-g)
L.cov(x, aweights=g[:2])
L.cov(x, aweights=g * 0)
L.cov(x, fweights=f * 0)
L.cov(x, correction=3)
L.cov(x, correction=5)
L.cov(L.zeros(2, 0))
L.cov(L.zeros(0, 3))
L.cov(x, correction=1.5)
L.corrcoef(x)
L.corrcoef(v)
L.corrcoef(z)
x.int().corrcoef()
L.corrcoef(x + 1j * x.flip(0))
L.corrcoef(B)
L.pdist(c)
F.pdist(c, 1)
L.pdist(c, 0)
L.pdist(c, float("inf"))
L.pdist(c, 3)
L.pdist(c, -1)
L.pdist(v)
L.pdist(i)
L.pdist(c[:1])
L.pdist(c[:0])
L.pdist(c[:, :0])
L.pairwise_distance(a, a + 1)
F.pairwise_distance(a, a + 1, p=1, eps=0, keepdim=True)
F.pairwise_distance(a, v)
F.pairwise_distance(v, v + 1)
F.pairwise_distance(a, w)
F.pairwise_distance(i, i)
F.pairwise_distance(a, a + 1, float("inf"))
L.as_strided_scatter(a, L.ones(2), (2,), (2,))
a.as_strided_scatter(L.ones(2), (2,), (2,), 1)
a.t().as_strided_scatter(L.ones(2), (2,), (2,), 1)
a[:, 1:].as_strided_scatter(L.ones(2), (2,), (2,))
a[:1].expand(2, 3).as_strided_scatter(L.ones(2), (2,), (2,))
a.as_strided_scatter(L.ones(3), (2,), (2,))
a.as_strided_scatter(L.ones(20), (20,), (2,))
a.as_strided_scatter(L.ones(2), (2,), (2, 1))
F.glu(c)
F.glu(c[:2], 0)
F.glu(c, 0)
F.glu(z)
F.glu(c, 5)
F.mse_loss(a, a + 1.5)
F.mse_loss(a, v, reduction="none")
F.mse_loss(a, a * 2, weight=a, reduction="sum")
F.mse_loss(a, a * 2, weight=a)
F.mse_loss(a, a * 2, weight=v)
F.mse_loss(a, a * 2, False)
F.mse_loss(a, a * 2, size_average=True)
F.mse_loss(a, a * 2, reduce=False)
F.mse_loss(a, a * 2, reduction="x")
F.mse_loss(a, w)
F.mse_loss(e, e)
F.mse_loss(a, zi)
F.l1_loss(a, a * 2)
F.l1_loss(a, a * 2, reduction="sum")
F.l1_loss(i, i + 2)
F.l1_loss(i, i + 2, reduction="none")
F.l1_loss(a + 1j, a + 0j)
F.l1_loss(a, a * 2, weight=a + 1)
F.smooth_l1_loss(a, a * 2)
F.smooth_l1_loss(a, a * 2, beta=2.5, reduction="none")
F.smooth_l1_loss(a, a * 2, beta=0)
F.smooth_l1_loss(a, a * 2, beta=-1)
F.smooth_l1_loss(a, a * 2, reduce=False)
F.huber_loss(a, a * 2)
F.huber_loss(a, a * 2, delta=2.5, reduction="none")
F.huber_loss(a, a * 2, "sum", 2.0)
F.huber_loss(a, a * 2, delta=0)
F.huber_loss(a, a * 2, weight=a)
F.huber_loss(a.double(), a.double() * 2)
d = L.tensor([[0.0, 0], [1, 1], [2, 2], [1, 2]]); L.histogramdd(d, [2, 2])
L.histogramdd(c.t(), bins=2)
L.histogramdd(x, [2, 3, 4], range=[0, 1.0, 0, 2, 0, 5]).bin_edges
L.histogramdd(x, [L.tensor([0.0, 1]), L.tensor([0.0, 1, 2]), L.tensor([1.0, 7])])
L.histogramdd(c, [2, 2, 2, 1], weight=v, density=True)
L.histogramdd(L.zeros(0, 2), [2, 2])
L.histogramdd(L.zeros(2, 2, 2), (1, 2))
L.histogramdd(c, [2])
L.histogramdd(c, [2, 0, 2, 2])
L.histogramdd(c, [2] * 4, range=[0.0, 1])
L.histogramdd(x, [2, 2, 2], range=[1.0, 0, 0, 1, 0, 1])
L.histogramdd(i, [2, 2])
L.histogramdd(v, [2])
L.histogramdd(c, [2] * 4, weight=w)
L.histogramdd(c, [v])
L.histogramdd(i.float(), [v, v.double()])
L.histogramdd(i.float(), [v, a])
L.multinomial(v, 0)
L.multinomial(v, -1)
L.multinomial(v, 4)
L.multinomial(f, 2)
L.multinomial(v * 0, 1)
L.multinomial(v * 0, 2, True)
L.multinomial(v - 1, 1)
L.multinomial(v - 1, 2, True)
L.multinomial(v / 0, 1)
L.multinomial(L.tensor([float("inf"), 1]), 2, True)
L.multinomial(B, 1)
L.multinomial(z, 1)
L.multinomial(L.zeros(0), 1)
L.multinomial(L.zeros(0, 3), 1)
L.multinomial(L.zeros(0, 3), 2, True)
L.multinomial(L.zeros(3, 0), 2, True)
L.multinomial(v, "x")
L.multinomial(v, 2, 2)
""".strip().splitlines()


def test_as_torch() -> None:
    expressions.check_all(EXPRESSIONS, SETUP)


@pytest.mark.parametrize(
    ("dtype", "arguments"),
    [
        *((dtype, each) for dtype in ("float16", "bfloat16") for each in ((1,), (1, True), (50, True))),
        # Of several draws without replacement the scores of halves are often equal, and torch leaves those unordered.
        *((dtype, each) for dtype in ("float32", "float64") for each in ((1,), (1, True), (20,), (50, True))),
    ],
)
def test_multinomial(dtype: str, arguments: tuple[Any, ...]) -> None:
    """The same categories, and the same generator after them, for each layout of the weights."""
    for seed in (0, 42):

        def call(library: Any, seed: int = seed) -> Any:
            library.manual_seed(seed)
            weights = library.rand(60, 30, dtype=getattr(library, dtype))
            drawn = [each.multinomial(*arguments) for each in (weights, weights.t(), weights[0], weights[:, ::1])]
            generator = library.Generator().manual_seed(7)
            drawn.append(library.multinomial(weights, *arguments, generator=generator))
            return drawn, library.rand(1)

        oracle.check(call, f"seed {seed}")


def test_halves() -> None:
    """Half formats are within one rounding of what torch gives."""
    for name, count in (("mse_loss", 2), ("huber_loss", 2), ("pairwise_distance", 2), ("glu", 1)):
        inputs = [Twin(Drawn(index).normal((3, 4)), first_layout((3, 4)), FLOAT16) for index in range(count)]
        oracle.check(
            lambda L, name=name, inputs=inputs: getattr(L.nn.functional, name)(*oracle.of(L, inputs)),
            name,
            Like(rtol=1e-3, atol=1e-5),
        )


def test_refused() -> None:
    x = opweave.ones(3)
    for call in (
        lambda: opweave.outer(x, 3),  # type: ignore[arg-type]
        lambda: opweave.nn.functional.mse_loss(x, "x"),  # type: ignore[arg-type]
        lambda: opweave.pairwise_distance(x, x, "x"),  # type: ignore[arg-type]
        lambda: opweave.cov(x, 1),  # type: ignore[misc]
    ):
        with pytest.raises(TypeError):
            call()
