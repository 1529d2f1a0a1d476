"""RAdam."""

from __future__ import annotations

from typing import Any

from .._operators import zeros_like
from .._tensor.tensor import Tensor
from .functional import moving_square_, scaled_step_
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

__all__ = ["RAdam"]


class RAdam(GradientOptimizer):
    """Rectified Adam, which divides by the root of squares only once its variance is known to be small (Liu and others,
    On the Variance of the Adaptive Learning Rate and Beyond, 2019).

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        betas: factors by which the means of gradients and of their squares shrink in each step.
        eps: is added to the root.
        weight_decay: factor of the parameter that is added to its gradient.
        decoupled_weight_decay: parameters shrink by `1 - lr * weight_decay`, and gradients stay as they are.
        foreach: accepted, without effect.
        maximize: goes uphill.
        capturable: accepted; steps raise AssertionError on the CPU.
        differentiable: steps are recorded, so that gradients go through them.

    Raises:
        ValueError: an option is negative, or a factor not less than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative("epsilon value", eps)
        check_factors(betas)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, eps, (beta1, beta2), decay = float(group["lr"]), group["eps"], group["betas"], group["weight_decay"]
        shrinks = group["decoupled_weight_decay"] and decay
        longest = 2 / (1 - beta2) - 1
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter)
            step, numbers = advance(state), numbers_of(parameter)
            if shrinks:
                numbers.mul_(1 - lr * decay)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], 0 if shrinks else decay)
            mean = state_of(state, "exp_avg", group).lerp_(gradient, 1 - beta1)
            square = moving_square_(state_of(state, "exp_avg_sq", group), gradient, decay=beta2, weight=1 - beta2)
            rest = 1 - beta2**step
            length = longest - 2 * step * beta2**step / rest  # of the mean of squares
            rate = lr / (1 - beta1**step)
            if length > 5.0:
                part = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
                scaled_step_(numbers, mean, square, rate=rate * (rest * part) ** 0.5, eps=eps)
            else:
                numbers.add_(mean, alpha=-rate)

    def _ow_begin(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter), zeros_like(parameter)
        return state
