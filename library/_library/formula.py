"""Recorded calls of users' operators: the node of a call asks the function that was registered for gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._base.pytree import Structure, flatten
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import redispatch
from .._dispatch.overloads import OpOverload
from ..autograd.function import Function


@dataclass
class Formula:
    """The functions that are registered for an operator's gradients."""

    backward: Callable[..., Any] | None = None
    setup_context: Callable[..., Any] | None = None
    kind: type[Function] | None = None
    """The class of the nodes of calls."""


@dataclass
class _Call:
    """The facts of a call that forward and backward share. Function sees tensors one by one, also those in lists."""

    formula: Formula
    overload: OpOverload
    named: tuple[Any, ...]
    mode: int
    counts: tuple[int | None, ...]
    """The number of elements of each positional argument that is a list of tensors; None for others."""
    results: Structure | None = None


class _Context:
    """`ctx` as the user's functions see it: the gradients that are wanted are those by the operator's arguments."""

    __slots__ = ("_call", "_context")

    def __init__(self, context: Any, call: _Call) -> None:
        object.__setattr__(self, "_context", context)
        object.__setattr__(self, "_call", call)

    @property
    def needs_input_grad(self) -> Any:
        """A tuple that says of each argument whether its gradient is wanted; a list for a list."""
        return _gathered(self._context.needs_input_grad[1:], self._call.counts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._context, name, value)


def call_recorded(formula: Formula, overload: OpOverload, args: Sequence[Any], mode: int) -> Any:
    """The result of a call, as outputs of a node."""
    count = overload.op.positional
    leaves, counts = _spread(args[:count])
    call = _Call(formula, overload, tuple(args[count:]), mode, counts)
    if formula.kind is None:
        formula.kind = _kind(overload)
    outputs = formula.kind.apply(call, *leaves)
    assert call.results is not None
    return call.results.unflatten(outputs)


def _kind(overload: OpOverload) -> type[Function]:
    name = f"GeneratedBackwardFor_{overload.namespace}_{overload._opname}_{overload._overloadname}"
    return type(name, (Function,), {"forward": staticmethod(_forward), "backward": staticmethod(_backward)})


def _forward(context: Any, call: _Call, *leaves: Any) -> tuple[Any, ...]:
    inputs = _gathered(leaves, call.counts)
    op = call.overload.op
    result = redispatch(op, (*inputs, *call.named), None, call.mode, below="autograd")
    if call.formula.setup_context is not None:
        named = {}
        if call.named:
            named["keyword_only_inputs"] = dict(zip(op.names[len(inputs) :], call.named, strict=True))
        call.formula.setup_context(ctx=_Context(context, call), inputs=inputs, output=result, **named)
    context._call = call
    outputs, call.results = flatten(result)
    return tuple(outputs)


def _backward(context: Any, *grads: Any) -> tuple[Any, ...]:
    call: _Call = context._call
    if call.formula.backward is None:
        raise RuntimeError(
            f"Trying to backward through {call.overload} but no autograd formula was registered. Please use "
            "register_autograd to add one."
        )
    assert call.results is not None
    given = call.results.unflatten(grads)
    result = call.formula.backward(_Context(context, call), *(given if call.results.type is tuple else (given,)))
    gradients = result if isinstance(result, tuple) else (result,)
    if len(gradients) != len(call.counts):
        raise RuntimeError(
            f"the backward of {call.overload} returned an incorrect number of gradients (expected {len(call.counts)}, "
            f"got {len(gradients)})"
        )
    leaves: list[Any] = [None]
    for count, grad in zip(call.counts, gradients, strict=True):
        leaves += [grad] if count is None else _of_list(call, count, grad)
    return tuple(leaves)


def _of_list(call: _Call, count: int, grad: Any) -> Sequence[Any]:
    """The gradients by the tensors of a list; None stands for none by any of them."""
    if grad is None:
        return [None] * count
    if not isinstance(grad, (list, tuple)) or len(grad) != count:
        raise RuntimeError(
            f"Expected the return from backward to be of the same structure as the inputs. The backward of "
            f"{call.overload} returned {grad!r} for a list of {count} tensors"
        )
    return grad


def _spread(values: Sequence[Any]) -> tuple[list[Any], tuple[int | None, ...]]:
    """Arguments with the tensors of lists in place of these, and how many each list has."""
    leaves: list[Any] = []
    counts: list[int | None] = []
    for value in values:
        is_list = isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value)
        leaves += value if is_list else [value]
        counts.append(len(value) if is_list else None)
    return leaves, tuple(counts)


def _gathered(leaves: Sequence[Any], counts: Sequence[int | None]) -> tuple[Any, ...]:
    """Return arguments with lists of these lengths, in place of their tensors: the inverse of `_spread`."""
    rest = iter(leaves)
    return tuple([next(rest) if count is None else [next(rest) for _ in range(count)] for count in counts])
