"""All steps of an LSTM, for the composite `lstm_steps`, whose gradients are in derivatives/recurrent.py."""

from __future__ import annotations

from typing import Any

from .._dispatch.ops import ops

__all__ = ["lstm_forward", "step_places"]


def step_places(steps: int, backwards: bool) -> list[int]:
    """Return the places of the steps in their order."""
    return list(range(steps))[::-1] if backwards else list(range(steps))


def lstm_forward(gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> tuple[Any, ...]:
    """Return the outputs of all steps, the last state, and what gradients use: the activated gates and the cells."""
    steps, batch, size = gates.size(0), gates.size(1), c.size(-1)
    activated = ops.empty_like(gates)
    found, cells = gates.new_empty((steps, batch, size)), gates.new_empty((steps, batch, size))
    before, transposed = gates if bias is None else gates + bias, weight.t().contiguous()  # as products read it
    for place in step_places(steps, backwards):
        part = activated[place].copy_(ops.addmm(before[place], h, transposed))
        for first, count, name in ((0, 2, "sigmoid_"), (2, 1, "tanh_"), (3, 1, "sigmoid_")):
            getattr(part.narrow(1, first * size, count * size), name)()
        keep_in, forget, new, last = part.chunk(4, 1)
        c = ops.addcmul(forget * c, keep_in, new)
        h = last * c.tanh()
        found[place], cells[place] = h, c
    return found, h.clone(), c.clone(), activated, cells
