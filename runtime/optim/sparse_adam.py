"""SparseAdam, of whose gradients there are none."""

from __future__ import annotations

from .gradient_optimizer import GradientOptimizer, Rate, check_factors
from .optimizer import Parameters
from .parameter_groups import Group, options_of

__all__ = ["SparseAdam"]


class SparseAdam(GradientOptimizer):
    """Adam for sparse gradients, of which opweave has none: a step along a dense one is an error.

    Args:
        params: parameters or groups of them.
        lr, betas, eps, maximize: as of Adam.

    Raises:
        ValueError: an option is negative, or a factor not less than 1.
    """

    def __init__(
        self,
        params: Parameters,
        lr: Rate = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_factors(betas)
        super().__init__(params, options_of(locals()))

    def _update(self, group: Group) -> None:
        if any(parameter.grad is not None for parameter in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
