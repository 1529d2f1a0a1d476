"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from .._operators import zeros_like
from .._tensor.tensor import Tensor
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

__all__ = ["ASGD"]


class ASGD(GradientOptimizer):
    """Averaged stochastic gradient descent: the means of parameters are kept, as `ax` of their state (Polyak and
    Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992).

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        lambd: how parameters and the rate shrink with the steps.
        alpha: by which power the rate does.
        t0: the step after which the average begins.
        weight_decay: factor of the parameter that is added to its gradient.
        foreach: accepted, without effect.
        maximize: goes uphill.
        differentiable: steps are recorded, so that gradients go through them.
        capturable: accepted; steps raise AssertionError on the CPU.

    Raises:
        ValueError: an option is negative.
    """

    _ow_numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, options_of(locals()))

    def _ow_update(self, group: Group) -> None:
        lr, lambd = float(group["lr"]), group["lambd"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            state = self.state[parameter] or self._ow_begin(parameter, lr)
            step, numbers = advance(state), numbers_of(parameter)
            gradient = descent(numbers_of(parameter.grad), numbers, group["maximize"], group["weight_decay"])
            eta, share = map(StateNumber, (state["eta"], state["mu"]))
            numbers.mul_(1 - lambd * eta).add_(gradient, alpha=-eta)
            average = state_of(state, "ax", group)
            if share >= 1:
                average.copy_(numbers)
            else:
                average.add_((numbers - average).mul_(share.item()))
            # Rounded as torch rounds them, whatever the dtype of the state is.
            state["eta"] = eta.next(StateNumber(lr / (1 + lambd * lr * step) ** group["alpha"]))
            state["mu"] = share.next(StateNumber(1 / max(1, step - group["t0"])))

    def _ow_begin(self, parameter: Tensor, lr: float) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"], state["eta"], state["mu"] = map(StateNumber, (0, lr, 1))
        state["ax"] = zeros_like(parameter)
        return state
