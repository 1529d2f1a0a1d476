"""Compares numerical and analytical Jacobians for gradcheck, element by element or along random vectors.

The test along random vectors u of an input and v of an output compares v·J·u, two numbers, where J has as many as both
have elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

from ... import _operators
from ..._base.generator import Generator
from ..._base.promotion import promote_types
from ..._ops.numpy_bridge import dtypes
from .jacobians import (
    Differences,
    GradcheckError,
    analytical_jacobian,
    as_tuple,
    differentiable,
    part_considered,
)

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from .jacobians import Function, Step

__all__ = ["Comparison"]


class Directions(Protocol):
    """Along which vectors Jacobians are computed, and which numbers of them are compared."""

    def steps(self, target: Tensor, size: complex) -> Iterator[Step]:
        """Yield steps of an input, of length `size`, each with a text that names it in messages."""

    def cotangents(self, output: Tensor, unit: complex) -> Iterator[Tensor]:
        """Yield the gradients by an output for which Jacobians are computed."""

    def numbers(self, analytical: Tensor, numerical: Tensor, target: Tensor, output: Tensor) -> tuple[Any, Any, float]:
        """The numbers to compare, and by which factor the absolute tolerance of an element is theirs."""


class Elements:
    """Each element on its own."""

    def steps(self, target: Tensor, size: complex) -> Iterator[Step]:
        """Yield a step along each element of the input."""
        for position, index in enumerate(product(*map(range, target.shape))):
            step = target.new_zeros(tuple(target.shape))
            step.view(-1)[position] = size
            yield f"on index {index} ", step

    def cotangents(self, output: Tensor, unit: complex) -> Iterator[Tensor]:
        """Yield a gradient of one element of the output each."""
        return (step for _, step in self.steps(output, unit))

    def numbers(self, analytical: Tensor, numerical: Tensor, target: Tensor, output: Tensor) -> tuple[Any, Any, float]:
        """Return both Jacobians, and 1: their elements are compared one by one."""
        return analytical, numerical, 1.0


class RandomVectors:
    """One vector of positive random numbers and of length one for each tensor; two for complex inputs."""

    def __init__(self) -> None:
        # One of its own, so that the check leaves the default generator as it was.
        self._generator = Generator()
        self._drawn: dict[tuple[int, bool], Tensor] = {}

    def steps(self, target: Tensor, size: complex) -> Iterator[Step]:
        """Yield the step along the input's random vector."""
        yield "", (self._vector(target, imaginary=isinstance(size, complex)) * size).view(target.shape)

    def cotangents(self, output: Tensor, unit: complex) -> Iterator[Tensor]:
        """Yield the output's random vector as the only gradient."""
        yield (self._vector(output) * unit).to(output.dtype).view(output.shape)

    def numbers(self, analytical: Tensor, numerical: Tensor, target: Tensor, output: Tensor) -> tuple[Any, Any, float]:
        """Return the products of both Jacobians with the random vectors, and the sum of the elements' factors."""
        along, across = self._vector(target), self._vector(output)
        products, changes = analytical.squeeze(1), (numerical.squeeze(0) * across).sum()
        if not target.is_complex():
            return (products * along).sum(), changes, float(along.sum() * across.sum())
        aside = self._vector(target, imaginary=True)
        combined = _operators.complex((products.real * along).sum(), (products.imag * aside).sum())
        return combined, changes, float((along.sum() + aside.sum()) * across.sum())

    def _vector(self, target: Tensor, imaginary: bool = False) -> Tensor:
        vector = self._drawn.get((id(target), imaginary))
        if vector is None:
            # Single numbers whatever the dtype: those that torch draws.
            numbers = target.new_empty((target.numel(),), dtype=dtypes.float32).uniform_(generator=self._generator)
            numbers = numbers.to((target.real if target.is_complex() else target).dtype)
            vector = self._drawn[id(target), imaginary] = numbers / numbers.norm()
        return vector


