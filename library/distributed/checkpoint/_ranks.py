"""The ranks that write or read a checkpoint together: what fails on one of them is raised on all."""

from __future__ import annotations

from collections.abc import Callable
from traceback import StackSummary
from typing import Any, TypeVar

from .. import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    get_rank,
    get_world_size,
    is_initialized,
    scatter_object_list,
)
from .api import CheckpointException, failed

__all__ = ["Ranks", "has_ranks"]

T = TypeVar("T")
R = TypeVar("R")


def has_ranks(no_dist: bool) -> bool:
    """Return whether ranks work together: not where `no_dist` is asked for, or there is no group."""
    return not no_dist and is_initialized()


class Ranks:
    """The ranks of a group, one of which coordinates; without a group, this process alone."""

    def __init__(self, group: Any, is_together: bool, coordinator: int) -> None:
        self.group = group
        self.coordinator = coordinator
        self.rank = get_rank(group) if is_together else coordinator
        self.size = get_world_size(group) if is_together else 1
        self.is_coordinator = self.rank == coordinator

    def plan(self, step: str, local: Callable[[], T], together: Callable[[list[T]], list[R]]) -> R:
        """Call `local` on all ranks and `together` with all results on the coordinator; what that gives this rank."""
        results = self._combined(step, local, together)
        if self.size > 1:
            received: list[Any] = [None]
            given = results if isinstance(results, list) else [results] * self.size
            scatter_object_list(received, given if self.is_coordinator else None, group=self.group, **self._source)
        else:
            received = results if isinstance(results, list) else [results]
        result: R = _checked(received[0])
        return result

    def conclude(self, step: str, local: Callable[[], T], together: Callable[[list[T]], R]) -> R:
        """Call `local` on all ranks and `together` with all results on the coordinator; what that gives all."""
        sent = [self._combined(step, local, together)]
        if self.size > 1:
            broadcast_object_list(sent, group=self.group, **self._source)
        result: R = _checked(sent[0])
        return result

    def each(self, step: str, local: Callable[[], T]) -> list[T]:
        """Call `local` on all ranks; all results."""
        results = [_attempted(local)]
        if self.size > 1:
            own, results = results[0], [None] * self.size
            all_gather_object(results, own, self.group)
        failures = _failures(results)
        if failures:
            raise CheckpointException(step, failures)
        return results

    @property
    def _source(self) -> dict[str, int]:
        return {"group_src": self.coordinator}

    def _combined(self, step: str, local: Callable[[], Any], together: Callable[[list[Any]], Any]) -> Any:
        """On the coordinator, what `together` returns, or a CheckpointException; None on other ranks."""
        results = [_attempted(local)]
        if self.size > 1:
            own, results = results[0], [None] * self.size
            gather_object(own, results if self.is_coordinator else None, group=self.group, group_dst=self.coordinator)
        if not self.is_coordinator:
            return None
        failures = _failures(results)
        if not failures:
            result = _attempted(lambda: together(results))
            if not _is_failure(result):
                return result
            failures[self.rank] = result
        return CheckpointException(step, failures)


def _attempted(function: Callable[[], Any]) -> Any:
    """The result of a function, or how it failed."""
    try:
        return function()
    except BaseException as error:
        return failed(error)


def _is_failure(result: Any) -> bool:
    return (
        isinstance(result, tuple)
        and len(result) == 2
        and isinstance(result[0], BaseException)
        and isinstance(result[1], StackSummary)
    )


def _failures(results: list[Any]) -> dict[int, Any]:
    return {rank: result for rank, result in enumerate(results) if _is_failure(result)}


def _checked(result: Any) -> Any:
    if isinstance(result, CheckpointException):
        raise result
    return result
