"""What worker processes do: read elements by the indices that they are sent, and send batches back."""

from __future__ import annotations

import pickle
import queue
import random
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import random as seeds
from ..._base.threads import set_num_threads
from .dataset import IterableDataset
from .graph_settings import prepare_pipes

__all__ = ["ExceptionWrapper", "Fetcher", "WorkerInfo", "get_worker_info", "run"]


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker process knows of itself: its number, how many there are, the seed of its random numbers, and its
    copy of the data set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return what this worker process knows of itself; None in any other process."""
    return _info


class ExceptionWrapper:
    """An exception on its way from a worker process."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind: type[BaseException] = type(error)
        self.where = where
        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))

    def reraise(self) -> None:
        """Raise an exception of the same type, whose text has the traceback."""
        text = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(text)
        try:
            error = self.kind(text)
        except TypeError:  # its constructor wants something else
            raise RuntimeError(text) from None
        raise error


class Fetcher:
    """Makes batches of a data set."""

    def __init__(self, dataset: Any, auto_collation: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.auto, self.collate, self.drop_last = dataset, auto_collation, collate, drop_last
        self.iterator = iter(dataset) if isinstance(dataset, IterableDataset) else None
        self.ended = False

    def fetch(self, indices: Any) -> Any:
        """Return the batch of these indices; raise StopIteration where there are no more elements."""
        if self.iterator is not None:
            return self._next(indices)
        if not self.auto:
            return self.collate(self.dataset[indices])
        at_once = getattr(self.dataset, "__getitems__", None)
        return self.collate(at_once(indices) if at_once else [self.dataset[index] for index in indices])

    def _next(self, indices: Any) -> Any:
        assert self.iterator is not None
        if self.ended:
            raise StopIteration
        if not self.auto:
            return self.collate(next(self.iterator))
        elements = []
        for _ in indices:
            try:
                elements.append(next(self.iterator))
            except StopIteration:
                self.ended = True
                break
        if not elements or (self.drop_last and len(elements) < len(indices)):
            raise StopIteration
        return self.collate(elements)


@dataclass(frozen=True)
class Ended:
    """What a worker sends when its iterable data set has ended."""

    worker: int


def run(
    dataset: Any,
    options: tuple[bool, Callable[[Any], Any], bool],
    indices: Any,
    results: Any,
    seed: int,
    worker: int,
    workers: int,
    init: Callable[[int], Any] | None,
) -> None:
    """The life of a worker process: pairs of a number and indices come, the number and a batch go. None ends it, and a
    seed alone begins anew.
    """
    global _info
    set_num_threads(1)
    fetcher: Any = None
    first = True
    while True:
        try:
            task = indices.get()
        except (EOFError, KeyboardInterrupt, queue.Empty):
            return
        if task is None:
            return
        number, wanted = task
        try:
            if number is None:  # a new pass over the data
                seed, pipe_seed = wanted
                _begin(seed + worker)
                _info = WorkerInfo(worker, workers, seed + worker, dataset)
                prepare_pipes(dataset, pipe_seed, workers, worker)
                if first and init is not None:
                    init(worker)
                first = False
                fetcher = Fetcher(dataset, *options)
                continue
            # Pickled here, where an error can be reported, and not by the thread of the queue.
            results.put((number, pickle.dumps(fetcher.fetch(wanted))))
        except StopIteration:
            results.put((number, pickle.dumps(Ended(worker))))
        except KeyboardInterrupt:
            return
        except Exception as error:
            results.put((number, _packed(ExceptionWrapper(error, f"in DataLoader worker process {worker}"))))


def _packed(wrapper: ExceptionWrapper) -> bytes:
    try:
        return pickle.dumps(wrapper)
    except Exception:  # a class that the other process cannot find
        wrapper.kind = RuntimeError
        return pickle.dumps(wrapper)


def _begin(seed: int) -> None:
    """Seeds all generators of random numbers in this process."""
    random.seed(seed)
    seeds.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
