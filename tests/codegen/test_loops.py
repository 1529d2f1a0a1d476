"""The loops that `opweave show` prints: names of the entry, expressions of the kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import loops

EXPECTED = {
    """\
- func: damped(Tensor self, Tensor other, *, Scalar rate=1) -> Tensor
  doc: D.
  elementwise: (self - other) * exp(-rate * abs(self - other))
  dtypes: floating
  derivatives: none
""": """\
/* all elements of the broadcast inputs; threads share the elements */
for (int64_t i = 0; i < count; i++) {
    const float t0 = self[i] - other[i];
    result[i] = t0 * ow_expf(-rate * fabsf(t0));
}""",
    """\
- func: rounds(Tensor x, *, int limit=10) -> Tensor
  doc: D.
  elementwise:
    iterate: {state: {z: x, n: 0}, while: z < 2, times: limit, next: {z: z * z, n: n + 1}}
    value: n
    dtype: int32
  dtypes: float64
  derivatives: none
""": """\
/* all elements of the broadcast inputs; threads share the elements */
for (int64_t i = 0; i < count; i++) {
    double z = x[i];
    int32_t n = 0;
    for (int64_t round = 0; round < limit; round++) {
        if (!(z < 2.0)) break;
        const double next_z = z * z;
        const int32_t next_n = (int32_t)((uint32_t)n + (uint32_t)1);
        z = next_z;
        n = next_n;
    }
    result[i] = n;
}""",
    """\
- func: mean_square(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  doc: D. Returns a shape.
  reduce: {identity: 0, combine: acc + self, map: self * self, finalize: acc / count}
  dtypes: floating
  reference: none
  derivatives: none
""": """\
/* the lines along `dim`; threads share the lines, or the parts of a long one, whose results are combined */
for (int64_t line = 0; line < lines; line++) {
    float acc = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        const float element = self[i] * self[i];
        acc = acc + element;
    }
    result[line] = acc / count;
}""",
    """\
- func: highest(Tensor self, int dim) -> Tensor
  doc: D. Returns a shape.
  scan: {identity: lowest, combine: 'maximum(acc, self)'}
  dtypes: floating
  reference: none
  derivatives: none
""": """\
/* the lines along `dim`; threads share the lines */
for (int64_t line = 0; line < lines; line++) {
    float acc = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        acc = ow_maximumf(acc, self[i]);
        result[i] = acc;
    }
}""",
    """\
- func: shares(Tensor self, int dim) -> Tensor
  doc: D. Returns a shape.
  rows: {let: {top: {max: self}, total: {sum: self - top}, scale: 1 / total}, value: (self - top) * scale}
  dtypes: floating
  reference: none
  derivatives: none
""": """\
/* the rows along `dim`, each of which stays in the cache; threads share the rows */
for (int64_t line = 0; line < lines; line++) {
    float top = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        top = maximum(top, self[i]);
    }
    float total = 0;
    for (int64_t i = 0; i < count; i++) {
        total = total + (self[i] - top);
    }
    const float scale = 1.0f / total;
    for (int64_t i = 0; i < count; i++) {
        result[i] = (self[i] - top) * scale;
    }
}""",
    """\
- func: ramp(SymInt[] size, *, Scalar slope=1, ScalarType? dtype=None) -> Tensor
  doc: D.
  factory: {shape: size, value: slope * i}
  reference: none
""": """\
/* the elements of a new tensor; threads share the elements */
for (int64_t i = 0; i < count; i++) {
    result[i] = slope * i;
}""",
    """\
- func: backwards(Tensor self, *, Scalar decay=0.5) -> Tensor
  doc: D.
  compute:
    value[..., t, k]: self[..., t, k] + decay * value[..., t + 1, k]
    outside: {value: 0}
  dtypes: floating
  derivatives: none
""": """\
/* all positions of the dimensions in front; elements follow each other in this order */
for (int64_t t = self.size(-2) - 1; t >= 0; t--) {
    for (int64_t k = self.size(-1) - 1; k >= 0; k--) {
        result[..., t, k] = self[..., t, k] + decay * result[..., t + 1, k];
    }
}""",
    """\
- func: doubled(Tensor self) -> Tensor
  doc: D.
  composite: return self + self
  reference: none
""": None,
}


@pytest.mark.parametrize(("entry", "expected"), EXPECTED.items(), ids=[text.split()[2] for text in EXPECTED])
def test_loops(entry: str, expected: str | None, tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(entry)
    (operator,) = library.read(tmp_path / "ops.yaml")
    assert loops.nest(operator) == expected


def test_loops_of_stages(tmp_path: Path) -> None:
    """Those of the operators that compute them; the one that calls these has none."""
    entry = """\
- func: softmax(Tensor self) -> Tensor
  doc: D.
  compute:
    let:
      top: max(self[i, k] for k in range(self.size(1)))
      total: sum(exp(self[i, k] - top) for k in range(self.size(1)))
    value[i, j]: exp(self[i, j] - top) / total
  dtypes: floating
  derivatives: none
"""
    (tmp_path / "ops.yaml").write_text(entry)
    found = {each.name: loops.nest(each) for each in library.read(tmp_path / "ops.yaml")}
    assert found.pop("softmax") is None
    assert "result[i, j] = ow_expf(self[i, j] - top[i]) / total[i];" in (found["softmax_value"] or "")
    assert all(nest is not None and nest.count("for (") == 2 for nest in found.values())
