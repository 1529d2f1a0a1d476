"""The tables of docs/accuracy.md: one row for an operator and a dtype, one column for each instruction-set level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opweave._C import lib

LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")


class AccuracyTable:
    """Prints its head when it is made."""

    def __init__(self) -> None:
        self.levels = [level for level in range(len(LEVELS)) if lib.set_level(level)]
        print("| operator | dtype | " + " | ".join(LEVELS[level] for level in self.levels) + " |")
        print("|---|---|" + "---|" * len(self.levels))

    def each_level(self) -> Iterator[None]:
        """Sets, in turn, the levels that this processor has."""
        for level in self.levels:
            lib.set_level(level)
            yield

    def row(self, name: str, dtype: str, errors: Iterable[float], starred: bool) -> None:
        """`errors`: one for each level."""
        cells = " | ".join(f"{error:.2f}" for error in errors)
        print(f"| {name}{' *' if starred else ''} | {dtype} | {cells} |", flush=True)
