"""Reductions of all elements run with the loop before them: results are those of the functions, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from compiled_calls import check
from opweave._handle import run_tiles
from opweave.compiler import _tiles
from opweave.nn import functional

UNIT = 1 << 16


@pytest.fixture(autouse=True)
def no_second_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles are not given up."""

    def run(*args: Any) -> Any:
        result = run_tiles(*args)
        assert result is not None
        return result

    monkeypatch.setattr(_tiles, "run_tiles", run)


def _numbers(*shape: int, dtype: Any = opweave.float32) -> Any:
    count = opweave.Size(shape).numel()
    return (((opweave.arange(count) * 7919) % 100_003).to(opweave.float64) / 3e4 - 1.6).reshape(shape).to(dtype)


def several(x: Any, y: Any) -> Any:
    products = x * y + 1
    return products, products.sum(), products.amax(), products.mean(dtype=opweave.float64)


TOTALS: list[Callable[[Any, Any], Any]] = [
    functional.mse_loss,
    functional.l1_loss,
    several,
    lambda x, y: (x * y).sum(),
    lambda x, y: (x - y).norm(),
    lambda x, y: ((x > 0) == (y > 0)).sum(),
    lambda x, y: ((x > 0) & (y > 0)).any(),
    lambda x, y: (x * y.sum() + 1).prod(),
]


@pytest.mark.parametrize("dtype", [opweave.float32, opweave.float64, opweave.bfloat16])
@pytest.mark.parametrize("count", [UNIT + 1, 3 * UNIT, 200_003])
@pytest.mark.parametrize("place", range(len(TOTALS)))
def test_totals(place: int, count: int, dtype: Any) -> None:
    check(TOTALS[place], _numbers(count, dtype=dtype), _numbers(count, dtype=dtype) * 0.7 + 0.1, calls=2)


def _others(function: Any, *args: Any) -> str:
    """The number of operators that are in no kernel."""
    text = opweave.compiler.explain(opweave.compile(function, fullgraph=True), *args).partition("\n")[0]
    return str(text.rpartition(", ")[2])


@pytest.mark.parametrize("place", range(len(TOTALS)))
def test_one_pass(place: int) -> None:
    x, y = _numbers(300, 400), _numbers(300, 400) + 0.1
    expected = "1 other operator" if place == len(TOTALS) - 1 else "0 other operators"
    assert _others(TOTALS[place], x, y) == expected


def test_shapes() -> None:
    x = _numbers(4, 100, 300)
    check(lambda x, y: (x * y).sum((0, 1, 2), keepdim=True), x, x + 1)
    check(lambda x, y, z: (x * y * z).mean(), x, opweave.tensor(2.0), opweave.tensor([[3.0]]))
    check(lambda x, y: (x * y).sum(), x, _numbers(1, 4, 100, 300))
    for other in (_numbers(300), _numbers(100, 1), x.transpose(0, 1).contiguous().transpose(0, 1)):
        check(lambda x, y: (x * y).sum(), x, other)
        assert _others(lambda x, y: (x * y + 1).sum(), x, other) == "1 other operator"
    check(lambda x, y: (x * y).transpose(1, 2).sum(), x, x)
    check(lambda x, y: (x * y).sum(), _numbers(20), _numbers(20))


def test_what_is_written_to_before_the_reduction() -> None:
    def function(x: Any, y: Any) -> Any:
        products = x * y + 1
        products.view(-1)[7:].mul_(2)
        first = products.sum()
        x.add_(1)
        return first, (x * y).sum()

    check(function, _numbers(UNIT + 5), _numbers(UNIT + 5))


def test_sums_that_leave_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tiles, "run_tiles", run_tiles)
    x = _numbers(2 * UNIT)
    for function in (lambda x: (x * 3e38).sum(), lambda x: (x * 1e25).norm(), lambda x: (x / 0).sum()):
        check(function, x)


def test_threads() -> None:
    x, y, before = _numbers(1_000_003), _numbers(1_000_003) + 1, opweave.get_num_threads()
    try:
        for number in (1, 2, 4):
            opweave.set_num_threads(number)
            check(several, x, y)
    finally:
        opweave.set_num_threads(before)
