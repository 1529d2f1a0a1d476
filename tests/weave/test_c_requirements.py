"""What bodies in C require of parameters and sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import written
from scripts import script

pytest.importorskip("opweave")

from opweave._weave.weave import weave

OPERATORS = """
- func: pair_sums(Tensor self, int k=1, float most=9.5) -> Tensor
  doc: Sums of pairs.
  routine:
    c: for (int64_t i = 0; i < n; i++) *result += self[i] * (scalar_t)k;
    signature: (n)->()
  require:
    - {check: n % 2 == 0, message: '{name}() takes pairs, got {n} elements'}
    - {check: k < most, error: ValueError, message: 'k is {k}, but less than {most} is meant'}
    - {check: k >= 0, dtypes: integer, message: 'k is negative'}
  dtypes: [floating, int32]
  derivatives: none
"""


def test_requirements(tmp_path: Path) -> None:
    weave(written(tmp_path / "pairs.yaml", OPERATORS), out=tmp_path)
    script(
        """
import opweave as ow
import pairs

assert pairs.pair_sums(ow.ones(3, 4), -2).tolist() == [-8, -8, -8]
assert pairs.pair_sums(ow.ones(0)).item() == 0
ones = ow.ones(4, dtype=ow.int32)
for call, error, says in (
    (lambda: pairs.pair_sums(ow.ones(3, 5)), RuntimeError, "pair_sums() takes pairs, got 5 elements"),
    (lambda: pairs.pair_sums(ow.ones(1234567)), RuntimeError, "pair_sums() takes pairs, got 1234567 elements"),
    (lambda: pairs.pair_sums(ow.ones(3, 5, device="meta")), RuntimeError, "pair_sums() takes pairs, got 5 elements"),
    (lambda: pairs.pair_sums(ones, 7, most=6.5), ValueError, "k is 7, but less than 6.5 is meant"),
    (lambda: pairs.pair_sums(ones, -1), RuntimeError, "k is negative"),
):
    try:
        call()
    except error as found:
        assert str(found) == says, found
    else:
        raise AssertionError("no error")
""",
        cwd=tmp_path,
    )
