"""Jacobians for gradcheck: numerical ones by central differences, analytical ones by backward.

A Jacobian is a matrix with a row for each element of an input and a column for each element of an output. Outputs count
as real functions: of complex ones gradcheck takes the real and the imaginary part in turn. For a complex input
z = x + iy the entry is ∂/∂x + i ∂/∂y, the gradient that backward gives (twice the derivative by conj z of Wirtinger's
calculus; K. Kreutz-Delgado, "The Complex Gradient Operator and the CR-Calculus", 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ... import _operators
from ..._autograd.backward_api import grad
from ..._tensor.tensor import Tensor

Function: TypeAlias = Callable[..., Any]
Step: TypeAlias = "tuple[str, Tensor]"

__all__ = [
    "AlongSteps",
    "Differences",
    "GradcheckError",
    "analytical_jacobian",
    "as_tuple",
    "differentiable",
    "part_considered",
]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` when derivatives are wrong."""


def as_tuple(value: Any) -> tuple[Any, ...]:
    """The tensors of an argument or result that may be a single one."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def differentiable(values: Iterable[Any]) -> list[Any]:
    """The tensors that require gradients."""
    return [value for value in values if isinstance(value, Tensor) and value.requires_grad]


def part_of(values: Tensor, imaginary: bool) -> Any:
    """The real or imaginary part of complex numbers; real numbers as they are."""
    if not values.is_complex():
        return values
    return values.imag if imaginary else values.real


class AlongSteps:
    """Derivatives of a function's outputs along steps of one input.

    `_along_real` has for each output a matrix with a row for each step, `_along_imaginary` those along steps times 1j
    of complex inputs, None for real ones.
    """

    def _compute(self, target: Tensor, steps: Callable[[Tensor, complex], Iterable[Step]], size: float) -> None:
        self._along_real = self._along(steps(target, size))
        self._along_imaginary = self._along(steps(target, size * 1j)) if target.is_complex() else None

    def _along(self, steps: Iterable[Step]) -> list[Any]:
        raise NotImplementedError

    def jacobian(self, output: int, imaginary: bool = False) -> Any:
        """A row for each step, of derivatives of the real or the imaginary part of one output."""
        real = part_of(self._along_real[output], imaginary)
        if self._along_imaginary is None:
            return real
        return _operators.complex(real, part_of(self._along_imaginary[output], imaginary))


def part_considered(output: Tensor, imaginary: bool) -> str:
    """Return what messages about a complex output begin with."""
    if not output.is_complex():
        return ""
    return f"While considering the {'imaginary' if imaginary else 'real'} part of complex outputs only, "


class Differences(AlongSteps):
    """Numerical differences of a function's outputs along steps of one input.

    `steps` makes the steps, of size `eps` and, for complex inputs, of size `eps` times 1j. The memory of the input is
    written to, for functions that know it by another way than their arguments, and has its values back afterwards.
    """

    def __init__(
        self,
        function: Function,
        inputs: Sequence[Any],
        outputs: Sequence[Tensor],
        target: Tensor,
        steps: Callable[[Tensor, complex], Iterable[Step]],
        eps: float,
    ) -> None:
        self._function, self._inputs, self._outputs, self._of, self._eps = function, inputs, outputs, target, eps
        self._compute(target, steps, eps)

    def _along(self, steps: Iterable[Step]) -> list[Tensor]:
        """Return for each output a matrix with a row for each step; for outputs without derivatives an empty one."""
        counted = [output.is_floating_point() or output.is_complex() for output in self._outputs]
        rows: list[list[Tensor]] = [[] for _ in counted]
        memory = self._of.data
        values = memory.clone()
        try:
            for where, step in steps:
                memory.copy_(values - step)
                # A copy: the output may be a view of the input, which is written to next.
                before = [output.detach().clone() for output in self._values()]
                memory.copy_(values + step)
                for of_output, low, high, counts in zip(rows, before, self._values(), counted, strict=True):
                    self._check_same_kind(low, high, where)
                    if counts:
                        of_output.append((high.detach() - low).reshape(-1))
        finally:
            memory.copy_(values)
        return [
            _operators.stack(of_output) / (2 * self._eps) if of_output else output.new_zeros((0, output.numel()))
            for of_output, output in zip(rows, self._outputs, strict=True)
        ]

    def _values(self) -> tuple[Any, ...]:
        return as_tuple(self._function(*self._inputs))

    def _check_same_kind(self, low: Tensor, high: Tensor, where: str) -> None:
        for name in ("shape", "dtype"):
            before, after = getattr(low, name), getattr(high, name)
            if before != after:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {name} when inputs are perturbed {where}"
                    f"by {self._eps}, but got: {name}s {before} and {after}."
                )


def analytical_jacobian(output: Tensor, inputs: Sequence[Tensor], cotangents: Iterable[Tensor]) -> list[Any]:
    """Return for each input a matrix with a column for each gradient of the output that backward is given."""
    columns = [_products(output, inputs, cotangent) for cotangent in cotangents]
    if not columns:
        return [target.new_zeros((target.numel(), 0)) for target in inputs]
    return [_operators.stack(of_input, 1) for of_input in zip(*columns, strict=True)]


def _products(output: Tensor, inputs: Sequence[Tensor], cotangent: Tensor) -> list[Tensor]:
    gradients = grad(output, inputs, cotangent, retain_graph=True, allow_unused=True)
    vectors = []
    for gradient, target in zip(gradients, inputs, strict=True):
        if gradient is None:
            vectors.append(target.new_zeros((target.numel(),)))
            continue
        if gradient.shape != target.shape:
            raise GradcheckError(
                f"Analytical gradient has incorrect size: got {tuple(gradient.shape)} for an input of size "
                f"{tuple(target.shape)}"
            )
        if gradient.dtype != target.dtype:
            raise GradcheckError(
                f"Gradient has dtype mismatch: got {gradient.dtype} for an input of dtype {target.dtype}"
            )
        vectors.append(gradient.detach().reshape(-1))
    return vectors
