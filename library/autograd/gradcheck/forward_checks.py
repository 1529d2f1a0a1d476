"""Forward derivatives for gradcheck: products of Jacobians with steps of the inputs, beside differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ... import _operators
from ..forward_ad import dual_level, make_dual, unpack_dual
from .compare import close
from .jacobians import AlongSteps, Differences, GradcheckError, as_tuple, differentiable, part_considered

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from .compare import Directions
    from .jacobians import Function, Step

__all__ = ["check_forward"]


def check_forward(
    func: Function, inputs: Sequence[Any], eps: float, atol: float, rtol: float, directions: Directions
) -> None:
    """Raise GradcheckError where a product with a step of an input is not the difference along it."""
    outputs = as_tuple(func(*inputs))
    targets = differentiable(inputs)
    for index, target in enumerate(targets):
        differences = Differences(func, inputs, outputs, target, directions.steps, eps)
        products = _Products(func, inputs, outputs, target, directions.steps)
        for number, output in enumerate(outputs):
            if not (output.is_floating_point() or output.is_complex()):
                continue
            for imaginary in (True, False) if output.is_complex() else (False,):
                measured, exact = (each.jacobian(number, imaginary) for each in (differences, products))
                if not close(exact, measured, rtol, atol):
                    raise GradcheckError(
                        f"{part_considered(output, imaginary)}Jacobian computed with forward mode mismatch for output "
                        f"{number} with respect to input {index},\nnumerical:{measured}\nanalytical:{exact}\n"
                    )


class _Products(AlongSteps):
    """Products of Jacobians with steps of one input, in the form of `Differences`."""

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Any],
        outputs: Sequence[Tensor],
        target: Tensor,
        steps: Callable[[Tensor, complex], Iterable[Step]],
    ) -> None:
        self._function, self._inputs, self._outputs, self._of = function, inputs, outputs, target
        self._compute(target, steps, 1.0)

    def _along(self, steps: Iterable[Step]) -> list[Any]:
        rows = [self._tangents(step) for _, step in steps]
        if not rows:
            return [output.detach().new_zeros((0, output.numel())) for output in self._outputs]
        return [_operators.stack(each) for each in zip(*rows, strict=True)]

    def _tangents(self, step: Tensor) -> list[Any]:
        with dual_level():
            # It is a leaf, so that the function may compute gradients by it.
            dual = make_dual(self._of.detach(), step.detach().to(self._of.dtype)).requires_grad_()
            values = [dual if value is self._of else value for value in self._inputs]
            found = [unpack_dual(each) for each in as_tuple(self._function(*values))]
        return [
            (each.primal.new_zeros(each.primal.shape) if each.tangent is None else each.tangent).detach().reshape(-1)
            for each in found
        ]
