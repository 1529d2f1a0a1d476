"""Base of optimizers that update each parameter by its own gradient: the loop over groups, numbers of their states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from .._autograd.grad_mode import enable_grad, set_grad_enabled
from .options import DeclaredOptimizer
from .parameter_groups import Group
from .state_number import StateNumber


class GradientOptimizer(DeclaredOptimizer):
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


def advance(state: dict[str, Any]) -> float:
    """Counts a step of a parameter."""
    count = state["step"]
    if not isinstance(count, StateNumber):  # what a program has set
        count = StateNumber(count)
    state["step"] = count = count.next(count + 1)
    return count
