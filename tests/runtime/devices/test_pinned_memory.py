"""Memory of the CPU that an accelerator allocates, by pinned.py; and what there is without an accelerator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from opweave.utils.data import DataLoader
from opweave.utils.data._utils.pin_memory import pin_memory


def test_on_an_accelerator() -> None:
    cases = Path(__file__).with_name("pinned.py")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--noconftest", "-p", "no:cacheprovider", str(cases)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_at_exit() -> None:
    """Blocks that tensors hold when Python ends are given back at most once, and nothing is called after its end."""
    program = """
from devices import pinned
import opweave as ow
held = [ow.ones(2).pin_memory(), ow.zeros(3, pin_memory=True)]
held.append(held)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent.parent, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ow.ones(1).pin_memory(), "Cannot access accelerator device when none is available."),
        (lambda: ow.eye(2).to_sparse().pin_memory(), "Cannot access accelerator device when none is available."),
        (lambda: ow.ones(1, pin_memory=True), "no pinned memory allocator is available on this system."),
        (lambda: ow.tensor([1], pin_memory=True), "no pinned memory allocator is available on this system."),
        (lambda: ow.empty_like(ow.ones(1), pin_memory=True), "no pinned memory allocator is available on this system."),
        (lambda: ow.from_file("none", size=1, pin_memory=True), "tensors constructed from a file cannot be pinned"),
    ],
)
def test_without_an_accelerator(call: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        call()


def test_loaders_warn_without_an_accelerator() -> None:
    loader = DataLoader(range(2), pin_memory=True)
    with pytest.warns(UserWarning, match="no accelerator is found, then device pinned memory won't be used"):
        assert [batch.tolist() for batch in loader] == [[0], [1]]
    assert pin_memory(["text", 3]) == ["text", 3]
