"""Objects whose code runs inside a call and gives the tensor other memory, or takes it away."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave._base import memory


class Meddler:
    """Stands for a number; asked for it, it calls a function first."""

    def __init__(self, function: Callable[[], Any], value: int) -> None:
        self.function = function
        self.value = value

    def __index__(self) -> int:
        self.function()
        return self.value

    def __float__(self) -> float:
        self.function()
        return float(self.value)


def replaced(x: opweave.Tensor, by: opweave.Tensor) -> Callable[[], None]:
    """Gives `x` the memory of `by`, and what was its own to other tensors."""

    def replace() -> None:
        x.data = by
        others = [opweave.full(size, 7.0) for size in (4, 12, 12, 48, 12)]
        del others
        gc.collect(1)  # these are young; to look at all objects takes longer than the tests

    return replace


def numbers() -> opweave.Tensor:
    return opweave.arange(12.0).reshape(3, 4)


# Numbers are converted before the tensor is looked at: the call is about the memory that it has then, which holds
# [[0, 10], [20, 30]].
CALLS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "x[e]": (lambda x, e: x[e], [20.0, 30.0]),
    "x[e:]": (lambda x, e: x[e:], [[20.0, 30.0]]),
    "x[:, e:]": (lambda x, e: x[:, e:], [[10.0], [30.0]]),
    "x[None, e]": (lambda x, e: x[None, e], [[20.0, 30.0]]),
    "x[..., :e]": (lambda x, e: x[..., :e], [[0.0], [20.0]]),
    "x[tensor, e:]": (lambda x, e: x[opweave.tensor([1, 0]), e:], [[30.0], [10.0]]),
    "select": (lambda x, e: x.select(0, e), [20.0, 30.0]),
    "narrow": (lambda x, e: x.narrow(1, e, 1), [[10.0], [30.0]]),
    "permute": (lambda x, e: x.permute(e, 0), [[0.0, 20.0], [10.0, 30.0]]),
    "view": (lambda x, e: x.view(e, -1), [[0.0, 10.0, 20.0, 30.0]]),
    "swapaxes_": (lambda x, e: x.swapaxes_(0, e), [[0.0, 20.0], [10.0, 30.0]]),
    "sum": (lambda x, e: x.sum(e), [10.0, 50.0]),
    "cumsum": (lambda x, e: x.cumsum(e), [[0.0, 10.0], [20.0, 50.0]]),
    "split": (lambda x, e: x.split(e)[1], [[20.0, 30.0]]),
    "unfold": (lambda x, e: x.unfold(0, e, 1), [[[0.0], [10.0]], [[20.0], [30.0]]]),
    "roll": (lambda x, e: x.roll(e, 0), [[20.0, 30.0], [0.0, 10.0]]),
    "repeat": (lambda x, e: x.repeat(e, 2), [[0.0, 10.0, 0.0, 10.0], [20.0, 30.0, 20.0, 30.0]]),
    "index_select": (lambda x, e: x.index_select(e, opweave.tensor([1])), [[10.0], [30.0]]),
    "index_fill_": (lambda x, e: x.index_fill_(e, opweave.tensor([1]), 1.0), [[0.0, 1.0], [20.0, 1.0]]),
    "normal_": (lambda x, e: x.normal_(e, 0.0), [[1.0, 1.0], [1.0, 1.0]]),
    "random_": (lambda x, e: x.random_(0, e), [[0.0, 0.0], [0.0, 0.0]]),
    "log_normal_": (lambda x, e: x.log_normal_(e, 1.0).shape, [2, 2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_sees_the_memory_that_its_numbers_left(name: str) -> None:
    call, expected = CALLS[name]
    x = numbers()
    result = call(x, Meddler(replaced(x, opweave.tensor([[0.0, 10.0], [20.0, 30.0]])), 1))
    assert (result.tolist() if isinstance(result, opweave.Tensor) else list(result)) == expected


@pytest.mark.parametrize("shape", [(0,), (), (2,)])
@pytest.mark.parametrize("name", CALLS)
def test_or_refuses_it(name: str, shape: tuple[int, ...]) -> None:
    x = numbers()
    with contextlib.suppress(IndexError, RuntimeError, TypeError):
        CALLS[name][0](x, Meddler(replaced(x, opweave.zeros(shape)), 1))
    assert x.numel() <= 2


def test_assignments_write_to_the_memory_that_is_there() -> None:
    x, before = numbers(), numbers()
    other = opweave.zeros(2, 2)
    old = x.view(-1)
    x[:, Meddler(replaced(x, other), 1) :] = 5.0
    assert other.tolist() == [[0.0, 5.0], [0.0, 5.0]]
    assert old.tolist() == before.flatten().tolist()


def test_a_handle_stays_when_the_memory_changes() -> None:
    x, view = numbers(), numbers()[1]
    handle = x._h
    x.data = opweave.zeros(2)
    x.set_(view)
    x.resize_(100)
    x.t_()
    assert x._h == handle
    assert x[:4].tolist() == [4.0, 5.0, 6.0, 7.0]


def test_memory_that_was_exchanged_goes_when_nobody_has_it() -> None:
    large = opweave.zeros(1 << 20)
    gc.collect(1)  # these are young; to look at all objects takes longer than the tests
    before = memory.memory_allocated()
    for _ in range(3):
        large.data = opweave.zeros(1 << 20)
        small = opweave.zeros(2)
        small.data = large
        large.data = opweave.zeros(4)
        large.data = small
    del small
    assert memory.memory_allocated() < before + 4096


def test_views_that_a_finalizer_disturbs_are_of_the_memory_that_was_there() -> None:
    x = opweave.arange(600.0).reshape(100, 6)

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            x.data = opweave.zeros(1)

    thresholds = gc.get_threshold()
    Cycle()
    gc.set_threshold(1)
    try:
        parts = x.unbind(0)
    finally:
        gc.set_threshold(*thresholds)
    assert len(parts) == 100
    assert [part[0].item() for part in parts] == [6.0 * row for row in range(100)]


class Short:
    """Says that it has more elements than it gives."""

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: int) -> float:
        return [1.0][index]


class Endless:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> float:
        return 1.0


@pytest.mark.parametrize("data", [Short(), [Short()], Endless(), [Endless(), Endless()]])
def test_sequences_must_have_the_length_that_they_say(data: Any) -> None:
    with pytest.raises(ValueError, match="sequence of length"):
        opweave.tensor(data)
