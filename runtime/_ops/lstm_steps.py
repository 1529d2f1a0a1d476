"""All steps of an LSTM, for the composite `lstm_steps`, whose gradients are in derivatives/recurrent.py."""

from __future__ import annotations

from typing import Any

__all__ = ["lstm_forward", "step_places"]


def step_places(steps: int, backwards: bool) -> list[int]:
    """Return the places of the steps in their order."""
    return list(range(steps))[::-1] if backwards else list(range(steps))


def lstm_forward(gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> tuple[Any, ...]:
    """Return the outputs of all steps, the last state, and what gradients use: the activated gates and the cells."""
    steps, batch, size = gates.size(0), gates.size(1), c.size(-1)
    activated = gates.clone() if bias is None else gates + bias
    found, cells = gates.new_empty((steps, batch, size)), gates.new_empty((steps, batch, size))
    transposed = weight.t().contiguous()  # as products read it
    # Views of all steps are made at once, and gates are computed in place: calls take most of the time beside products.
    keep_in, forget, new, last = activated.chunk(4, 2)
    views = activated, activated.narrow(2, 0, 2 * size), keep_in, forget, new, last, found, cells
    listed = list(zip(*(each.unbind(0) for each in views), strict=True))
    for place in step_places(steps, backwards):
        part, both, keep_in, forget, new, last, output, cell = listed[place]
        part.addmm_(h, transposed)
        both.sigmoid_()
        new.tanh_()
        last.sigmoid_()
        c = (forget * c).addcmul_(keep_in, new)
        h = c.tanh().mul_(last)
        output.copy_(h)
        cell.copy_(c)
    return found, h.clone(), c.clone(), activated, cells
