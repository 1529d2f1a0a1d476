"""Flows by nflows."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("nflows",)


def _fitted(flow: Any, data: Any) -> Any:
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = -flow.log_prob(inputs=data).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    with torch.no_grad():
        return losses, flow.log_prob(data), flow.sample(4), list(flow.parameters())[:6]


def autoregressive() -> Any:
    """nflows: a masked autoregressive flow with permutations, three steps, densities and samples."""
    from nflows import distributions, flows, transforms

    steps = []
    for _ in range(2):
        steps += [transforms.ReversePermutation(3), transforms.MaskedAffineAutoregressiveTransform(3, 8)]
    flow = flows.Flow(transforms.CompositeTransform(steps), distributions.StandardNormal([3]))
    return _fitted(flow, torch.randn(16, 3))


def couplings() -> Any:
    """nflows: rational quadratic splines between halves, with linear maps by LU, three steps, densities and samples."""
    from nflows import distributions, flows, nn, transforms

    def network(inputs: int, outputs: int) -> Any:
        return nn.nets.ResidualNet(inputs, outputs, 8, num_blocks=1)

    steps = []
    for mask in (torch.tensor([1, 0, 1, 0]), torch.tensor([0, 1, 0, 1])):
        steps += [
            transforms.LULinear(4, identity_init=True),
            transforms.PiecewiseRationalQuadraticCouplingTransform(mask, network, tails="linear", tail_bound=3.0),
        ]
    flow = flows.Flow(transforms.CompositeTransform(steps), distributions.StandardNormal([4]))
    return _fitted(flow, torch.randn(16, 4))
