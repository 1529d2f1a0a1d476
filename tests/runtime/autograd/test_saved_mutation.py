"""Writes to tensors that the graph has saved: those that it is to bear, and those that it cannot see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome
from opweave.autograd.graph import allow_mutation_on_saved_tensors, increment_version


def in_place(lib: Any, b: Any) -> Any:
    out = (b**2).sum()
    b.sin_()
    return out


def twice(lib: Any, b: Any) -> Any:
    out = (b**2).sum()
    b.sin_()
    out = out + (b**3).sum()
    b.mul_(2)
    return out + b.sum()


def with_out(lib: Any, b: Any) -> Any:
    out = (b * b).sum()
    with lib.no_grad():
        lib.exp(b, out=b)
    return out


def by_index(lib: Any, b: Any) -> Any:
    out = (b * b).sum()
    b[:1] = 5
    return out


def result(lib: Any, b: Any) -> Any:
    c = b.exp()
    out = c.sum()
    c.zero_()
    return out


def foreach(lib: Any, b: Any) -> Any:
    out = (b * b).sum()
    with lib.no_grad():
        lib._foreach_mul_([b], 3)
    return out


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each for each in (in_place, twice, with_out, by_index, result, foreach)
}


@pytest.mark.oracle
def test_gradients_are_of_what_was_saved() -> None:
    def run(lib: Any, write: Callable[[Any, Any], Any]) -> Any:
        with lib.autograd.graph.allow_mutation_on_saved_tensors() as context:
            a = lib.arange(1.0, 5.0, requires_grad=True)
            out = write(lib, a.clone())
            copies = len(context.cloned)
            out.backward()
        return a.grad, copies, len(context.cloned), len(context.original)

    for name, write in WRITES.items():
        check_outcome(lambda lib, write=write: run(lib, write), name)  # type: ignore[misc]


def test_writes_by_way_of_other_views_and_of_data() -> None:
    for write in (lambda b: b[2:].mul_(7), lambda b: b.data.zero_(), lambda b: b.view(2, 2)[1].detach().fill_(3)):
        with allow_mutation_on_saved_tensors():
            a = ow.arange(1.0, 5.0, requires_grad=True)
            b = a.clone()
            out = (b * b).sum()
            write(b)
            out.backward()
        assert a.grad is not None
        assert a.grad.tolist() == [2, 4, 6, 8]


def test_what_nobody_needs_is_not_copied() -> None:
    with allow_mutation_on_saved_tensors() as context:
        a = ow.ones(2, requires_grad=True)
        b = a.clone()
        (b * b).sum().backward()
        b.zero_()
        assert not context.cloned
        c = a.clone()
        outs = [(c * c).sum(), c.sin().sum()]
        c.zero_()
        assert len(context.cloned) == 1
        del outs
        assert not context.cloned


def test_backward_outside_of_the_context() -> None:
    with allow_mutation_on_saved_tensors():
        out = (ow.ones(2, requires_grad=True).clone() ** 2).sum()
        with pytest.raises(RuntimeError, match="contexts cannot be nested"), allow_mutation_on_saved_tensors():
            pass
    with pytest.raises(
        AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    ):
        out.backward()
    with allow_mutation_on_saved_tensors():
        pass


def counted(lib: Any) -> Any:
    x = lib.ones(2)
    view, detached, data = x[:1], x.detach(), x.data
    found = []
    for given in (x, [x, view], iter([view])):
        lib.autograd.graph.increment_version(given)
        found.append([each._version for each in (x, view, detached, data)])
    return found


def saved(lib: Any) -> Any:
    b = lib.ones(2, requires_grad=True) * 1
    c = b * b
    lib.autograd.graph.increment_version(b)
    c.sum().backward()


@pytest.mark.oracle
def test_writes_that_are_counted() -> None:
    increment = lambda lib, value: lib.autograd.graph.increment_version(value)  # noqa: E731
    for name, case in {
        "counts": counted,
        "saved": saved,
        "a number": lambda lib: increment(lib, 3),
        "numbers": lambda lib: increment(lib, [3]),
        "none": lambda lib: increment(lib, []),
    }.items():
        check_outcome(case, name)


def test_all_are_tensors_or_none_is_counted() -> None:
    x = ow.ones(2)
    with pytest.raises(RuntimeError, match="each element of the iterable to be a tensor"):
        increment_version([x, 3])
    with ow.inference_mode():
        inference = ow.ones(2)
    increment_version(inference)
    assert x._version == 0
