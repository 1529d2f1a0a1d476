"""Flows and probabilistic programs."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("zuko", "pyro_ppl")


def _fit(log_prob: Any, parameters: Any, data: Any) -> list[Any]:
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = -log_prob(data).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def spline_flow() -> Any:
    """zuko: a neural spline flow with a context, three steps, samples and their densities."""
    import zuko

    flow = zuko.flows.NSF(features=3, context=2, transforms=2, hidden_features=(16,))
    context = torch.randn(8, 2)
    losses = _fit(lambda x: flow(context).log_prob(x), flow.parameters(), torch.randn(8, 3))
    with torch.no_grad():
        sample = flow(context).sample((2,))
        return losses, sample, flow(context).log_prob(sample)


def autoregressive_flow() -> Any:
    """zuko: a masked autoregressive flow and its saved state."""
    import zuko

    flow = zuko.flows.MAF(features=2, transforms=2, hidden_features=(8, 8))
    losses = _fit(lambda x: flow().log_prob(x), flow.parameters(), torch.randn(6, 2))
    other = zuko.flows.MAF(features=2, transforms=2, hidden_features=(8, 8))
    other.load_state_dict(flow.state_dict())
    return losses, other().log_prob(torch.ones(3, 2)), list(flow.state_dict())


def variational_inference() -> Any:
    """pyro: stochastic variational inference with a guide of its own, three steps."""
    import pyro
    import pyro.distributions as dist

    pyro.clear_param_store()
    data = torch.randn(10) + 2.0

    def model() -> None:
        mean = pyro.sample("mean", dist.Normal(0.0, 5.0))
        scale = pyro.sample("scale", dist.LogNormal(0.0, 1.0))
        with pyro.plate("data", 10):
            pyro.sample("x", dist.Normal(mean, scale), obs=data)

    guide = pyro.infer.autoguide.AutoNormal(model)
    inference = pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), pyro.infer.Trace_ELBO())
    losses = [inference.step() for _ in range(3)]
    return losses, dict(pyro.get_param_store().items())


def hamiltonian_samples() -> Any:
    """pyro: samples by the no-U-turn sampler."""
    import pyro
    import pyro.distributions as dist

    def potential(values: Any) -> Any:
        return 0.5 * (values["x"].square() / torch.tensor([1.0, 4.0])).sum()

    kernel = pyro.infer.NUTS(potential_fn=potential, step_size=0.5, adapt_step_size=False, adapt_mass_matrix=False)
    kernel.initial_params = {"x": torch.ones(2)}
    chain = pyro.infer.MCMC(
        kernel, num_samples=4, warmup_steps=0, initial_params={"x": torch.ones(2)}, disable_progbar=True
    )
    chain.run()
    return chain.get_samples(), dist.Normal(0.0, 1.0).log_prob(torch.tensor(1.0))
