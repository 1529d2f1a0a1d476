"""Adadelta."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step
from .functional import adadelta
from .options import KW_ONLY, Rate, declared, option
from .parameter_groups import Group

__all__ = ["Adadelta"]


def _at_most_one(rho: float) -> None:
    if not 0.0 <= rho <= 1.0:
        raise ValueError(f"Invalid rho value: {rho}")


@declared
class Adadelta(ElementwiseOptimizer):
    """Adadelta: steps along the gradient, scaled by the quotient of the roots of moving means of squared steps and
    gradients.

    Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Adadelta([weight], lr=1.0)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9968, -1.9968])
    """

    lr: Rate = option(default=1.0, doc="factor of the step.")
    rho: float = option(default=0.9, doc="factor by which the means shrink in each step.", check=_at_most_one)
    eps: float = option(default=1e-6, doc="is added before the roots.")
    weight_decay: float = 0
    foreach: bool | None = None
    _: KW_ONLY
    capturable: bool = False
    maximize: bool = False
    differentiable: bool = False

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "square_avg": 0, "acc_delta": 0}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        given = {"eps": group["eps"], "weight": 1 - group["rho"], "decay": group["weight_decay"]}
        return adadelta, {"rate": float(group["lr"]), **given}
