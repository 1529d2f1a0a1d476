"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step
from .functional import asgd
from .options import Rate, declared, option
from .parameter_groups import Group
from .state_number import StateNumber

__all__ = ["ASGD"]


@declared
class ASGD(ElementwiseOptimizer):
    """Averaged stochastic gradient descent: the means of parameters are kept, as `ax` of their state (Polyak and
    Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992).

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.ASGD([weight], lr=0.1)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.8000, -1.6000])
    """

    lr: Rate = 1e-2
    lambd: float = option(default=1e-4, doc="how parameters and the rate shrink with the steps.")
    alpha: float = option(default=0.75, doc="by which power the rate does.")
    t0: float = option(default=1e6, doc="the step after which the average begins.")
    weight_decay: float = 0
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False
    capturable: bool = False

    _ow_numbers = ("step", "eta", "mu")

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "eta": float(group["lr"]), "mu": 1, "ax": 0}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        lr, lambd = float(group["lr"]), group["lambd"]
        rate, share = float(numbers["eta"]), float(numbers["mu"])
        # Rounded as torch rounds them, whatever the dtype of the state is.
        numbers["eta"] = StateNumber(lr / (1 + lambd * lr * numbers["step"]) ** group["alpha"])
        numbers["mu"] = StateNumber(1 / max(1, numbers["step"] - group["t0"]))
        return asgd, {"rate": rate, "shrink": 1 - lambd * rate, "share": share, "decay": group["weight_decay"]}
