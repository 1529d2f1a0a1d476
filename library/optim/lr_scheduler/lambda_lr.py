"""Schedules that multiply the rate of each group by what a function says."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..._base.type_names import type_name
from ..optimizer import Optimizer
from ..options import Rate
from .base import LRScheduler, values

Factor: TypeAlias = Callable[[int], float]
"""Takes the epoch."""


class _FunctionLR(LRScheduler):
    """Base of both."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        functions = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(functions) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(functions)}")
        for function in functions:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type_name(function)}")
        self.lr_lambdas: list[Any] = functions
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of the functions only the attributes of those that are objects."""
        return {**super().state_dict(), "lr_lambdas": [saved_function(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        functions = self.lr_lambdas
        super().load_state_dict({**state_dict, "lr_lambdas": functions})
        for function, saved in zip(functions, state_dict["lr_lambdas"], strict=True):
            if saved is not None:
                function.__dict__.update(saved)

    def _ow_factors(self) -> list[float]:
        return [function(self.last_epoch) for function in self.lr_lambdas]


def saved_function(function: Any) -> dict[str, Any] | None:
    """Return the part of a function that can be saved: the attributes of a callable object."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


class LambdaLR(_FunctionLR):
    """Rates that are those at the beginning times a function of the epoch, `lr_lambda`, or that of each group in a
    list.

    Raises TypeError for something else than a function, ValueError for a list of another length.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.5
        0.25
        0.125
    """

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        return [rate * factor for rate, factor in zip(self.base_lrs, self._ow_factors(), strict=True)]


class MultiplicativeLR(_FunctionLR):
    """Rates that are those of the epoch before times a function of the epoch, `lr_lambda`, or that of each group in a
    list.

    Raises TypeError for something else than a function, ValueError for a list of another length.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.9)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.9
        0.81
        0.729
    """

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        rates = values(self.optimizer, "lr")
        if self._is_initial:
            return rates
        return [rate * factor for rate, factor in zip(rates, self._ow_factors(), strict=True)]
