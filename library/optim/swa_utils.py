"""opweave.optim.swa_utils: averages of models over training, and the schedule of rates that goes with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from .._autograd.grad_mode import no_grad
from .._base.dtypes import EXPORTS
from .._operators import lerp
from .._tensor.construct import tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .lr_scheduler import LRScheduler

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """Return the function of an average and a new value that shrinks the average by `decay`.

    Raises:
        ValueError: the decay is not between 0 and 1.
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """Return the function of an average and a new value that gives the average of all values so far."""

    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Return `get_ema_avg_fn` for lists of tensors, in place."""
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        with no_grad():
            for average, value in zip(ema_param_list, current_param_list, strict=True):
                if average.is_floating_point() or average.is_complex():
                    average.lerp_(value, 1 - decay)
                else:
                    average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Return `get_swa_avg_fn` for lists of tensors, in place."""

    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        share = 1 / (float(num_averaged) + 1)
        with no_grad():
            for average, value in zip(averaged_param_list, current_param_list, strict=True):
                if average.is_floating_point() or average.is_complex():
                    average.copy_(lerp(average, value, share))
                else:
                    average.add_((value - average).div(float(num_averaged) + 1).to(average.dtype))

    return swa_update


class AveragedModel(Module):
    """The average of a model over training.

    Args:
        model (Module): is copied.
        device: where the copy is.
        avg_fn: a function of an average, a new value and the number of values before, None: that of `get_swa_avg_fn`.
        multi_avg_fn: the same of lists of tensors, in place.
        use_buffers (bool): whether buffers are averaged, and not copied.

    Raises:
        AssertionError: both functions are given.
    """

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., Any] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=EXPORTS["int64"], device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the average model returns."""
        return self.module(*args, **kwargs)

    def _ow_tensors(self, model: Any) -> list[Any]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model: Any) -> None:
        """Take the parameters of a model into the average."""
        averages = [each.detach() for each in self._ow_tensors(self.module)]
        values = [each.detach() for each in self._ow_tensors(model)]
        if not self.n_averaged:
            for average, value in zip(averages, values, strict=True):
                average.copy_(value)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
        else:
            for average, value in zip(averages, values, strict=True):
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(value.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running statistics of all batch normalizations anew, as means over the batches of a loader.

    Args:
        loader (iterable): batches, the first element of each if they are tuples or lists.
        model (Module): the model, which is called with them.
        device: where they are moved.
    """
    with no_grad():
        norms = [each for each in model.modules() if isinstance(each, _BatchNorm)]
        if not norms:
            return
        before = {each: each.momentum for each in norms}
        was_training = model.training
        model.train()
        for each in norms:
            each.reset_running_stats()
            each.momentum = None
        for batch in loader:
            inputs: Any = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(inputs if device is None else inputs.to(device))
        for each in norms:
            each.momentum = before[each]
        model.train(was_training)


class SWALR(LRScheduler):
    """Moves the rates to `swa_lr` in some steps, where they stay.

    Args:
        optimizer (Optimizer): whose rates.
        swa_lr (float or list of float): the last rate, or one for each group.
        anneal_epochs (int): in how many steps.
        anneal_strategy (str): `cos` or `linear`.
        last_epoch (int): the step before the first.

    Raises:
        ValueError: the strategy is not known, or the number of steps negative.
    """

    def __init__(
        self, optimizer: Any, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, "
                f"optimizer.param_groups has {len(groups)}"
            )
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _ow_share(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        """The rates of the groups."""
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(1, step)
        before, now = self._ow_share(step - 1), self._ow_share(step)
        rates = []
        for group in self.optimizer.param_groups:
            last, rate = group["swa_lr"], group["lr"]
            begin = last if before == 1 else (rate - before * last) / (1 - before)
            rates.append(last * now + begin * (1 - now))
        return rates
