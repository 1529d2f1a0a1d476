"""Muon."""

from __future__ import annotations

import math
from typing import Any

from .._base.dtypes import EXPORTS
from .._operators import addmm, zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import GradientOptimizer
from .optimizer import Parameters
from .options import SHOULD_BE, Rate, declared, not_negative, one_rate, option
from .parameter_groups import Group

__all__ = ["Muon"]

_FACTORS = {None: "original", "original": "original", "match_rms_adamw": "match_rms_adamw"}


def _known(adjust_lr_fn: str | None) -> None:
    if adjust_lr_fn not in _FACTORS:
        raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")


@declared
class Muon(GradientOptimizer):
    """Muon: steps along an orthogonal matrix near the momentum of the gradients (Jordan and others, Muon: an optimizer
    for hidden layers in neural networks, 2024). Parameters are matrices; others are for AdamW or the like.

    Raises:
        ValueError: an option is negative or unknown, or a parameter is no matrix.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.eye(2))
        >>> optimizer = opweave.optim.Muon([weight], lr=0.1)
        >>> weight.square().sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([[0.8775, 0.0000],
                [0.0000, 0.8775]])
    """

    lr: Rate = option(default=1e-3, doc="learning rate.", check=one_rate(not_negative("Learning rate", SHOULD_BE)))
    weight_decay: float = option(
        default=0.1,
        doc="parameters shrink by `1 - lr * weight_decay` in each step.",
        check=not_negative("weight decay", SHOULD_BE),
    )
    momentum: float = option(
        default=0.95,
        doc="how much of the moving mean of gradients stays in each step.",
        check=not_negative("momentum", SHOULD_BE),
    )
    nesterov: bool = option(default=True, doc="steps along the mean as it will be, with the gradient once more.")
    ns_coefficients: tuple[float, float, float] = option(
        default=(3.4445, -4.7750, 2.0315),
        doc="the three coefficients of the polynomial that makes singular values one (Newton and Schulz).",
    )
    eps: float = option(default=1e-7, doc="the least norm that gradients are divided by.", check=lambda _: None)
    ns_steps: int = option(default=5, doc="how often the polynomial is applied.")
    adjust_lr_fn: str | None = option(
        default=None,
        doc="how the rate depends on the shape: `original`, or None, the root of rows over columns, if above one; "
        "`match_rms_adamw`, a fifth of the root of the larger.",
        check=_known,
    )

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        super()._ow_begin(params, options)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}"
                    )

    def _ow_update(self, group: Group) -> None:
        lr, momentum = float(group["lr"]), group["momentum"]
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            if parameter.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(gradient)
            mean = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
            direction = gradient.lerp(mean, momentum) if group["nesterov"] else mean
            direction = _orthogonal(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
            parameter.mul_(1 - lr * group["weight_decay"])
            parameter.add_(direction, alpha=-lr * _factor(parameter, group["adjust_lr_fn"]))


def _factor(parameter: Tensor, name: str | None) -> float:
    rows, columns = parameter.shape
    return math.sqrt(max(1, rows / columns)) if _FACTORS[name] == "original" else 0.2 * math.sqrt(max(rows, columns))


def _orthogonal(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix with the same singular vectors, whose singular values are about one; computed in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    result = matrix.to(EXPORTS["bfloat16"])
    result = result.t() if is_tall else result
    result = result / result.norm().clamp(min=eps)
    for _ in range(steps):
        squares = result @ result.t()
        result = addmm(result, addmm(squares, squares, squares, beta=b, alpha=c), result, beta=a)
    return result.t() if is_tall else result
