"""RAdam."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step, penalty
from .functional import adam, radam_start
from .options import KW_ONLY, Rate, declared
from .parameter_groups import Group

__all__ = ["RAdam"]


@declared
class RAdam(ElementwiseOptimizer):
    """Rectified Adam, which divides by the root of squares only once its variance is known to be small (Liu and others,
    On the Variance of the Adaptive Learning Rate and Beyond, 2019).

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.RAdam([weight], lr=0.001)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9980, -1.9960])
    """

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "exp_avg": 0, "exp_avg_sq": 0}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        step, (beta1, beta2) = numbers["step"], group["betas"]
        longest, rest = 2 / (1 - beta2) - 1, 1 - beta2**step
        length = longest - 2 * step * beta2**step / rest  # of the mean of squares
        rate = float(group["lr"]) / (1 - beta1**step)
        given = {"weight": 1 - beta1, "square_weight": 1 - beta2, **penalty(group)}
        if length <= 5.0:
            return radam_start, {"rate": rate, **given}
        part = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        return adam, {"rate": rate * (rest * part) ** 0.5, "eps": group["eps"], **given}
