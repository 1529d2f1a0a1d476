"""All steps of an LSTM as one node of the graph: the gradient of its weight is one product, not one for each step."""

from __future__ import annotations

from typing import Any

from ... import _operators as ops
from ..._autograd.backward_api import grad as gradients
from ..._autograd.grad_mode import enable_grad, is_grad_enabled
from ..._dispatch.autocast import autocasts
from ...autograd.function import Function

__all__ = ["lstm_sequence"]


def _places(steps: int, backwards: bool) -> list[int]:
    return list(range(steps))[::-1] if backwards else list(range(steps))


def by_operators(gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> tuple[Any, Any, Any]:
    """The outputs of all steps and the last state, step by step."""
    from .recurrent import Layer, lstm_step

    layer = Layer([None, weight, None, bias], True)
    outputs: list[Any] = [None] * gates.size(0)
    for place in _places(gates.size(0), backwards):
        h, c = lstm_step(gates[place], (h, c), layer)
        outputs[place] = h
    return ops.stack(outputs), h, c


class _Sequence(Function):
    """The steps, which keep the activated gates and cells."""

    @staticmethod
    def forward(ctx: Any, gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> Any:
        steps, batch, size = gates.size(0), gates.size(1), c.size(-1)
        given = (gates, h, c, weight, bias)
        activated = ops.empty_like(gates)
        outputs, cells = gates.new_empty((steps, batch, size)), gates.new_empty((steps, batch, size))
        before, transposed = gates if bias is None else gates + bias, weight.t().contiguous()  # as products read it
        for place in _places(steps, backwards):
            part = activated[place].copy_(ops.addmm(before[place], h, transposed))
            for first, count, name in ((0, 2, "sigmoid_"), (2, 1, "tanh_"), (3, 1, "sigmoid_")):
                getattr(part.narrow(1, first * size, count * size), name)()
            keep_in, forget, new, last = part.chunk(4, 1)
            c = ops.addcmul(forget * c, keep_in, new)
            h = last * c.tanh()
            outputs[place], cells[place] = h, c
        ctx.save_for_backward(*given, activated, cells, outputs)
        ctx.backwards = backwards
        return outputs, h.clone(), c.clone()

    @staticmethod
    def backward(ctx: Any, by_outputs: Any, by_h: Any, by_c: Any) -> Any:
        *given, activated, cells, outputs = ctx.saved_tensors
        if is_grad_enabled():  # the gradients are to have gradients
            return (*_recorded(given, ctx.backwards, (by_outputs, by_h, by_c)), None)
        return (*_through_time(given, activated, cells, outputs, ctx.backwards, (by_outputs, by_h, by_c)), None)


def _recorded(given: list[Any], backwards: bool, grads: tuple[Any, ...]) -> list[Any]:
    with enable_grad():
        gates, h, c, weight, bias = given
        results = by_operators(gates, h, c, weight, bias, backwards)
        wanted = [each for each in given if each is not None and each.requires_grad]
        found = iter(gradients(results, wanted, grads, create_graph=True, allow_unused=True))
    return [next(found) if each is not None and each.requires_grad else None for each in given]


def _through_time(
    given: list[Any], activated: Any, cells: Any, outputs: Any, backwards: bool, grads: tuple[Any, ...]
) -> tuple[Any, ...]:
    _, h, c, weight, bias = given
    steps, batch, size = cells.shape
    by_outputs, by_h, by_c = grads

    def before(begin: Any, states: Any) -> Any:
        """The states before each step."""
        first = begin.unsqueeze(0)
        return ops.cat([states[1:], first] if backwards else [first, states[:-1]])

    # What gradients of cells and outputs are multiplied by, for all steps at once.
    keep_in, forget, new, last = activated.chunk(4, 2)
    curved = cells.tanh()
    by_last = curved * last * (1 - last)
    by_cell = last * (1 - curved * curved)
    factors = ops.stack(
        [new * keep_in * (1 - keep_in), before(c, cells) * forget * (1 - forget), keep_in * (1 - new * new)], 2
    )
    by_gates = ops.empty_like(activated)
    for place in _places(steps, not backwards):
        by_h = by_h + by_outputs[place]
        by_c = ops.addcmul(by_c, by_h, by_cell[place])
        part = by_gates[place]
        part.narrow(1, 0, 3 * size).copy_((by_c.unsqueeze(1) * factors[place]).view(batch, 3 * size))
        part.narrow(1, 3 * size, size).copy_(by_h * by_last[place])
        by_c = by_c * forget[place]
        by_h = part.matmul(weight)
    flat = by_gates.view(-1, 4 * size)
    by_weight = flat.t().matmul(before(h, outputs).view(-1, size))
    return by_gates, by_h, by_c, by_weight, None if bias is None else flat.sum(0)


@autocasts("half")
def lstm_sequence(gates: Any, h: Any, c: Any, weight: Any, bias: Any, backwards: bool) -> tuple[Any, tuple[Any, Any]]:
    """Return the outputs of all steps, (T, N, H), and the last state.

    Args:
        gates (Tensor): what inputs contribute, (T, N, 4 * H).
        h, c (Tensor): the first state, (N, H).
        weight, bias (Tensor): of the state, (4 * H, H) and (4 * H).
        backwards (bool): whether to go from the last step to the first.
    """
    outputs, h, c = _Sequence.apply(gates, h, c, weight, bias, backwards)
    return outputs, (h, c)
