"""Indices that follow from the sizes are proven to lie inside: authors need no rule for elements outside then."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import library
from codegen.check import indices
from codegen.dtypes import FLOAT64
from codegen.errors import CodegenError
from codegen.model.compute import Compute
from codegen.model.operator import Operator

PROVEN = {
    "pooling": (
        "Tensor self",
        "size: {y: self.size(0) // 2}\nvalue[y]: max(self[2 * y + i] for i in range(2))",
    ),
    "pooling of dimensions in front": (
        "Tensor self",
        "size: {y: self.size(-1) // 2}\nvalue[..., y]: max(self[..., 2 * y + i] for i in range(2))",
    ),
    "kernel and stride": (
        "Tensor self, int a, int b",
        "size: {y: 'maximum((self.size(0) - a) // b + 1, 0)'}\nvalue[y]: sum(self[y * b + i] for i in range(a))",
    ),
    "dilation": (
        "Tensor self, int a, int b, int c",
        """
require: {check: c > 0, message: c is positive}
size: {y: 'maximum((self.size(0) - c * (a - 1) - 1) // b + 1, 0)'}
value[y]: sum(self[y * b + c * i] for i in range(a))""",
    ),
    "the sizes of two tensors": (
        "Tensor self, Tensor other",
        """
size: {y: 'maximum(self.size(0) - other.size(0) + 1, 0)'}
value[y]: sum(self[y + i] * other[i] for i in range(other.size(0)))""",
    ),
    "the smaller size": (
        "Tensor self, Tensor other",
        "size: {y: 'minimum(self.size(0), other.size(0))'}\nvalue[y]: self[y] * other[y]",
    ),
    "differences": (
        "Tensor self",
        "size: {y: 'maximum(self.size(0) - 1, 0)'}\nvalue[y]: self[y + 1] - self[y]",
    ),
    "reversed": ("Tensor self", "let: {n: self.size(0)}\nsize: {y: n}\nvalue[y]: self[n - 1 - y]"),
    "upsampling": ("Tensor self, int b", "size: {y: b * self.size(0)}\nvalue[y]: self[y // b]"),
    "all before": ("Tensor self", "size: {y: self.size(0)}\nvalue[y]: sum(self[y - k] for k in range(y + 1))"),
    "all after": (
        "Tensor self",
        "size: {y: self.size(0)}\nvalue[y]: sum(self[y + k] for k in range(self.size(0) - y))",
    ),
    "radius": (
        "Tensor self, int a",
        """
size: {y: 'maximum(self.size(0) - 2 * a, 0)'}
value[y]: sum(self[y + a + k] for k in range(-a, a + 1))""",
    ),
    "halves": (
        "Tensor self",
        "let: {half: self.size(0) // 2}\nsize: {y: half}\nvalue[y]: self[y] - self[y + half]",
    ),
    "every second": ("Tensor self", "size: {y: (self.size(0) + 1) // 2}\nvalue[y]: self[2 * y]"),
    "a square": (
        "Tensor self, int b",
        "let: {n: self.size(0) // (b * b)}\nsize: {c: n}\nvalue[c]: sum(self[c * b * b + i] for i in range(b * b))",
    ),
    "groups": (
        "Tensor self, int b",
        "let: {n: self.size(0) // b}\nsize: {g: b}\nvalue[g]: sum(self[g * n + i] for i in range(n))",
    ),
    "chunks": (
        "Tensor self, int b",
        """
size: {c: (self.size(0) + b - 1) // b}
value[c]: sum(self[c * b + i] for i in range(minimum(b, self.size(0) - c * b)))""",
    ),
}
NOT_PROVEN = {
    "one too many": ("Tensor self", "size: {y: self.size(0)}\nvalue[y]: self[y + 1]"),
    "one before": ("Tensor self", "size: {y: self.size(0)}\nvalue[y]: self[y - 1]"),
    "the size itself": ("Tensor self", "let: {n: self.size(0)}\nsize: {y: n}\nvalue[y]: self[n - y]"),
    "half an element": ("Tensor self", "size: {y: 2 * self.size(0) + 1}\nvalue[y]: self[y // 2]"),
    "a half that is rounded up": ("Tensor self", "size: {y: (self.size(0) + 1) // 2}\nvalue[y]: self[2 * y + 1]"),
    "a step of any sign": ("Tensor self, int a", "size: {y: self.size(0) // 4}\nvalue[y]: self[a * y + 1]"),
    "a wider kernel": (
        "Tensor self, int a, int b",
        "size: {y: (self.size(0) - a) // b + 1}\nvalue[y]: sum(self[y * b + i] for i in range(a + 1))",
    ),
    "another size": ("Tensor self, Tensor other", "size: {y: self.size(0)}\nvalue[y]: other[y + 1] * self[y]"),
}


def read(folder: Path, inputs: str, compute: str) -> Operator:
    path = folder / "one.yaml"
    lines = "".join(f"    {line}\n" for line in compute.strip().splitlines())
    path.write_text(
        f"- func: one({inputs}) -> Tensor\n  doc: D.\n  compute:\n{lines}  dtypes: floating\n  derivatives: none\n"
    )
    (operator,) = library.read(path)
    assert isinstance(operator, Operator)
    return operator


def outside(operator: Operator) -> list[str]:
    """What calls of many sizes say of indices that are outside."""
    assert isinstance(operator.body, Compute)
    found = []
    for a, b, c, n, m in product((1, 3), (1, 2), (1, 2), (0, 1, 5, 6), (1, 4)):
        arguments: dict[str, Any] = {"a": a, "b": b, "c": c}
        tensors = {"self": np.ones(n), "other": np.ones(m)}
        others = {each.name: arguments[each.name] for each in operator.schema.arguments if not each.is_tensor}
        try:
            indices.results(
                operator, operator.body, {x.name: tensors[x.name] for x in operator.inputs}, others, FLOAT64
            )
        except indices.RefusedError as error:
            found.append(f"{arguments}, {n}, {m}: {error}")
    return found


def test_what_follows_from_sizes_is_proven_and_true(tmp_path: Path) -> None:
    assert {name: found for name, entry in PROVEN.items() if (found := outside(read(tmp_path, *entry)))} == {}


def test_what_does_not_follow_is_refused(tmp_path: Path) -> None:
    for entry in NOT_PROVEN.values():
        with pytest.raises(CodegenError, match="cannot be proven to lie inside"):
            read(tmp_path, *entry)
