"""Adam and AdamW."""

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

__all__ = ["Adam", "AdamW"]


class Adam(GradientOptimizer):
    """Adam: steps along a moving mean of the gradients, divided by the root of a moving mean of their squares.

    Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015; `amsgrad` by Reddi, Kale and Kumar, On the
    Convergence of Adam and Beyond, 2018; `decoupled_weight_decay` by Loshchilov and Hutter, Decoupled Weight Decay
    Regularization, 2019.

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        betas: factors by which the two means shrink in each step.
        eps: is added to the root.
        weight_decay: factor of the parameter that is added to its gradient.
        amsgrad: divides by the root of the largest mean of squares so far.
        foreach: accepted, without effect.
        maximize: goes uphill.
        capturable: accepted; steps raise AssertionError on the CPU.
        fused: accepted, without effect; not with `foreach` or `differentiable`.
        differentiable: steps are recorded, so that gradients go through them.
        decoupled_weight_decay: parameters shrink by `1 - lr * weight_decay`, and gradients stay as they are.

    Raises:
        ValueError: an option is negative, or a factor not less than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        betas: tuple[Rate, Rate] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative("epsilon value", eps)
        check_factors(betas)
        check_not_negative("weight_decay value", weight_decay)
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, eps, (beta1, beta2) = float(group["lr"]), group["eps"], map(float, group["betas"])
        maximize, amsgrad, weight_decay = group["maximize"], group["amsgrad"], group["weight_decay"]
        shrinks = group["decoupled_weight_decay"] and weight_decay
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter, amsgrad)
            step = advance(state)
            numbers = numbers_of(parameter)
            if shrinks:
                numbers.mul_(1 - lr * weight_decay)
            gradient = descent(numbers_of(parameter.grad), numbers, maximize, 0 if shrinks else weight_decay)
            mean, square = state_of(state, "exp_avg", group), state_of(state, "exp_avg_sq", group)
            mean.lerp_(gradient, 1 - beta1)
            moving_square_(square, gradient, decay=beta2, weight=1 - beta2)
            if amsgrad:
                square = state_of(state, "max_exp_avg_sq", group).clamp_(min=square)
            # Both means began at zero and are too small by these factors; that of the root goes to the other operands.
            root = (1 - beta2**step) ** 0.5
            scaled_step_(numbers, mean, square, rate=lr * root / (1 - beta1**step), eps=eps * root)

    def _ow_begin(self, parameter: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if amsgrad else 2]:
            state[name] = zeros_like(parameter)
        return state


class AdamW(Adam):
    """Adam with decoupled weight decay, of 0.01 by default. Arguments and errors are those of `Adam`."""

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        betas: tuple[Rate, Rate] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Dicts of the years before Adam had the option say otherwise.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
