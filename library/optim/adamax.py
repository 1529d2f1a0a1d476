"""Adamax."""

from __future__ import annotations

from typing import Any

from .._operators import maximum, zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import (
    GradientOptimizer,
    Rate,
    advance,
    check_factors,
    check_not_negative,
    check_rate,
    descent,
    numbers_of,
    state_of,
)
from .optimizer import Parameters
from .parameter_groups import Group, options_of
from .state_number import StateNumber

__all__ = ["Adamax"]


class Adamax(GradientOptimizer):
    """Adamax: steps along a moving mean of the gradients, divided by the largest of them, which shrinks in each step
    (Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015).

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        betas: factors by which the mean and the largest shrink in each step.
        eps: is added to the size of gradients.
        weight_decay: factor of the parameter that is added to its gradient.
        foreach: accepted, without effect.
        maximize: goes uphill.
        differentiable: steps are recorded, so that gradients go through them.
        capturable: accepted; steps raise AssertionError on the CPU.

    Raises:
        ValueError: an option is negative, or a factor not less than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative("epsilon value", eps)
        check_factors(betas)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, eps, (beta1, beta2) = float(group["lr"]), group["eps"], group["betas"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter)
            step, numbers = advance(state), numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], group["weight_decay"])
            mean = state_of(state, "exp_avg", group).lerp_(gradient, 1 - beta1)
            largest = state_of(state, "exp_inf", group)
            largest.copy_(maximum(largest * beta2, gradient.abs().add_(eps)))
            numbers.addcdiv_(mean, largest, value=-lr / (1 - beta1**step))

    def _ow_begin(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        state["exp_avg"], state["exp_inf"] = zeros_like(parameter), zeros_like(parameter)
        return state
