"""Which reductions are computed once, before what uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from numeric_gradients import read, steps

from codegen.model.compute import Compute

ROWS = "size: {n: x.size(0), c: x.size(1)}\noutside: error\n"
CASES = {
    "a name that does not depend on the last variable": (
        "let: {total: 'sum(x[n, k] for k in range(x.size(1)))'}\nvalue[n, c]: x[n, c] + total",
        [("total",)],
    ),
    "reductions without names, in the same loops": (
        "value[n, c]: x[n, c] * sum(x[n, k] for k in range(x.size(1))) / sum(x[n, k] ** 2 for k in range(x.size(1)))",
        [("part", "part_1")],
    ),
    "one after the other": (
        """
let:
  top: max(x[n, k] for k in range(x.size(1)))
  total: sum(exp(x[n, k] - top) for k in range(x.size(1)))
value[n, c]: (x[n, c] - top) / total
""",
        [("top",), ("total",)],
    ),
    "a name within a sum, which may be outside": (
        "let: {top: 'max(x[n, k] for k in range(n))'}\nvalue[n, c]: c * sum(x[c, k] * top for k in range(2))",
        [("top",)],
    ),
    "functions of sums": ("value[n, c]: log(sum(x[n + k, c] for k in range(x.size(1))))", [("part",)]),
    "sums alone": ("value[n, c]: 2 * sum(x[n + k, c] for k in range(x.size(1)))", None),
    "few terms, used so often that gradients would multiply them out": (
        "let: {n3: 'sum(x[n, k] for k in range(3))'}\nvalue[n, c]: x[n, c] / n3 + n3 * n3 * (n3 + 1) / (n3 + 2)",
        [("n3",)],
    ),
    "few terms": ("value[n, c]: x[n, c] / sum(x[n, k] for k in range(3))", None),
    "a variable of a range around": (
        "value[n, c]: sum(sum(x[n, k] * j for k in range(x.size(1))) * x[j, c] for j in range(x.size(0)))",
        None,
    ),
    "positions": (
        "let: {place: 'argmax(x[n, k] for k in range(x.size(1)))'}\nvalue[n, c]: x[n, c] if c > place else 0",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_computed_before(tmp_path: Path, case: str) -> None:
    compute, expected = CASES[case]
    found = steps(read(tmp_path, "Tensor x", ROWS + compute))
    assert [each.results for each in found[:-1]] == (expected or [])
    if expected is not None:
        last = found[-1].operator.body
        assert isinstance(last, Compute)
        assert all(len(each.ranges) == 1 for each in last.folds.values())
        assert {name for step in expected for name in step} >= last.tensors.keys() - {"x"}


def test_derived_names_are_not_those_of_arguments(tmp_path: Path) -> None:
    compute = "let: {dtype: 'sum(x[n, k] for k in range(x.size(1)))'}\nvalue[n, c]: x[n, c] * dtype * part"
    found = steps(read(tmp_path, "Tensor x, float part", ROWS + compute))
    assert [each.results for each in found] == [("dtype",), ("result",)]
    assert found[-1].arguments == ("x", "dtype", "part")
