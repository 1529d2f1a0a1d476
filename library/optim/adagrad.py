"""Adagrad."""

from __future__ import annotations

from typing import Any

from .._operators import full_like
from .._tensor.tensor import Tensor
from .functional import scaled_step_
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

__all__ = ["Adagrad"]


class Adagrad(GradientOptimizer):
    """Adagrad: steps along the gradient, divided by the root of the sum of its squares so far.

    Duchi, Hazan and Singer, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011.

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        lr_decay: step `n` is taken with `lr / (1 + (n - 1) * lr_decay)`.
        weight_decay: factor of the parameter that is added to its gradient.
        initial_accumulator_value: what the sum of squares begins with.
        eps: is added to the root.
        foreach: accepted, without effect.
        maximize: goes uphill.
        differentiable: steps are recorded, so that gradients go through them.
        fused: accepted, without effect; not with `foreach` or `differentiable`.

    Raises:
        ValueError: an option is negative.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_not_negative("lr_decay value", lr_decay)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        check_not_negative("epsilon value", eps)
        super().__init__(params, options_of(locals()))
        for group in self.param_groups:
            for parameter in group["params"]:
                self._ow_begin(parameter)

    def _ow_update(self, group: Group) -> None:
        lr, lr_decay, eps = float(group["lr"]), group["lr_decay"], group["eps"]
        maximize, weight_decay = group["maximize"], group["weight_decay"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter)
            rate = lr / (1 + (advance(state) - 1) * lr_decay)
            numbers, total = numbers_of(parameter), state_of(state, "sum", group)
            gradient = descent(numbers_of(parameter.grad), numbers, maximize, weight_decay)
            total.addcmul_(gradient, gradient)
            scaled_step_(numbers, gradient, total, rate=rate, eps=eps)

    def _ow_begin(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        begin = self.defaults["initial_accumulator_value"]
        state["sum"] = full_like(parameter, complex(begin, begin) if parameter.is_complex() else begin)
        return state
