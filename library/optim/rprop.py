"""Resilient propagation."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step
from .functional import rprop
from .options import KW_ONLY, Rate, declared, option
from .parameter_groups import Group

__all__ = ["Rprop"]


def _around_one(etas: tuple[float, float]) -> None:
    if not 0.0 < etas[0] < 1.0 < etas[1]:
        raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")


@declared
class Rprop(ElementwiseOptimizer):
    """Resilient backpropagation: each number has a step size of its own, which grows while the gradient keeps its sign
    and shrinks when it changes (Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning,
    1993).

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Rprop([weight], lr=0.01)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9900, -1.9900])
    """

    lr: Rate = option(default=1e-2, doc="the first step.")
    etas: tuple[float, float] = option(
        default=(0.5, 1.2), doc="factors by which steps shrink and grow.", check=_around_one
    )
    step_sizes: tuple[float, float] = option(default=(1e-6, 50), doc="the least and the largest step.")
    _: KW_ONLY
    capturable: bool = False
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "prev": 0, "step_size": float(group["lr"])}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        return rprop, {"shrink": shrink, "grow": grow, "least": least, "most": most}
