"""Samples of von Mises' distribution: at any concentration there are some."""

from __future__ import annotations

import math

import opweave as torch
from opweave.distributions import VonMises


def drawn(concentration: float, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    torch.manual_seed(0)
    kappa = torch.tensor(concentration, dtype=dtype)
    return VonMises(torch.tensor(0.5, dtype=dtype), kappa, validate_args=False).sample((4000,))


def test_large_concentrations_have_the_deviation_of_the_normal_distribution() -> None:
    for concentration in (1e6, 9e9, 1.1e10, 1e15, 1e20, 1e30):
        deviation = (drawn(concentration) - 0.5).square().mean().sqrt().item()
        limit = max(1 / math.sqrt(concentration), 1e-16)  # what is left of it beside 0.5
        assert deviation < 1.1 * limit, concentration
        if concentration < 1e30:
            assert deviation > 0.9 * limit or limit < 1e-8, concentration
    assert drawn(1e300).eq(0.5).all()
    assert drawn(math.inf).eq(0.5).all()


def test_small_concentrations_are_nearly_uniform() -> None:
    assert abs(drawn(1e-300).square().mean().item() - math.pi**2 / 3) < 0.2


def test_concentrations_without_a_distribution() -> None:
    for concentration in (math.nan, 0.0):
        assert drawn(concentration).isnan().all()
        assert drawn(concentration, torch.float32).isnan().all()
