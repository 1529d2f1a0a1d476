"""A schedule that waits for a measured value to stop improving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsFloat

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, set_value, values, warn_of_epoch


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rates by `factor` after more than `patience` epochs without improvement.

    Args:
        optimizer: whose rates are set.
        mode: "min" or "max": which values are better.
        factor: less than 1.
        patience: epochs without improvement that are tolerated.
        threshold: a smaller improvement is none.
        threshold_mode: "rel", as part of the best value, or "abs".
        cooldown: epochs after a reduction in which nothing is counted.
        min_lr: least rate, or a list with that of each group.
        eps: a smaller reduction is not made.

    Raises:
        ValueError: `factor` is not less than 1, a mode is unknown, or `min_lr` has another length.
        TypeError: `optimizer` is none.

    Example:
        >>> optimizer = opweave.optim.SGD([opweave.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = opweave.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=0)
        >>> for loss in (3.0, 2.0, 2.0):
        ...     schedule.step(loss)
        ...     print(schedule.get_last_lr())
        [1.0]
        [1.0]
        [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if not factor < 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = check_optimizer(optimizer)
        count = len(optimizer.param_groups)
        self.default_min_lr: float | None = None
        if isinstance(min_lr, Sequence):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = values(optimizer, "lr")
        self._ow_choose(mode, threshold, threshold_mode)
        self._reset()

    def _ow_choose(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in {"min", "max"}:
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        """Forgets what has been counted."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes note of the value of an epoch, and reduces the rates when it is time."""
        current = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.num_bad_epochs += 1
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._ow_reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = values(self.optimizer, "lr")

    @property
    def in_cooldown(self) -> bool:
        """True while epochs after a reduction are not counted (`cooldown`)."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float, best: float) -> bool:
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "rel":
            least = best * (1.0 + sign * self.threshold)
        else:
            least = best + sign * self.threshold
        return value < least if self.mode == "min" else value > least

    def _ow_reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            rate = float(group["lr"])
            reduced = max(rate * self.factor, least)
            if rate - reduced > self.eps:
                set_value(group, "lr", reduced)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict()` returned."""
        super().load_state_dict(state_dict)
        self._ow_choose(self.mode, self.threshold, self.threshold_mode)
