"""Pipes of batches and groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..columns import check_function
from ..datapipe import Batches, DataChunk, IterDataPipe
from ..decorators import functional_datapipe

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(Batches, IterDataPipe[Any]):
    """Batches of elements; a last shorter one is left out if `drop_last`."""

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for element in self.datapipe:
            batch.append(element)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """The elements of batches, of so many levels, or of all for -1."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        if self.unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, level: int) -> Iterator[Any]:
        if not isinstance(element, list):
            if level > 0:
                raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
            yield element
        elif level == 0:
            yield element
        else:
            for each in element:
                yield from self._dive(each, max(level - 1, -1))


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Groups of elements for which a function returns the same key, each once it has `group_size`. If `buffer_size`
    elements wait, the largest group goes; one smaller than `guaranteed_group_size` is dropped if `drop_remaining`, and
    an error otherwise. With `keep_key` groups are pairs of the key and the group.
    """

    def __init__(
        self,
        datapipe: Any,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        check_function(group_key_fn)
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        if guaranteed_group_size is not None and (group_size is None or not 0 < guaranteed_group_size <= group_size):
            raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size, self.drop_remaining = buffer_size, group_size, drop_remaining
        self.guaranteed_group_size = group_size if guaranteed_group_size is None else guaranteed_group_size
        self.wrapper_class = DataChunk
        self.reset()

    def reset(self) -> None:
        """Empty the buffers."""
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)

    def _group(self, key: Any) -> Any:
        group: Any = self.wrapper_class(self.buffer_elements.pop(key))
        return (key, group) if self.keep_key else group

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            key = self.group_key_fn(element)
            self.buffer_elements[key].append(element)
            if len(self.buffer_elements[key]) == self.group_size:
                yield self._group(key)
            if sum(map(len, self.buffer_elements.values())) == self.max_buffer_size:
                largest = max(self.buffer_elements, key=lambda each: len(self.buffer_elements[each]))
                if len(self.buffer_elements[largest]) >= (self.guaranteed_group_size or 0):
                    yield self._group(largest)
                elif self.drop_remaining:
                    del self.buffer_elements[largest]
                else:
                    raise RuntimeError("Failed to group items", str(self.buffer_elements[largest]))
        for key in tuple(self.buffer_elements):
            yield self._group(key)
