"""Adadelta."""

from __future__ import annotations

from typing import Any

from .._operators import zeros_like
from .._tensor.tensor import Tensor
from .functional import moving_square_
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

__all__ = ["Adadelta"]


class Adadelta(GradientOptimizer):
    """Adadelta: steps along the gradient, scaled by the quotient of the roots of moving means of squared steps and
    gradients.

    Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.

    Args:
        params: parameters or groups of them.
        lr: factor of the step.
        rho: factor by which the means shrink in each step.
        eps: is added before the roots.
        weight_decay: factor of the parameter that is added to its gradient.
        foreach: accepted, without effect.
        capturable: accepted; steps raise AssertionError on the CPU.
        maximize: goes uphill.
        differentiable: steps are recorded, so that gradients go through them.

    Raises:
        ValueError: an option is negative, or `rho` more than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative("epsilon value", eps)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, rho, eps = float(group["lr"]), group["rho"], group["eps"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter)
            advance(state)
            numbers = numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], group["weight_decay"])
            square = moving_square_(state_of(state, "square_avg", group), gradient, decay=rho, weight=1 - rho)
            steps = state_of(state, "acc_delta", group)
            root = (steps + eps).div_(square + eps).sqrt_()
            # The derivative of the root is computed from it.
            step = root * gradient if group["differentiable"] else root.mul_(gradient)
            moving_square_(steps, step, decay=rho, weight=1 - rho)
            numbers.add_(step, alpha=-lr)

    def _ow_begin(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        state["square_avg"], state["acc_delta"] = zeros_like(parameter), zeros_like(parameter)
        return state
