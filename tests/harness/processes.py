"""Programs in a process of their own, for what would end the tests' process or must not be left behind in it."""

from __future__ import annotations

import os
import subprocess
import sys

from .paths import ROOT, TESTS


def python(*arguments: str, modules: str = "", timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs Python with the tests' helpers in reach, and the test modules of the folder `modules`; a signal is a
    negative return code.
    """
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (TESTS / modules, TESTS, ROOT)))},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stdout[-300:]}\n{done.stderr[-3000:]}"
