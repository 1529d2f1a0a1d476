"""Base of optimizers whose step is an elementwise operator of `ops.yaml`: one call of the core for all parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .._handle import overwrite
from .._operators import full_like, view_as_complex, view_as_real
from .._tensor.tensor import Tensor
from .gradient_optimizer import GradientOptimizer
from .parameter_groups import Group
from .state_number import StateNumber

__all__ = ["Call", "ElementwiseOptimizer", "Step", "penalty"]

Step: TypeAlias = tuple[Callable[..., Any], dict[str, Any]]
"""An operator and its parameters, but for `direction`. It takes a parameter, the tensors of its state and its gradient;
the results are written over the first of these."""


class Call:
    """A step and the parameters that take it, which differ by their tensors alone."""

    __slots__ = ("numbers", "operator", "options", "rows", "states")

    def __init__(self, step: Step, numbers: dict[str, Any], maximize: bool) -> None:
        self.operator, self.options = step
        self.options["direction"] = -1.0 if maximize else 1.0
        self.numbers = numbers
        self.rows: list[tuple[Tensor, ...]] = []
        self.states: list[dict[str, Any]] = []

    def run(self) -> list[tuple[Tensor, ...]]:
        """Write the results over the tensors in one call of the core. Return the rows that have dispatch keys."""
        left = self._overwritten(self.rows)
        return self._run_parts(left) if left and any(map(_is_distributed, left)) else left

    def _overwritten(self, rows: Sequence[tuple[Tensor, ...]]) -> list[tuple[Tensor, ...]]:
        function: Any = self.operator
        numbers = tuple([self.options[name] for name in function.names if name in self.options])
        left = overwrite(function, tuple(rows), numbers)
        return overwrite(function, tuple(map(_real, left)), numbers) if left else left

    def _run_parts(self, rows: Sequence[tuple[Tensor, ...]]) -> list[tuple[Tensor, ...]]:
        """The same of distributed tensors, of which each process has its part. Return the other rows."""
        from ..distributed.tensor._parts import common_parts, written_to

        found = [(row, common_parts(row)) for row in rows]
        for left in self._overwritten([parts for _, parts in found if parts is not None]):
            self.run_alone(left)
        for row, parts in found:
            for tensor in row[:-1] if parts is not None else ():
                written_to(tensor)
        return [row for row, parts in found if parts is None]

    def run_alone(self, row: tuple[Tensor, ...]) -> None:
        """The same of one row, by a call of the operator."""
        for tensor, result in zip(row, self._results(row), strict=False):
            tensor.copy_(result)

    def run_recorded(self, names: list[str]) -> None:
        """The same as part of a history, which keeps the numbers from before the step."""
        for row, state in zip(map(_real, self.rows), self.states, strict=True):
            moved, *tensors = self._results((row[0].clone(), *row[1:]))
            row[0].copy_(moved)
            for name, result in zip(names, tensors, strict=True):
                state[name] = view_as_complex(result) if state[name].is_complex() else result

    def _results(self, row: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        results = self.operator(*row, **self.options)
        return results if isinstance(results, tuple) else (results,)


class ElementwiseOptimizer(GradientOptimizer):
    """Base of optimizers whose step is an operator of a parameter, the tensors of its state and its gradient."""

    def _ow_state(self, group: Group) -> dict[str, float]:
        """Return what a state begins with: the numbers of `_ow_numbers`, and what its tensors are filled with."""
        raise NotImplementedError

    def _ow_step(self, group: Group, numbers: dict[str, Any], is_first: bool) -> Step:
        """Return the step of parameters whose state has these numbers. It is counted; other numbers may be changed.

        Args:
            group: the group of the parameters.
            numbers: those of `_ow_numbers`, by name.
            is_first: whether their state has just begun.
        """
        raise NotImplementedError

    def _ow_update(self, group: Group) -> None:
        entries = self._ow_state(group)
        names = [name for name in entries if name not in self._ow_numbers]
        last = [*entries][-1:]
        is_recorded = group["differentiable"]
        calls: dict[Any, Call] = {}
        for parameter in group["params"]:
            gradient = parameter.grad
            if gradient is None:
                continue
            state: dict[str, Any] = self.state[parameter] if last else {}
            is_first = bool(last) and state.get(last[0]) is None
            if is_first:
                self._ow_begin_state(parameter, entries)
            key = (is_first, *map(state.get, self._ow_numbers))
            call = calls.get(key)
            if call is None:
                calls[key] = call = self._ow_call(group, state, is_first)
            state.update(call.numbers)
            call.rows.append((parameter, *map(state.__getitem__, names), gradient))
            if is_recorded:
                call.states.append(state)
        for call in calls.values():
            if is_recorded:
                call.run_recorded(names)
                continue
            for row in call.run():
                self._ow_step_alone(call, row)

    def _ow_step_alone(self, call: Call, row: tuple[Tensor, ...]) -> None:
        """Take the step of one parameter, whose tensors have dispatch keys."""
        call.run_alone(row)

    def _ow_begin_state(self, parameter: Tensor, entries: dict[str, float]) -> None:
        """Set what the state of a parameter lacks."""
        state = self.state[parameter]
        for name, value in entries.items():
            if state.get(name) is not None:
                continue
            if name in self._ow_numbers:
                state[name] = StateNumber(value)
            else:
                state[name] = full_like(parameter, complex(value, value) if parameter.is_complex() else value)

    def _ow_call(self, group: Group, state: dict[str, Any], is_first: bool) -> Call:
        """The step of parameters with the numbers of this state, and the numbers after it."""
        for name in self._ow_numbers:
            value = state[name]  # perhaps what a program has set: a tensor may have a history
            if not isinstance(value, StateNumber) and not (group["differentiable"] and isinstance(value, Tensor)):
                state[name] = StateNumber(value)
        numbers = {name: state[name] for name in self._ow_numbers}
        if "step" in numbers:
            numbers["step"] = state["step"].next(state["step"] + 1)
        step = self._ow_step(group, numbers, is_first)
        for name, value in numbers.items():
            numbers[name] = value if isinstance(value, Tensor) else state[name].next(value)
        return Call(step, numbers, bool(group["maximize"]))


def _is_distributed(row: tuple[Tensor, ...]) -> bool:
    """True if the parameter is a DTensor, whose module is imported then."""
    return hasattr(row[0], "placements")


def _real(row: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The tensors, of complex ones the real numbers that they consist of: each of them is a parameter."""
    return tuple(map(view_as_real, row)) if row[0].is_complex() and not row[-1].is_sparse else row


def penalty(group: Group) -> dict[str, float]:
    """Return how weights decay: `decay` times them are added to the gradient, or they are multiplied by `shrink`."""
    decay = float(group["weight_decay"])
    if group["decoupled_weight_decay"]:
        return {"decay": 0.0, "shrink": 1 - float(group["lr"]) * decay}
    return {"decay": decay, "shrink": 1.0}
