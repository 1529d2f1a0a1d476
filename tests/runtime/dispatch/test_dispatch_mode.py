"""TorchDispatchMode: a block that sees every operator that runs in it, in order."""

from __future__ import annotations

import threading
from typing import Any

import opweave
import pytest
from opweave.utils._python_dispatch import TorchDispatchMode

aten = opweave.ops.aten


class Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((str(func), args, kwargs))
        return func(*args, **(kwargs or {}))

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]


def test_operators_in_order() -> None:
    x = opweave.ones(2)
    with Log() as log:
        y = x + 1
        y.mul_(2)
        opweave.add(x, y, alpha=3, out=y)
        y.t()
        y.sum(dim=0, keepdim=True)
    y - x
    assert log.names == [
        "aten.add.Tensor",
        "aten.mul_.Tensor",
        "aten.add.out",
        "aten.t.default",
        "aten.sum.dim_IntList",
    ]
    assert log.calls[0][1:] == ((x, 1), {})
    assert log.calls[2][2] == {"alpha": 3, "out": y}
    assert log.calls[4][1:] == ((y, 0, True), {})


def test_factories() -> None:
    with Log() as log:
        assert opweave.arange(3).tolist() == [0, 1, 2]
        x = opweave.zeros(2, dtype=opweave.float64)
        opweave.zeros_like(x)
        opweave.rand(2)
    assert log.names[:3] == ["aten.arange.start_step", "aten.zeros.default", "aten.zeros_like.default"]
    assert log.calls[1][2] == {"dtype": opweave.float64}
    assert len(log.names) > 3


def test_parts_of_composites() -> None:
    x = opweave.ones(2, 2)
    with Log() as log:
        opweave.logaddexp2(x, x)
        opweave.ldexp(x, x)
    assert log.names[-2:] == ["aten.pow.Tensor_Tensor", "aten.mul.Tensor"]
    assert not any("ldexp" in name for name in log.names)


def test_below_autograd() -> None:
    x = opweave.tensor([1.0, 2.0], requires_grad=True)
    with Log() as log:
        y = (x * x).sum()
        forward = len(log.calls)
        y.backward()
    assert log.names[:forward] == ["aten.mul.Tensor", "aten.sum.dim_IntList"]
    assert len(log.calls) > forward
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


def test_what_it_returns_is_the_result() -> None:
    class Doubling(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is aten.add.Tensor else result

    x = opweave.tensor([1.0], requires_grad=True)
    with Doubling():
        y = x + 1
    assert y.item() == 4.0
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 1.0


def test_nested_modes() -> None:
    x = opweave.ones(1)
    with Log() as outer:
        with Log() as inner:
            x + 1
        x - 1
    assert inner.names == ["aten.add.Tensor"]
    assert outer.names == ["aten.add.Tensor", "aten.sub.Tensor"]


def test_a_mode_is_left_whatever_is_raised() -> None:
    class Failing(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ZeroDivisionError(str(func))

    x = opweave.ones(1)
    with Log() as log:
        with pytest.raises(ZeroDivisionError, match=r"aten.add.Tensor"), Failing():
            x + 1
        x - 1
    x * 1
    assert log.names == ["aten.sub.Tensor"]


def test_a_mode_is_of_one_thread() -> None:
    with Log() as log:
        thread = threading.Thread(target=lambda: opweave.ones(1) + 1)
        thread.start()
        thread.join()
    assert log.names == []


def test_a_mode_may_be_entered_within_itself() -> None:
    x = opweave.ones(1)
    log = Log()
    with log, log:
        x + 1
    assert log.names == ["aten.add.Tensor"] * 2
