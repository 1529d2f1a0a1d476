"""Samples that are drawn by means of gamma distributed numbers: their moments, and their gradients."""

from __future__ import annotations

import opweave as torch
import pytest
from opweave import distributions

CASES = {
    "Gamma": lambda: distributions.Gamma(torch.tensor([0.3, 1.0, 4.5]), torch.tensor([1.0, 2.0, 0.5])),
    "InverseGamma": lambda: distributions.InverseGamma(torch.tensor([5.0, 8.0]), torch.tensor([1.0, 2.0])),
    "Chi2": lambda: distributions.Chi2(torch.tensor([1.0, 7.0])),
    "Beta": lambda: distributions.Beta(torch.tensor([0.5, 3.0]), torch.tensor([2.0, 1.5])),
    "Dirichlet": lambda: distributions.Dirichlet(torch.tensor([0.5, 2.0, 5.0])),
    "StudentT": lambda: distributions.StudentT(torch.tensor([6.0, 20.0]), 1.0, 2.0),
    "NegativeBinomial": lambda: distributions.NegativeBinomial(torch.tensor([3.0, 9.0]), torch.tensor([0.3, 0.5])),
}


@pytest.mark.parametrize("name", CASES)
def test_moments(name: str) -> None:
    torch.manual_seed(0)
    made = CASES[name]()
    drawn = made.sample((40000,)).double()
    error = (made.variance / 40000).sqrt()
    assert bool(((drawn.mean(0) - made.mean).abs() < 5 * error).all())
    assert bool(((drawn.var(0) / made.variance - 1).abs() < 0.15).all())


def test_gradients_are_those_of_expectations() -> None:
    torch.manual_seed(0)
    concentration = torch.tensor([0.7, 2.0, 6.0], dtype=torch.float64, requires_grad=True)
    distributions.Gamma(concentration, 2.0).rsample((40000,)).mean(0).sum().backward()
    assert torch.allclose(concentration.grad, torch.full((3,), 0.5, dtype=torch.float64), atol=0.03)
