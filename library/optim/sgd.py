"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from .._operators import view_as_complex
from .._tensor.tensor import Tensor
from .functional import moving_sum_
from .gradient_optimizer import GradientOptimizer, Rate, check_not_negative, check_rate, descent, numbers_of, state_of
from .optimizer import Parameters
from .parameter_groups import Group, options_of

__all__ = ["SGD"]


class SGD(GradientOptimizer):
    """Stochastic gradient descent: `p -= lr * g`, where with momentum `g` is a moving sum of the gradients.

    With Nesterov's momentum `g` is the gradient plus `momentum` times that sum, of which the gradient is already a part
    (Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning, 2013).

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        momentum: factor by which the sum of gradients shrinks in each step; 0: no such sum.
        dampening: a gradient counts `1 - dampening` in the sum.
        weight_decay: factor of the parameter that is added to its gradient.
        nesterov: Nesterov's momentum, which needs a momentum and no dampening.
        maximize: goes uphill.
        foreach: accepted, without effect.
        differentiable: steps are recorded, so that gradients go through them.
        fused: accepted, without effect; not with `foreach` or `differentiable`.

    Raises:
        ValueError: an option is negative, or Nesterov's momentum lacks a momentum or is dampened.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Rate = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, momentum, nesterov = float(group["lr"]), group["momentum"], group["nesterov"]
        maximize, weight_decay, weight = group["maximize"], group["weight_decay"], 1 - group["dampening"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            numbers = numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, maximize, weight_decay)
            if not momentum or nesterov:
                numbers.add_(gradient, alpha=-lr)
            if momentum:
                total = self._ow_add_up(parameter, gradient, group, weight)
                numbers.add_(total, alpha=-lr * momentum if nesterov else -lr)

    def _ow_add_up(self, parameter: Tensor, gradient: Tensor, group: Group, weight: float) -> Tensor:
        """The moving sum of gradients, which begins with the whole of the first."""
        state = self.state[parameter]
        if state.get("momentum_buffer") is None:
            begin = gradient.clone() if group["differentiable"] else gradient.detach().clone()
            state["momentum_buffer"] = view_as_complex(begin) if parameter.is_complex() else begin
            return begin
        total = state_of(state, "momentum_buffer", group)
        return moving_sum_(total, gradient, decay=group["momentum"], weight=weight)
