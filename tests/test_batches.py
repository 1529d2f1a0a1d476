"""What several cases in one item of xdist report: what each of them would report by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

CASES = """
import pytest

@pytest.fixture(scope="module")
def shared():
    yield 1
    print("the end of", __name__)

@pytest.fixture
def own(request):
    return request.node.callspec.params["x"]

@pytest.mark.parametrize("x", range(62))
def test_many(x, shared, own):
    assert own == x
    if x == 20:
        pytest.skip("says why")
    assert x not in (3, 40)

def test_last():
    assert False

@pytest.mark.xfail
def test_not_yet():
    assert False
"""


def test_cases_are_reported_one_by_one(tmp_path: Path) -> None:
    for name in ("test_first.py", "test_second.py"):
        (tmp_path / name).write_text(CASES)
    (tmp_path / "test_few.py").write_text("def test_alone(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "batches", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [*command, "-n", "1", "-rfs"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    assert " 6 failed, 119 passed, 2 skipped, 2 xfailed in " in lines[-1], done.stdout + done.stderr
    failed = [f"{case} - assert {text}" for case, text in FAILURES]
    for name in ("test_first.py", "test_second.py"):
        assert {f"FAILED {name}::{each}" for each in failed} <= set(lines)
    progress = [line for line in lines if line.endswith("%]")]
    assert progress[-1].endswith("[100%]"), done.stdout
    assert len("".join(re.findall(r"^[.Fsx]+", "\n".join(progress), re.MULTILINE))) < 60


FAILURES = [("test_many[3]", "3 not in (3, 40)"), ("test_many[40]", "40 not in (3, 40)"), ("test_last", "False")]
