"""The error of a checkpoint: what failed, on which ranks."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

__all__ = ["CheckpointException", "Failure", "failed"]

Failure = tuple[BaseException, traceback.StackSummary]


def failed(error: BaseException) -> Failure:
    """Return an error with the lines of code where it was raised, as it is sent to other ranks."""
    lines = traceback.extract_tb(error.__traceback__)
    lines = traceback.StackSummary.from_list(
        [(each.filename, each.lineno or 0, each.name, each.line) for each in lines]
    )
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # of whatever its class does when it is pickled
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return error, lines


class CheckpointException(BaseException):
    """A checkpoint could not be written or read: raised on all ranks, also on those where nothing failed.

    Args:
        msg (str): the step that failed.
        failures (dict): by rank, the error and the lines of code where it was raised.
    """

    __module__ = "opweave.distributed.checkpoint"

    def __init__(self, msg: str, failures: dict[int, Failure]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Any]:
        """The errors by rank, each with the lines of code where it was raised."""
        return self._failures

    def __str__(self) -> str:
        text = f"CheckpointException ranks:{self._failures.keys()}\n"
        for rank, (error, lines) in self._failures.items():
            text += f"Traceback (most recent call last): (RANK {rank})\n"
            text += "".join(traceback.format_list(lines))
            text += "".join(traceback.format_exception_only(type(error), error))
        return text
