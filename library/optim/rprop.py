"""Resilient propagation."""

from __future__ import annotations

from typing import Any

from .._operators import full_like, ones_like, zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import (
    GradientOptimizer,
    Rate,
    advance,
    check_rate,
    descent,
    numbers_of,
    state_of,
)
from .optimizer import Parameters
from .parameter_groups import Group, options_of
from .state_number import StateNumber

__all__ = ["Rprop"]


class Rprop(GradientOptimizer):
    """Resilient backpropagation: each number has a step size of its own, which grows while the gradient keeps its sign
    and shrinks when it changes (Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning,
    1993).

    Args:
        params: parameters or groups of them.
        lr: the first step.
        etas: factors by which steps shrink and grow.
        step_sizes: the least and the largest step.
        capturable: accepted; steps raise AssertionError on the CPU.
        foreach: accepted, without effect.
        maximize: goes uphill.
        differentiable: steps are recorded, so that gradients go through them.

    Raises:
        ValueError: the rate is negative, or the first factor not between 0 and 1, or the second not more than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter, float(group["lr"]))
            advance(state)
            numbers = numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], 0)
            before, size = state_of(state, "prev", group), state_of(state, "step_size", group)
            sign = (gradient * before).sign_()
            factors = ones_like(size).masked_fill_(sign > 0, grow).masked_fill_(sign < 0, shrink)
            size.mul_(factors).clamp_(least, most)
            gradient = gradient.masked_fill(sign < 0, 0)  # a change of sign is no step
            numbers.addcmul_(gradient.sign(), size, value=-1)
            before.copy_(gradient)

    def _ow_begin(self, parameter: Tensor, lr: float) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        state["prev"] = zeros_like(parameter)
        state["step_size"] = full_like(parameter, complex(lr, lr) if parameter.is_complex() else lr)
        return state
