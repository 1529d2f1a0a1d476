"""Gradients beside differences of values, and beside torch's.

A function takes a library and tensors of it, and gives a tensor or several. Its loss is the sum of all elements of
these, times numbers that are drawn once, of which the real part is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import opweave
from harness import oracle
from harness.drawn import Drawn
from harness.oracle import GRADIENTS, Like

Array: TypeAlias = np.ndarray[Any, Any]
Function: TypeAlias = Callable[..., Any]

STEP = 1e-5


def values(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    random = Drawn(seed, *shape)
    real = random.normal(shape)
    return (real + 1j * random.normal(shape) if dtype[0] == "c" else real).astype(dtype)


def check(function: Function, *inputs: Array, second: bool = True) -> None:
    """By differences: first derivatives, and those of the gradients."""
    leaves = _loss_of(opweave, function)
    _check_direction(leaves, inputs, "first")
    if second:
        gradient = _loss_of(opweave, lambda _, *tensors: _gradients(opweave, leaves(*tensors), tensors, True), seed=1)
        _check_direction(gradient, inputs, "second")


def check_with_torch(function: Function, *inputs: Array) -> None:
    def gradients(library: Any) -> Any:
        tensors = [library.tensor(each, requires_grad=True) for each in inputs]
        return [*_gradients(library, _loss_of(library, function)(*tensors), tensors, False)]

    oracle.check(gradients, "gradients", Like(rtol=1e-8, atol=1e-8, strides=False, few=16))


def check_outcome(call: Function, what: str = "") -> None:
    """What the call gives is what torch gives, from the same state of the generator; errors but for advice."""

    def seeded(library: Any) -> Any:
        library.manual_seed(0)
        return call(library)

    oracle.check(seeded, what, GRADIENTS)


def _loss_of(library: Any, function: Function, seed: int = 0) -> Function:
    def loss(*tensors: Any) -> Any:
        results = function(library, *tensors)
        total = 0
        for index, each in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
            weights = values(*each.shape, dtype="complex128", seed=seed + index)
            part = weights if each.is_complex() else weights.real
            total = total + (each * library.tensor(part)).sum().real
        return total

    return loss


def _gradients(library: Any, loss: Any, tensors: Sequence[Any], recorded: bool) -> Sequence[Any]:
    result: Sequence[Any] = library.autograd.grad(loss, tensors, create_graph=recorded)
    return result


def _check_direction(loss: Function, inputs: Sequence[Array], what: str) -> None:
    """Along a random direction of each input."""
    tensors = [opweave.tensor(each, requires_grad=True) for each in inputs]
    gradients = _gradients(opweave, loss(*tensors), tensors, False)
    for index, gradient in enumerate(gradients):
        direction = values(*inputs[index].shape, dtype=str(inputs[index].dtype), seed=7)
        slope = (np.asarray(gradient.tolist()).reshape(direction.shape).conj() * direction).sum().real
        ends = []
        for step in (STEP, -STEP):
            moved = [*inputs]
            moved[index] = inputs[index] + step * direction
            ends.append(loss(*[opweave.tensor(each, requires_grad=True) for each in moved]).item())
        expected = (ends[0] - ends[1]) / (2 * STEP)
        message = f"{what} derivative by argument {index}"
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6, err_msg=message)
