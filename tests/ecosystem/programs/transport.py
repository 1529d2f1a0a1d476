"""Optimal transport, tensor decompositions and stochastic equations."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("pot", "tensorly", "torchsde")


def _points() -> tuple[Any, Any]:
    return torch.randn(6, 2, dtype=torch.float64, requires_grad=True), torch.randn(5, 2, dtype=torch.float64)


def plans() -> Any:
    """POT: exact and entropic plans between points, and the gradient of the cost."""
    import ot

    x, y = _points()
    a, b = torch.full((6,), 1 / 6, dtype=torch.float64), torch.full((5,), 1 / 5, dtype=torch.float64)
    cost = ot.dist(x, y)
    exact = ot.emd2(a, b, cost)
    exact.backward()
    with torch.no_grad():
        return exact, x.grad, ot.sinkhorn(a, b, cost, 1.0), ot.emd(a, b, cost), ot.sinkhorn2(a, b, cost, 1.0)


def sliced_distances() -> Any:
    """POT: sliced distances along given directions, and distances on a line."""
    import ot

    x, y = _points()
    directions = torch.nn.functional.normalize(torch.randn(2, 8, dtype=torch.float64), dim=0)
    value = ot.sliced_wasserstein_distance(x, y, projections=directions)
    value.backward()
    return value, x.grad, ot.wasserstein_1d(x.detach()[:5, 0], y[:, 0])


def decompositions() -> Any:
    """tensorly: CP, Tucker and tensor trains of a tensor, and what they give back."""
    import tensorly
    from tensorly import decomposition

    tensorly.set_backend("pytorch")
    tensor = torch.randn(4, 3, 5, dtype=torch.float64)
    weights, factors = decomposition.parafac(tensor, rank=2, n_iter_max=5, init="svd", tol=0)
    tucker = decomposition.tucker(tensor, rank=[2, 2, 2], n_iter_max=3)
    train = decomposition.tensor_train(tensor, rank=[1, 2, 2, 1])
    return [
        tensorly.cp_to_tensor((weights, factors)), tensorly.tucker_to_tensor(tucker), tensorly.tt_to_tensor(train),
        tensorly.unfold(tensor, 1), tensorly.norm(tensor), tensorly.tenalg.khatri_rao(factors),
    ]  # fmt: skip


def stochastic_equation() -> Any:
    """torchsde: a path of an equation with diagonal noise, and gradients through the solver."""
    import torchsde

    class Equation(torch.nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def __init__(self) -> None:
            super().__init__()
            self.drift, self.spread = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def f(self, t: Any, y: Any) -> Any:
            return torch.tanh(self.drift(y))

        def g(self, t: Any, y: Any) -> Any:
            return 0.1 * torch.sigmoid(self.spread(y))

    equation, start = Equation(), torch.full((3, 2), 0.5)
    motion = torchsde.BrownianInterval(t0=0.0, t1=1.0, size=(3, 2), entropy=7)
    path = torchsde.sdeint(equation, start, torch.linspace(0.0, 1.0, 3), dt=0.25, method="euler", bm=motion)
    path.square().sum().backward()
    return path, equation.drift.weight.grad, equation.spread.weight.grad
