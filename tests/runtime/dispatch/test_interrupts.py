"""Ctrl-C at any moment: what a call has changed for a while is as it was before, and long loops end early."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import opweave
import pytest
from opweave._base.errors import raise_pending
from opweave._C import lib
from opweave._handle import anomaly, excluded, packing
from opweave.autograd.graph import disable_saved_tensors_hooks, save_on_cpu

MOST_MOMENTS = 2000


def interrupted_at(moment: int, function: Callable[[], Any]) -> bool:
    """Raise KeyboardInterrupt at moment number `moment` at which Python looks at signals; True if it was reached.

    It does so where a function begins and where a call has returned.
    """
    left = moment

    def watch(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        if event in ("call", "c_return"):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    before = sys.getprofile()
    with suppress(KeyboardInterrupt):
        sys.setprofile(watch)
        try:
            function()
        finally:
            sys.setprofile(before)
    return left <= 0


def loss(x: Any) -> Any:
    return (x * x).view(2, 2).sum(0).exp().sum()


def backward() -> None:
    x = opweave.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    loss(x).backward()


def gradient_of_gradient() -> None:
    x = opweave.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    (first,) = opweave.autograd.grad(loss(x), x, create_graph=True)
    opweave.autograd.grad(first.sum(), x)


def modes() -> None:
    with opweave.no_grad():
        opweave.ones(2) + 1
        with opweave.enable_grad(), opweave.inference_mode():
            opweave.ones(2) + 1


def switched() -> None:
    with opweave.set_grad_enabled(False):
        opweave.ones(2) + 1


@opweave.no_grad()
def decorated() -> None:
    opweave.ones(2) + 1


def hooks() -> None:
    x = opweave.ones(2, requires_grad=True)
    with save_on_cpu():
        with save_on_cpu():
            y = x.exp()
        y.sin().sum().backward()
    with disable_saved_tensors_hooks("not here"):
        x.exp()


def anomalies() -> None:
    with opweave.autograd.detect_anomaly(check_nan=False), opweave.autograd.set_detect_anomaly(True):
        opweave.ones(2) + 1


def in_place() -> None:
    x = opweave.ones(4, requires_grad=True)
    y = x * 2
    y[1:] = 3.0
    y.fill_(opweave.tensor(2.0))
    y.mul_(x)


PROGRAMS = [backward, gradient_of_gradient, modes, switched, decorated, in_place, hooks, anomalies]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_modes_are_as_they_were_before_an_interrupt(program: Callable[[], Any]) -> None:
    program()
    assert (excluded(), anomaly(), packing()) == (0, 0, None)
    for moment in range(1, MOST_MOMENTS):
        reached = interrupted_at(moment, program)
        assert (excluded(), anomaly(), packing()) == (0, 0, None), moment
        with save_on_cpu():  # which nothing refuses
            pass
        if not reached:
            break
    else:
        pytest.fail("the program has more moments than were tried")


@pytest.mark.parametrize("switch", [opweave.set_grad_enabled, opweave.autograd.set_detect_anomaly])
def test_a_switch_is_undone_where_no_block_follows_for_an_exception(switch: Any) -> None:
    before = excluded(), anomaly()
    on = switch is opweave.autograd.set_detect_anomaly

    def interrupt() -> None:
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        [switch(on), interrupt()]  # as between making the mode and entering it
    assert (excluded(), anomaly()) == before
    switch(on)
    assert (excluded(), anomaly()) != before
    switch(not on)
    assert (excluded(), anomaly()) == before


def test_modes_are_nested_and_used_again() -> None:
    mode = opweave.no_grad()
    for _ in range(2):
        with mode:
            with mode:
                assert not opweave.is_grad_enabled()
            assert not opweave.is_grad_enabled()
        assert opweave.is_grad_enabled()
    switch = opweave.set_grad_enabled(False)
    assert not opweave.is_grad_enabled()
    with switch:
        assert not opweave.is_grad_enabled()
    assert opweave.is_grad_enabled()


@contextmanager
def alarm(seconds: float, handler: Callable[..., Any], every: float = 0) -> Iterator[None]:
    """Call `handler` after some seconds, and then every so often.

    Garbage is not collected meanwhile: a signal that arrives during a collection is handled in one of `gc.callbacks`
    (Hypothesis has one), and what is raised there is printed and dropped.
    """
    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()
    signal.setitimer(signal.ITIMER_REAL, seconds, every)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)


class Alarm(BaseException):
    pass


def raise_alarm(number: int, frame: Any) -> None:
    raise Alarm


def test_a_long_loop_ends_where_a_handler_raises() -> None:
    x = opweave.full((1, 1), 30.0).expand(1 << 9, 1 << 14)
    out = opweave.zeros(x.shape)
    with pytest.raises(Alarm), alarm(0.005, raise_alarm):
        opweave.special.gammainc(x, x, out=out)
    assert out[-1, -1].item() == 0  # the rest was left out
    assert (opweave.ones(2) + 1).tolist() == [2.0, 2.0]


def ticking(handler: Callable[..., Any]) -> AbstractContextManager[None]:
    return alarm(0.001, handler, every=0.001)


def expanded(*shape: int, dtype: Any = None) -> Any:
    return opweave.ones((1,) * len(shape), dtype=dtype).expand(shape)


def index(numel: int) -> Any:
    return opweave.zeros(1, dtype=opweave.int64).expand(numel)


LONG = {
    "a sum of all": lambda: expanded(1 << 18, 1 << 16).sum(),
    "sums along lines": lambda: expanded(1 << 18, 1 << 16).sum(1),
    "sums of rows": lambda: opweave.ones(1, 1 << 14).expand(1 << 20, 1 << 14).sum(0),
    "a norm": lambda: expanded(1 << 18, 1 << 16).norm(),
    "short rows": lambda: expanded(1 << 24, 8).logsumexp(1),
    "rows": lambda: expanded(1 << 18, 1 << 14).logsumexp(1),
    "positions": lambda: opweave.ones(1, 1 << 14).expand(1 << 20, 1 << 14).max(0),
    "products of matrices": lambda: opweave.ones(100, 512, 512).bmm(opweave.ones(100, 512, 512)),
    "products of integers": lambda: expanded(128, 256, 256, dtype=opweave.int64).bmm(
        expanded(128, 256, 256, dtype=opweave.int64)
    ),
    "factorizations": lambda: opweave.linalg.svd(opweave.eye(64).expand(4096, 64, 64)),
    "factorizations that threads share": lambda: opweave.linalg.inv(opweave.eye(64).expand(16384, 64, 64)),
    "written by index": lambda: opweave.zeros(4).index_put_((index(1 << 31),), expanded(1 << 31)),
    "added by index": lambda: opweave.zeros(4).index_put_((index(1 << 31),), expanded(1 << 31), accumulate=True),
    "scattered": lambda: opweave.zeros(4).scatter_add_(0, index(1 << 31), expanded(1 << 31)),
    "written to rows": lambda: opweave.zeros(4, 8).index_copy_(0, index(1 << 30), expanded(1 << 30, 8)),
    "a scan of a line": lambda: expanded(1 << 26, dtype=opweave.float64).logcumsumexp(0),
    "a median": lambda: opweave.ones(1 << 29, dtype=opweave.int16).median(),
    "sorted lines": lambda: opweave.ones(1 << 14, 1 << 13).sort(1),
}


@pytest.mark.parametrize("operation", LONG.values(), ids=LONG)
def test_a_long_operation_ends_where_a_handler_raises(operation: Callable[[], Any]) -> None:
    """The first signal may be handled before or after the operation: the second one is handled in its midst."""
    calls = []

    def handler(number: int, frame: Any) -> None:
        calls.append(number)
        if len(calls) == 2:
            raise Alarm

    result = None
    with pytest.raises(Alarm), ticking(handler):
        result = operation()
    assert result is None
    assert (opweave.ones(2) + 1).tolist() == [2.0, 2.0]


def test_bincount_ends_where_a_handler_raises() -> None:
    values, counts = index(1 << 31), opweave.zeros(4, dtype=opweave.int64)
    with pytest.raises(Alarm), alarm(0.005, raise_alarm):
        lib.count_values(values._h, counts._h) or raise_pending()
    assert counts[0].item() < 1 << 31  # the rest was left out


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["softmax", "cumsum"])
def test_signals_are_handled_while_one_long_row_is_computed(operation: str) -> None:
    calls: list[int] = []
    x = opweave.ones((1 << 30) + 777, dtype=opweave.int8) if operation == "cumsum" else opweave.zeros(1 << 28)
    with ticking(lambda number, frame: calls.append(number)):
        result = x.cumsum(0, dtype=opweave.int8) if operation == "cumsum" else x.softmax(0)
    assert len(calls) > 4
    expected = [9] if operation == "cumsum" else [2.0**-28]
    assert result[-1:].tolist() == expected


def test_a_line_is_scanned_in_parts_as_a_whole() -> None:
    n = (1 << 24) + 777
    result = opweave.zeros(1, dtype=opweave.float64).expand(n).logcumsumexp(0)
    assert (result - opweave.arange(1, n + 1, dtype=opweave.float64).log()).abs().max() < 1e-11


@pytest.mark.slow
def test_positions_of_a_scan_in_parts() -> None:
    n = (1 << 28) + 777
    x = opweave.zeros(n, dtype=opweave.int8)
    x[5], x[(1 << 27) + 9], x[n - 3] = 1, 1, 2
    values, indices = x.cummax(0)
    assert indices[5 : (1 << 27) + 9].eq(5).all()
    assert indices[(1 << 27) + 9 : n - 3].eq((1 << 27) + 9).all()
    assert indices[n - 3 :].tolist() == [n - 3] * 3
    assert values[[4, 5, n - 4, n - 1]].tolist() == [0, 1, 1, 2]


def test_a_long_loop_goes_on_where_none_does() -> None:
    calls = []
    x = opweave.full((1, 1), 30.0).expand(1 << 9, 1 << 14)
    with alarm(0.005, lambda number, frame: calls.append(number)):
        result = opweave.special.gammainc(x, x)
    assert calls
    assert (result == result[0, 0]).all()


def test_memory_that_a_tensor_leaves_waits_for_the_loops_that_go_through_it() -> None:
    x = opweave.full((1 << 18,), 30.0, dtype=opweave.float64)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.extend(opweave.special.gammainc(x, x) for _ in range(8)))
    thread.start()
    while thread.is_alive():
        x.data = opweave.full((1 << 18,), 30.0, dtype=opweave.float64)
        x.resize_(1 << 19)
        x.resize_(1 << 18)
    thread.join()
    expected = opweave.special.gammainc(x[:1], x[:1]).item()
    assert len(results) == 8
    assert all((result[: 1 << 18] == expected).all() for result in results)