@dataclass
class Comparison:
    """The comparison of all derivatives of a function, of outputs by inputs that require gradients."""

    func: Function
    inputs: tuple[Any, ...]
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    directions: Directions

    def __post_init__(self) -> None:
        self._targets = differentiable(self.inputs)
        self._outputs: list[Any] = []

    def run(self) -> list[Any]:
        """The outputs that require gradients, when these are right; raises GradcheckError otherwise."""
        results = as_tuple(self.func(*self.inputs))
        indices = [index for index, result in enumerate(results) if result.requires_grad]
        changes = [self._differences(results, target, self.directions) for target in self._targets]
        if not indices:
            self._check_constant(results, changes)
            return []
        # The inputs have been written to, so what was computed from them before cannot be differentiated any more.
        results = as_tuple(self.func(*self.inputs))
        self._outputs = [results[index] for index in indices]
        has_complex = any(output.is_complex() for output in self._outputs)
        for imaginary in (True, False) if has_complex else (False,):
            for number, index in enumerate(indices):
                if imaginary or not has_complex or results[index].is_complex():  # real ones are compared once
                    numerical = [change.jacobian(index, imaginary) for change in changes]
                    self._check_output(number, numerical, imaginary)
        return self._outputs

    def _differences(self, results: Sequence[Tensor], target: Tensor, directions: Directions) -> Differences:
        return Differences(self.func, self.inputs, results, target, directions.steps, self.eps)

    def _check_constant(self, results: Sequence[Tensor], changes: Sequence[Differences]) -> None:
        """Outputs that require no gradients must not depend on the inputs."""
        allowed = self.nondet_tol if isinstance(self.directions, RandomVectors) else 0.0
        for change in changes:
            for index, result in enumerate(results):
                for imaginary in (True, False) if result.is_complex() else (False,):
                    if (change.jacobian(index, imaginary).abs() > allowed).any():
                        raise GradcheckError("Numerical gradient for function expected to be zero")

    def _check_output(self, number: int, numerical: list[Any], imaginary: bool) -> None:
        output = self._outputs[number]
        unit = 1j if imaginary and output.is_complex() else 1
        first, second = (
            analytical_jacobian(output, self._targets, self.directions.cotangents(output, unit)) for _ in range(2)
        )
        self._check_repeatable(first, second)
        for index, (target, exact, measured) in enumerate(zip(self._targets, first, numerical, strict=True)):
            left, right, factor = self.directions.numbers(exact, measured, target, output)
            if not close(left, right, self.rtol, self.atol * factor):
                raise GradcheckError(
                    f"{part_considered(output, imaginary)}Jacobian mismatch for output {number} with respect to input "
                    f"{index},\n"
                    f"numerical:{right}\nanalytical:{left}\n" + self._whole_jacobians(number, index, unit)
                )

    def _check_repeatable(self, first: Sequence[Tensor], second: Sequence[Tensor]) -> None:
        for one, other in zip(first, second, strict=True):
            if one.numel() and (one - other).abs().max() > self.nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {self.nondet_tol}.\n\n"
                    "Where the operator is not meant to be deterministic, pass a larger `nondet_tol`."
                )

    def _whole_jacobians(self, number: int, index: int, unit: complex) -> str:
        """Return the report on all elements after a comparison along random vectors, as they say more."""
        if not isinstance(self.directions, RandomVectors):
            return ""
        elements, target, output = Elements(), self._targets[index], self._outputs[number]
        [exact] = analytical_jacobian(output, [target], elements.cotangents(output, unit))
        outputs = as_tuple(self.func(*self.inputs))
        position = [at for at, result in enumerate(outputs) if result.requires_grad][number]
        measured = self._differences(outputs, target, elements).jacobian(position, isinstance(unit, complex))
        text = (
            "\nThese are numbers of fast mode, combined from all elements of the Jacobian. Element by element:\n\n"
            f"Numerical:\n {measured}\nAnalytical:\n{exact}\n\n"
            f"The max per-element difference (slow mode) is: {(measured - exact).abs().max()}.\n"
        )
        if close(exact, measured, self.rtol, self.atol):
            text += "These agree: `fast_mode=False` accepts this function.\n"
        return text


def close(left: Tensor, right: Tensor, rtol: float, atol: float) -> bool:
    """Return True if all elements are within the tolerances, compared in the dtype that both promote to."""
    both = promote_types(left.dtype, right.dtype)
    return left.to(both).allclose(right.to(both), rtol, atol)
