"""Assertions that programs make of numbers and of tensors, as torch names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._base.tensor_class import Tensor
from ._dispatch.ops import ops

_PACKAGE_NAMES = [
    "_assert",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_is_size",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
]

_Message = Callable[[], Any] | None


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with the message unless the condition, a bool or a tensor of one element, holds."""
    assert condition, message


def _check(cond: Any, message: _Message = None) -> None:
    """Raise RuntimeError unless the condition holds; `message()` is its text."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: _Message = None) -> None:
    """Raise IndexError unless the condition holds; `message()` is its text."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: _Message = None) -> None:
    """Raise ValueError unless the condition holds; `message()` is its text."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: _Message = None) -> None:
    """Raise TypeError unless the condition holds; `message()` is its text."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: _Message = None) -> None:
    """Raise NotImplementedError unless the condition holds; `message()` is its text."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: _Message = None) -> None:
    """Raise RuntimeError unless all elements of a tensor of bool are true.

    Raises:
        TypeError: `cond` is no tensor, or its dtype is not bool.
    """
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_tensor_all_with(error: type[Exception], cond: Any, message: _Message = None) -> None:
    """Raise an error unless all elements of a tensor of bool are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if str(cond.dtype).rpartition(".")[2] != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error, cond.all().item(), message)


def _assert_async(input: Tensor, assert_msg: str = "") -> None:
    """Raise RuntimeError unless the one element of a tensor is true: on the CPU at once, on a registered device when
    the program next waits for it. Programs that are recorded check it each time that they run.

    Raises:
        RuntimeError: there is another number of elements, or it is zero; the text is `assert_msg`.
    """
    if input.numel() != 1:
        number = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {number} is ambiguous")
    message = assert_msg or "Expected Tensor with single nonzero value, but got zero"
    ops.assert_values(input != 0, "RuntimeError", message)


def _check_is_size(i: Any, message: _Message = None, *, max: int | None = None) -> None:
    """Raise RuntimeError unless 0 <= i, and i <= max where there is one."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_with(error: type[Exception], cond: Any, message: _Message = None) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error("Expected cond to be True, but got False. (Could this error message be improved?)")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))
