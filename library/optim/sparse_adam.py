"""SparseAdam: Adam for gradients that are sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.types import strided
from .._operators import zeros_like
from .._tensor.tensor import Tensor
from .gradient_optimizer import GradientOptimizer
from .optimizer import Parameters
from .options import Rate, declared, one_rate, option
from .parameter_groups import Group

__all__ = ["SparseAdam"]


def _positive(name: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if not value > 0.0:
            raise ValueError(f"Invalid {name}: {value}")

    return check


@declared
class SparseAdam(GradientOptimizer):
    """Adam for sparse gradients: only elements at whose places the gradient has some are changed; all others keep their
    means.

    Raises:
        ValueError: an option is negative, or a factor not less than 1; a parameter is sparse or complex.
        RuntimeError: a gradient is dense.

    Example:
        >>> table = opweave.nn.Embedding(5, 1, sparse=True)
        >>> optimizer = opweave.optim.SparseAdam(table.parameters(), lr=0.001)
        >>> before = table.weight.detach().clone()
        >>> table(opweave.tensor([1, 3])).sum().backward()
        >>> optimizer.step()
        >>> (table.weight - before).flatten().nonzero().flatten()
        tensor([1, 3])
    """

    lr: Rate = option(default=1e-3, doc="learning rate.", check=one_rate(_positive("learning rate")))
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = option(default=1e-8, doc="is added to the root.", check=_positive("epsilon value"))
    maximize: bool = False

    _ow_numbers = ()

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        super()._ow_begin(params, options)
        self._ow_refuse("Sparse", "requires dense parameter tensors", lambda each: each.layout is not strided)
        self._ow_refuse("Complex", "does not support complex parameters", Tensor.is_complex)

    def _ow_refuse(self, kind: str, reason: str, test: Callable[[Tensor], bool]) -> None:
        """Raises ValueError for parameters of a kind, by the numbers of their groups and theirs in these."""
        listed = [(number, enumerate(group["params"])) for number, group in enumerate(self.param_groups)]
        found = [[number, place] for number, parameters in listed for place, each in parameters if test(each)]
        if found:
            raise ValueError(f"{kind} params at indices {found}: SparseAdam {reason}")

    def _ow_update(self, group: Group) -> None:
        lr, eps, (beta1, beta2) = float(group["lr"]), group["eps"], group["betas"]
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            if not parameter.grad.is_sparse:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[parameter] or self._ow_begin_state(parameter)
            state["step"] += 1
            step = state["step"]
            gradient = parameter.grad.detach().coalesce()
            if not gradient._nnz():
                continue
            places = tuple(gradient.indices())
            values = -gradient.values() if group["maximize"] else gradient.values()
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            means = mean[places].lerp_(values, 1 - beta1)
            squares = square[places].lerp_(values * values, 1 - beta2)
            mean[places], square[places] = means, squares
            rate = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
            parameter[places] = parameter[places].addcdiv_(means, squares.sqrt_().add_(eps), value=-rate)

    def _ow_begin_state(self, parameter: Tensor) -> dict[str, Any]:
        state = self.state[parameter]
        state["step"] = 0
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = zeros_like(parameter)
        return state
