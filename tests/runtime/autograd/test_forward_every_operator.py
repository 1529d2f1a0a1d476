"""Forward derivatives of every operator with a documented example: they are those that two backward passes give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import opweave as ow
import pytest
from harness.documented import OPERATORS, calls_of
from opweave.utils._pytree import tree_leaves


def is_variable(value: Any) -> bool:
    plain = isinstance(value, ow.Tensor) and value.layout is ow.strided and not value.is_quantized
    return plain and (value.is_floating_point() or value.is_complex())


def _function_of(name: str) -> tuple[Callable[..., Any], tuple[ow.Tensor, ...]] | None:
    """An operator as a function of the differentiable tensors of its last example, and these; None if it has none."""
    call = calls_of(OPERATORS[name])[-1]
    given = {key: value for key, value in call.values.items() if is_variable(value)}

    def function(*args: ow.Tensor) -> Any:
        ow.manual_seed(0)
        results = tree_leaves(replace(call, values={**call.values, **dict(zip(given, args, strict=True))})())
        return [each for each in results if is_variable(each)]

    if not given or "empty" in name:  # which has the values that its memory had
        return None
    return function, tuple(value.detach() for value in given.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_example(name: str) -> None:
    found = _function_of(name)
    if found is None:
        return
    function, primals = found
    ow.manual_seed(1)
    tangents = tuple(ow.randn_like(value) for value in primals)
    try:
        results, product = ow.func.linearize(function, *primals)
        want = product(*tangents)
    except RuntimeError:  # it has no such result, or no derivative
        return
    got_results, got = ow.func.jvp(function, primals, tangents)
    for mine, theirs in zip((*got_results, *got), (*results, *want), strict=True):
        assert mine.dtype is theirs.dtype
        ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_of_forward_derivatives(name: str) -> None:
    """They are the forward derivatives of gradients."""
    if name in ("cholesky_inverse", "cholesky_solve"):
        return  # their gradients are not zero in the triangle that they do not read, in torch as well
    found = _function_of(name)
    if found is None:
        return
    function, primals = found
    ow.manual_seed(1)
    tangents = tuple(ow.randn_like(value) for value in primals)

    def weighted(*args: ow.Tensor) -> Any:
        """A sum of the real results, each with a weight of its own."""
        results = [each for each in function(*args) if each.is_floating_point()]
        return sum((each * ow.linspace(1, 2, each.numel(), dtype=each.dtype).view_as(each)).sum() for each in results)

    every = tuple(range(len(primals)))
    try:
        _, want = ow.func.jvp(ow.func.grad(weighted, every), primals, tangents)
    except (RuntimeError, TypeError):  # it has no such result, or no derivative
        return
    got = ow.func.grad(lambda *args: ow.func.jvp(weighted, args, tangents)[1], every)(*primals)
    for mine, theirs in zip(got, want, strict=True):
        ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=5e-3, atol=1e-4)
