"""Calls with tensors beside the same ones with tensors on the device `meta`, which have no values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import opweave
from opweave._dispatch.infer import descriptions

UNKNOWN = ("depends on the values of a tensor", "Tensor.item() cannot be called", "repeat_interleave a meta tensor")
"""Errors of calls whose result cannot be told without values."""

OF_VALUES = ("LinAlgError", "infs or NaNs", "ZeroDivisionError", "out of bounds")
"""Errors of values alone: a call without them has none."""


class Beside:
    """Makes calls in both ways and keeps what differs."""

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.count = 0
        self.is_unknown = False
        """Had a call no result without values?"""

    def call(self, what: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """The result for real tensors; None where it is an error."""
        self.count += 1
        described = descriptions()
        without = (described.of(args), {name: described.of(value) for name, value in named.items()})
        got, inferred = _outcome(function, *without[0], **without[1])
        want, result = _outcome(function, *args, **named)
        if is_error(got, UNKNOWN):
            self.is_unknown = True
        elif not is_error(want, OF_VALUES):
            self._compare(what, got, want)
            self._compare(f"{what}: arguments", description(without), description((args, named)))
            if not all(each.is_meta for each in tensors(inferred)):
                self.differences.append(f"{what}: the result has values")
        return result

    def _compare(self, what: str, got: Any, want: Any) -> None:
        if got != want:
            self.differences.append(f"{what}: {got} without values, but {want}")

    def check(self) -> None:
        assert self.count
        assert not self.differences, "\n".join([f"{len(self.differences)} of {self.count}", *self.differences[:10]])


def _outcome(function: Callable[..., Any], *args: Any, **named: Any) -> tuple[Any, Any]:
    """What is comparable of the result, or the text of the error, and the result."""
    try:
        result = function(*args, **named)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # Texts of tensors differ.
        text = re.sub(r"tensor\(.*", "tensor", str(error).replace("opweave.meta.", "opweave."), flags=re.DOTALL)
        return f"{type(error).__name__}: {text}", None
    return description(result), result


def is_error(outcome: Any, texts: Sequence[str]) -> bool:
    return isinstance(outcome, str) and any(text in outcome for text in texts)


def description(value: Any) -> Any:
    """Tensors by all that they have without values; of other values the type."""
    if isinstance(value, opweave.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset()
    if isinstance(value, dict):
        return {name: description(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [description(each) for each in value]
    return type(value).__name__


def tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, opweave.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors(each)
