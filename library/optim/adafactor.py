"""Adafactor."""

from __future__ import annotations

from typing import Any

from .._base.finfo import finfo
from .._operators import zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import GradientOptimizer, advance
from .options import KW_ONLY, SHOULD_BE, Rate, declared, not_negative, one_rate, option
from .parameter_groups import Group
from .state_number import StateNumber

__all__ = ["Adafactor"]


def _falling(beta2_decay: float) -> None:
    if beta2_decay > 0.0:
        raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")


def _pair(eps: tuple[float | None, float]) -> None:
    for place, each in enumerate(eps, 1):
        if each is not None:
            not_negative(f"epsilon{place}", SHOULD_BE)(each)


def _at_least_one(d: float) -> None:
    if not d >= 1.0:
        raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")


@declared
class Adafactor(GradientOptimizer):
    """Adafactor: steps divided by the root of a moving mean of squares, of which for matrices only the sums over rows
    and columns are kept (Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018).

    Raises:
        ValueError: an option is out of its range.
        RuntimeError: a parameter is complex.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.Adafactor([weight], lr=0.01)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 0.9842, -1.9842])
    """

    lr: Rate = option(
        default=1e-2,
        doc="learning rate, relative to the size of the parameter.",
        check=one_rate(not_negative("Learning rate", SHOULD_BE)),
    )
    beta2_decay: float = option(default=-0.8, doc="the power of the step by which the mean shrinks.", check=_falling)
    eps: tuple[float | None, float] = option(
        default=(None, 1e-3),
        doc="the least root of a mean, None: the distance from 1 to the next number; the least size of a parameter.",
        check=_pair,
    )
    d: float = option(default=1.0, doc="the largest size of a step, before the rate.", check=_at_least_one)
    weight_decay: float = option(
        default=0.0, doc="parameters shrink by `1 - lr * weight_decay`.", check=not_negative("weight_decay", SHOULD_BE)
    )
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False

    def _ow_update(self, group: Group) -> None:
        lr, (least, smallest) = float(group["lr"]), group["eps"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            if parameter.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self.state[parameter] or self._ow_begin_state(parameter)
            step = advance(state)
            gradient = -parameter.grad if group["maximize"] else parameter.grad
            floor = finfo(parameter.dtype).eps if least is None else least
            count = parameter.numel() ** 0.5
            rate = (parameter.norm(2).double() / count).clamp_(min=smallest) * min(lr, 1 / step**0.5)
            if group["weight_decay"]:
                parameter.mul_(1 - lr * group["weight_decay"])
            scaled = _mean_squares(state, gradient, step ** group["beta2_decay"], floor)
            scaled = scaled.clamp_(min=floor * floor).rsqrt_().mul_(gradient)
            excess = (scaled.norm(2).double() / (count * group["d"])).clamp_(min=1.0)
            parameter.addcmul_(scaled, rate / excess, value=-1)

    def _ow_begin_state(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = StateNumber(0)
        if parameter.dim() > 1:
            state["row_var"] = parameter.new_zeros((*parameter.shape[:-1], 1))
            state["col_var"] = parameter.new_zeros((*parameter.shape[:-2], 1, parameter.size(-1)))
        else:
            state["variance"] = zeros_like(parameter)
        return state


def _mean_squares(state: dict[str, Any], gradient: Tensor, share: float, floor: float) -> Any:
    """The moving mean of squares, to which those of this step contribute a share."""
    if gradient.dim() < 2:
        return state["variance"].lerp_(gradient.square(), share).clone()
    for name, dim in (("row_var", -1), ("col_var", -2)):
        state[name].lerp_(gradient.square().mean(dim, keepdim=True), share)
    rows = state["row_var"]
    return (rows @ state["col_var"]).div_(rows.mean(-2, keepdim=True).clamp_(min=floor))
