"""opweave.utils.data.datapipes.map: pipes whose elements have keys."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sized
from typing import Any

from ..columns import check_function
from ..datapipe import Batches, MapDataPipe
from ..decorators import functional_datapipe
from ..iter.combinatorics import Shuffling, drawn_seed

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe[Any]):
    """The elements of a copy of a sequence or a mapping, or of itself if `deepcopy` is False."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place modification would affect "
                    "source data",
                    stacklevel=2,
                )

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def _same(element: Any) -> Any:
    return element


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Any]):
    """A pipe of a function's results for each element."""

    def __init__(self, datapipe: Any, fn: Callable[[Any], Any] = _same) -> None:
        check_function(fn)
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(Batches, MapDataPipe[Any]):
    """Batches of elements with neighbouring keys; a last shorter one is left out if `drop_last`."""

    def __getitem__(self, index: Any) -> Any:
        batch: list[Any] = []
        try:
            for place in range(index * self.batch_size, (index + 1) * self.batch_size):
                batch.append(self.datapipe[place])
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)


class _OfSeveral(MapDataPipe[Any]):
    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(each, MapDataPipe) for each in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        if not all(isinstance(each, Sized) for each in datapipes):
            raise TypeError("Expected all inputs to be `Sized`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(_OfSeveral):
    """The elements of pipes, one after the other."""

    def __getitem__(self, index: Any) -> Any:
        first = 0
        for each in self.datapipes:
            if index - first < len(each):
                return each[index - first]
            first += len(each)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(_OfSeveral):
    """Tuples of an element of each pipe."""

    def __getitem__(self, index: Any) -> Any:
        found = []
        for each in self.datapipes:
            try:
                found.append(each[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {each}.") from error
        return tuple(found)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


class ShufflerIterDataPipe(Shuffling):
    """The elements of a pipe with keys, or those of `indices`, in an order that is drawn."""

    def __init__(self, datapipe: Any, *, indices: list[Any] | None = None) -> None:
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        super().__init__()
        self._shuffled_indices = self.indices

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        """Draw the order anew."""
        if self._enabled and self._seed is None:
            self._seed = drawn_seed()
        self._rng.seed(self._seed)
        self._seed = None
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
Batcher, Concater, Mapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe
SequenceWrapper, Shuffler, Zipper = SequenceWrapperMapDataPipe, ShufflerIterDataPipe, ZipperMapDataPipe
