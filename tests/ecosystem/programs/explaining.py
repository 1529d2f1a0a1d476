"""Explanations, and training in private."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("captum", "opacus")


def _model() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def attributions() -> Any:
    """captum: what the inputs of a network contribute, by nine methods."""
    from captum import attr

    model, x = _model(), torch.randn(5, 4)
    other = torch.zeros(5, 4)
    answers = {
        kind.__name__: kind(model).attribute(x, target=1)
        for kind in (attr.Saliency, attr.InputXGradient, attr.IntegratedGradients, attr.Deconvolution,
                     attr.GuidedBackprop, attr.FeatureAblation, attr.LRP)
    }  # fmt: skip
    answers["DeepLift"] = attr.DeepLift(model).attribute(x, other, target=1)
    answers["GradientShap"] = attr.GradientShap(model).attribute(x, torch.cat([other, other + 1]), target=1)
    answers["Occlusion"] = attr.Occlusion(model).attribute(x, (2,), target=1)
    answers["LayerConductance"] = attr.LayerConductance(model, model[0]).attribute(x, target=1)
    answers["NeuronGradient"] = attr.NeuronGradient(model, model[0]).attribute(x, 2)
    return answers


def private_training() -> Any:
    """opacus: gradients of each sample by hooks, clipped and with noise, and the privacy that was spent."""
    from opacus import GradSampleModule
    from opacus.accountants import RDPAccountant
    from opacus.optimizers import DPOptimizer

    model = GradSampleModule(_model())
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=6
    )
    accountant = RDPAccountant()
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.arange(6) % 3).backward()
        samples = [each.grad_sample for each in model.parameters()]
        optimizer.step()
        accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    return samples, list(model.parameters()), accountant.get_epsilon(1e-5)
