"""Calls that are under way: `Work`, which advances when it is asked or waited for.

A call of all ranks begins with a message by which they agree on it (agreement.py). What moves begins when all have
agreed, in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from opweave._C import lib

from ..futures import Future
from .agreement import TEXT_BYTES, Call, Message
from .errors import DistBackendError

if TYPE_CHECKING:
    from .process_group import ProcessGroup

__all__ = ["Agreed", "Work", "agree"]

_SPINS = 200
"""Tests of a message before what a wait needs is made."""


class Work:
    """A call that was begun. It ends with `wait`; `is_completed` asks, and lets it advance.

    Args:
        group (ProcessGroup): whose ranks take part.
        describe: what is printed in messages.
        members: the ranks, of all processes, without which it cannot be done.
        requests: what MPI does.
        finish (Callable): called once when that is done.
        result: the tensors that it gives.
    """

    def __init__(
        self,
        group: ProcessGroup,
        describe: Any,
        members: Sequence[int],
        requests: Sequence[Any],
        finish: Callable[[], object] | None = None,
        result: Sequence[Any] = (),
    ) -> None:
        self._group = group
        self._describe = describe
        self._members = members
        self._requests = list(requests)
        self._finish = finish
        self._result = list(result)
        self._is_done = False
        self._error: BaseException | None = None
        self._futures: list[Future[Any]] = []

    def _advance(self) -> bool:
        """Do what can be done now; whether the call is done."""
        if self._is_done:
            return True
        if self._error is not None:
            raise self._error
        try:
            while self._requests:
                if not self._requests[-1].Test():
                    return False
                self._requests.pop()
            if self._finish is not None:
                self._finish()
        except DistBackendError as error:
            self._fail(error)
        except RuntimeError as error:  # of MPI
            self._fail(self._group.explain(self._describe, self._members, error))
        self._done()
        return True

    def _done(self) -> None:
        self._is_done = True
        self._finish = None
        for future in self._futures:
            future.set_result(self._result)

    def _fail(self, error: DistBackendError) -> None:
        """Raise an error, now and whenever the call is asked for. MPI may go on with the memory: it is kept."""
        self._error = error
        self._group.give_up(self, error)
        for future in self._futures:
            future.set_exception(error)
        raise error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the call is done, and return True.

        Raises:
            DistBackendError: a rank has ended or calls something else, or it takes longer than the timeout (None:
            that of
                the group).
        """
        if not self._advance():
            seconds = self._group.seconds if not timeout else timeout.total_seconds()
            try:
                self._group.wait(self._advance, self._members, self._describe, seconds)
            except DistBackendError as error:
                if self._error is None:
                    self._fail(error)
                raise
        return True

    def is_completed(self) -> bool:
        """Return whether the call is done, or has failed."""
        try:
            return self._advance()
        except DistBackendError:
            return True

    def is_success(self) -> bool:
        """Return whether the call is done and has not failed."""
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error of a call that has failed."""
        return self._error

    def synchronize(self) -> None:
        """Wait until the call is done."""
        self.wait()

    def result(self) -> list[Any]:
        """Return the tensors that the call gives."""
        return self._result

    def get_future(self) -> Future[Any]:
        """Return a future of the tensors that the call gives. Waiting for it advances the call."""
        future = _WaitingFuture(self)
        if self._is_done:
            future.set_result(self._result)
        else:
            self._futures.append(future)
        return future

    def _source_rank(self) -> int:
        """The rank, within the group, of the one that has sent."""
        raise RuntimeError(f"{self._describe} has no source")


class _WaitingFuture(Future[Any]):
    """A future that has its result when somebody waits for it, or for one that follows from it."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def _following(self) -> Future[Any]:
        return _WaitingFuture(self._work)

    def done(self) -> bool:
        return super().done() or self._work.is_completed()

    def wait(self) -> Any:
        self._work.wait()
        return super().wait()


class Agreed(Work):
    """A call of all ranks of a group, which begins when they have agreed on it.

    Args:
        call (Call): what it is.
        start (Callable): begins to move, and returns requests; None: all that moves is in the message.
        elements: the tensor whose elements are in the message, and the number of their combination.
    """

    def __init__(
        self,
        group: ProcessGroup,
        call: Call,
        start: Callable[[], Sequence[Any]] | None,
        finish: Callable[[], object] | None = None,
        result: Sequence[Any] = (),
        elements: tuple[Any, int] | None = None,
    ) -> None:
        super().__init__(group, call, group.ranks, (), finish, result)
        self._start = start
        self._number = call.number()
        self._tensor = 0.0 if elements is None else elements[0]._h
        self._kept = elements
        self._message: Message = group.begin(self._number, self._tensor, 0 if elements is None else elements[1])
        self._message.owner = self
        self._before = group.last
        self._has_begun = False
        group.last = self

    def _advance(self) -> bool:
        return (self._has_begun and super()._advance()) or (
            not self._has_begun and self._begin() and super()._advance()
        )

    def _begin(self) -> bool:
        """Begin to move, if all have agreed and all calls before have begun; whether it has."""
        if self._error is not None:
            raise self._error
        before = self._before
        if before is not None:
            if before._error is None and not before._has_begun and not before._begin():
                return False
            self._before = None
        if not self._message.is_there():
            return False
        self._has_begun = True
        self._message.owner = None
        if self._group.last is self:
            self._group.last = None
        if not lib.message_end(self._message.address, self._number, self._tensor):
            self._error = _disagreement(self._group, self._describe)
            for future in self._futures:
                future.set_exception(self._error)
            raise self._error
        if self._start is not None:
            self._requests = list(self._start())
        return True

    def _done(self) -> None:
        self._start = None  # which has kept the memory that MPI reads
        super()._done()


def _disagreement(group: ProcessGroup, call: Any) -> DistBackendError:
    """The error that says what each rank calls."""
    texts = group.describe_all(str(call).encode()[:TEXT_BYTES].ljust(TEXT_BYTES, b"\0"))
    callers: dict[str, list[int]] = {}
    for rank, text in zip(group.ranks, texts, strict=True):
        callers.setdefault(text, []).append(rank)
    said = "; ".join(
        f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}: {text}" for text, ranks in callers.items()
    )
    return DistBackendError(f"Detected mismatch between collectives on ranks. {said}")


def agree(group: ProcessGroup, call: Call, tensor: Any = None, combination: int = 0) -> None:
    """Make a call of which everything is in its message, and wait for it: a barrier, or the reduction of few elements.

    Raises:
        DistBackendError: a rank has ended, calls something else, or does not arrive.
    """
    if group.last is not None:
        Agreed(group, call, None, None, (), None if tensor is None else (tensor, combination)).wait()
        return
    number, handle = call.number(), 0.0 if tensor is None else tensor._h
    message = group.begin(number, handle, combination)
    for _ in range(_SPINS):
        if message.is_there():
            break
    else:
        try:
            group.wait(message.is_there, group.ranks, call, group.seconds)
        except DistBackendError as error:
            group.give_up(message, error)
            raise
    if not lib.message_end(message.address, number, handle):
        raise _disagreement(group, call)
