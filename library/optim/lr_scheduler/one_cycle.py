"""One cycle: up to a large learning rate, and down to a very small one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from ..options import Rate
from .base import LRScheduler, check_optimizer, for_each_group
from .momentum import bounds_of, set_momentum, uses_beta1


class OneCycleLR(LRScheduler):
    """One-cycle policy: rates go from `max_lr / div_factor` up to `max_lr` and down to `1 / final_div_factor` of what
    they began with: Smith and Topin, Super-Convergence, 2018. One step is a batch, not an epoch.

    Args:
        optimizer: whose rates are set.
        max_lr: the largest rate, or a list with that of each group.
        total_steps: steps of the cycle.
        epochs: with `steps_per_epoch`, in place of `total_steps`.
        steps_per_epoch: with `epochs`.
        pct_start: part of the cycle that goes up.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: the momentum goes down when the rate goes up.
        base_momentum: the lower momentum.
        max_momentum: the upper one, to begin with.
        div_factor: `max_lr` is so many times the rate at the beginning.
        final_div_factor: the rate at the beginning is so many times that at the end.
        three_phase: goes down to the rate at the beginning as fast as up, and then to the end.
        last_epoch: after how many steps to go on; -1: from the start.

    Raises:
        TypeError: `optimizer` is none.
        ValueError: a number is out of range, the strategy unknown, or the optimizer has no momentum to cycle; in
            `step`, after the end of the cycle.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=4)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.04
        0.8117
        0.2831
        0.0
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Rate | Sequence[Rate],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        largest = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, largest, strict=True):
                first = most / div_factor
                group.update(initial_lr=first, max_lr=most, min_lr=first / final_div_factor)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            bounds_of(optimizer, base_momentum, max_momentum, begins=last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        phases = self._schedule_phases
        index = next((k for k, phase in enumerate(phases) if step <= phase["end_step"]), len(phases) - 1)
        phase, begin = phases[index], phases[index - 1]["end_step"] if index else 0.0
        part = (step - begin) / (phase["end_step"] - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._ow_between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._ow_between(start, end, part))
        return rates

    def _ow_between(self, start: Any, end: Any, part: float) -> Any:
        """The value after a part of the way."""
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """Return the total number of steps."""
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(total_steps: int, part_up: float, three: bool) -> list[dict[str, Any]]:
    """The last step of each phase, and the options of groups that it leads from and to."""
    to_base = {"start_momentum": "max_momentum", "end_momentum": "base_momentum"}
    to_max = {"start_momentum": "base_momentum", "end_momentum": "max_momentum"}
    up = {"start_lr": "initial_lr", "end_lr": "max_lr", **to_base}
    down = {"start_lr": "max_lr", "end_lr": "min_lr", **to_max}
    first = {"end_step": float(part_up * total_steps) - 1, **up}
    last = {"end_step": total_steps - 1, **down}
    if not three:
        return [first, last]
    back = {"end_step": float(2 * part_up * total_steps) - 2, **down, "end_lr": "initial_lr"}
    return [first, back, {**last, "start_lr": "initial_lr", "start_momentum": "max_momentum"}]
