"""Counts of multiplications and additions, which are two for each factor of a sum."""

from __future__ import annotations

from typing import Any

import opweave as ow
import pytest
from opweave import nn
from opweave.utils.flop_counter import FlopCounterMode, register_flop_formula


def counted(module: Any, *inputs: Any) -> tuple[int, int]:
    """The counts of a forward pass, and of it and a backward pass."""
    for each in inputs:
        each.requires_grad_()
    with FlopCounterMode(display=False) as counter:
        output = module(*inputs)
        forward = counter.get_total_flops()
        (output[0] if isinstance(output, tuple) else output).sum().backward()
    return forward, counter.get_total_flops()


@pytest.mark.parametrize(
    ("module", "shape", "forward"),
    [
        (nn.Linear(4, 8), (3, 4), 2 * 3 * 4 * 8),
        (nn.Linear(4, 8), (2, 3, 4), 2 * 6 * 4 * 8),
        (nn.Conv1d(4, 6, 3, stride=2), (2, 4, 7), 2 * (2 * 6 * 3) * 4 * 3),
        (nn.Conv2d(4, 6, 3, groups=2, padding=1), (2, 4, 5, 5), 2 * (2 * 6 * 25) * 2 * 9),
        (nn.Conv2d(4, 4, 3, groups=4), (2, 4, 5, 5), 2 * (2 * 4 * 9) * 9),
        (nn.ConvTranspose1d(4, 6, 3), (2, 4, 5), 2 * (2 * 4 * 5) * 6 * 3),
        (nn.Conv3d(2, 3, (2, 1, 2)), (1, 2, 3, 4, 5), 2 * (3 * 2 * 4 * 4) * 2 * 4),
    ],
)
def test_passes(module: Any, shape: tuple[int, ...], forward: int) -> None:
    # The gradients by the input and by the weight take as much as the forward pass, each.
    assert counted(module, ow.randn(shape)) == (forward, 3 * forward)
    if len(shape) == 4:
        assert counted(module, ow.randn(shape).to(memory_format=ow.channels_last)) == (forward, 3 * forward)


def test_attention() -> None:
    query, key = ow.randn(2, 5, 8, requires_grad=True), ow.randn(2, 7, 8)
    with FlopCounterMode(display=False) as counter:
        nn.functional.scaled_dot_product_attention(query, key, key)
    assert counter.get_total_flops() == 2 * (2 * 2 * 5 * 7 * 8)


def test_modules_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2)))
    x = ow.randn(3, 4, requires_grad=True)
    with FlopCounterMode() as counter:
        model(x).sum().backward()
        ow.ones(2, 3) @ ow.ones(3, 2)
    counts = {name: sum(each.values()) for name, each in counter.get_flop_counts().items()}
    assert counts == {
        "Global": 888, "Sequential": 864, "Sequential.0": 576, "Sequential.2": 288, "Sequential.2.0": 288,
    }  # fmt: skip
    table = capsys.readouterr().out
    assert table.splitlines()[2].split() == ["Global", "888", "100.00%"]
    assert "Sequential.2.0" in counter.get_table(depth=3)
    assert "Sequential.2.0" not in table
    with counter:
        pass
    assert counter.get_total_flops() == 0


def test_an_error_leaves_no_hooks() -> None:
    def fail(module: Any, *arguments: Any) -> None:
        raise KeyError("fails")

    model = nn.Linear(2, 2)
    model.register_forward_hook(fail)
    with pytest.raises(KeyError), FlopCounterMode(display=False):
        model(ow.ones(1, 2))
    with FlopCounterMode(display=False) as counter:
        ow.ones(2, 3) @ ow.ones(3, 2)
    assert list(counter.flop_counts) == ["Global"]


def test_formulas_of_ones_own() -> None:
    aten = ow.ops.aten
    with FlopCounterMode(display=False, custom_mapping={aten.exp: lambda shape, out_shape: shape[0] * 10}) as counter:
        ow.ones(3).exp()
        ow.ones(2, 2) @ ow.ones(2, 2)
    assert counter.flop_counts["Global"] == {aten.exp: 30, aten.matmul: 16}
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(ow.exp)(lambda *shapes, out_shape: 0)
