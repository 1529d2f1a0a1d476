"""Schedules that multiply the rates of all groups by the same factor."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from ..optimizer import Optimizer
from ..options import Rate
from .base import LRScheduler, values


class _FactorLR(LRScheduler):
    """Base of these schedules, which know what changes from one epoch to the next, and in all epochs together."""

    def _ow_factor(self) -> float | None:
        """The factor from the rates of the epoch before to those of `last_epoch`; None where they stay."""
        raise NotImplementedError

    def _ow_total_factor(self) -> float:
        """The factor from the initial rates to those of `last_epoch`."""
        raise NotImplementedError

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        factor = self._ow_factor()
        if factor is None:
            return values(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self._ow_total_factor()
        return [rate * factor for rate in self.base_lrs]


class StepLR(_FactorLR):
    """Step decay: the rates are multiplied by `gamma` every `step_size` epochs.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        1.0
        0.1
        0.1
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        return None if self.last_epoch == 0 or self.last_epoch % self.step_size else self.gamma

    def _ow_total_factor(self) -> float:
        return float(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(_FactorLR):
    """Step decay: the rates are multiplied by `gamma` at each of the epochs `milestones`; repeatedly where one is there
    repeatedly.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.1)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.1
        0.1
        0.01
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        times = self.milestones[self.last_epoch]
        return self.gamma**times if times else None

    def _ow_total_factor(self) -> float:
        return float(self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch))


class ConstantLR(_FactorLR):
    """Multiplies the rates by `factor` until epoch `total_iters`.

    Raises ValueError for a factor below 0 or above 1.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.5
        0.5
        1.0
        1.0
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _ow_total_factor(self) -> float:
        return 1.0 if self.last_epoch >= self.total_iters else self.factor


class LinearLR(_FactorLR):
    """Multiplies the rates by a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.

    Raises ValueError for a `start_factor` outside (0, 1] or an `end_factor` outside [0, 1].

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=3)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        0.25
        0.5
        0.75
        1.0
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)

    def _ow_total_factor(self) -> float:
        done = min(self.total_iters, self.last_epoch)
        return self.start_factor + (self.end_factor - self.start_factor) * done / self.total_iters


class ExponentialLR(_FactorLR):
    """Exponential decay: the rates are multiplied by `gamma` in every epoch.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.9
        0.81
        0.729
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _ow_total_factor(self) -> float:
        return float(self.gamma**self.last_epoch)


class PolynomialLR(_FactorLR):
    """Polynomial decay: the rates at the beginning times `(1 - epoch / total_iters) ** power`.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.75
        0.5
        0.25
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _ow_factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        before, now = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch - 1, self.last_epoch))
        return float((now / before) ** self.power)

    def _ow_total_factor(self) -> float:
        return float((1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power)
