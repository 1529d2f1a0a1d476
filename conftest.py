"""Imports opweave once, before pytest-xdist starts its workers.

In an editable install the first import rebuilds what is stale, and two processes that do so at once collide.
Where opweave is not installed the tests of codegen alone still run.
"""

from __future__ import annotations

import importlib
import importlib.util

import pytest
from hypothesis import settings

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
