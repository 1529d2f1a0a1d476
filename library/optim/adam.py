"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from .._tensor.tensor import Tensor
from . import functional
from .elementwise import ElementwiseOptimizer, Step, penalty
from .optimizer import Parameters
from .options import KW_ONLY, Rate, declared, option
from .parameter_groups import Group

__all__ = ["Adam", "AdamW"]

_AMSGRAD = "divides by the root of the largest mean of squares so far."


@declared
class Adam(ElementwiseOptimizer):
    """Adam: steps along a moving mean of the gradients, divided by the root of a moving mean of their squares.

    Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015; `amsgrad` by Reddi, Kale and Kumar, On the
    Convergence of Adam and Beyond, 2018; `decoupled_weight_decay` by Loshchilov and Hutter, Decoupled Weight Decay
    Regularization, 2019.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Adam([weight], lr=0.001)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9990, -1.9990])
    """

    lr: Rate = 1e-3
    betas: tuple[Rate, Rate] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    amsgrad: bool = option(default=False, doc=_AMSGRAD)
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False
    fused: bool | None = None
    decoupled_weight_decay: bool = False

    def _ow_check(self, options: dict[str, Any]) -> None:
        super()._ow_check(options)
        if not any(all(isinstance(beta, kind) for beta in options["betas"]) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")

    def _ow_state(self, group: Group) -> dict[str, float]:
        largest = {"max_exp_avg_sq": 0.0} if group["amsgrad"] else {}
        return {"step": 0, "exp_avg": 0, "exp_avg_sq": 0, **largest}

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        step, (beta1, beta2) = numbers["step"], map(float, group["betas"])
        # Both means began at zero and are too small by these factors; that of the root goes to the other operands.
        root = (1 - beta2**step) ** 0.5
        return functional.amsgrad if group["amsgrad"] else functional.adam, {
            "rate": float(group["lr"]) * root / (1 - beta1**step), "eps": group["eps"] * root,
            "weight": 1 - beta1, "square_weight": 1 - beta2, **penalty(group),
        }  # fmt: skip


@declared
class AdamW(Adam):
    """Adam with decoupled weight decay, of 0.01 by default.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.AdamW([weight], lr=0.001, weight_decay=0.01)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9990, -1.9990])
    """

    lr: Rate = 1e-3
    betas: tuple[Rate, Rate] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = option(default=1e-2, doc="parameters shrink by `1 - lr * weight_decay`.")
    amsgrad: bool = option(default=False, doc=_AMSGRAD)
    _: KW_ONLY
    maximize: bool = False
    foreach: bool | None = None
    capturable: bool = False
    differentiable: bool = False
    fused: bool | None = None

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        super()._ow_begin(params, {**options, "decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Dicts of the years before Adam had the option say otherwise.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
