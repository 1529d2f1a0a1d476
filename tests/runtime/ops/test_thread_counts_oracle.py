"""The numbers of threads as they are set and told, beside torch. Each call runs in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from harness import oracle

CALLS = """
L.set_num_interop_threads(3), L.get_num_interop_threads()
L.get_num_interop_threads()
L.get_num_interop_threads(), L.set_num_interop_threads(5), L.get_num_interop_threads()
L.set_num_interop_threads(3), L.set_num_interop_threads(3)
L.set_num_interop_threads(0)
L.set_num_interop_threads(-1)
L.set_num_interop_threads(2.0)
L.set_num_interop_threads(True)
L.set_num_interop_threads("x")
L.set_num_interop_threads(2**40)
L.set_num_threads(3), L.get_num_threads()
L.set_num_threads(0)
L.set_num_threads(2.0)
L.set_num_threads(True)
L.set_num_threads(2**40)
""".strip().splitlines()

SCRIPT = """
import sys, {library} as L
for call in {calls!r}:
    try:
        print(eval(call))
    except Exception as error:
        print(type(error).__name__, error)
"""


def printed(library: str, calls: list[str]) -> list[str]:
    script = SCRIPT.format(library=library, calls=calls)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("first", range(3))
def test_calls(first: int) -> None:
    """What can be set once is set by the first call that does."""
    calls = [CALLS[first], *CALLS[3:]]
    oracle.check(lambda L: printed(L.__name__, calls))
