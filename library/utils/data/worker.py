"""Worker processes: they read elements by the indices that they are sent, and send batches back."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import queue
import random
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ... import random as seeds
from ..._base.lazy_imports import load
from ..._base.threads import set_num_threads
from .dataset import IterableDataset
from .graph_settings import prepare_pipes

__all__ = [
    "PATIENCE", "Again", "EndOfDataError", "Ended", "ExceptionWrapper", "Fetcher", "Worker", "WorkerInfo",
    "get_worker_info", "numpy_random",
]  # fmt: skip

PATIENCE = 5.0
"""Seconds for which processes wait for one another before they ask whether the other lives."""


@dataclass(frozen=True)
class WorkerInfo:
    """The facts of a worker process: its number, how many there are, the seed of its random numbers, and its copy of
    the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return what this worker process knows of itself; None in any other process."""
    return _info


class _BaseDataLoaderIter:
    """Base of what goes over the batches of a loader, in this process or by workers."""


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


class EndOfDataError(Exception):
    """Error: there are no more elements in an iterable data set."""


class Fetcher:
    """Makes batches of a data set."""

    def __init__(self, dataset: Any, auto_collation: bool, collate: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.auto, self.collate, self.drop_last = dataset, auto_collation, collate, drop_last
        self.iterator = iter(dataset) if isinstance(dataset, IterableDataset) else None
        self.ended = False

    def fetch(self, indices: Any) -> Any:
        """Return the batch of these indices.

        Raises:
            EndOfDataError: there are no more elements.
            RuntimeError: the data set or its `collate_fn` raised StopIteration, which would end the pass over the data
                without a word.
        """
        try:
            return self._next(indices) if self.iterator is not None else self._at(indices)
        except StopIteration as error:
            raise RuntimeError(
                "DataLoader: the dataset or collate_fn raised StopIteration; expected an element or a batch, or "
                "another exception where there is none"
            ) from error

    def _at(self, indices: Any) -> Any:
        if not self.auto:
            return self.collate(self.dataset[indices])
        at_once = getattr(self.dataset, "__getitems__", None)
        return self.collate(at_once(indices) if at_once else [self.dataset[index] for index in indices])

    def _next(self, indices: Any) -> Any:
        assert self.iterator is not None
        wanted = len(indices) if self.auto else 1
        elements = [] if self.ended else list(itertools.islice(self.iterator, wanted))
        self.ended = len(elements) < wanted
        if not elements or (self.drop_last and self.ended):
            raise EndOfDataError
        return self.collate(elements if self.auto else elements[0])


@dataclass(frozen=True)
class Ended:
    """The message of a worker whose iterable data set has ended."""

    worker: int


@dataclass(frozen=True)
class Again:
    """The message that begins another pass over the data in a worker that lives on."""

    pipe_seed: int | None


@dataclass
class Worker:
    """The arguments of a worker process: the data set and how batches are made of it, what tells it from the others,
    and its queues.

    Numbers with indices come in the queue `indices`, and go with batches to `results`. None ends the worker. `ended` is
    shared memory that is true from then on: a flag without a lock, which a worker that was killed could keep.
    """

    dataset: Any
    options: tuple[bool, Callable[[Any], Any], bool]
    init: Callable[[int], Any] | None
    number: int
    workers: int
    base_seed: int
    pipe_seed: int | None
    indices: Any
    results: Any
    ended: Any

    def run(self) -> None:
        """Live as a process."""
        is_orphan = _parent_watch()
        try:
            self._answer_all(is_orphan)
        except KeyboardInterrupt:
            # Ctrl-C reaches all processes of a terminal. The main one will say that this one is to end; where it does
            # not, as only this one was interrupted, it finds that this one has ended.
            end = time.monotonic() + PATIENCE
            with contextlib.suppress(KeyboardInterrupt):
                while not (self.ended.value or is_orphan()) and time.monotonic() < end:
                    time.sleep(0.01)
        finally:
            if self.ended.value or is_orphan():  # nobody takes what has not been sent yet
                self.results.cancel_join_thread()

    def _answer_all(self, is_orphan: Callable[[], bool]) -> None:
        global _info
        set_num_threads(1)
        seed = self.base_seed + self.number
        _seed_all(self.base_seed, self.number)
        _info = WorkerInfo(self.number, self.workers, seed, self.dataset)
        fetcher = self._begin(self.pipe_seed)
        for task in self._tasks(is_orphan):
            if isinstance(task, Again):
                fetcher = self._begin(task.pipe_seed)
                continue
            number, indices = task
            # Pickled here, where an error can be reported, and not by the thread of the queue.
            try:
                batch = pickle.dumps(fetcher if isinstance(fetcher, ExceptionWrapper) else fetcher.fetch(indices))
            except EndOfDataError:
                batch = pickle.dumps(Ended(self.number))
            except Exception as error:
                batch = _packed(self._wrapped(error))
            self.results.put((number, batch))

    def _tasks(self, is_orphan: Callable[[], bool]) -> Iterator[Any]:
        """Yield the tasks until the end."""
        while not is_orphan():
            try:
                task = self.indices.get(timeout=PATIENCE)
            except queue.Empty:
                continue
            if task is None:
                return
            if not self.ended.value:
                yield task

    def _begin(self, pipe_seed: int | None) -> Fetcher | ExceptionWrapper:
        """Return the fetcher of a pass; the exception that answers all its tasks if it cannot begin."""
        try:
            prepare_pipes(self.dataset, pipe_seed, self.workers, self.number)
            if self.init is not None:
                self.init(self.number)
                self.init = None  # it is called once, unless it failed
            return Fetcher(self.dataset, *self.options)
        except Exception as error:
            return self._wrapped(error)

    def _wrapped(self, error: Exception) -> ExceptionWrapper:
        return ExceptionWrapper(error, f"in DataLoader worker process {self.number}")


def _packed(wrapper: ExceptionWrapper) -> bytes:
    try:
        return pickle.dumps(wrapper)
    except Exception:  # a class that the other process cannot find
        wrapper.kind = RuntimeError
        return pickle.dumps(wrapper)


def _parent_watch() -> Callable[[], bool]:
    """A function that says whether the process is gone that this one works for.

    Another process becomes the parent of an orphan. A process that was started by a fork server has that server as its
    parent, and one whose parent was gone from the beginning never sees a change: of these the pipe tells that
    multiprocessing keeps, which other processes may hold open.
    """
    known, parent = os.getppid(), multiprocessing.parent_process()
    return lambda: os.getppid() != known or (parent is not None and not parent.is_alive())


def numpy_random() -> Any:
    """The module, which may have been left out of the installation."""
    try:
        return load("numpy.random")
    except ImportError:
        return None


def _seed_all(base_seed: int, worker: int) -> None:
    """Seeds all generators of random numbers in this process, that of NumPy by words in which those of the seed and the
    worker are mixed: its algorithm is that of module random.
    """
    random.seed(base_seed + worker)
    seeds.manual_seed(base_seed + worker)
    numpy = numpy_random()
    if numpy is not None:
        numpy.seed(_generate_state(base_seed, worker))


def _generate_state(base_seed: int, worker_id: int) -> Any:
    """Return four numbers that seed NumPy's generator in a worker."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return numpy_random().SeedSequence(words).generate_state(4)
