"""The namespace `opweave.futures`: results that another thread will set."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]
_PACKAGE_NAMES = ["Future"]

_T = TypeVar("_T")
_S = TypeVar("_S")


class Future(Generic[_T]):
    """A result that is set once, by `set_result` or `set_exception`, and that callers may wait for.

    Args:
        devices: accepted, and without effect: there are no streams.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._result: concurrent.futures.Future[_T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Return whether there is a result or an exception."""
        return self._result.done()

    def wait(self) -> _T:
        """Return the result when it is there, or raise the exception that was set."""
        return self._result.result()

    def value(self) -> _T:
        """Return the result, or raise the exception that was set.

        Raises:
            RuntimeError: there is none yet.
        """
        if not self.done():
            raise RuntimeError("Future not completed: wait() returns its value when it is there")
        return self._result.result()

    def then(self, callback: Callable[[Future[_T]], _S]) -> Future[_S]:
        """Return the future of `callback(self)`, which is called as soon as there is a result or an exception."""
        following: Future[_S] = self._following()

        def call(_: object) -> None:
            try:
                following.set_result(callback(self))
            except BaseException as error:
                following._set_exception(error)

        self._result.add_done_callback(call)
        return following

    def _following(self) -> Future[Any]:
        """A future without a result, for `then`."""
        return Future()

    def add_done_callback(self, callback: Callable[[Future[_T]], None]) -> None:
        """Call `callback(self)` as soon as there is a result or an exception; what it raises is logged."""
        self._result.add_done_callback(lambda _: callback(self))

    def set_result(self, result: _T) -> None:
        """Set the result.

        Raises:
            RuntimeError: there is a result or an exception already.
        """
        self._check_open()
        self._result.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception, which all who wait for the result raise.

        Raises:
            AssertionError: it is no exception.
            RuntimeError: there is a result or an exception already.
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._check_open()
        self._result.set_exception(result)

    def _set_exception(self, error: BaseException) -> None:
        self._result.set_exception(error)

    def _check_open(self) -> None:
        if self._result.done():
            raise RuntimeError("Future can only be marked completed once")


class _Collected(Future[list[Future[Any]]]):
    """Several futures. Waiting for them is waiting for each, as some have results only then."""

    def __init__(self, futures: list[Future[Any]]) -> None:
        super().__init__()
        self._futures = futures

    def wait(self) -> list[Future[Any]]:
        for each in self._futures:
            with contextlib.suppress(Exception):
                each.wait()
        return super().wait()


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return the future of all these futures, which has its result when all of them have theirs."""
    found: Future[list[Future[Any]]] = _Collected(futures)
    left, lock = len(futures), threading.Lock()
    if not futures:
        found.set_result([])

    def count(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = not left
        if last:
            found.set_result(futures)

    for each in futures:
        each.add_done_callback(count)
    return found


def wait_all(futures: Iterable[Future[_T]]) -> list[_T]:
    """Return the results of all futures when they are there; the first exception among them is raised."""
    given = list(futures)
    return [each.wait() for each in collect_all(given).wait()]
