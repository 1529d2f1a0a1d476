"""Differential equations and sparse softmax."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("torchdiffeq", "entmax")


def spiral() -> Any:
    """torchdiffeq: a network as the right side, fitted through the solver `rk4`."""
    from torchdiffeq import odeint

    field = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(field.parameters(), lr=0.01)
    times, start = torch.linspace(0.0, 1.0, 5), torch.tensor([[2.0, 0.0]])
    for _ in range(3):
        optimizer.zero_grad()
        path = odeint(lambda t, y: field(y**3), start, times, method="rk4")
        path.square().mean().backward()
        optimizer.step()
    return path, list(field.parameters())


def adjoint_equation() -> Any:
    """torchdiffeq: gradients by `odeint_adjoint`, with steps of its own choice."""
    from torchdiffeq import odeint_adjoint

    field = torch.nn.Linear(3, 3)
    wrapped = type("Field", (torch.nn.Module,), {"forward": lambda self, t, y: torch.tanh(self.inner(y))})()
    wrapped.inner = field
    start = torch.randn(4, 3, requires_grad=True)
    result = odeint_adjoint(wrapped, start, torch.tensor([0.0, 0.5, 1.0]), rtol=1e-5, atol=1e-6)
    result.sum().backward()
    return result, start.grad, field.weight.grad


def sparse_softmax() -> Any:
    """entmax: sparsemax, entmax15, entmax by bisection and their losses, with gradients."""
    import entmax

    x = torch.randn(6, 9, requires_grad=True)
    results = [entmax.sparsemax(x), entmax.entmax15(x), entmax.entmax_bisect(x, alpha=1.3)]
    loss = entmax.Entmax15Loss()(x, torch.arange(6))
    (loss + sum(each.square().sum() for each in results)).backward()
    return results, loss, x.grad
