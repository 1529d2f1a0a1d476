"""Where things lie in the repository, and the environment of its scripts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent


def with_interpreter() -> dict[str, str]:
    """Return this process's environment, in which `python` is the interpreter that runs it."""
    return os.environ | {"PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
