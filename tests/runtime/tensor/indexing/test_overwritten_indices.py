"""Index tensors and masks that another thread overwrites during a call: an error or a result, but no other memory."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import opweave
import pytest

COUNT = 40_000
SECONDS = 0.12


@contextlib.contextmanager
def overwritten(tensor: opweave.Tensor, values: list[float]) -> Iterator[None]:
    """Fills the tensor with one value after the other as long as the block runs."""
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            for value in values:
                tensor.fill_(value)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def repeat(call: Callable[[], Any]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(IndexError, RuntimeError):
            call()


INDEX = opweave.zeros(COUNT, dtype=opweave.int64)
TABLE = opweave.arange(50.0)
ROWS = opweave.ones(50, 4)
VALUES = opweave.ones(COUNT)

CALLS: dict[str, Callable[[], Any]] = {
    "x[i]": lambda: TABLE[INDEX],
    "x[i, i]": lambda: ROWS[INDEX, INDEX],
    "x[i] of rows": lambda: ROWS[INDEX],
    "index_select": lambda: ROWS.index_select(0, INDEX),
    "gather": lambda: TABLE.gather(0, INDEX),
    "take": lambda: TABLE.take(INDEX),
    "x[i] = v": lambda: opweave.zeros(50).__setitem__(INDEX, VALUES),
    "scatter_": lambda: opweave.zeros(50).scatter_(0, INDEX, VALUES),
    "scatter_add_": lambda: opweave.zeros(50).scatter_add_(0, INDEX, VALUES),
    "index_add_": lambda: opweave.zeros(50).index_add_(0, INDEX, VALUES),
    "put_": lambda: opweave.zeros(50).put_(INDEX, VALUES),
    "bincount": lambda: opweave.bincount(INDEX, minlength=60) if INDEX[0] < 100 else None,
}


@pytest.mark.parametrize("name", CALLS)
def test_indices(name: str) -> None:
    with overwritten(INDEX, [3, 2**50] if name != "bincount" else [3, -1]):
        repeat(CALLS[name])


MASK = opweave.zeros(COUNT, dtype=opweave.bool)

MASKED: dict[str, Callable[[], Any]] = {
    "x[m]": lambda: VALUES[MASK],
    "masked_select": lambda: VALUES.masked_select(MASK),
    "nonzero": lambda: MASK.nonzero(),
    "nonzero of rows": lambda: MASK.view(-1, 40).nonzero(),
    "x[m] = v": lambda: opweave.zeros(COUNT).__setitem__(MASK, VALUES[: MASK.sum()]),
    "masked_scatter_": lambda: opweave.zeros(COUNT).masked_scatter_(MASK, VALUES),
}


@pytest.mark.parametrize("name", MASKED)
def test_masks(name: str) -> None:
    with overwritten(MASK, [0, 1]):
        repeat(MASKED[name])


def test_the_places_of_a_mask_lie_in_it() -> None:
    def check() -> None:
        rows, columns = MASK.view(-1, 40).nonzero().unbind(1)
        if len(rows):
            assert 0 <= rows.min() <= rows.max() < COUNT // 40
            assert 0 <= columns.min() <= columns.max() < 40

    with overwritten(MASK, [0, 1]):
        repeat(check)


def test_the_median_is_one_of_the_values() -> None:
    values = opweave.zeros(COUNT)
    with overwritten(values, [1.0, 2.0, 3e30]):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert values.median().item() in (0.0, 1.0, 2.0, float(opweave.tensor(3e30)))


def test_pivots() -> None:
    matrices, sides = opweave.eye(3).repeat(4000, 1, 1), opweave.ones(4000, 3, 1)
    pivots = opweave.ones(4000, 3, dtype=opweave.int32)
    with overwritten(pivots, [1, 2**30]):
        repeat(lambda: opweave.linalg.lu_solve(matrices, pivots, sides))
        repeat(lambda: opweave.lu_unpack(matrices, pivots))


def test_counts_of_repeats() -> None:
    counts = opweave.zeros(COUNT, dtype=opweave.int64)
    with overwritten(counts, [0, 3]):
        repeat(lambda: VALUES.repeat_interleave(counts))


def test_nothing_is_read_of_a_dimension_without_positions() -> None:
    for call in (
        lambda: opweave.zeros(0, 3000).index_select(0, opweave.tensor([0])),
        lambda: opweave.zeros(0, 3000)[opweave.tensor([0])],
        lambda: opweave.zeros(0).gather(0, opweave.tensor([0])),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            call()
