"""RMSprop."""

from __future__ import annotations

from typing import Any

from .._operators import zeros_like
from .._tensor.tensor import Tensor
from .functional import moving_square_, scaled_step_
from .gradient_optimizer import (
    GradientOptimizer,
    Rate,
    advance,
    check_not_negative,
    check_rate,
    descent,
    numbers_of,
    state_of,
)
from .optimizer import Parameters
from .parameter_groups import Group, options_of
from .state_number import StateNumber

__all__ = ["RMSprop"]


class RMSprop(GradientOptimizer):
    """RMSprop: steps along the gradient, divided by the root of a moving mean of its squares.

    Hinton, Lecture 6e of Neural Networks for Machine Learning, 2012; centered by Graves, Generating Sequences With
    Recurrent Neural Networks, 2013.

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        alpha: factor by which the mean shrinks in each step.
        eps: is added to the root.
        weight_decay: factor of the parameter that is added to its gradient.
        momentum: factor by which a moving sum of steps shrinks; 0: no such sum.
        centered: divides by the deviation from a moving mean of the gradients.
        capturable: accepted; steps raise AssertionError on the CPU.
        differentiable: steps are recorded, so that gradients go through them.
        foreach: accepted, without effect.
        maximize: goes uphill.

    Raises:
        ValueError: an option is negative.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative("epsilon value", eps)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("alpha value", alpha)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, alpha, eps, momentum = float(group["lr"]), group["alpha"], group["eps"], group["momentum"]
        maximize, weight_decay, centered = group["maximize"], group["weight_decay"], group["centered"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter, momentum, centered)
            advance(state)
            numbers = numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, maximize, weight_decay)
            square = moving_square_(state_of(state, "square_avg", group), gradient, decay=alpha, weight=1 - alpha)
            if centered:
                mean = state_of(state, "grad_avg", group).lerp_(gradient, 1 - alpha)
                square = square.addcmul(mean, mean, value=-1)
            if momentum:
                total = state_of(state, "momentum_buffer", group).mul_(momentum)
                numbers.add_(scaled_step_(total, gradient, square, rate=-1.0, eps=eps), alpha=-lr)
            else:
                scaled_step_(numbers, gradient, square, rate=lr, eps=eps)

    def _ow_begin(self, parameter: Tensor, momentum: float, centered: bool) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        state["square_avg"] = zeros_like(parameter)
        if momentum:
            state["momentum_buffer"] = zeros_like(parameter)
        if centered:
            state["grad_avg"] = zeros_like(parameter)
        return state
