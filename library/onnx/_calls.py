"""Calls of operators while they become nodes, and the table of what they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .._dispatch.op import Op
from ._builder import Builder, NotMapped, Value

__all__ = ["ROWS", "Call", "Result", "row"]


class Result(NamedTuple):
    """Dtype and sizes of a result."""

    dtype: str
    sizes: tuple[Any, ...]


class Call:
    """A call: `call["dim"]` is an argument, `call.tensor("input")` a tensor in the dtype of the result."""

    def __init__(self, builder: Builder, op: Op, arguments: Mapping[str, Any], results: Sequence[Result]) -> None:
        self.builder = builder
        self.op = op
        self.arguments = arguments
        self.results = results

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    @property
    def input(self) -> Value:
        """The first tensor."""
        value: Value = self.arguments[self.op.names[0]]
        return value

    @property
    def dtype(self) -> str:
        """The dtype of the first result."""
        return self.results[0].dtype

    @property
    def sizes(self) -> tuple[Any, ...]:
        """The sizes of the first result."""
        return self.results[0].sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the first result. Raises NotMapped where one of them is dynamic."""
        return Value("", self.dtype, self.sizes).shape

    def dim(self, name: str = "dim") -> int:
        """A dimension of the first tensor, from the front."""
        return int(self[name]) % max(len(self.input.sizes), 1)

    def dims(self, name: str = "dim") -> list[int]:
        """Dimensions of the first tensor, from the front; all of them where none is given."""
        given, count = self[name], max(len(self.input.sizes), 1)
        if given is None or (isinstance(given, (tuple, list)) and not given):
            return [*range(len(self.input.sizes))]
        return sorted(each % count for each in ((given,) if isinstance(given, int) else given))

    def numbers(self, name: str) -> list[Any]:
        """A list of integers, which may be given as one; some may be tensors of the model."""
        given = self[name]
        return [given] if isinstance(given, (int, Value)) else list(given)

    def tensor(self, name: str) -> str:
        """The name of a tensor, or of a number, in the dtype of the result."""
        value = self[name]
        if isinstance(value, Value):
            return self.builder.cast(value, self.dtype).name
        return self.builder.number(value, self.dtype)

    def require(self, condition: bool, reason: str) -> None:
        """Raise NotMapped unless a condition holds."""
        if not condition:
            raise NotMapped(reason)


Row = Callable[[Builder, Call], Any]
"""Returns the name of the result, or a sequence of those of the results."""

ROWS: dict[str, Row] = {}
"""The functions that make nodes of calls, by operator. Operators of elements need none."""


def row(*names: str) -> Callable[[Row], Row]:
    """Return a decorator of the function for some operators."""

    def add(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return add
