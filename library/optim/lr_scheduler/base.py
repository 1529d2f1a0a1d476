"""Base of schedules: when the learning rates change, and what is saved."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..._base.type_names import type_name
from ..._tensor.tensor import Tensor
from ..optimizer import Optimizer
from ..options import Rate


class LRScheduler:
    """Base of all schedules; each `step()` sets the learning rates of the optimizer's groups to what `get_lr` says.

    `get_lr` goes on from the rates that the groups have, so that schedules combine; a method `_get_closed_form_lr`,
    where there is one, computes those of any epoch. The names of attributes are those under which torch saves them.

    Args:
        optimizer: whose rates are set.
        last_epoch: after how many epochs to go on; -1: from the start.

    Raises:
        TypeError: `optimizer` is none.
        KeyError: there is a `last_epoch`, and a group does not say what rate it began with.
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _last_lr: list[Rate]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler with "
                    "last_epoch >= 0: load the state of the optimizer first"
                )
        self.base_lrs: list[Rate] = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Sets the rates to begin with."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from where `state_dict()` was called."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """The rates that were set last, group by group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The rates of the epoch `last_epoch`, group by group. For `step()` to call: see `get_last_lr`."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Sets the rates of the next epoch. With `epoch`, which is deprecated, those of that one."""
        if self._step_count == 1:
            _check_order(self.optimizer)
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed_form = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._ow_set(self._ow_asked() if closed_form is None else closed_form())

    def _ow_asked(self) -> list[Rate]:
        """The rates that `get_lr` returns."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _ow_set(self, rates: Sequence[Rate]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_value(group, "lr", rate)
        self._last_lr = values(self.optimizer, "lr")

    def _ow_check_within_step(self) -> None:
        """Warn where `get_lr` is called outside of `step()`: its results are those of no epoch."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


def check_optimizer(optimizer: Any) -> Optimizer:
    """Raises TypeError unless it is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type_name(optimizer)} is not an Optimizer")
    return optimizer


# ---- options of groups --------------------------------------------------------------------------------------


def values(optimizer: Optimizer, name: str) -> list[Any]:
    """An option of each group; tensors, which schedules write to, are copied."""
    return [copied(group[name]) for group in optimizer.param_groups]


def copied(value: Any) -> Any:
    """Return a copy of a tensor; other values as they are."""
    return value.clone() if isinstance(value, Tensor) else value


def set_value(group: dict[str, Any], name: str, value: Any) -> None:
    """Sets an option; where it is a tensor, in place."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """The value of each group: one for all, or a list with one for each. Raises ValueError for another length."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {count}."
        )
    return [copied(each) for each in value]


# ---- warnings -----------------------------------------------------------------------------------------------


def warn_of_epoch() -> None:
    """Warn that the argument `epoch` of `step()` is deprecated."""
    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please "
        "use `scheduler.step()` to step the scheduler.",
        UserWarning,
        stacklevel=3,
    )


def _watch_steps(optimizer: Optimizer) -> None:
    """Remembers the step of an optimizer that has no schedule yet, and that it has not been called since."""
    if "_scheduled_step" not in optimizer.__dict__:
        optimizer.__dict__.update(_scheduled_step=_function(optimizer.step), _opt_called=False)


def _check_order(optimizer: Optimizer) -> None:
    """Warns when a schedule goes on before its optimizer."""
    current = _function(optimizer.step)
    if getattr(optimizer, "_scheduled_step", current) is not current:
        warnings.warn(
            "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
            "make sure to call `optimizer.step()` before `lr_scheduler.step()`.",
            UserWarning,
            stacklevel=3,
        )
    elif not optimizer._opt_called:
        warnings.warn(
            "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order: "
            "`optimizer.step()` before `lr_scheduler.step()`. Otherwise the first value of the learning rate schedule "
            "is skipped.",
            UserWarning,
            stacklevel=3,
        )


def _function(method: Any) -> Any:
    return getattr(method, "__func__", method)
