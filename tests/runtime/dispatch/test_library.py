"""opweave.library: functions that answer calls of operators for tensors with a dispatch key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import opweave
import pytest
from opweave import library
from opweave._dispatch import dispatcher
from opweave._dispatch.ops import ops


class Counted(opweave.Tensor):
    """A class whose products are counted."""


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    dispatcher.unregister("subclass", ops.mul.op)


def test_an_operator_of_a_subclass() -> None:
    calls: list[tuple[Any, ...]] = []

    @library.register("mul", "subclass")
    def counted(op: Any, args: Any, out: Any, mode: int) -> Any:
        calls.append((op.name, len(args), out, mode))
        return library.redispatch(op, args, out, mode, below="subclass")

    x = opweave.ones(2).as_subclass(Counted)
    assert (x * 3).tolist() == [3.0, 3.0]
    assert (2 * x).tolist() == [2.0, 2.0]
    x.mul_(4)
    assert x.tolist() == [4.0, 4.0]
    assert (x + 1).tolist() == [5.0, 5.0]
    assert calls == [("mul", 2, None, library.NEW), ("mul", 2, None, library.NEW), ("mul", 2, None, library.INPLACE)]
    again = library.register("multiply", "subclass")
    with pytest.raises(ValueError, match=r"the dispatch key 'subclass' has a handler of mul\(\) already"):
        again(counted)


def test_refusals() -> None:
    def function(op: Any, args: Any, out: Any, mode: int) -> Any:
        raise AssertionError

    with pytest.raises(ValueError, match="there is no operator 'multipli'; did you mean 'multiply'"):
        library.register("multipli", "quantized")
    dense, autograd = library.register("mul", "dense"), library.register_fallback("autograd")
    with pytest.raises(ValueError, match="unknown dispatch key 'dense'; there are function_mode, subclass, profiler, "):
        dense(function)
    opweave.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="the dispatch key 'autograd' has a fallback already"):
        autograd(function)


def test_a_handler_may_not_decline() -> None:
    library.new_key("declined", after="quantized")

    @library.register("mul", "declined")
    def declining(op: Any, args: Any, out: Any, mode: int) -> Any:
        return NotImplemented

    x = library.add_key(opweave.ones(1), "declined")
    text = r"^declining, registered for mul and the key 'declined', returned NotImplementedType, but the schema "
    try:
        with pytest.raises(TypeError, match=text):
            x * 2
    finally:
        dispatcher.unregister("declined", ops.mul.op)
    with pytest.raises(ValueError, match="unknown dispatch key 'dense'"):
        library.add_key(x, "dense")
