"""Schedules made of schedules: all at once, or one after the other."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, set_value, values
from .plateau import ReduceLROnPlateau


class _CombinedLR(LRScheduler):
    """Base of both: the schedules in `_schedulers` are saved with it."""

    _schedulers: Sequence[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({**state_dict, "_schedulers": self._schedulers})
        for scheduler, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(saved)

    def _ow_check(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer) -> None:
        name = type(self).__name__
        for index, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {index} in the given schedulers sequence."
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {index} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )


class ChainedScheduler(_CombinedLR):
    """Chain of schedules that step together, each of which changes what the one before it made of the rates.

    Raises ValueError when there are none, when they belong to several optimizers, and for `ReduceLROnPlateau`.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> halved = opweave.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> fall = opweave.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        >>> schedule = opweave.optim.lr_scheduler.ChainedScheduler([halved, fall])
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.5
        0.45
        0.81
        0.729
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            name = type(self).__name__
            raise ValueError(f"{name} expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._ow_check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Steps all of them."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values(self.optimizer, "lr")


class SequentialLR(_CombinedLR):
    """Sequence of schedules: at each epoch of `milestones` the next one begins.

    Raises ValueError when there is not one more schedule than milestones, when they belong to another optimizer, and
    for `ReduceLROnPlateau`.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> rise = opweave.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> fall = opweave.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        >>> schedule = opweave.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], milestones=[2])
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.5
        0.75
        1.0
        0.9
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._ow_check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # All schedules took their first step when they were made; only that of the first one is to count.
        for group in optimizer.param_groups:
            set_value(group, "lr", group["initial_lr"])
        _undo_first_steps(self)
        first = self._ow_active_at(0)
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Steps the one whose time it is."""
        self.last_epoch += 1
        scheduler = self._ow_active_at(self.last_epoch)
        if self.last_epoch in self._milestones:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _ow_active_at(self, epoch: int) -> LRScheduler:
        return self._schedulers[bisect_right(self._milestones, epoch)]


def _undo_first_steps(scheduler: LRScheduler) -> None:
    """Takes back the epoch of every schedule within."""
    if isinstance(scheduler, _CombinedLR):
        for each in scheduler._schedulers:
            _undo_first_steps(each)
    else:
        scheduler.last_epoch -= 1
