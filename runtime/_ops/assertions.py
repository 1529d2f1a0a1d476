"""Checks of values: what calls raise where a condition does not hold for every element.

They are an operator, `assert_values`, so that each kind of tensor says when it looks at the condition: the CPU at once,
a registered device when the program waits for it, and a program that records calls when it runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._base.devices import has_values, stands_for_others
from .._base.errors import LinAlgError
from .._base.tensor_class import Tensor
from .._dispatch.ops import ops

__all__ = ["assert_explained", "asserted"]

_ERRORS: Mapping[str, type[Exception]] = {
    each.__name__: each for each in (IndexError, LinAlgError, RuntimeError, ValueError)
}
"""By name, what a check can raise."""


def asserted(condition: Any, error: str, message: str) -> bool:
    """Return True if all elements are, or if there are none to look at. Raises the error otherwise, ValueError where it
    is none that checks raise."""
    if error not in _ERRORS:
        raise ValueError(f"assert_values(): expected one of the errors {', '.join(_ERRORS)}, but got {error!r}")
    if has_values(condition) and not condition.all().item():
        raise _ERRORS[error](message)
    return True


def assert_explained(condition: Any, error: str, message: str, explained: Callable[[], Exception]) -> None:
    """Check values as `assert_values` does. Where that raises and the elements can be read, raise the exception that
    `explained()` makes of them instead, which may name those that are wrong."""
    try:
        ops.assert_values(condition, error, message)
    except _ERRORS[error] as failure:
        if failure.args != (message,) or not _can_be_listed(condition):
            raise
        raise explained() from None


def _can_be_listed(tensor: Any) -> bool:
    """Whether elements can be read one by one; those of a tensor that stands for others where its class says how."""
    return not stands_for_others(tensor) or type(tensor).tolist is not Tensor.tolist
