"""Gradients where elements are read outside, first and second ones: what is left out there, in other words as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numeric_gradients import computed, read, wrong

Shapes = dict[str, tuple[int, ...]]
RULES = ("0", "nearest")
INDEX = {"index": np.array([0, 1, 2, 1, 0])}


def drawn(shapes: Shapes) -> dict[str, Any]:
    generator = np.random.default_rng(3)
    return {name: generator.uniform(0.3, 1.5, shape) for name, shape in shapes.items()}


def contradictions(folder: Path, texts: dict[str, str], shapes: Shapes) -> list[str]:
    """Which gradients of these entries are wrong, with tensors of those that they read."""
    known, found = {**drawn(shapes), **INDEX}, []
    for name, text in texts.items():
        tensors = {each: value for each, value in known.items() if f"{each}[" in text}
        operators = read(folder, ", ".join(f"Tensor {each}" for each in tensors), text)
        found += [f"{name}: {each}" for each in wrong(operators, tensors)]
    return found


def test_reads_outside_beside_indices_like_data(tmp_path: Path) -> None:
    texts = {
        rule: f"""
let: {{half: self.size(0) // 2}}
size: {{j: self.size(0)}}
value[j]: self[j + half] ** 2 * sin[j % 2] ** 2
outside: {{self: {rule}}}
"""
        for rule in RULES
    }
    texts["two dimensions"] = """
size: {j: 3, k: 2}
value[j, k]: self[j + 2 * k] ** 2 * sin[(j + k) % 2] ** 2
outside: {self: 0}
"""
    for reduction in ("max", "prod"):
        texts[reduction] = f"""
size: {{j: self.size(0)}}
value[j]: {reduction}(self[j + k] * sin[(j + k) % 2] for k in range(3))
outside: {{self: 0}}
"""
    assert contradictions(tmp_path, texts, {"self": (5,), "sin": (2,)}) == []


def test_reads_outside_beside_places_made_of_data(tmp_path: Path) -> None:
    texts = {
        f"{reduction}, {rule}": f"""
size: {{j: self.size(0)}}
value[j]: {reduction}(self[j + k] ** 2 * w[index[j]] ** 2 for k in range(-1, 2))
outside: {{self: {rule}}}
"""
        for reduction, rule in (("sum", "0"), ("sum", "skip"), ("min", "skip"))
    }
    assert contradictions(tmp_path, texts, {"self": (5,), "w": (3,)}) == []


def test_terms_are_left_out_that_gradients_do_not_read(tmp_path: Path) -> None:
    """The gradient by one tensor need not read the other one, without which the term counts for nothing."""
    values = {
        "the same tensor": "sum(self[j + k] + self[j + 2 * k] ** 2 for k in range(-1, 3))",
        "not the variable": "sum(self[j] + other[j + 2 * k] ** 2 for k in range(-1, 3))",
        "data": "sum(self[j + k] + other[index[j]] ** 2 for k in range(-1, 3))",
        "conditions": "sum(other[(j + k) % 3] ** 2 for k in range(3) if self[j + k] > 0.5)",
        "within extrema": "max(sum(self[j + k + i] ** 2 + other[index[j] + i] for i in range(2)) for k in range(3))",
        "products": "prod(self[j + k] * other[(j + k) % 3] for k in range(3))",
    }
    texts = {name: f"size: {{j: self.size(0)}}\nvalue[j]: {value}\noutside: skip" for name, value in values.items()}
    assert contradictions(tmp_path, texts, {"self": (5,), "other": (5,)}) == []


def test_terms_of_small_dimensions_are_left_out(tmp_path: Path) -> None:
    """Where positions are told apart, sums over few numbers have terms of their own; these are left out as well."""
    x = np.arange(1.0, 4)
    for reduction, expected in {"sum": [3, 5, 3], "max": [2, 3, 3], "min": [1, 2, 3], "prod": [2, 6, 3]}.items():
        text = f"size: {{k: 3}}\nvalue[..., k]: {reduction}(self[..., k + i] for i in range(2))\noutside: skip"
        operators = read(tmp_path, "Tensor self", text)
        np.testing.assert_array_equal(computed(operators, {"self": x}), expected)
        assert wrong(operators, {"self": x}) == []


def test_terms_without_a_place(tmp_path: Path) -> None:
    """Terms are added for all positions, also where a condition does not hold: they are zeros with a place inside."""
    texts = {
        "strides": "size: {y: (self.size(0) - 3) // 2 + 1}\nvalue[y]: sum(self[2 * y + i] ** 3 for i in range(3))",
        "conditions": "value[]: sum(self[index[k]] ** 3 * other[k] for k in range(5) if index[k] < 2)\noutside: error",
        "ranges": "size: {y: self.size(0)}\nvalue[y]: sum(self[y - k] ** 2 * other[k] for k in range(y + 1))",
    }
    assert contradictions(tmp_path, texts, {"self": (5,), "other": (5,)}) == []


def test_indices_that_run_backwards(tmp_path: Path) -> None:
    values = {
        "reversed": ("nearest", "self[n - 1 - i] ** 2"),
        "reversed sums": ("reflect", "sum(self[n - 1 - i - q] ** 2 * w[q] for q in range(w.size(0)))"),
        "every second": ("0", "sum(self[n - 2 * i - q] ** 2 for q in range(3))"),
        "convolution": ("skip", "sum(self[i - q] ** 2 * w[q] ** 2 for q in range(w.size(0)))"),
        "linear convolution": ("wrap", "sum(self[i - q] * w[q] for q in range(w.size(0)))"),
        "on a number": ("2", "sum(self[i - q] * w[q] for q in range(w.size(0)))"),
        "of the weight": ("0", "sum(self[j] ** 2 * w[i - j] ** 2 for j in range(n))"),
        "of two sums": ("0", "sum(self[t - q] ** 2 * w[t] * w[i] for t in range(3) for q in range(2))"),
    }
    texts = {
        name: f"let: {{n: self.size(0)}}\nsize: {{i: n}}\nvalue[i]: {value}\noutside: {rule}"
        for name, (rule, value) in values.items()
    }
    assert contradictions(tmp_path, texts, {"self": (5,), "w": (3,)}) == []


def test_a_number_outside_is_not_linear(tmp_path: Path) -> None:
    """What reads twos outside is no gradient of its gradient, which reads zeros there."""
    text = "size: {i: self.size(0)}\nvalue[i]: sum(self[i + k] * w[k] for k in range(3))\noutside: {self: 2}"
    operators = read(tmp_path, "Tensor self, Tensor w", text)
    assert "one_backward_self_backward_grad_output" in operators
    assert wrong(operators, drawn({"self": (5,), "w": (3,)})) == []
