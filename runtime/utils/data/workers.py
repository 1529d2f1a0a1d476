"""The side of the main process: workers are started, given indices, and their batches put in order."""

from __future__ import annotations

import multiprocessing
import pickle
import queue
import time
import weakref
from collections.abc import Iterator
from typing import Any

from .worker import Ended, ExceptionWrapper, run

__all__ = ["Workers"]

_TICK = 1.0
"""Seconds after which it is asked whether all workers live."""


def _stop(processes: list[Any], queues: list[Any], results: Any) -> None:
    """Ends the workers, which may be in the middle of a batch that nobody will take."""
    for each in queues:
        each.put(None)
    end = time.monotonic() + 5.0
    for process in processes:
        while process.is_alive() and time.monotonic() < end:
            try:  # a worker does not end before what it has sent is taken
                results.get(timeout=0.05)
            except (queue.Empty, OSError, EOFError):
                process.join(timeout=0.01)
        if process.is_alive():
            process.terminate()
        process.join()
    for each in (*queues, results):
        each.cancel_join_thread()
        each.close()


class Workers:
    """The workers of a loader, and one pass over the data."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader
        given = loader.multiprocessing_context
        context: Any = given if hasattr(given, "Process") else multiprocessing.get_context(given)
        self.results = context.Queue()
        self.queues = [context.Queue() for _ in range(loader.num_workers)]
        self.processes = []
        for number, indices in enumerate(self.queues):
            arguments = (
                loader.dataset, loader._options(), indices, self.results, 0, number, loader.num_workers,
                loader.worker_init_fn,
            )  # fmt: skip
            process = context.Process(target=run, args=arguments, daemon=True)
            process.start()
            self.processes.append(process)
        self._end = weakref.finalize(self, _stop, self.processes, self.queues, self.results)
        self.outstanding = 0
        self.anew()

    def anew(self) -> Workers:
        """Begins another pass."""
        while self.outstanding:  # batches of a pass that was not finished
            self._receive()
        pipe_seed = self.loader._pipe_seed()
        self.sampler = iter(self.loader._index_sampler)
        seed = self.loader._seed()
        for each in self.queues:
            each.put((None, (seed, pipe_seed)))
        self.sent = self.wanted = 0
        self.arrived: dict[int, Any] = {}
        self.active = [True] * len(self.queues)
        self.turn = 0
        for _ in range(self.loader.prefetch_factor * len(self.queues)):
            self._send()
        return self

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
            return batch
        raise StopIteration

    def close(self) -> None:
        """Ends the workers."""
        self._end()
        self.outstanding = 0

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
