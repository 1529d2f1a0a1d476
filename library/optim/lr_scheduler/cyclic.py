"""Cycles between two learning rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..optimizer import Optimizer
from ..options import Rate
from .base import LRScheduler, check_optimizer, for_each_group, set_value
from .lambda_lr import saved_function
from .momentum import bounds_of, set_momentum, uses_beta1

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """Cyclical rates, which go up and down between `base_lr` and `max_lr`: Smith, Cyclical Learning Rates for Training
    Neural Networks, 2017. One step is a batch, not an epoch.

    Args:
        optimizer: whose rates are set.
        base_lr: the lower rate, or a list with that of each group.
        max_lr: the upper one.
        step_size_up: steps on the way up.
        step_size_down: steps on the way down; as many when None.
        mode: "triangular"; "triangular2", whose height halves in each cycle; "exp_range", whose height is multiplied by
            `gamma` in each step.
        gamma: of "exp_range".
        scale_fn: a factor of the height, in place of `mode`.
        scale_mode: what `scale_fn` takes: the number of the "cycle", from 1 on, or of "iterations".
        cycle_momentum: the momentum goes down when the rate goes up.
        base_momentum: the lower momentum.
        max_momentum: the upper one, to begin with.
        last_epoch: after how many steps to go on; -1: from the start.

    Raises:
        TypeError: `optimizer` is none.
        ValueError: the mode is unknown, a list has another length, or the optimizer has no momentum to cycle.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.1, max_lr=1.0, step_size_up=2)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.1
        0.55
        1.0
        0.55
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Rate | Sequence[Rate],
        max_lr: Rate | Sequence[Rate],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                set_value(group, "lr", rate)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in _MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom: Any = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            bounds = bounds_of(optimizer, base_momentum, max_momentum, begins=last_epoch == -1)
            self.base_momentums, self.max_momentums = bounds
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The factor of the height, for a cycle or a step."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        height = position / self.step_ratio if position <= self.step_ratio else (position - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in bounds:
                set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of `scale_fn` only the attributes, where it is an object."""
        function = self._scale_fn_custom
        return {**super().state_dict(), "_scale_fn_custom": None if function is None else saved_function(function)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict()` returned, and the attributes of `scale_fn`, where it is an object."""
        saved = state_dict["_scale_fn_custom"]
        super().load_state_dict({**state_dict, "_scale_fn_custom": self._scale_fn_custom})
        if saved is not None:
            self._scale_fn_custom.__dict__.update(saved)
