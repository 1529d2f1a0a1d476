"""docs/coming-from.md: both columns of NumPy's table have the same results, and the entries are what the loops say."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from harness.paths import ROOT

ow = pytest.importorskip("opweave")

PAGE = (ROOT / "docs" / "coming-from.md").read_text("utf-8")
NUMPY, *_ = PAGE.split("## From torch")
SETUP = re.findall(r"^```python\n(.*?)^```$", NUMPY, re.MULTILINE | re.DOTALL)[0]
ROWS = re.findall(r"^\| (`.*`) \| (`.*`) \|$", NUMPY, re.MULTILINE)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(SETUP, found)
    return found


@pytest.mark.parametrize(("left", "right"), ROWS, ids=[left.strip("`") for left, _ in ROWS])
def test_columns_have_the_same_results(left: str, right: str, names: dict[str, Any]) -> None:
    expected, *others = (np.asarray(eval(code, names)) for code in re.findall(r"`([^`]*)`", f"{left} {right}"))
    for other in others:
        np.testing.assert_allclose(other, expected, rtol=1e-12)
        assert other.dtype == expected.dtype


def test_every_row_is_tested() -> None:
    assert len(ROWS) == len(re.findall(r"^\| `", NUMPY, re.MULTILINE)) > 70


# In a process of its own, as operators of these names are woven elsewhere.
PROGRAM = """
import sys

import numpy as np
import opweave as ow

ops = ow.weave_text(sys.argv[1])
a, b = np.random.default_rng(0).normal(size=(2, 6, 5))
x, y = ow.from_numpy(a), ow.from_numpy(b)
np.testing.assert_allclose(ops.soft_threshold(x, 0.5), np.sign(a) * np.maximum(np.abs(a) - 0.5, 0))
padded = np.pad(a, 1)
around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
np.testing.assert_allclose(ops.laplace(x), around - 4 * a)
np.testing.assert_allclose(ops.distances(x, y), np.linalg.norm(a[:, None] - b, axis=2))
means = a[0].copy()
for t in range(1, len(means)):
    means[t] = 0.25 * means[t] + 0.75 * means[t - 1]
np.testing.assert_allclose(ops.ema(x, 0.25)[0], means)
"""


def test_entries_do_what_the_loops_do() -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    text = text.replace("derivatives: auto", "derivatives: none")  # whose kernels nobody calls here
    done = subprocess.run([sys.executable, "-c", PROGRAM, text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
