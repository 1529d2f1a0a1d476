"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from .._tensor.tensor import Tensor
from . import functional
from .elementwise import Call, ElementwiseOptimizer, Step
from .options import KW_ONLY, Rate, declared, not_negative, option
from .parameter_groups import Group

__all__ = ["SGD"]


@declared
class SGD(ElementwiseOptimizer):
    """Stochastic gradient descent: `p -= lr * g`, where with momentum `g` is a moving sum of the gradients.

    With Nesterov's momentum `g` is the gradient plus `momentum` times that sum, of which the gradient is already a part
    (Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning, 2013).

    Raises:
        ValueError: an option is negative, or Nesterov's momentum lacks a momentum or is dampened.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.SGD([weight], lr=0.1)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.8000, -1.6000])
    """

    lr: Rate = 1e-3
    momentum: float = option(
        default=0,
        doc="factor by which the sum of gradients shrinks in each step; 0: no such sum.",
        check=not_negative("momentum value"),
    )
    dampening: float = option(default=0, doc="a gradient counts `1 - dampening` in the sum, after the first.")
    weight_decay: Rate = 0
    nesterov: bool = option(default=False, doc="Nesterov's momentum, which needs a momentum and no dampening.")
    _: KW_ONLY
    maximize: bool = False
    foreach: bool | None = None
    differentiable: bool = False
    fused: bool | None = None

    _ow_numbers = ()

    def _ow_check(self, options: dict[str, Any]) -> None:
        super()._ow_check(options)
        if options["nesterov"] and (options["momentum"] <= 0 or options["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _ow_state(self, group: Group) -> dict[str, float]:
        return {"momentum_buffer": 0} if group["momentum"] else {}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        given = {"rate": float(group["lr"]), "decay": float(group["weight_decay"])}
        if not group["momentum"]:
            return functional.sgd, given
        weight = 1 if is_first else 1 - group["dampening"]
        operator = functional.sgd_nesterov if group["nesterov"] else functional.sgd_momentum
        return operator, {"momentum": group["momentum"], "weight": weight, **given}

    def _ow_step_alone(self, call: Call, row: tuple[Tensor, ...]) -> None:
        parameter, *_, gradient = row
        if gradient.is_sparse and call.operator is functional.sgd and not call.options["decay"]:
            parameter.add_(gradient, alpha=-call.options["rate"] * call.options["direction"])  # at its places alone
        else:
            call.run_alone(row)
