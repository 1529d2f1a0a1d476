"""A barrier that says which ranks do not arrive: rank 0 hears of each of them, and tells them when all are there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .agreement import TEXT_BYTES
from .checks import check_timeout, warn_outside
from .errors import DistBackendError
from .process_group import ProcessGroup, given_group, is_outside
from .work import Work

__all__ = ["monitored_barrier"]

_TAG = 1


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: timedelta | float | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks have called it, and say which do not.

    Args:
        timeout (timedelta): None: that of the group; a float: seconds.
        wait_all_ranks (bool): name all ranks that do not arrive, not only the first one.

    Raises:
        DistBackendError: a rank has ended, or does not arrive within the timeout; on all ranks, the message names it.
    """
    if is_outside(group):
        warn_outside("monitored_barrier")
        return None
    group = given_group(group)
    if isinstance(timeout, float):
        timeout = timedelta(seconds=timeout)
    if timeout is not None:
        check_timeout(timeout)
    seconds = group.seconds if timeout is None else timeout.total_seconds()
    if group.size() > 1:
        _listen(group, seconds, wait_all_ranks) if not group.rank() else _report(group, seconds)
    return None


def _listen(group: ProcessGroup, seconds: float, wait_all_ranks: bool) -> None:
    """Hear of all other ranks, as rank 0, and answer them."""
    comm: Any = group.agreement.comm
    others = range(1, group.size())
    requests = {rank: comm.Irecv([bytearray(1), 1, _byte(group)], rank, _TAG) for rank in others}
    late: list[int] = []
    problems: list[str] = []
    for rank, request in requests.items():
        try:
            # Those after the first one that is late have had their time.
            group.wait(request.Test, [group.ranks[rank]], "monitored_barrier", 0.0 if late else seconds)
        except DistBackendError as error:
            if group.ranks[rank] in group.engine.watch.gone:  # type: ignore[union-attr]
                problems.append(str(error))
            else:
                late.append(group.ranks[rank])
            if not wait_all_ranks:
                break
    if late:
        ranks = ", ".join(map(str, late))
        problems.append(f"monitored_barrier: rank{'s' * (len(late) > 1)} {ranks} did not arrive within {seconds:g} s")
    problem = "; ".join(problems)
    text = problem.encode()[:TEXT_BYTES].ljust(TEXT_BYTES, b"\0")
    there = [rank for rank in others if requests[rank].Test()]
    Work(group, "monitored_barrier", [], [comm.Isend([text, _byte(group)], rank, _TAG) for rank in there]).wait()
    if problem:
        raise DistBackendError(problem)


def _report(group: ProcessGroup, seconds: float) -> None:
    """Tell rank 0 that this one has arrived, and wait for its answer."""
    comm: Any = group.agreement.comm
    answer = bytearray(TEXT_BYTES)
    requests = [comm.Irecv([answer, _byte(group)], 0, _TAG), comm.Isend([b"!", _byte(group)], 0, _TAG)]
    # Rank 0 answers within the timeout after it has arrived, which it may do as late as that.
    Work(group, "monitored_barrier", group.ranks[:1], requests).wait(timedelta(seconds=2 * seconds))
    problem = answer.rstrip(b"\0").decode()
    if problem:
        raise DistBackendError(problem)


def _byte(group: ProcessGroup) -> Any:
    return group.engine.mpi.BYTE  # type: ignore[union-attr]
