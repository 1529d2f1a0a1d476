"""The programs of docs/neighbours.md run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from harness.paths import ROOT

PAGE = (ROOT / "docs" / "neighbours.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_results() -> None:
    """What a comment at the end of a line says is what the expression is."""
    names: dict[str, object] = {}
    for line in PROGRAMS[0].splitlines():
        code, _, comment = line.partition("  # ")
        if comment and not code.startswith("import"):
            assert repr(eval(code, names)).replace("\n      ", "") == comment
        else:
            exec(code, names)
