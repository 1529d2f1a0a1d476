"""Schedules that follow half a period of a cosine: Loshchilov and Hutter, SGDR, 2017."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from ..options import Rate
from .base import LRScheduler, values


class CosineAnnealingLR(LRScheduler):
    """Cosine annealing: rates go from those at the beginning down to `eta_min` in `T_max` epochs, and then up and down
    again.

    `eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2`

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.8536
        0.5
        0.1464
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        rates = values(self.optimizer, "lr")
        if self._is_initial:
            return rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # Rates were `eta_min`, of which no factor leads away.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * rise for rate, base in zip(rates, self.base_lrs, strict=True)]
        before, now = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch - 1, self.last_epoch))
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [annealed(base, self.eta_min, self.last_epoch / self.T_max) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing with warm restarts: rates go from those at the beginning down to `eta_min`, again and again,
    first in `T_0` epochs, then in `T_mult` times as many each time. `step(epoch)` may be called with fractions of
    epochs.

    Raises ValueError when `T_0` or `T_mult` is not a positive integer, or `eta_min` no number.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> for _ in range(4):
        ...     print(round(schedule.get_last_lr()[0], 4))
        ...     optimizer.step()
        ...     schedule.step()
        1.0
        0.5
        1.0
        0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        self._ow_check_within_step()
        return [annealed(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Set the rates of the next epoch, or of `epoch`, which may be a fraction; ValueError if it is negative."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._ow_locate(epoch)
        self.last_epoch = math.floor(epoch)
        self._ow_set(self._ow_asked())

    def _ow_locate(self, epoch: float) -> None:
        """Finds the cycle that the epoch is in, and the place there."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycle = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            length = self.T_mult**cycle
            self.T_cur = epoch - self.T_0 * (length - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * length


def annealed(base: Rate, least: float, part: float) -> Rate:
    """The rate after a part of the way from `base` to `least`."""
    return least + (base - least) * (1 + math.cos(math.pi * part)) / 2
