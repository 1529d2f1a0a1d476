"""Adagrad."""

from __future__ import annotations

from typing import Any

from .elementwise import ElementwiseOptimizer, Step
from .functional import adagrad
from .optimizer import Parameters
from .options import KW_ONLY, Rate, declared, not_negative, option
from .parameter_groups import Group

__all__ = ["Adagrad"]


@declared
class Adagrad(ElementwiseOptimizer):
    """Adagrad: steps along the gradient, divided by the root of the sum of its squares so far.

    Duchi, Hazan and Singer, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Adagrad([weight], lr=0.01)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9900, -1.9900])
    """

    lr: Rate = 1e-2
    lr_decay: float = option(
        default=0, doc="step `n` is taken with `lr / (1 + (n - 1) * lr_decay)`.", check=not_negative("lr_decay value")
    )
    weight_decay: float = 0
    initial_accumulator_value: float = option(
        default=0, doc="what the sum of squares begins with.", check=not_negative("initial_accumulator_value value")
    )
    eps: float = 1e-10
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    fused: bool | None = None

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        super()._ow_begin(params, options)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._ow_begin_state(parameter, self._ow_state(group))

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"step": 0, "sum": self.defaults["initial_accumulator_value"]}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        rate = float(group["lr"]) / (1 + (numbers["step"] - 1) * group["lr_decay"])
        return adagrad, {"rate": rate, "eps": group["eps"], "decay": group["weight_decay"]}
