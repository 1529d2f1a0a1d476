"""NAdam."""

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

__all__ = ["NAdam"]


class NAdam(GradientOptimizer):
    """Adam with Nesterov's momentum (Dozat, Incorporating Nesterov Momentum into Adam, 2016).

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        betas: factors by which the means of gradients and of their squares shrink in each step.
        eps: is added to the root.
        weight_decay: factor of the parameter that is added to its gradient.
        momentum_decay: how the momentum grows with the steps.
        decoupled_weight_decay: parameters shrink by `1 - lr * weight_decay`, and gradients stay as they are.
        foreach: accepted, without effect.
        maximize: goes uphill.
        capturable: accepted; steps raise AssertionError on the CPU.
        differentiable: steps are recorded, so that gradients go through them.

    Raises:
        ValueError: an option is negative, or a factor not less than 1.
    """

    _ow_numbers = ("step", "mu_product")

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative("momentum_decay value", momentum_decay)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, eps, (beta1, beta2), decay = float(group["lr"]), group["eps"], group["betas"], group["weight_decay"]
        shrinks = group["decoupled_weight_decay"] and decay
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter)
            step, numbers = advance(state), numbers_of(parameter)
            if shrinks:
                numbers.mul_(1 - lr * decay)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], 0 if shrinks else decay)
            now, later = (beta1 * (1 - 0.5 * 0.96 ** (each * group["momentum_decay"])) for each in (step, step + 1))
            product = state["mu_product"]
            if isinstance(product, Tensor):
                product = product * now
            else:
                product = StateNumber(product)
                product = product.next(product * product.next(now))
            state["mu_product"] = product
            mean = state_of(state, "exp_avg", group).lerp_(gradient, 1 - beta1)
            square = moving_square_(state_of(state, "exp_avg_sq", group), gradient, decay=beta2, weight=1 - beta2)
            root = (1 - beta2**step) ** 0.5
            for direction, share in ((gradient, (1 - now) / (1 - product)), (mean, later / (1 - product * later))):
                if isinstance(share, Tensor):
                    direction, share = direction * share, 1
                scaled_step_(numbers, direction, square, rate=lr * share * root, eps=eps * root)

    def _ow_begin(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"], state["mu_product"] = StateNumber(0), StateNumber(1)
        state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter), zeros_like(parameter)
        return state
