"""Imports opweave once, before pytest-xdist starts its workers.

In an editable install the first import rebuilds what is stale, and two processes that do so at once collide: a second
run of the tests waits for the first one's import. Where opweave is not installed the tests of codegen alone still run.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import settings


@contextmanager
def _building_alone() -> Iterator[None]:
    """Locks the source tree. Workers need not: what started them has built."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        yield
        return
    handle = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks for folders
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# Looking for the package builds it as well.
with _building_alone():
    if importlib.util.find_spec("opweave") is not None:
        importlib.import_module("opweave")


# The same examples in every run, however long they take, so that a failure is the doing of a change; what is marked
# slow tries new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem.endswith("_oracle"):
            item.add_marker("oracle")
