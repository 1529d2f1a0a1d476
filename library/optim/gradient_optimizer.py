"""Base of optimizers that update each parameter by its own gradient: the loop over groups, checks of options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeAlias

from .._autograd.grad_mode import enable_grad, set_grad_enabled
from .._operators import view_as_real
from .._tensor.tensor import Tensor
from .optimizer import Optimizer
from .parameter_groups import Group
from .state_number import StateNumber

Rate: TypeAlias = float | Tensor
"""A learning rate: schedules write to a tensor of one element in place."""


class GradientOptimizer(Optimizer):
    """Base of optimizers that change a parameter by its own gradient and state. There is one way to compute a step,
    which is that of `foreach` and `fused` too."""

    _ow_numbers: tuple[str, ...] = ("step",)
    """Names of what the state of a parameter has as a number, so that steps read no tensor, and files as a tensor."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Changes each parameter that has a gradient. Returns what `closure`, called first, computes: the loss.

        Raises AssertionError for groups with `capturable=True`.
        """
        loss = None
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                if group.get("capturable") and any(parameter.grad is not None for parameter in group["params"]):
                    raise AssertionError(
                        "`capturable=True` is for devices whose steps are captured as graphs, and parameters are on "
                        "the CPU. Leave it out, or set it to False."
                    )
                self._ow_update(group)
        return loss

    def _ow_update(self, group: Group) -> None:
        """Changes the parameters of one group."""
        raise NotImplementedError

    def _ow_check_options(self, group: Group) -> None:
        if group.get("fused"):
            if group.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if group.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            # Older dicts lack options that have been added since.
            for option, default in self.defaults.items():
                group.setdefault(option, default)
        for values in self.state.values():
            values.update((name, StateNumber(values[name])) for name in self._ow_numbers if name in values)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "state": self._ow_saved()}

    def _ow_saved(self) -> defaultdict[Any, dict[str, Any]]:
        return defaultdict(dict, {key: self._ow_in_files(values) for key, values in self.state.items()})

    def _ow_in_files(self, values: dict[str, Any]) -> dict[str, Any]:
        given = {name: values[name] for name in self._ow_numbers if name in values}
        return {**values, **{name: each.saved() for name, each in given.items() if isinstance(each, StateNumber)}}


def numbers_of(tensor: Tensor) -> Tensor:
    """The tensor, or the real numbers that a complex one consists of, as a view: each of them is a parameter."""
    return view_as_real(tensor) if tensor.is_complex() else tensor


def state_of(state: dict[str, Any], name: str, group: Group) -> Tensor:
    """The numbers of a tensor of the state, to be overwritten. Where steps have a history, those before keep theirs."""
    if group["differentiable"]:
        state[name] = state[name].clone()
    return numbers_of(state[name])


def advance(state: dict[str, Any]) -> float:
    """Counts a step of a parameter."""
    count = state["step"]
    if not isinstance(count, StateNumber):  # what a program has set
        count = StateNumber(count)
    state["step"] = count = count.next(count + 1)
    return count


def descent(gradient: Tensor, parameter: Tensor, maximize: bool, weight_decay: Rate) -> Tensor:
    """The gradient of what is minimized: the negative loss when `maximize`, and the penalty of large weights."""
    if maximize:
        gradient = -gradient
    return gradient.add(parameter, alpha=float(weight_decay)) if weight_decay else gradient


def check_rate(lr: Rate) -> None:
    """Raises ValueError unless it is one number that is not negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_not_negative("learning rate", lr)


def check_factors(betas: Any) -> None:
    """Raises ValueError unless all are at least 0 and less than 1."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def check_not_negative(name: str, value: Any) -> None:
    """Raises ValueError for negative options and NaN."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {name}: {value}")
