"""Tensors that share memory, while a program with writes in place becomes a model, which has none.

A cell has the current elements of a tensor; views of it are the views of these. What is written to a view is put at its
positions in a new value of the cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._operators import arange
from ._builder import Builder, NotMapped, Value

__all__ = ["Cell", "Stored"]


_Step = tuple[Callable[[Value], Value], Callable[[Any], Any]]


class Cell:
    """The elements of a tensor and of its views.

    Attributes:
        value: the elements now.
        version: the number of writes.
        has_copy: whether another cell stands for the same memory, as a view of sizes that are computed has one.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self.version = 0
        self.has_copy = False


class Stored:
    """A tensor of the program: a cell, and the views that lead from it to the tensor."""

    def __init__(self, cell: Cell, steps: tuple[_Step, ...] = ()) -> None:
        """Make one. Each of `steps` gives the view of a tensor of the model, and of a tensor of positions."""
        self.cell = cell
        self._steps = steps
        self._known: tuple[int, Value] | None = None

    def view(self, of_model: Callable[[Value], Value], of_positions: Callable[[Any], Any]) -> Stored:
        """A view of the tensor."""
        return Stored(self.cell, (*self._steps, (of_model, of_positions)))

    @property
    def value(self) -> Value:
        """The elements that the tensor has now."""
        if self._known is None or self._known[0] != self.cell.version:
            value = self.cell.value
            for of_model, _ in self._steps:
                value = of_model(value)
            self._known = self.cell.version, value
        return self._known[1]

    def write(self, builder: Builder, value: Value) -> None:
        """Give the tensor other elements. Raises NotMapped where a view has dynamic sizes."""
        cell = self.cell
        if cell.has_copy:
            raise NotMapped("it writes to a tensor of which there is a view with computed sizes")
        if not self._steps:
            cell.value = value
        else:
            whole = cell.value
            positions = arange(max(int(_count(whole)), 0)).view(whole.shape)
            for _, of_positions in self._steps:
                positions = of_positions(positions)
            places = builder.tensor(positions.reshape(-1))
            elements = builder.flat(value).name
            flat = builder.node("ScatterElements", builder.flat(whole).name, places, elements, axis=0)
            cell.value = whole._replace(name=builder.reshape(Value(flat, whole.dtype, (_count(whole),)), whole.sizes))
        cell.version += 1


def _count(value: Value) -> int:
    count = 1
    for size in value.shape:
        count *= size
    return count
