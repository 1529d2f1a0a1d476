"""Errors of processes that compute together, under torch's names."""

from __future__ import annotations

from .._base.notes import explained

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]

_PUBLIC = "opweave.distributed"


class DistError(RuntimeError):
    """Something failed between processes."""

    __module__ = _PUBLIC


class DistBackendError(DistError):
    """A rank ended, did not arrive in time, or called something else: a call of all ranks could not be completed."""

    __module__ = _PUBLIC

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        explained(self, "docs/distributed.md#faults")


class DistNetworkError(DistError):
    """A connection between processes could not be made, or has ended."""

    __module__ = _PUBLIC


class DistStoreError(DistError):
    """A store does not have what was waited for."""

    __module__ = _PUBLIC


class QueueEmptyError(DistStoreError):
    """A queue of a store is empty."""

    __module__ = _PUBLIC
