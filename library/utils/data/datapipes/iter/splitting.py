"""Several pipes of one, which read it together: what is ahead for some of them waits in buffers."""

from __future__ import annotations

import copy as copies
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ..columns import check_function
from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


class _Shared(IterDataPipe[Any]):
    """The state that the pipes share: the source, its iterator, and a buffer for each of them."""

    form = ""

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int) -> None:
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
        if buffer_size < 0:
            warnings.warn(
                f"Unlimited buffer size is set for `{self.form}`, please be aware of OOM at random places", stacklevel=4
            )
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        self.reset()

    def reset(self) -> None:
        self._source: Any = None
        self._ended = False
        self._buffers: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self._finished = [False] * self.num_instances

    def __getstate__(self) -> Any:
        self.reset()
        return super().__getstate__()

    def elements(self, instance: int) -> Iterator[Any]:
        """Yield the elements of one of the pipes."""
        if self._source is None:
            self._source = iter(self.main_datapipe)
        buffer = self._buffers[instance]
        try:
            while True:
                if buffer:
                    yield buffer.popleft()
                    continue
                try:
                    element = next(self._source)
                except StopIteration:
                    self._ended = True
                    return
                if self._share(element, instance):
                    yield buffer.popleft()
        finally:
            self._finished[instance] = True
            buffer.clear()

    def _share(self, element: Any, instance: int) -> bool:
        """Put an element into the buffers that it is for. Returns True if it is for this pipe."""
        raise NotImplementedError

    def _full(self, size: int, name: str) -> None:
        if 0 <= self.buffer_size < size:
            raise BufferError(f"{name} buffer overflow, buffer size {self.buffer_size} is insufficient.")

    def is_every_instance_exhausted(self) -> bool:
        """Return True if all pipes have come to the end."""
        return self._ended and all(self._finished)


class _Fork(_Shared):
    form = "fork"

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int, copy: str | None) -> None:
        functions: dict[Any, Callable[[Any], Any]] = {"shallow": copies.copy, "deep": copies.deepcopy}
        if copy not in (None, *functions):
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.copy_fn = functions.get(copy)
        super().__init__(datapipe, num_instances, buffer_size)

    def __len__(self) -> int:
        return len(self.main_datapipe)

    def _share(self, element: Any, instance: int) -> bool:
        for buffer, finished in zip(self._buffers, self._finished, strict=True):
            if not finished:
                buffer.append(element if self.copy_fn is None else self.copy_fn(element))
        self._full(max(map(len, self._buffers)) - 1, "ForkerIterDataPipe")
        return True


class _Demultiplex(_Shared):
    form = "demux"

    def __init__(
        self, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], Any], drop_none: bool, buffer_size: int
    ) -> None:
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        super().__init__(datapipe, num_instances, buffer_size)

    def _share(self, element: Any, instance: int) -> bool:
        chosen = self.classifier_fn(element)
        if chosen is None and self.drop_none:
            return False
        if chosen is None or not 0 <= chosen < self.num_instances:
            raise ValueError(
                f"Output of the classification fn should be between 0 and {self.num_instances - 1}. "
                f"{chosen} is returned."
            )
        self._buffers[chosen].append(element)
        if chosen == instance:
            return True
        self._full(sum(map(len, self._buffers)), "DemultiplexerIterDataPipe")
        return False


class _ChildDataPipe(IterDataPipe[Any]):
    """One of the pipes. A new pass of one of them begins anew for all."""

    def __init__(self, main_datapipe: Any, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        return self.main_datapipe.elements(self.instance_id)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.main_datapipe)

    def _begin(self) -> int:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:
            if not main.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and "
                    "each child DataPipe will read from the start again.",
                    stacklevel=4,
                )
            main._begin()
        self._valid_iterator_id = main._valid_iterator_id
        return int(main._valid_iterator_id)

    def _check(self, number: int) -> None:
        if not number == self._valid_iterator_id == self.main_datapipe._valid_iterator_id:
            raise RuntimeError(
                "This iterator has been invalidated, because a new iterator has been created from one of the "
                f"ChildDataPipes of {self.main_datapipe!r}."
            )


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """A list of pipes (one alone is the source itself), each of which has all elements: themselves, or copies if `copy`
    is "shallow" or "deep". One may be up to `buffer_size` elements ahead of another.
    """

    def __new__(cls, datapipe: Any, num_instances: int, buffer_size: int = 1000, copy: str | None = None) -> Any:
        container = _Fork(datapipe, num_instances, buffer_size, copy)
        return datapipe if num_instances == 1 else [_ChildDataPipe(container, each) for each in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """A list of pipes, each of which has the elements for which `classifier_fn` returns its number; those with None are
    left out if `drop_none`, and an error otherwise. Up to `buffer_size` elements may wait.
    """

    def __new__(
        cls,
        datapipe: Any,
        num_instances: int,
        classifier_fn: Callable[[Any], Any],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        check_function(classifier_fn)
        container = _Demultiplex(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(container, each) for each in range(num_instances)]
