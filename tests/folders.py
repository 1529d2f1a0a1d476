"""Folders that all processes of a test run share: what takes long is made by the first of them that needs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """The folder of this name; who looks whether something is there, and makes it, holds `codegen.generate.locked`."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    return folder


def written(path: Path, text: str) -> Path:
    """The file with this text, which other processes of the run may be reading already."""
    if not path.exists():
        own = path.with_suffix(f".{os.getpid()}")
        own.write_text(text)
        own.replace(path)
    return path
