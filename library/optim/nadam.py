"""NAdam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor.tensor import Tensor
from .elementwise import ElementwiseOptimizer, Step, penalty
from .functional import nadam
from .options import KW_ONLY, Rate, declared, not_negative, option
from .parameter_groups import Group

__all__ = ["NAdam"]


@declared
class NAdam(ElementwiseOptimizer):
    """Adam with Nesterov's momentum (Dozat, Incorporating Nesterov Momentum into Adam, 2016).

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.NAdam([weight], lr=0.002)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9979, -1.9979])
    """

    lr: Rate = 2e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    momentum_decay: float = option(
        default=4e-3, doc="how the momentum grows with the steps.", check=not_negative("momentum_decay value")
    )
    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    _ow_numbers = ("step", "mu_product")

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "mu_product": 1, "exp_avg": 0, "exp_avg_sq": 0}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        step, product, lr, (beta1, beta2) = numbers["step"], numbers["mu_product"], float(group["lr"]), group["betas"]
        now, later = (beta1 * (1 - 0.5 * 0.96 ** (each * group["momentum_decay"])) for each in (step, step + 1))
        operator: Callable[..., Any]
        if isinstance(product, Tensor):  # with a history
            operator, product = _recorded, product * now
        else:
            operator, product = nadam, product.next(product * product.next(now))
        numbers["mu_product"] = product
        root = (1 - beta2**step) ** 0.5
        return operator, {
            "slope_rate": lr * root * (1 - now) / (1 - product), "rate": lr * root * later / (1 - product * later),
            "eps": group["eps"] * root, "weight": 1 - beta1, "square_weight": 1 - beta2, **penalty(group),
        }  # fmt: skip


def _recorded(
    parameter: Tensor, *tensors: Tensor, slope_rate: Tensor, rate: Tensor, shrink: float, **given: Any
) -> Any:
    """The step with rates that are tensors: the sum of one along the gradient and one along the mean, of rate 1."""
    along, *state = nadam(parameter, *tensors, slope_rate=1.0, rate=0.0, shrink=0.0, **given)
    ahead, *_ = nadam(parameter, *tensors, slope_rate=0.0, rate=1.0, shrink=0.0, **given)
    return parameter * shrink + along * slope_rate + ahead * rate, *state
