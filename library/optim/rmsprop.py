"""RMSprop."""

from __future__ import annotations

from typing import Any

from . import functional
from .elementwise import ElementwiseOptimizer, Step
from .options import Rate, declared, not_negative, option
from .parameter_groups import Group

__all__ = ["RMSprop"]


@declared
class RMSprop(ElementwiseOptimizer):
    """RMSprop: steps along the gradient, divided by the root of a moving mean of its squares.

    Hinton, Lecture 6e of Neural Networks for Machine Learning, 2012; centered by Graves, Generating Sequences With
    Recurrent Neural Networks, 2013.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.RMSprop([weight], lr=0.01)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9000, -1.9000])
    """

    lr: Rate = 1e-2
    alpha: float = option(
        default=0.99, doc="factor by which the mean shrinks in each step.", check=not_negative("alpha value")
    )
    eps: float = 1e-8
    weight_decay: float = 0
    momentum: float = option(
        default=0,
        doc="factor by which a moving sum of steps shrinks; 0: no such sum.",
        check=not_negative("momentum value"),
    )
    centered: bool = option(default=False, doc="divides by the deviation from a moving mean of the gradients.")
    capturable: bool = False
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False

    def _ow_state(self, group: Group) -> dict[str, float]:
        more = {"grad_avg": group["centered"], "momentum_buffer": group["momentum"]}
        return {"step": 0, "square_avg": 0, **dict.fromkeys([name for name, used in more.items() if used], 0)}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        given = {"eps": group["eps"], "weight": 1 - group["alpha"], "decay": group["weight_decay"]}
        given["rate"] = float(group["lr"])
        if not group["momentum"]:
            return functional.rmsprop_centered if group["centered"] else functional.rmsprop, given
        given["momentum"] = group["momentum"]
        return functional.rmsprop_centered_momentum if group["centered"] else functional.rmsprop_momentum, given
