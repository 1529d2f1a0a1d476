"""Choices between functions, loops and scans whose steps are functions: `cond`, `while_loop`, `associative_scan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ._base.pytree import flatten
from ._base.tensor_class import Tensor
from ._dispatch.ops import ops
from ._tensor.construct import tensor

_PACKAGE_NAMES = ["cond", "while_loop"]

_Result = TypeVar("_Result")


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., _Result],
    false_fn: Callable[..., _Result],
    operands: Sequence[Any] = (),
) -> _Result:
    """Return `true_fn(*operands)` or `false_fn(*operands)`: a call like any other, which gradients go through.

    Only the function that is chosen is called. It may do what torch's compiler refuses: return an operand, write to
    one, or return a tensor of another shape or dtype than the other function.

    Args:
        pred: a number of Python, or a tensor of one element, of any shape.
        true_fn, false_fn: functions.
        operands: a tuple or a list of tensors, or of nested tuples, lists and dictionaries of them. Where `pred` is
            a number they may be anything.

    Raises:
        RuntimeError: `pred` is a tensor of several elements or of none, or neither a number nor a tensor; where it is
            a tensor, one of the functions cannot be called, or an operand is no tensor.
    """
    if not isinstance(pred, (bool, int, float)):
        _check(pred, true_fn, false_fn, operands)
    return true_fn(*operands) if pred else false_fn(*operands)


def _check(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)) or not all(isinstance(each, Tensor) for each in flatten(operands)[0]):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, "
            f"but got {operands}."
        )


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Return what `body_fn` makes of some values, again and again, as long as `cond_fn` says so.

    Gradients go through the steps that were made.

    Args:
        cond_fn: of the values; returns a bool or a tensor of one element.
        body_fn: of the values; returns as many as there are.
        carried_inputs: a tuple or a list of values.

    Raises:
        RuntimeError: a function cannot be called, the values are no tuple or list, or their number changes.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple or a list, but got {type(carried_inputs)}.")
    values = tuple(carried_inputs)
    while cond_fn(*values):
        found = body_fn(*values)
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(values):
            raise RuntimeError(f"body_fn should return {len(values)} values, but it returned {len(found)}.")
        values = found
    return values


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """Return what an associative function makes of all elements along a dimension up to each of them.

    It is called with slices for about `2 log2(n)` levels (Blelloch, Prefix Sums and Their Applications, 1990).

    Args:
        combine_fn: of two trees like `xs`, of elementwise operators; returns one.
        xs: a tensor, or nested tuples, lists and dictionaries of tensors of one size along `dim`.
        dim: the dimension.
        reverse: whether to go from the last element on.
        combine_mode: `pointwise` or `generic`, without effect.

    Raises:
        ValueError: `combine_fn` cannot be called, there are no tensors, or another mode.
    """
    if not callable(combine_fn):
        raise ValueError("Combine_fn must be a callable, but got " + repr(combine_fn))
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, structure = flatten(xs)
    if not leaves or not all(isinstance(each, Tensor) for each in leaves):
        raise ValueError("xs must be tensors, and at least one")
    if len({each.shape[dim] for each in leaves}) > 1:
        raise ValueError("All xs leaves must have the same scan dimension")

    def combine(left: list[Any], right: list[Any]) -> list[Any]:
        found: list[Any] = flatten(combine_fn(structure.unflatten(left), structure.unflatten(right)))[0]
        return found

    def turned(values: list[Any]) -> list[Any]:
        return [ops.flip(each, [dim]) for each in values] if reverse else values

    return structure.unflatten(turned(_scanned(combine, turned(leaves), dim)))


def _every_second(values: list[Any], dim: int, first: int, end: int) -> list[Any]:
    return [ops.slice(each, dim, first, end, 2) for each in values]


def _scanned(combine: Callable[[list[Any], list[Any]], list[Any]], values: list[Any], dim: int) -> list[Any]:
    count = values[0].shape[dim]
    if count < 2:
        return values
    even = count - count % 2
    pairs = combine(_every_second(values, dim, 0, even), _every_second(values, dim, 1, even))
    odd = _scanned(combine, pairs, dim)  # the results at places 1, 3, 5, ...
    before = [ops.slice(each, dim, 0, (count - 1) // 2, 1) for each in odd]
    later = combine(before, _every_second(values, dim, 2, count)) if count > 2 else before
    evens = [
        ops.cat([ops.slice(value, dim, 0, 1, 1).to(each.dtype), each][: 1 + (count > 2)], dim)
        for value, each in zip(values, later, strict=True)
    ]
    half = (count + 1) // 2
    order = tensor([place // 2 + half * (place % 2) for place in range(count)])
    return [ops.index_select(ops.cat(pair, dim), dim, order) for pair in zip(evens, odd, strict=True)]
