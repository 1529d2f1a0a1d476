"""Operators as ONNX models: every documented example gives what the operator gives, or an error that names it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import opweave
import pytest
from harness.documented import OPERATORS, Call, calls_of
from opweave import nn
from opweave.utils._pytree import tree_map

pytest.importorskip("onnx", reason="models are made by the package onnx")

from onnx_models import assert_gives, assert_same, tensors
from opweave.onnx._calls import ROWS
from opweave.onnx._model import model_of
from test_exported_programs import Function

assert model_of  # it has added the rows
NO_VALUES = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
CONDITIONS = {
    "dropout": "draws random numbers",
    "nn_dropout": "draws random numbers",
    "dropout1d": "draws random numbers",
    "dropout2d": "draws random numbers",
    "dropout3d": "draws random numbers",
    "nn_batch_norm": "call eval",
    "adaptive_avg_pool1d": "no multiples",
    "adaptive_avg_pool2d": "no multiples",
    "bitwise_right_shift": "to the right",
    "rnn_relu": "",  # the evaluator has no such network
}
"""Operators with a row that the documented example does not fit, and the reasons."""
NO_NODE = re.compile(
    r"no node for the function (\w*bessel\w*|\w+_polynomial_\w+|lgamma|digamma|erfinv|erfcx|ndtri|zeta|igammac?|"
    r"airy_ai|[ik][01]e?|gcd|lcm|nextafter|complex|real|bits|integer)\(\)|it has several results|others than tensors|"
    r"draws random|mapped"
)


class Example(nn.Module):
    """A call of the documentation, whose tensors are arguments."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def forward(self, *args: Any) -> Any:
        given = iter(args)
        values = tree_map(
            lambda value: next(given) if isinstance(value, opweave.Tensor) else value, [*self.call.values.values()]
        )
        return replace(self.call, values=dict(zip(self.call.values, values, strict=True)))()


@pytest.mark.parametrize("name", sorted(OPERATORS.keys() - NO_VALUES))
def test_documented_examples(name: str) -> None:
    for call in calls_of(OPERATORS[name]):
        given = tensors([*call.values.values()])
        wanted = tensors(call())
        try:
            program = opweave.onnx.export(Example(call), tuple(given))
        except opweave.onnx.OnnxExporterError as error:
            reason = str(error)
        else:
            assert_gives(program, given, wanted, by_reference=name != "rnn_relu")
            continue
        if name in ROWS:
            assert CONDITIONS.get(name, "a row that has no conditions") in reason
        elif "ONNX" in reason:
            assert "there is nothing like it" in reason or NO_NODE.search(reason), reason


X = opweave.tensor([[-2.5, -0.0, 1.5], [3.0, 0.25, -1.0]])
N = opweave.tensor([[-7, 3, 4], [5, -2, 9]])


DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")
OF_DTYPES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "eq": lambda x, y: x == y,
    "lt": lambda x, y: x < y,
    "maximum": lambda x, y: x.maximum(y),
    "where": lambda x, y: opweave.where(x > y, x, y),
    "sum": lambda x, y: x.sum(1) + y.amax(0)[:2].sum(),
    "relu": lambda x, y: x | y if x.dtype is opweave.bool else (x - y).relu(),
    "remainder": lambda x, y: x % (y if y.is_floating_point() else y | 1),
    "sqrt": lambda x, y: x.sqrt(),
    "masked_fill": lambda x, y: x.masked_fill(x > y, 1),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_DTYPES)
def test_dtypes(name: str, dtype: str) -> None:
    of = getattr(opweave, dtype)
    if name == "remainder" and of is opweave.bool:
        pytest.skip("truth values have no remainder")

    def function(x: Any, y: Any) -> Any:
        found = OF_DTYPES[name](x.to(of), y.to(of))
        return found.float() if found.dtype is opweave.bfloat16 else found  # which NumPy does not have

    assert_same(opweave.onnx.export(Function(function), (N, N.flip(0)))(N, N.flip(0)), [function(N, N.flip(0))])


MIXED: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": lambda x, n: (x + 1, n + 1.5, 2 ** n.abs(), n / 2, x.pow(3), n // 2, -n % 3, x // 2, 1 / x),
    "dtypes": lambda x, n: (x * n, x.double() + x, n.short() + n, (n > 0) + n, x.sum(0) * opweave.tensor(2.0).double()),
    "comparisons": lambda x, n: (
        x > n,
        (x > 0) & (n > 0),
        ~(n > 0),
        n.bool() | (x == 0),
        x != x,
        x.isnan(),
        x.signbit(),
    ),
    "shapes": lambda x, n: (
        x[:, None] + x,
        x[0] * n,
        x.sum() + n,
        x[..., ::2],
        x[-1, 1:],
        x[n[0, :1] - n[0, 0]],
        x.T @ x,
    ),
    "rolled": lambda x, n: (x.roll(1, 0), x.roll(1), n.roll((1, -2), (1, 0)), n.roll(-1, -1)),
    "unread": lambda x, n: (x**0, n**0, n.isnan(), n.isinf(), n.isfinite()),
    "quarters": lambda x, n: (x.atan2(x * 0), x.atan2(x * -0.0), (x * 0).atan2(x), (x * 0).atan2(-x)),
    "ends": lambda x, n: (x.clamp(-1), x.clamp(max=1), n.clamp(0, 4), x.fmod(2), x.atan2(n), x.copysign(n), x.hypot(x)),
    "precise": lambda x, n: (
        (x * 1e-6).expm1() * 1e6,
        (x * 1e-7).log1p() * 1e7,
        x.trunc(),
        x.round(),
        x.sign(),
        x.frac(),
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_arguments_are_promoted(name: str) -> None:
    function = MIXED[name]
    assert_same(opweave.onnx.export(Function(function), (X, N))(X, N), function(X, N))
