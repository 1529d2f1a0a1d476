"""Programs for several sizes: what Python computes of sizes is computed anew, what it decides by them is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave import nn
from opweave.export import Dim, dims
from test_exported_programs import Function

B, T = dims("b", "t", min=1)


def reshaped(x: Any) -> Any:
    b, t, _ = x.shape
    if b == 0 or x.shape != (b, t, 4):
        raise ValueError
    y = x.view(b * t, 2, 2).transpose(0, 1).reshape(2, b, t * 2)
    return (
        y + opweave.arange(2 * t),
        opweave.zeros(b, t + 3),
        x.expand(2, b, t, 4)[:, :, : t - 1],
        x.view(-1, len(x.shape) + 1),
    )


def test_numbers_follow_from_sizes() -> None:
    module = Function(reshaped)
    program = opweave.export.export(module, (opweave.randn(2, 3, 4),), dynamic_shapes=({0: B, 1: T},))
    assert "'f32[b, t, 4]'" in str(program)
    assert "'f32[b*t, 2, 2]'" in str(program)
    for b, t in ((1, 1), (2, 3), (7, 5)):
        x = opweave.randn(b, t, 4)
        for one, other in zip(program.module()(x), module(x), strict=True):
            assert one.equal(other)


def test_layers_of_transformers() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True).eval()
    program = opweave.export.export(layer, (opweave.randn(2, 3, 8),), dynamic_shapes={"src": [B, T, None]})
    x = opweave.randn(5, 6, 8)
    assert program.module()(x).equal(layer(x))


def test_one_size_of_two_tensors() -> None:
    program = opweave.export.export(Function(lambda x, y: x + y), (opweave.ones(2), opweave.ones(2)),
                                    dynamic_shapes=({0: B}, {0: B}))  # fmt: skip
    assert program.module()(opweave.ones(5), opweave.ones(5)).shape == (5,)
    with pytest.raises(AssertionError, match=r"Guard failed: args_1.size\(\)\[0\] == 5"):
        program.module()(opweave.ones(5), opweave.ones(4))
    with pytest.raises(ValueError, match="the dimension 'b' has the sizes 2 and 3"):
        opweave.export.export(Function(lambda x, y: x), (opweave.ones(2), opweave.ones(3)),
                              dynamic_shapes=({0: B}, {0: B}))  # fmt: skip


def many(x: Any) -> Any:
    for _ in range(x.shape[0]):
        x = x + 1
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * 2 if x.shape[0] > 100 else x, "its size is read"),
        (lambda x: x * 2 if x.size(0) != 7 else x, "its size is read"),
        (lambda x: x * x.shape[0] ** 0.5, "its size is read"),
        (lambda x: x * float(x.size(0)), "its size is read"),
        (lambda x: x + opweave.tensor([1.0] * len(x))[:, None], "its size is read"),
        (lambda x: opweave.ones(x.numel() * x.shape[0]), "has an argument that depends on it"),
        (lambda x: opweave.ones(x.shape[0] // 2), "its size is read"),
        (lambda x: opweave.ones(-x.shape[0] % 8), "its size is read"),
        (lambda x: opweave.ones(x.shape[0] & 7), "its size is read"),
        (lambda x: opweave.ones(1 << x.shape[0]), "its size is read"),
        (lambda x: opweave.ones(x.shape[0] * x.shape[0]), "has an argument that depends on it"),
        (lambda x: x + opweave.ones(2, 3), "it raises RuntimeError"),
        (many, "which operators are called depends on it"),
    ],
)
def test_what_is_decided_by_sizes_is_refused(function: Callable[..., Any], reason: str) -> None:
    text = f"the dimension 'b' cannot have several sizes:.* {re.escape(reason)}"
    with pytest.raises(RuntimeError, match=text) as caught:
        opweave.export.export(Function(function), (opweave.ones(2, 3),), dynamic_shapes=({0: B},))
    if "raises" not in reason:
        assert "test_dynamic_sizes.py, line " in str(caught.value)


def test_sizes_within_narrow_bounds() -> None:
    few = Dim("few", min=2, max=4)
    module = Function(lambda x: x.view(-1, x.shape[0]))
    program = opweave.export.export(module, (opweave.ones(2, 3),), dynamic_shapes=({0: few},))
    assert program.module()(opweave.ones(4, 3)).shape == (3, 4)
    with pytest.raises(RuntimeError, match="depends on it"):
        opweave.export.export(Function(lambda x: opweave.ones(len([*range(1, x.shape[0], 2)]))), (opweave.ones(2, 3),),
                              dynamic_shapes=({0: few},))  # fmt: skip


def test_sizes_that_may_be_dynamic() -> None:
    example = (opweave.ones(2, 3),)
    program = opweave.export.export(
        Function(lambda x: x * 2 if x.shape[0] > 100 else x), example, dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},)
    )
    assert program.module()(opweave.ones(2, 9)).shape == (2, 9)
    with pytest.raises(AssertionError, match=r"size\(\)\[0\] == 2"):
        program.module()(opweave.ones(3, 3))
    with pytest.raises(RuntimeError, match="its size is read"):
        opweave.export.export(Function(lambda x: x[: x.shape[0] > 2]), example, dynamic_shapes=({0: Dim.DYNAMIC},))


@pytest.mark.parametrize(
    ("shapes", "error"),
    [
        ({"y": {0: B}}, "top-level keys must be the arg names"),
        (({0: B}, None), "mismatch between the structure"),
        (({2: B},), "names dimension 2 of .*, which has 2"),
        (({0: 3},), "Static shape constraint of 3 does not match input size of 2"),
        (({0: "b"},), "which is no Dim"),
        (({0: Dim("c", min=5)},), "is not within"),
    ],
)
def test_shapes_that_are_not_those_of_the_arguments(shapes: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        opweave.export.export(nn.ReLU(), (opweave.ones(2, 3),), dynamic_shapes=shapes)


def test_dimensions() -> None:
    assert repr(Dim("b", max=8)) == "Dim('b', min=0, max=8)"
    assert Dim("b").__name__ == "b"
    with pytest.raises(ValueError, match="inconsistent min=3, max=2"):
        Dim("b", min=3, max=2)
    with pytest.raises(ValueError, match="must be a valid identifier"):
        Dim("a b")
