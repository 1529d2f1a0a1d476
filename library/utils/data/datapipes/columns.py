"""Functions that pipes apply to their elements, or to some columns of these."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["apply_to", "check_columns", "check_function"]


def check_function(fn: Any) -> None:
    """Raise TypeError for what is no function; warn of those that workers cannot be sent."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    inner = fn.func if isinstance(fn, partial) else fn
    name, place = getattr(inner, "__name__", ""), getattr(inner, "__qualname__", "")
    if name == "<lambda>" and "<locals>" not in place:
        kind = "Lambda"
    elif "<locals>" in place:
        kind = "Local"
    else:
        return
    warnings.warn(
        f"{kind} function is not supported by pickle, please use regular python function or functools.partial instead.",
        stacklevel=3,
    )


def check_columns(fn: Callable[..., Any], input_col: Any) -> None:
    """Raise ValueError if a function does not take as many arguments as there are columns."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except ValueError:
        return
    wanted = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    inner = fn.func if isinstance(fn, partial) else fn
    name = getattr(inner, "__name__", repr(inner))
    named = [each for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty]
    if named:
        raise ValueError(
            f"The function {name} takes {len(named)} non-default keyword-only parameters, which is not allowed."
        )
    placed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    required = sum(each.default is each.empty for each in placed)
    if required > wanted or (len(placed) < wanted and not takes_any):
        raise ValueError(f"The function {name} takes {len(placed)} positional parameters, but {wanted} are required.")


def apply_to(fn: Callable[..., Any], data: Any, input_col: Any) -> Any:
    """Return the result for an element, or for the columns of one."""
    if input_col is None:
        return fn(data)
    if isinstance(input_col, (list, tuple)):
        return fn(*(data[column] for column in input_col))
    return fn(data[input_col])
