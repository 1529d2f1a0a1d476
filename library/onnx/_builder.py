"""Builds the graph of an ONNX model: nodes, tensors in it, and the names of both."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from .._base.dtypes import EXPORTS
from .._base.interchange import bytes_of_tensor
from .._base.lazy_imports import load
from .._operators import full
from .._tensor.construct import tensor as tensor_of

__all__ = ["NUMBERS", "Builder", "NotMapped", "Value"]

NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip
"""The numbers of dtypes in ONNX."""


class NotMapped(RuntimeError):  # noqa: N818 (it is raised as the error of torch's name)
    """Error: ONNX has nothing for a call of an operator."""


class Value(NamedTuple):
    """A tensor of the model: its name, dtype and sizes, of which those that no int is are dynamic."""

    name: str
    dtype: str
    sizes: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes. Raises NotMapped where one of them is dynamic."""
        for dim in range(len(self.sizes)):
            self.size(dim)
        return self.sizes

    def size(self, dim: int) -> int:
        """The size of a dimension. Raises NotMapped where it is dynamic."""
        size = self.sizes[dim]
        if not isinstance(size, int):
            raise NotMapped(f"the model would need the size {size} as a number")
        return size


class Builder:
    """The nodes and initializers of a graph, in their order."""

    def __init__(self) -> None:
        self.onnx = load("onnx")
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._known: dict[Any, str] = {}
        self._count = 0

    def fresh(self, hint: str) -> str:
        """A new name."""
        self._count += 1
        return f"{hint}_{self._count}"

    def node(self, kind: str, *inputs: str, results: int = 1, **attributes: Any) -> Any:
        """The name of the result of a new node, or a list of them. Inputs that are left out are empty names."""
        names = [self.fresh(kind.lower()) for _ in range(results)]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), names, **given))
        return names[0] if results == 1 else names

    # ---- tensors ----

    def tensor(self, value: Any, name: str = "") -> str:
        """The name of an initializer with the elements of a tensor."""
        data = bytes_of_tensor(value)
        key = (value.dtype.name, tuple(value.shape), data)
        if not name and key in self._known:
            return self._known[key]
        name = name or self.fresh("constant")
        made = self.onnx.helper.make_tensor(name, NUMBERS[key[0]], list(value.shape), data, raw=True)
        self.initializers.append(made)
        return self._known.setdefault(key, name) if name.startswith("constant_") else name

    def number(self, value: Any, dtype: str) -> str:
        """The name of a tensor without dimensions that has a number."""
        return self.tensor(full((), value, dtype=EXPORTS[dtype]))

    def integers(self, values: Sequence[Any]) -> str:
        """The name of a list of integers, of which some may be tensors of the model."""
        if all(isinstance(each, int) for each in values):
            return self.tensor(tensor_of(list(values), dtype=EXPORTS["int64"]))
        parts = [
            self.integers([each]) if isinstance(each, int) else self.node("Reshape", each.name, self.integers([1]))
            for each in values
        ]
        return self.node("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]

    def tensor_of_integer(self, value: Any) -> str:
        """The name of an integer, which may be a tensor of the model already."""
        return self.number(value, "int64") if isinstance(value, int) else str(value.name)

    # ---- what many operators need ----

    def cast(self, value: Value, dtype: str) -> Value:
        """A tensor in another dtype."""
        if value.dtype == dtype:
            return value
        return Value(self.node("Cast", value.name, to=NUMBERS[dtype]), dtype, value.sizes)

    def reshape(self, value: Value, sizes: Sequence[Any]) -> str:
        """The name of a tensor with other sizes. Sizes that are no numbers must be those of the same dimension, but
        for one. Raises NotMapped where they are not."""
        if tuple(sizes) == value.sizes:
            return value.name
        wanted: list[int] = []
        for dim, size in enumerate(sizes):
            if isinstance(size, int):
                wanted.append(size)
            elif dim < len(value.sizes) and value.sizes[dim] == size:
                wanted.append(0)
            else:
                wanted.append(-1)
        if wanted.count(-1) > 1 or (0 in wanted and 0 in sizes):
            raise NotMapped(f"the model would need the sizes {', '.join(map(str, sizes))} as numbers")
        return str(self.node("Reshape", value.name, self.integers(wanted), allowzero=1 if 0 in sizes else None))

    def flat(self, value: Value) -> Value:
        """A tensor with one dimension."""
        name = self.node("Reshape", value.name, self.integers([-1]))
        known = all(isinstance(each, int) for each in value.sizes)
        return Value(name, value.dtype, (prod(value.sizes) if known else "?",))
