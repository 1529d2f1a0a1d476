"""Tests of other libraries, as their users use them: `python -m pytest -m slow tests/ecosystem`. All are slow, because
of the imports; those of libraries that are not installed are skipped (`pip install opweave[ecosystem]`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr == "slow":
        os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when SciPy is imported
    folder = Path(__file__).parent
    here = {path for path in {item.path for item in items} if folder in path.parents}
    for item in items:
        if item.path in here:
            item.add_marker("slow")
