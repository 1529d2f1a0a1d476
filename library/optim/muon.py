"""Muon."""

from __future__ import annotations

import math

from .._base.dtypes import EXPORTS
from .._operators import addmm, zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import GradientOptimizer, Rate
from .optimizer import Parameters
from .parameter_groups import Group, options_of

__all__ = ["Muon"]

_FACTORS = {None: "original", "original": "original", "match_rms_adamw": "match_rms_adamw"}


class Muon(GradientOptimizer):
    """Muon: steps along an orthogonal matrix near the momentum of the gradients (Jordan and others, Muon: an optimizer
    for hidden layers in neural networks, 2024). Parameters are matrices; others are for AdamW or the like.

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        weight_decay: parameters shrink by `1 - lr * weight_decay` in each step.
        momentum: how much of the moving mean of gradients stays in each step.
        nesterov: steps along the mean as it will be, with the gradient once more.
        ns_coefficients: the three coefficients of the polynomial that makes singular values one (Newton and Schulz).
        eps: the least norm that gradients are divided by.
        ns_steps: how often the polynomial is applied.
        adjust_lr_fn: how the rate depends on the shape: `original`, or None, the root of rows over columns, if above
            one; `match_rms_adamw`, a fifth of the root of the larger.

    Raises:
        ValueError: an option is negative or unknown, or a parameter is no matrix.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in _FACTORS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, options_of(locals()))
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
