"""Gradients by `derivatives: auto` of what authors write: functions of sums, sums within sums, conditions, data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numeric_gradients import all_computed, computed, differences, gradient, read, steps

from codegen.model.compute import Compute
from codegen.model.operator import Operator

Shapes = dict[str, tuple[int, ...]]
ENTRIES: dict[str, tuple[Shapes, str]] = {
    "distances": (
        {"a": (3, 4), "b": (2, 4)},
        "value[i, j]: sqrt(sum((a[i, k] - b[j, k]) ** 2 for k in range(a.size(1))))",
    ),
    "softmax": (
        {"x": (2, 4)},
        """
let:
  top: max(x[n, k] for k in range(x.size(1)))
  total: sum(exp(x[n, k] - top) for k in range(x.size(1)))
value[n, c]: exp(x[n, c] - top) / total
""",
    ),
    "unit vectors": (
        {"x": (2, 4)},
        "value[n, c]: x[n, c] / sqrt(sum(x[n, k] ** 2 for k in range(x.size(1))))",
    ),
    "silu of a convolution": (
        {"x": (6,), "w": (3,)},
        """
let: {c: 'sum(x[i + k] * w[k] for k in range(w.size(0)))'}
size: {i: x.size(0) - w.size(0) + 1}
value[i]: c / (1 + exp(-c))
outside: error
""",
    ),
    "Bollinger bands": (
        {"x": (5,)},
        """
let:
  mean: sum(x[i + k] for k in range(3)) / 3
  width: sqrt(sum((x[i + k] - mean) ** 2 for k in range(3)) / 3)
size: {i: x.size(0) - 2}
value[i]: (x[i + 2] - mean) / (2 * width)
outside: error
""",
    ),
    "rolling correlation": (
        {"x": (4,), "y": (4,)},
        """
let:
  mx: sum(x[i + k] for k in range(3)) / 3
  my: sum(y[i + k] for k in range(3)) / 3
  xy: sum((x[i + k] - mx) * (y[i + k] - my) for k in range(3))
  xx: sum((x[i + k] - mx) ** 2 for k in range(3))
  yy: sum((y[i + k] - my) ** 2 for k in range(3))
size: {i: x.size(0) - 2}
value[i]: xy / sqrt(xx * yy)
outside: error
""",
    ),
    "causal softmax with slopes": (
        {"s": (3, 3), "m": (1,)},
        """
let:
  top: max(s[i, k] - m[0] * (i - k) for k in range(i + 1))
  total: sum(exp(s[i, k] - m[0] * (i - k) - top) for k in range(i + 1))
value[i, j]: exp(s[i, j] - m[0] * (i - j) - top) / total if j <= i else 0
outside: error
""",
    ),
    "greatest products of triangles": (
        {"x": (4,)},
        """
size: {i: x.size(0)}
value[i]: sum(max(x[a] * x[k] for a in range(k, i + 1)) for k in range(1, i + 1))
outside: error
""",
    ),
    "ratios of what is inside": (
        {"x": (5,)},
        """
let: {total: 'sum(x[i + k] ** 2 for k in range(-1, 2))'}
value[i]: sum(x[i + k] * x[i + 2 * k] ** 2 for k in range(-1, 2)) / total
size: {i: x.size(0)}
outside: skip
""",
    ),
    "bilateral filter": (
        {"x": (5,)},
        """
let: {total: 'sum(exp(-(x[i + k] - x[i]) ** 2) for k in range(-1, 2))'}
value[i]: sum(x[i + k] * exp(-(x[i + k] - x[i]) ** 2) for k in range(-1, 2)) / total
outside: nearest
""",
    ),
    "Lennard-Jones energies": (
        {"p": (3, 2)},
        """
value[i]: >-
  sum((sum((p[i, d] - p[j, d]) ** 2 for d in range(2)) + 0.5) ** -6
  - (sum((p[i, d] - p[j, d]) ** 2 for d in range(2)) + 0.5) ** -3 for j in range(p.size(0)))
""",
    ),
    "attention": (
        {"q": (2, 2), "k": (3, 2), "v": (3, 2)},
        """
