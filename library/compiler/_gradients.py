"""Kernels whose gradients are recorded: each is one node of the graph, and its backward pass a program as well.

That program is what the backward pass of the operators calls, recorded as any function is: it computes again what
the formulas use, so that only inputs are saved, and mostly is one kernel that gives all gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._autograd.backward_api import grad as gradients_of
from .._autograd.grad_mode import enable_grad, is_grad_enabled
from .._base.notes import explained
from .._base.shapes import broadcast_shapes
from .._dispatch.levels import level_of, run
from ..autograd.function import Function
from . import _recording
from ._graph import Operation, Value, graph_of, mapped, needed
from ._python_state import is_own_frame
from ._recording import Recording, Unsupported

if TYPE_CHECKING:
    from ._kernels import Kernel
    from ._program import Program

_CHANGED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: an input of a "
    "compiled function"
)


def with_gradients(
    kernel: Kernel, operations: Sequence[Operation], make: Callable[..., Program]
) -> tuple[Callable[..., Any], Program] | None:
    """Return the function of a kernel whose results have a history, and the program of its backward pass.

    None where that cannot be recorded.

    Args:
        operations: those that the kernel computes.
        make: makes a program of a graph, for threads that exclude some keys.
    """
    again = _Again(kernel, operations)
    leaves = [each.tensor.detach().requires_grad_(each.needs_grad) for each in kernel.inputs]
    outputs = again(leaves)
    differentiable = [place for place, each in enumerate(outputs) if each.requires_grad]
    if not differentiable:
        return None
    grads = [outputs[place].detach().clone() for place in differentiable]
    recording = Recording((*leaves, *grads), is_own_frame, by_memory=True)
    for each in (*leaves, *grads):
        recording.note(each)
    # With a graph of its own, the backward pass calls operators, and not kernels of formulas.
    result = _recording.record(recording, None, again.gradients, leaves, grads, differentiable, True)
    try:
        if recording.reason is not None:
            raise recording.reason
        graph = graph_of(recording, (*leaves, *grads), result)
    except Unsupported:
        return None
    operations = [replace(each, is_tracked=False, excluded=0) for each in graph.operations]
    graph.operations = needed(_without_expansions(operations), graph.results)
    used = {value for each in graph.operations for value in each.operands} | set(graph.results)
    for value in (*graph.inputs, *used):
        if isinstance(value, Value):
            value.needs_grad = False
    program = make(graph, 0)
    graph.release()
    saved = [place for place, each in enumerate(graph.inputs[: len(leaves)]) if each in used]
    return _function(kernel, again, program, saved, differentiable), program


def _without_expansions(operations: Sequence[Operation]) -> list[Operation]:
    """Operations that compute the same, of which those of elements read what others expand."""
    origins: dict[Value, Value] = {}
    changed = []
    for each in operations:
        if each.op.name == "expand":
            (operand,), (result,) = each.operands, each.results
            assert result is not None
            origins[result] = origins.get(operand, operand)
        elif each.op.family == "elementwise" and not each.writes:
            args = tuple(origins.get(value, value) if isinstance(value, Value) else value for value in each.args)
            other = replace(each, args=args)
            each = other if _has_same_shape(each, other) else each
        changed.append(each)
    return changed


def _has_same_shape(one: Operation, other: Operation) -> bool:
    """Return whether operations of elements broadcast their operands to the same shape, and to the same dtype."""
    shapes = [each.facts.shape for each in other.operands]
    has_dims = all(shapes) or len({each.facts.dtype for each in other.operands}) == 1
    result = one.results[0]
    return has_dims and result is not None and broadcast_shapes(*shapes) == result.facts.shape


class _Again:
    """The operators of a kernel, called one by one."""

    def __init__(self, kernel: Kernel, operations: Sequence[Operation]) -> None:
        self._kernel = kernel
        needed: set[Any] = set(kernel.results)
        self._operations: list[Operation] = []
        for each in reversed(operations):
            if needed.intersection(each.results):
                needed.update(each.operands)
                self._operations.insert(0, each)

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the kernel's results."""
        known: dict[Any, Any] = dict(zip(self._kernel.inputs, inputs, strict=True))
        for each in self._operations:
            args = mapped(each.args, lambda leaf: known[leaf] if isinstance(leaf, Value) else leaf)
            made = run(each.op, args)
            for result, tensor in zip(each.results, (made,) if each.is_single else made, strict=True):
                if result is not None:
                    known[result] = tensor if tensor.dtype is result.facts.dtype else tensor.to(result.facts.dtype)
        return [known[each] for each in self._kernel.results]

    def gradients(
        self, inputs: Sequence[Any], grads: Sequence[Any], differentiable: Sequence[int], create_graph: bool
    ) -> tuple[Any, ...]:
        """Return the gradient by each input, or None."""
        with enable_grad():
            results = self(inputs)
            outputs = [results[place] for place in differentiable]
            wanted = [each for each in inputs if each.requires_grad]
            pairs = [(output, grad) for output, grad in zip(outputs, grads, strict=True) if grad is not None]
            found = gradients_of(
                [output for output, _ in pairs], wanted, [grad for _, grad in pairs],
                create_graph=create_graph, allow_unused=True,
            )  # fmt: skip
        rest = iter(found)
        return tuple([next(rest) if each.requires_grad else None for each in inputs])


def _function(
    kernel: Kernel, again: _Again, program: Program, saved: Sequence[int], differentiable: Sequence[int]
) -> Callable[..., Any]:
    others = [place for place in range(len(kernel.inputs)) if place not in saved]
    plain = [place for place in range(len(kernel.results)) if place not in differentiable]

    class Compiled(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            result = kernel.function(*inputs)
            ctx.set_materialize_grads(False)
            if plain:
                ctx.mark_non_differentiable(*(result[place] for place in plain))
            ctx.save_for_backward(*(inputs[place] for place in saved))
            ctx.others = [(inputs[place], inputs[place]._version) for place in others]
            return result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            given = [grads[place] for place in differentiable]
            inputs: list[Any] = [None] * len(kernel.inputs)
            for place, each in zip(saved, ctx.saved_tensors, strict=True):
                inputs[place] = each
            for place, (each, _) in zip(others, ctx.others, strict=True):
                inputs[place] = each
            is_plain = not is_grad_enabled()
            if is_plain and all(each is not None and level_of(each) is None for each in given):
                return program.run(*inputs, *given)
            if any(each._version != version for each, version in ctx.others):
                raise explained(RuntimeError(_CHANGED), "docs/autograd.md#modified-by-an-inplace-operation")
            if is_plain:
                inputs = [each.detach().requires_grad_(each.requires_grad) for each in inputs]
            return again.gradients(inputs, given, differentiable, not is_plain)

    return Compiled.apply
