"""Adamax."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step
from .functional import adamax
from .options import KW_ONLY, Rate, declared, option
from .parameter_groups import Group

__all__ = ["Adamax"]


@declared
class Adamax(ElementwiseOptimizer):
    """Adamax: steps along a moving mean of the gradients, divided by the largest of them, which shrinks in each step
    (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015).

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Adamax([weight], lr=0.002)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9980, -1.9980])
    """

    lr: Rate = 2e-3
    betas: tuple[float, float] = option(
        default=(0.9, 0.999), doc="factors by which the mean and the largest shrink in each step."
    )
    eps: float = option(default=1e-8, doc="is added to the size of gradients.")
    weight_decay: float = 0
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    capturable: bool = False

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "exp_avg": 0, "exp_inf": 0}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        beta1, beta2 = group["betas"]
        return adamax, {
            "rate": float(group["lr"]) / (1 - beta1 ** numbers["step"]), "eps": group["eps"],
            "weight": 1 - beta1, "keep": beta2, "decay": group["weight_decay"],
        }  # fmt: skip
