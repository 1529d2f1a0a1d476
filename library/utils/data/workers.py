"""The side of the main process: workers are started, given indices, and their batches put in order."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import queue
import time
import weakref
from collections.abc import Iterator
from typing import Any

from .pinning import pin_memory
from .worker import PATIENCE, Again, Ended, ExceptionWrapper, Worker, _BaseDataLoaderIter, numpy_random

__all__ = ["Workers"]

_TICK = 1.0
"""Seconds after which it is asked whether all workers live."""


def _stop(owner: int, ended: Any, processes: list[Any], queues: list[Any], results: Any) -> None:
    """Ends the workers, which may be in the middle of a batch that nobody will take. They are those of one process: its
    forks have the same objects, and let them alone.
    """
    if os.getpid() != owner:
        return
    ended.value = True
    for each in queues:
        each.put(None)
    end = time.monotonic() + PATIENCE
    for process in processes:
        process.join(timeout=max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.terminate()
            process.join()
    for each in (*queues, results):
        each.close()


class Workers(_BaseDataLoaderIter):
    """The workers of a loader, and one pass over the data."""

    def __init__(self, loader: Any) -> None:
        if loader.prefetch_factor <= 0:
            raise AssertionError(
                f"prefetch_factor must be greater than 0 for workers to have batches ahead, but got "
                f"{loader.prefetch_factor}"
            )
        self.loader, self._pin_memory = loader, loader._pins()
        given = loader.multiprocessing_context
        context: Any = given if hasattr(given, "Process") else multiprocessing.get_context(given)
        self.results = context.Queue()
        self.queues = [context.Queue() for _ in range(loader.num_workers)]
        for each in self.queues:
            each.cancel_join_thread()  # what a worker that has ended was to do keeps no process from its end
        ended = context.RawValue(ctypes.c_bool, False)
        processes: list[Any] = []
        self._end = weakref.finalize(self, _stop, os.getpid(), ended, processes, self.queues, self.results)
        self.processes = processes
        numpy_random()  # imported once, before forks
        pipe_seed = loader._pipe_seed()
        iter(loader._index_sampler)  # torch begins twice here, so what is drawn where a pass begins is drawn twice
        seed = loader._seed()
        for number, indices in enumerate(self.queues):
            worker = Worker(
                loader.dataset, loader._options(), loader.worker_init_fn, number, loader.num_workers, seed, pipe_seed,
                indices, self.results, ended,
            )  # fmt: skip
            process = context.Process(target=worker.run, daemon=True)
            process.start()
            processes.append(process)
        self.outstanding = 0
        self._begin()
        self._fill()

    @property
    def closed(self) -> bool:
        """True if the workers have ended."""
        return not self._end.alive

    def anew(self) -> Workers:
        """Begins another pass, for which the workers' generators of random numbers go on."""
        while self.outstanding:  # batches of a pass that was not finished
            self._receive()
        again = self._begin()
        for each in self.queues:
            each.put(again)
        self._fill()
        return self

    def _begin(self) -> Again:
        """Begins the order of a pass; returns what the workers are to know of it."""
        self.sampler = iter(self.loader._index_sampler)
        self.sent = self.wanted = 0
        self.arrived: dict[int, Any] = {}
        self.active = [True] * len(self.queues)
        self.turn = 0
        return Again(self.loader._pipe_seed())

    def _fill(self) -> None:
        for _ in range(self.loader.prefetch_factor * len(self.queues)):
            self._send()

    def _send(self) -> None:
        """Gives the next worker the next indices, if there are any."""
        if not any(self.active):
            return
        try:
            indices = next(self.sampler)
        except StopIteration:
            return
        while not self.active[self.turn % len(self.queues)]:
            self.turn += 1
        self.queues[self.turn % len(self.queues)].put((self.sent, indices))
        self.turn += 1
        self.sent += 1
        self.outstanding += 1

    def _receive(self) -> tuple[int, Any]:
        """The next batch that a worker has made."""
        limit = self.loader.timeout
        end = time.monotonic() + limit if limit else None
        while True:
            try:
                wait = _TICK if end is None else max(0.0, min(_TICK, end - time.monotonic()))
                number, batch = self.results.get(timeout=wait)
            except queue.Empty:
                dead = [each.pid for each in self.processes if not each.is_alive()]
                if dead:
                    self.close()
                    raise RuntimeError(
                        f"DataLoader worker (pid(s) {', '.join(map(str, dead))}) exited unexpectedly"
                    ) from None
                if end is not None and time.monotonic() >= end:
                    raise RuntimeError(f"DataLoader timed out after {limit} seconds") from None
                continue
            except BaseException:
                self.close()  # an interrupted read may leave the rest of a batch, which would be taken for the next one
                raise
            self.outstanding -= 1
            return number, pickle.loads(batch)

    def _next(self) -> Any:
        while self.wanted < self.sent:
            if self.wanted in self.arrived:
                batch = self.arrived.pop(self.wanted)
            else:
                number, batch = self._receive()
                if self.loader.in_order and number != self.wanted:
                    self.arrived[number] = batch
                    continue
            self.wanted += 1
            if isinstance(batch, Ended):
                self.active[batch.worker] = False
                self._send()
                continue
            self._send()
            if isinstance(batch, ExceptionWrapper):
                batch.reraise()
            return pin_memory(batch) if self._pin_memory else batch
        raise StopIteration

    def close(self) -> None:
        """Ends the workers."""
        self._end()
        self.outstanding = self.wanted = self.sent = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._next()
        except StopIteration:
            if not self.loader.persistent_workers:
                self.close()
            raise

    def __len__(self) -> int:
        return len(self.loader)
