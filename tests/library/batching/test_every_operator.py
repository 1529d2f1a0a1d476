"""`vmap` of every operator with a documented example: what it gives is a stack of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import opweave as ow
import pytest
from harness.documented import OPERATORS, calls_of
from opweave.utils._pytree import tree_leaves

REFUSED = {
    "argwhere": "dynamic shape",
    "masked_select": "dynamic shape",
    "nonzero": "dynamic shape",
    "nonzero_static": "dynamic shape",
    "unique": "dynamic shape",
    "unique_consecutive": "dynamic shape",
    "one_hot": r"\.item\(\)",  # without the number of classes
    "resize_": "changes the memory",
    "resize_as_": "changes the memory",
    "set_": "changes the memory",
}
"""Operators whose results depend on elements by more than these, and part of the error."""
OF_ELEMENTS = ("linalg_matrix_exp", "matrix_exp")
"""Operators that choose by elements how they compute, and raise where a graph of samples is recorded."""
OF_WHOLE_NUMBERS = ("_dequantized_uint8", "_dequantized_int8", "_dequantized_int32")
"""Operators that take integers for reals of the example, of which half is none."""


def half(tensor: ow.Tensor) -> ow.Tensor:
    return tensor * 0.75 if tensor.is_floating_point() or tensor.is_complex() else tensor.clone()


def stacked(results: Sequence[Any]) -> list[ow.Tensor]:
    leaves = [tree_leaves(result) for result in results]
    return [ow.stack(list(each)) for each in zip(*leaves, strict=True)]


def same(got: Sequence[ow.Tensor], want: Sequence[ow.Tensor], values: bool) -> None:
    assert [(each.shape, each.dtype) for each in got] == [(each.shape, each.dtype) for each in want]
    for mine, theirs in zip(got, want, strict=True):
        if values:
            ow.testing.assert_close(mine, theirs, equal_nan=True, rtol=1e-4, atol=1e-5)


def results(name: str, call: Any, given: dict[str, ow.Tensor], args: Sequence[ow.Tensor]) -> Any:
    return replace(call, values={**call.values, **dict(zip(given, args, strict=True))})()


def cases() -> list[str]:
    return [name for name in OPERATORS if name not in OF_WHOLE_NUMBERS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", cases())
def test_example(name: str) -> None:
    call = calls_of(OPERATORS[name])[-1]
    given = {
        key: value
        for key, value in call.values.items()
        if isinstance(value, ow.Tensor) and value.layout is ow.strided and not value.is_quantized
    }

    def function(*args: ow.Tensor) -> Any:
        return results(name, call, given, args)

    batches = [ow.stack([tensor.clone(), half(tensor)]) for tensor in given.values()]
    for dims in dict.fromkeys([(0,) * len(given), (0, *[None] * (len(given) - 1))]) if given else ():
        args = [
            tensor if dim is None else batch for tensor, batch, dim in zip(given.values(), batches, dims, strict=True)
        ]
        if name in REFUSED:
            with pytest.raises(RuntimeError, match=REFUSED[name]):
                ow.vmap(function, dims)(*args)
            continue
        compare(function, dims, args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", cases())
def test_gradient(name: str) -> None:
    """Gradients of each sample, of the sum of the squares of what the operator gives."""
    call = calls_of(OPERATORS[name])[-1]
    given = {
        key: value
        for key, value in call.values.items()
        if isinstance(value, ow.Tensor) and value.layout is ow.strided and not value.is_quantized
    }
    reals = tuple(place for place, tensor in enumerate(given.values()) if tensor.is_floating_point())
    if not reals or name in REFUSED or name in OF_ELEMENTS:
        return

    def squares(*args: ow.Tensor) -> Any:
        found = [each for each in tree_leaves(results(name, call, given, args)) if isinstance(each, ow.Tensor)]
        return sum(each.abs().square().sum() for each in found if each.is_floating_point() or each.is_complex())

    args = [ow.stack([tensor.clone(), half(tensor)]) for tensor in given.values()]
    compare(ow.func.grad(squares, argnums=reals), (0,) * len(args), args)


def compare(function: Callable[..., Any], dims: tuple[int | None, ...], args: Sequence[ow.Tensor]) -> None:
    def alone(seed: int) -> list[Any]:
        ow.manual_seed(seed)
        return [
            function(*[arg if dim is None else arg[index].clone() for arg, dim in zip(args, dims, strict=True)])
            for index in range(2)
        ]

    try:
        singles = alone(0)
    except Exception:  # the example takes no other values
        return
    if not all(isinstance(leaf, ow.Tensor) and leaf.layout is ow.strided for leaf in tree_leaves(singles)):
        return
    want = stacked(singles)
    again = stacked(alone(1))
    is_determined = all(bool(((x == y) | (x != x)).all()) for x, y in zip(want, again, strict=True))
    same(tree_leaves(ow.vmap(function, dims, randomness="different")(*args)), want, is_determined)
