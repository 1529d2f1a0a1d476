"""The namespace `opweave.distributed.elastic.multiprocessing`."""

from __future__ import annotations

from . import errors

__all__ = ["errors"]
