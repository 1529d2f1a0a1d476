"""`set_flush_denormal`: of the calling thread alone, and of all pieces of a loop that it shares with others."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import opweave
import pytest


@pytest.fixture
def flushing() -> Iterator[None]:
    if not opweave.set_flush_denormal(True):
        pytest.skip("this processor is not known to have such a mode")
    yield
    opweave.set_flush_denormal(False)


def halves(count: int) -> opweave.Tensor:
    return opweave.full((count,), 2.0**-126) / 2


@pytest.mark.usefixtures("flushing")
@pytest.mark.parametrize("count", [1, 1 << 22])
def test_flushes(count: int) -> None:
    assert not halves(count).any()
    opweave.set_flush_denormal(False)
    assert halves(count).all()


@pytest.mark.usefixtures("flushing")
def test_other_threads_do_not() -> None:
    results = []
    # A thread begins with the mode of the one that starts it.
    opweave.set_flush_denormal(False)
    ready, go = threading.Event(), threading.Event()

    def run() -> None:
        ready.set()
        go.wait()
        results.append(bool(halves(1 << 22).all()))

    other = threading.Thread(target=run)
    other.start()
    ready.wait()
    opweave.set_flush_denormal(True)
    assert not halves(1 << 22).any()
    go.set()
    other.join()
    assert results == [True]


def test_refused() -> None:
    for wrong in ("x", 1, None):
        with pytest.raises(RuntimeError, match="flush_denormal expects a bool, but got"):
            opweave.set_flush_denormal(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        opweave.set_flush_denormal()  # type: ignore[call-arg]
