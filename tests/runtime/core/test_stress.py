"""Allocator, tensors and thread pool under load: plain, and with the sanitizers for addresses and for races."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

BuildStress = Callable[[str], Path]

PLAIN = "-O2"
ADDRESS = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
THREAD = "-O1 -fsanitize=thread"


def run(program: Path, what: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1", ASAN_OPTIONS="detect_leaks=1")
    environment.pop("LD_PRELOAD", None)
    return subprocess.run([program, what], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("what", ["tensor", "alloc", "parallel", "fork"])
@pytest.mark.parametrize("options", [PLAIN, ADDRESS], ids=["plain", "address"])
def test_stress(build_stress: BuildStress, options: str, what: str) -> None:
    done = run(build_stress(options), what)
    assert done.returncode == 0, done.stderr


def test_exhausted_memory_is_an_error_at_every_size(build_stress: BuildStress) -> None:
    done = run(build_stress(PLAIN), "exhaust")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["tensor", "alloc", "parallel"])  # the tool does not follow threads across fork
def test_races(build_stress: BuildStress, what: str) -> None:
    done = run(build_stress(THREAD), what)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["use-after-free-small", "use-after-free-large", "overrun-small", "overrun-large"])
def test_misuse_is_seen_by_the_address_sanitizer(build_stress: BuildStress, what: str) -> None:
    """Cached memory is poisoned: without that, runs under the sanitizer would prove little."""
    done = run(build_stress(ADDRESS), what)
    assert done.returncode != 0
    assert "use-after-poison" in done.stderr
