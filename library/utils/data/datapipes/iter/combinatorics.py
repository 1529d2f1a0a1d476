"""Pipes in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from ....._base.dtypes import EXPORTS
from ....._operators import empty
from ..datapipe import IterDataPipe, functional_datapipe, length_of

__all__ = ["ShufflerIterDataPipe", "drawn_seed"]


def drawn_seed(generator: Any = None) -> int:
    """A seed from the default generator, or from another one."""
    return int(empty((), dtype=EXPORTS["int64"]).random_(generator=generator).item())


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe[Any]):
    """The elements in an order that is drawn: each comes from a buffer of `buffer_size` that the next one enters."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe.unbatch(unbatch_level=unbatch_level) if unbatch_level else datapipe
        self.buffer_size = buffer_size
        self._buffer: list[Any] = []
        self._enabled, self._rng = True, random.Random()
        self._seed: int | None = None

    def set_shuffle(self, shuffle: bool = True) -> Any:
        """Set whether the order is drawn. Returns the pipe."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: Any) -> Any:
        """Set the seed of the next pass. Returns the pipe."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        for element in self.datapipe:
            if len(self._buffer) < self.buffer_size:
                self._buffer.append(element)
                continue
            place = self._rng.randint(0, len(self._buffer) - 1)
            chosen, self._buffer[place] = self._buffer[place], element
            yield chosen
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        return length_of(self, self.datapipe)

    def reset(self) -> None:
        """Empty the buffer, and seed the order."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None
