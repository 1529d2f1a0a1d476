"""Tables of numbers that an entry has: read like tensors, whose elements are known when weaving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tree import Literal


@dataclass(frozen=True)
class Table:
    """Numbers in the order of memory, integers or floats, and the sizes of their dimensions."""

    numbers: tuple[int, ...] | tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def is_integral(self) -> bool:
        return all(isinstance(each, int) for each in self.numbers)

    def at(self, indices: Sequence[int]) -> Literal | None:
        """The number at a position; None: there is none."""
        place = 0
        for index, size in zip(indices, self.sizes, strict=True):
            if not 0 <= index < size:
                return None
            place = place * size + index
        return Literal(self.numbers[place])
