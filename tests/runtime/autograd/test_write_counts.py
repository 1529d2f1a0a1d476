"""How often a tensor counts as written to when it is given other memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome


class Tensors:
    """x with no writes and y with three, and a view of each."""

    def __init__(self, library: Any) -> None:
        self.x, self.y = library.arange(4.0), library.arange(10.0, 16)
        for _ in range(3):
            self.y.add_(0)
        self.of_x, self.of_y = self.x[:2], self.y[:2]

    def counts(self) -> list[int]:
        return [each._version for each in (self.x, self.y, self.of_x, self.of_y)]


CHANGES: dict[str, Callable[[Any, Tensors], Any]] = {
    "a tensor": lambda lib, t: t.x.set_(t.y),
    "part of a tensor": lambda lib, t: t.x.set_(t.y, 1, (2,), (2,)),
    "a storage": lambda lib, t: t.x.set_(t.y.untyped_storage(), 0, (3,), (1,)),
    "nothing": lambda lib, t: t.x.set_(),
    "itself": lambda lib, t: t.x.set_(t.x),
    "of a view": lambda lib, t: t.of_x.set_(t.y),
    "data": lambda lib, t: setattr(t.x, "data", t.y),
}


@pytest.mark.oracle
def test_new_memory_counts_as_a_write_and_is_counted_apart() -> None:
    def run(lib: Any, change: Callable[[Any, Tensors], Any]) -> Any:
        tensors = Tensors(lib)
        change(lib, tensors)
        found = [tensors.counts()]
        tensors.y.add_(1)
        found.append(tensors.counts())
        tensors.x.add_(1)
        return found, tensors.x._version, tensors.y._version, tensors.x, tensors.y

    for name, change in CHANGES.items():
        check_outcome(lambda lib, change=change: run(lib, change), name)  # type: ignore[misc]


AGAIN: dict[str, Callable[[Any, Tensors], Any]] = {
    "a storage": lambda lib, t: [t.x.set_(t.y.untyped_storage()) for _ in range(2)],
    "nothing, then a size": lambda lib, t: t.x.set_().resize_(3).zero_(),
}


@pytest.mark.oracle
def test_writes_to_new_memory_are_counted_on() -> None:
    def run(lib: Any, change: Callable[[Any, Tensors], Any]) -> Any:
        tensors = Tensors(lib)
        change(lib, tensors)
        return tensors.counts()[:2]

    for name, change in AGAIN.items():
        check_outcome(lambda lib, change=change: run(lib, change), name)  # type: ignore[misc]


def saved(lib: Any) -> Any:
    w = lib.ones(4, requires_grad=True)
    z = w * w
    with lib.no_grad():
        w.set_(lib.zeros(4))
    z.sum().backward()


def source_written(lib: Any, by_source: bool) -> Any:
    w = lib.ones(4, requires_grad=True)
    y, x = lib.ones(4), lib.zeros(4)
    z = w * y
    x.set_(y)
    (y if by_source else x).add_(1)
    z.sum().backward()
    return w.grad


GRAPHS: dict[str, Callable[[Any], Any]] = {
    "saved before": saved,
    "source saved and written to": lambda lib: source_written(lib, True),
    "source saved and written to by another": lambda lib: source_written(lib, False),
    "a leaf": lambda lib: lib.ones(4, requires_grad=True).set_(lib.zeros(4)),
    "of a leaf": lambda lib: lib.zeros(4).set_(lib.ones(4, requires_grad=True)).requires_grad,
}


@pytest.mark.oracle
def test_graphs_learn_of_new_memory() -> None:
    for name, case in GRAPHS.items():
        check_outcome(case, name)


def test_new_memory_has_no_gradient() -> None:
    y = ow.zeros(4).set_(ow.ones(4, requires_grad=True))
    with pytest.raises(RuntimeError, match="derivative for set_ by 'source' is not implemented"):
        y.sum().backward()


def test_memory_that_moves_keeps_its_count() -> None:
    x = ow.ones(2)
    view = x[:1]
    x.add_(1)
    x.resize_(100)
    assert (x._version, view._version) == (2, 1)
