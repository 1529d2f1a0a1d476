"""Schedules: warnings about the order of steps, functions that are objects, groups that come later."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import opweave
import pytest
from opweave.optim import lr_scheduler


def optimizer(**options: Any) -> Any:
    return opweave.optim.SGD([opweave.zeros(1)], **({"lr": 1.0} | options))


@contextmanager
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_order_of_steps() -> None:
    early = optimizer()
    schedule = lr_scheduler.StepLR(early, 2)
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`"):
        schedule.step()
    with no_warnings():
        schedule.step()  # it was said once

    fine = optimizer()
    schedules = [lr_scheduler.StepLR(fine, 2), lr_scheduler.ExponentialLR(fine, 0.5)]
    with no_warnings():
        fine.step()
        for schedule in schedules:
            schedule.step()


def test_steps_before_the_schedule_do_not_count() -> None:
    early = optimizer()
    early.step()
    with pytest.warns(UserWarning, match="Detected call"):
        lr_scheduler.StepLR(early, 2).step()


def test_overridden_step() -> None:
    changed = optimizer()
    schedule = lr_scheduler.StepLR(changed, 2)
    changed.step = types.MethodType(lambda self: None, changed)
    changed.step()
    with pytest.warns(UserWarning, match=r"`optimizer.step\(\)` has been overridden"):
        schedule.step()


def test_other_warnings() -> None:
    schedule = lr_scheduler.StepLR(optimizer(), 2)
    with pytest.warns(UserWarning, match=r"please use `get_last_lr\(\)`"):
        schedule.get_lr()
    schedule.optimizer.step()
    with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step\\(\\)` was not necessary"):
        schedule.step(4)
    assert schedule.get_last_lr() == [pytest.approx(0.01)]


class Slope:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, x: float) -> float:
        return 1 - self.rate * x


@pytest.mark.parametrize("kind", [lr_scheduler.LambdaLR, lr_scheduler.MultiplicativeLR])
def test_functions_with_attributes_are_saved(kind: Any) -> None:
    schedule = kind(optimizer(), Slope(0.25))
    saved = schedule.state_dict()
    assert saved["lr_lambdas"] == [{"rate": 0.25}]
    other = kind(optimizer(), Slope(0.5))
    other.load_state_dict(saved)
    other.optimizer.step()
    other.step()
    assert other.get_last_lr() == [0.75]
    assert saved["lr_lambdas"] == [{"rate": 0.25}]
    assert kind(optimizer(), lambda epoch: 1.0).state_dict()["lr_lambdas"] == [None]


def test_scale_function_with_attributes_is_saved() -> None:
    def schedule(rate: float) -> Any:
        return lr_scheduler.CyclicLR(optimizer(), 0.0, 1.0, 2, scale_fn=Slope(rate), cycle_momentum=False)

    saved = schedule(0.25).state_dict()
    assert saved["_scale_fn_custom"] == {"rate": 0.25}
    other = schedule(0.5)
    other.load_state_dict(saved)
    assert other.scale_fn(1) == 0.75


def test_groups_that_come_later() -> None:
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer(), patience=0)
    fixed = lr_scheduler.ReduceLROnPlateau(plateau.optimizer, patience=0, min_lr=[0.0])
    plateau.optimizer.add_param_group({"params": opweave.zeros(2), "lr": 2.0})
    for metric in (1.0, 1.0):
        plateau.step(metric)
    assert [group["lr"] for group in plateau.optimizer.param_groups] == [pytest.approx(0.1), pytest.approx(0.2)]
    fixed.step(1.0)
    with pytest.raises(RuntimeError, match=r"number of param groups in the `optimizer` \(2\)"):
        fixed.step(1.0)


def test_schedules_of_one_optimizer_work_together() -> None:
    shared = optimizer()
    warm_up, decay = lr_scheduler.ConstantLR(shared, 0.1, 2), lr_scheduler.ExponentialLR(shared, 0.5)
    rates = []
    for _ in range(4):
        rates.append(shared.param_groups[0]["lr"])
        shared.step()
        warm_up.step()
        decay.step()
    assert rates == pytest.approx([0.1, 0.05, 0.25, 0.125])
