"""The slow path of random numbers: fills whose arguments the generated functions leave to it."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._base import histories
from .._base.generator import generator_address
from .._base.handles import OVERFLOW
from .._base.histories import needs_grad
from .._C import lib
from .arguments import MISSING, Arguments, integer, real
from .dispatcher import NONE, Op, decline, self_handle


def fill(
    op: Op,
    self: Any,
    others: tuple[Any, ...],
    numbers: tuple[tuple[str, Any], ...],
    integers: tuple[tuple[str, Any], ...],
    generator: Any,
) -> Any:
    """Fills `self` with random numbers. Optional integers at the end may be missing, which is not to be None."""
    if needs_grad(self, others):
        run = partial(fill, op, self, others, numbers, integers, generator)
        return histories.recording.call_inplace(op, self, (self, *others), run)
    arguments = Arguments()
    try:
        handle = self_handle(op, self, arguments)
        tensors = [arguments.tensor(op, place, value) for place, value in enumerate(others, 1)]
        floats = [real(op, name, place, value) for place, (name, value) in enumerate(numbers, 1)]
        whole = [
            0 if value is MISSING else NONE if value is None else integer(op, name, value) for name, value in integers
        ]
        given = max((place for place, (_, value) in enumerate(integers, 1) if value is not MISSING), default=0)
        address = generator_address(op.name, generator)
        try:
            done = lib.random_fill(
                op.index, handle, *_two(tensors, 0.0), *_two(floats, 0.0), *_two(whole, 0), given, address
            )
        except OverflowError:
            raise ValueError(OVERFLOW) from None
        return self if done else decline(op, [handle, *tensors], self, others, numbers, integers, generator)
    finally:
        arguments.release()


def _two(values: list[Any], absent: Any) -> tuple[Any, Any]:
    first, second = [*values, absent, absent][:2]
    return first, second
