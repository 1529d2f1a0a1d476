"""Reductions over ranges whose bounds are data, of terms at places that are data, which are tested beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import script
from weaving import weave_unoptimized

pytest.importorskip("opweave")

from opweave._weave.weave import Woven

BODIES = {
    "row_max(Tensor start, Tensor stop, Tensor place, Tensor values)": "size: {i: start.size(0)}\n"
    "    value[i]: max(values[place[k]] for k in range(start[i], stop[i]))",
    "pair_sum(Tensor start, Tensor row, Tensor col, Tensor left, Tensor right)": "size: {i: start.size(0) - 1}\n"
    "    value[i]: sum(left[row[k], i] * right[col[k]] for k in range(start[i], start[i + 1])) + 1",
}
ENTRIES = "".join(
    f"- func: {head} -> Tensor\n  doc: D.\n  compute:\n    {body}\n    outside: error\n"
    "  dtypes: [floating, int64]\n  derivatives: none\n\n"
    for head, body in BODIES.items()
)
CODE = """
import numpy as np
import opweave as ow
import ranges as ops

rng, of, rows, terms = np.random.default_rng(0), ow.from_numpy, 300, 2000
cuts = np.sort(rng.integers(0, terms, rows + 1))
row, col = rng.integers(0, 50, terms), rng.integers(0, 90, terms)
left, right = rng.integers(-3, 4, (50, rows)), rng.integers(-3, 4, 90)
want = [1 + sum(left[row[k], i] * right[col[k]] for k in range(cuts[i], cuts[i + 1])) for i in range(rows)]
for dtype in (ow.float64, ow.float16, ow.int64):
    found = ops.pair_sum(of(cuts), of(row), of(col), of(left).to(dtype), of(right).to(dtype))
    assert found.dtype == dtype and found.tolist() == want
first = rng.integers(0, terms - 9, rows)
end = first + 1 + rng.integers(0, 8, rows)
values = of(right).float()
want = [right[col[a:b]].max() for a, b in zip(first, end)]
assert ops.row_max(of(first), of(end), of(col), values).tolist() == want
for at in (0, 150, 299):
    for bad in (-1, 90):
        places = col.copy()
        places[first[at]] = bad
        try:
            ops.row_max(of(first), of(end), of(places), values)
        except IndexError:
            continue
        raise AssertionError(at)
"""


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "ranges_of_data")
    return weave_unoptimized(written(Path(folder) / "ranges.yaml", ENTRIES), out=folder)


def test_terms_are_combined_and_places_tested(woven: Woven) -> None:
    kernel = Path(woven.folder, "kernels", "pair_sum.c").read_text()
    assert "pair_sum_f64_are_inside(c, batch, v_i, count)" in kernel
    script(CODE, cwd=woven.folder.parent)
