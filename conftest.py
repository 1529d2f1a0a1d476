"""Imports opweave once, before pytest-xdist starts its workers.

In an editable install the first import rebuilds what is stale, and two processes that do so at once collide: a second
run of the tests waits for the first one's import. Where opweave is not installed the tests of codegen alone still run.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import settings

from codegen.generate import locked

# Looking for the package builds it as well. Workers need no lock: what started them has built.
with nullcontext() if "PYTEST_XDIST_WORKER" in os.environ else locked(Path(__file__).parent):
    if importlib.util.find_spec("opweave") is not None:
        importlib.import_module("opweave")

pytest_plugins = ["batches"]

# The same few examples in every run, however long they take, so that a failure is the doing of a change; what is marked
# slow tries new ones, as does everything with `--hypothesis-profile=thorough`.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("repeatable")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected: the garbage collector looks at nothing of it, now or in the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem.endswith("_oracle"):
            item.add_marker("oracle")
