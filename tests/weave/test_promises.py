"""`opweave test` runs over a file what opweave's own tests run over ops.yaml."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest
from opweave._weave import promises
from opweave._weave.weave import WeaveError
from weaving import python

KEPT = """\
- func: kept_ratio.Tensor(Tensor self, Tensor other, *, Scalar scale=2) -> Tensor
  doc: A bounded ratio.
  elementwise: scale * self / (1 + abs(other))
  reference: scale * self / (1 + np.abs(other))
  dtypes: floating
  derivatives: auto

- func: kept_double(Tensor self) -> Tensor
  doc: Doubles.
  dtypes: floating
  composite: return self + self
  reference: 2 * self

- func: kept_last(Tensor self) -> Tensor
  doc: The last position. Returns shape ().
  composite: return self[..., -1]

- func: kept_zero(Tensor self) -> Tensor
  doc: The larger of two zeros may have either sign.
  dtypes: floating
  elementwise: maximum(-sinh(self), sinh(self))
  reference: np.maximum(np.sinh(self), -np.sinh(self))
  derivatives: none

- func: kept_noise(Tensor self, *, float scale=0.5) -> Tensor
  doc: Elements with noise, of which nothing but the generator's state tells the values.
  elementwise: self + scale * rand()
  dtypes: floating
  derivatives: auto

- func: kept_root(Tensor self, Tensor divisor, *, int limit=9) -> (Tensor root, Tensor rounds, Tensor rest)
  doc: A square root by Newton's method, the rounds that it took, and what a division leaves of it.
  elementwise:
    iterate:
      state: {y: 1, last: 0, rounds: 0}
      while: abs(y - last) > 0.001
      times: limit
      next: {y: 0.5 * (y + abs(self) / y), last: y, rounds: rounds + 1}
    value: {root: y, rounds: rounds, rest: y % divisor}
    dtype: {rounds: int32}
  dtypes: [float32, float64]
  derivatives: auto

- func: kept_decay(Tensor self, int dim=-1, *, float dtype=0.5) -> Tensor
  doc: A running sum that forgets; a number may be called as dtypes are elsewhere.
  scan: {order: sequential, state: {y: 0}, next: {y: dtype * y + self}, value: y}
  dtypes: [float32, float64]
  derivatives: auto

- func: kept_rows(Tensor self, Tensor other, int dim=-1, *, float dtype=0.5) -> Tensor
  doc: Rows less a part of their sum.
  rows: {let: {total: {sum: self * other}}, value: self - dtype * total}
  dtypes: [float32, float64]
  derivatives: auto
"""
BROKEN = """\
- func: broken_value(Tensor self) -> Tensor
  doc: Doubles.
  dtypes: floating
  composite: return self + self
  reference: 3 * self

- func: broken_loop(Tensor self) -> Tensor
  doc: A product in a loop, with the gradient of another.
  dtypes: floating
  elementwise: {iterate: {state: {y: self}, times: 2, next: {y: y * self}}, value: y}
  derivatives:
    self: grad * 2 * self

- func: broken_gradient(Tensor self) -> Tensor
  doc: Squares.
  dtypes: floating
  composite: return self * self.detach()
  reference: self * self

- func: broken_second(Tensor self) -> Tensor
  doc: Squares, with a gradient that has none.
  dtypes: floating
  composite: return 2 * self * self.detach() - (self * self).detach()
  reference: self * self
"""


def run(folder: Path, text: str, *options: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    (folder / "some_ops.yaml").write_text(text)
    return python("-m", "opweave", "test", "some_ops.yaml", *options, cwd=folder, status=status)


def test_what_keeps_its_promises_passes(tmp_path: Path) -> None:
    output = run(tmp_path, KEPT).stdout
    assert "no suite compares the values of kept_last\n" in output
    assert " passed" in output
    assert " failed" not in output
    assert [path.name for path in tmp_path.iterdir()] == ["some_ops.yaml"]
    chosen = run(tmp_path, KEPT, "-k", "KeptRatio and gradient").stdout
    assert "1 passed" in chosen


def test_what_breaks_them_fails(tmp_path: Path) -> None:
    done = run(tmp_path, BROKEN, status=1)
    failed = [line.rpartition("::")[0].rpartition("::")[2] for line in done.stdout.splitlines() if "FAILED" in line]
    assert set(failed) == {"TestBrokenValue", "TestBrokenGradient", "TestBrokenLoop", "TestBrokenSecond"}
    for name in ("TestBrokenGradient", "TestBrokenLoop", "TestBrokenSecond"):
        assert f"::{name}::test_gradient" in done.stdout
        assert done.stdout.count(f"::{name}::") == 1
    assert done.stderr == "some_ops.yaml: tests failed\n"


def test_mistakes_in_the_file_are_those_of_weaving(tmp_path: Path) -> None:
    done = run(tmp_path, KEPT.replace("return self + self", "return self + nothing"), status=1)
    assert done.stderr.startswith("some_ops.yaml:11:28: error: unknown name 'nothing'")
    assert not done.stdout


def test_pytest_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(WeaveError, match="run by pytest, which is not installed: pip install pytest"):
        promises.run(tmp_path / "some_ops.yaml")


def test_files_that_no_suite_tests(tmp_path: Path) -> None:
    entries = "- func:" + KEPT.split("- func:")[3]
    assert run(tmp_path, entries).stdout == "no suite compares the values of kept_last\n"
