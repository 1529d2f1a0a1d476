"""Integer divisions that lanes have in common, and those of positions of extrema, in lines of all lengths."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from weaving import python, weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

ENTRIES = """
- func: places(Tensor self, int k) -> (Tensor row, Tensor column)
  doc: D.
  compute:
    let: {found: 'argmax(self[i, c] for i in range(self.size(0)))'}
    row[c]: found // k
    column[c]: found % k
  dtypes: floating
  derivatives: none

- func: parts(Tensor self, int count) -> Tensor
  doc: D.
  compute:
    let:
      first: y * self.size(0) // count
      stop: ((y + 1) * self.size(0) + count - 1) // count
    size: {y: count}
    value[y, c]: sum(self[i, c] * (i // 2 + 1) for i in range(first, stop)) / (stop - first)
  dtypes: floating
  derivatives: none

- func: unless(Tensor self, int k) -> Tensor
  doc: D.
  compute:
    value[y, c]: self[y, c] / (1 if k == 0 else y // k + 1)
  dtypes: floating
  derivatives: none

"""
HEAD = """
import numpy as np
import opweave as ow
import quotients as ops

rng = np.random.default_rng(3)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "quotients")
    return weave_unoptimized(written(Path(folder) / "quotients.yaml", ENTRIES), out=folder)


def run(woven: Woven, code: str) -> None:
    python("-c", HEAD + code, cwd=woven.folder.parent)


def test_positions_by_divisors_of_all_sizes(woven: Woven) -> None:
    run(
        woven,
        """
for columns in (1, 3, 16, 37, 100):
    x = rng.random((1000, columns))
    found = x.argmax(0)
    for k in (1, 2, 3, 7, 10, 999, 1000, 1001, 2**31 + 1, 2**48, 2**48 + 1, 2**62, 2**63 - 1):
        for divisor in (k, -k):
            for dtype in (np.float32, np.float64):
                row, column = ops.places(ow.from_numpy(x.astype(dtype)), divisor)
                at = x.astype(dtype).argmax(0)
                assert (row.numpy() == at // divisor).all(), (columns, divisor)
                assert (column.numpy() == at % divisor).all(), (columns, divisor)
try:
    ops.places(ow.from_numpy(x), 0)
except RuntimeError as error:
    assert str(error) == "ZeroDivisionError", error
""",
    )


def test_bounds_that_are_quotients(woven: Woven) -> None:
    run(
        woven,
        """
for rows, count in ((1, 1), (7, 3), (3, 7), (20, 6), (5, 5)):
    for columns in (1, 5, 16, 33):
        x = rng.random((rows, columns))
        weights = np.arange(rows)[:, None] // 2 + 1
        bounds = [(y * rows // count, -(-(y + 1) * rows // count)) for y in range(count)]
        expected = [(x * weights)[first:stop].mean(0) for first, stop in bounds]
        assert np.allclose(ops.parts(ow.from_numpy(x), count).numpy(), expected)
""",
    )


def test_divisions_that_a_choice_leaves_out(woven: Woven) -> None:
    run(
        woven,
        """
x = ow.from_numpy(rng.random((4, 19)))
assert ops.unless(x, 0).equal(x)
assert ops.unless(x, 2)[2:].equal(x[2:] / 2)
""",
    )