let: {total: 'sum(exp(sum(q[i, d] * k[j, d] for d in range(q.size(1)))) for j in range(k.size(0)))'}
value[i, e]: sum(exp(sum(q[i, d] * k[j, d] for d in range(q.size(1)))) * v[j, e] for j in range(k.size(0))) / total
""",
    ),
    "one value": ({"x": (4,)}, "value[]: log(sum(exp(x[i]) for i in range(x.size(0))))"),
    "condition on elements": (
        {"x": (2, 4)},
        "value[n]: sum(x[n, k] ** 2 if not isnan(x[n, k]) else 0 for k in range(x.size(1))) ** 2",
    ),
    "positions made of data": (
        {"table": (5,), "t": (4,)},
        """
let: {k: 'int(floor(t[i] * 2))'}
value[i]: table[k] + (t[i] * 2 - k) * (table[k + 1] - table[k])
outside: error
""",
    ),
    "halves exchanged": (
        {"x": (6,)},
        """
let: {half: x.size(0) // 2}
value[j]: (x[j + half] if j < half else x[j - half]) ** 2 * x[j]
outside: 0
""",
    ),
}
# What takes no longer than a moment.
TWICE = [
    "distances", "softmax", "unit vectors", "one value",
    "condition on elements", "halves exchanged",
]  # fmt: skip


def drawn(folder: Path, name: str) -> tuple[dict[str, Operator], dict[str, Any], Any]:
    """The operators of an entry, its tensors, and a gradient of its result."""
    shapes, compute = ENTRIES[name]
    generator = np.random.default_rng(3)
    tensors = {each: generator.uniform(0.3, 1.5, shape) for each, shape in shapes.items()}
    operators = read(folder, ", ".join(f"Tensor {each}" for each in shapes), compute)
    return operators, tensors, generator.standard_normal(computed(operators, tensors).shape)


@pytest.mark.parametrize("name", ENTRIES)
def test_gradients_are_those_of_differences(tmp_path: Path, name: str) -> None:
    operators, tensors, grad = drawn(tmp_path, name)
    for target in tensors:
        expected = differences(operators, target, tensors, grad)
        np.testing.assert_allclose(gradient(operators, target, tensors, grad), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", TWICE)
def test_second_gradients_are_those_of_differences(tmp_path: Path, name: str) -> None:
    operators, tensors, _ = drawn(tmp_path, name)
    generator = np.random.default_rng(4)
    values = all_computed(operators, tensors)
    for step in steps(operators):
        known = {**step.known(values), "grad_output": generator.standard_normal(values[step.results[0]].shape)}
        known = {**{f"{name}_shape": list(np.shape(each)) for name, each in known.items()}, **known}
        for first in [f"{step.operator.name}_backward_{each}" for each in known]:
            if first not in operators or first.replace("backward", "places") in operators:
                continue  # it is no operator by itself
            further = generator.standard_normal(computed(operators, known, first).shape)
            for target in [each.name for each in operators[first].inputs]:
                if not {f"{first}_backward_{target}", f"{first}_places_{target}"} & operators.keys():
                    continue  # the step itself is its gradient
                expected = differences(operators, target, known, further, first)
                got = gradient(operators, target, known, further, first)
                np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=f"{first} by {target}")


LIMITED = """
require:
  - {check: n < 1000, message: 'expected few, but got {n}'}
  - {check: x.size(0) == w.size(0), message: 'expected {w.size(0)} elements'}
  - {check: half > 0, message: 'expected a half'}
let: {half: n // 2}
value[i]: sum(x[i + k] for k in range(n)) * w[i] / half
outside: skip
"""


def test_gradients_require_what_their_operator_does(tmp_path: Path) -> None:
    """Bounds of loops are those of the operator: with numbers that it refuses a gradient would never end."""
    operators = read(tmp_path, "Tensor x, Tensor w, int n", LIMITED)
    bodies = {name: each.body for name, each in operators.items() if isinstance(each.body, Compute)}
    assert len(bodies) > 4
    assert {name: (len(body.require), len(body.late)) for name, body in bodies.items()} == dict.fromkeys(bodies, (2, 1))
