"""The function `cond`, a choice between two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ._base.pytree import flatten
from ._base.tensor_class import Tensor

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
