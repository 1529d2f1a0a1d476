"""Calls that are under way: `Work`, which advances when it is asked or waited for.

A call of all ranks begins with a message by which they find out whether they make the same one. Its number is a hash
of the operation, the dtype and the shape, of which all learn the lowest and the highest. The elements of a small
reduction travel in the same message, and a barrier is nothing else. What moves begins when all have agreed, in the
order of the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from opweave._C import lib

from ..futures import Future
from .errors import DistBackendError

if TYPE_CHECKING:
    from .process_group import ProcessGroup

__all__ = ["TEXT_BYTES", "Agreed", "Call", "Work"]

TEXT_BYTES = 256
"""The length of texts that ranks send one another."""


class Call:
    """A call of a rank: the name of the function, and what must be the same on all ranks."""

    __slots__ = ("kind", "name", "numbers", "root", "tensor")

    def __init__(self, name: str, tensor: Any = None, kind: Any = None, root: int = -1, numbers: Any = ()) -> None:
        self.name = name
        self.tensor = tensor
        self.kind = kind
        self.root = root
        self.numbers = numbers

    def number(self) -> int:
        """A number that differs, in all likelihood, from that of another call: hashes of integers are those of every
        process."""
        tensor, kind = self.tensor, self.kind
        about = () if tensor is None else (tensor.dtype.code, *tensor.shape)
        return hash((_NUMBERS[self.name], -1 if kind is None else kind.value, self.root, about, self.numbers))

    def __str__(self) -> str:
        parts = []
        if self.tensor is not None:
            parts.append(f"{self.tensor.dtype._name}{list(self.tensor.shape)}")
        if self.kind is not None:
            parts.append(self.kind.name)
        if self.root >= 0:
            parts.append(f"root {self.root}")
        parts += [f"{list(each)}" for each in (self.numbers,) if each]
        return f"{self.name}({', '.join(parts)})"


_NAMES = (
    "barrier", "broadcast", "all_reduce", "reduce", "all_gather", "gather", "scatter", "reduce_scatter", "all_to_all",
    "new_group",
)  # fmt: skip
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}


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
            self._fail(DistBackendError(f"{self._describe} on rank {self._group.global_rank}: {error}"))
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
        self._group.abandoned.append(self)
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
        self._message = group.begin(self._number, self._tensor, 0 if elements is None else elements[1])
        self._kept = elements
        self._agreement = self._message.request
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
        if not self._agreement.Test():
            return False
        self._has_begun = True
        if self._group.last is self:
            self._group.last = None
        if not lib.message_end(self._message.address, self._number, self._tensor):
            self._disagree()
        self._group.messages.append(self._message)
        if self._start is not None:
            self._requests = list(self._start())
            self._start = None
        return True

    def _disagree(self) -> None:
        """Raise an error that says what each rank calls."""
        texts = self._group.describe_all(str(self._describe).encode()[:TEXT_BYTES].ljust(TEXT_BYTES, b"\0"))
        groups: dict[str, list[int]] = {}
        for rank, text in zip(self._group.ranks, texts, strict=True):
            groups.setdefault(text, []).append(rank)
        said = "; ".join(
            f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}: {text}"
            for text, ranks in groups.items()
        )
        self._fail(DistBackendError(f"Detected mismatch between collectives on ranks. {said}"))
