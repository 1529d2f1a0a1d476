"""Pipes of several others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..datapipe import IterDataPipe, length_of
from ..decorators import functional_datapipe

__all__ = ["ConcaterIterDataPipe", "MultiplexerIterDataPipe", "ZipperIterDataPipe"]


class _OfSeveral(IterDataPipe[Any]):
    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def _lengths(self) -> list[int]:
        return [length_of(self, each) for each in self.datapipes]


@functional_datapipe("concat")
class ConcaterIterDataPipe(_OfSeveral):
    """The elements of pipes, one after the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(each, IterDataPipe) for each in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        super().__init__(*datapipes)

    def __iter__(self) -> Iterator[Any]:
        for each in self.datapipes:
            yield from each

    def __len__(self) -> int:
        return sum(self._lengths())


@functional_datapipe("mux")
class MultiplexerIterDataPipe(_OfSeveral):
    """An element of each pipe in turn, until the shortest ends."""

    def __iter__(self) -> Iterator[Any]:
        for elements in zip(*self.datapipes, strict=False):
            yield from elements

    def __len__(self) -> int:
        return min(self._lengths()) * len(self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(_OfSeveral):
    """Tuples of an element of each pipe, until the shortest ends."""

    def __init__(self, *datapipes: Any) -> None:
        if not all(isinstance(each, IterDataPipe) for each in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__(*datapipes)

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(self._lengths())
