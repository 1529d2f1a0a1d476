"""Learning rates of every schedule, its state, warnings and errors against torch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from harness import expressions, oracle
from harness.oracle import Like

pytestmark = [
    # Of a chain that begins later torch warns, too.
    pytest.mark.filterwarnings(r"ignore:Detected call of `lr_scheduler.step\(\)`"),
]

# Expressions of `S`, optim.lr_scheduler, and `o`, an optimizer of two groups with the rates 0.5 and 0.05.
SCHEDULES = """
S.LambdaLR(o, lambda epoch: 0.9 ** epoch)
S.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), lambda epoch: epoch])
S.MultiplicativeLR(o, lambda epoch: 0.95)
S.MultiplicativeLR(o, [lambda epoch: 0.5 + epoch % 2, lambda epoch: 1.0])
S.StepLR(o, 3)
S.StepLR(o, step_size=4, gamma=0.5)
S.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3)
S.ConstantLR(o)
S.ConstantLR(o, factor=0.25, total_iters=7)
S.LinearLR(o)
S.LinearLR(o, start_factor=0.1, end_factor=0.7, total_iters=9)
S.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=4)
S.ExponentialLR(o, 0.8)
S.PolynomialLR(o)
S.PolynomialLR(o, total_iters=10, power=2.5)
S.CosineAnnealingLR(o, 5)
S.CosineAnnealingLR(o, T_max=7, eta_min=0.01)
S.CosineAnnealingWarmRestarts(o, 4)
S.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.02)
S.CyclicLR(o, 0.1, 0.9, step_size_up=4, cycle_momentum=MOMENTUM)
S.CyclicLR(o, [0.1, 0.2], [0.9, 0.4], 3, 5, 'triangular2', cycle_momentum=MOMENTUM, base_momentum=[0.5, 0.6])
S.CyclicLR(o, 0.1, 0.9, step_size_up=4, mode='exp_range', gamma=0.9, cycle_momentum=MOMENTUM, max_momentum=0.99)
S.CyclicLR(o, 0.1, 0.9, 4, scale_fn=lambda x: 0.5 ** x, cycle_momentum=MOMENTUM)
S.CyclicLR(o, 0.1, 0.9, 4, scale_fn=lambda x: 1 / (1 + x), scale_mode='iterations', cycle_momentum=False)
S.OneCycleLR(o, 0.8, total_steps=20, cycle_momentum=MOMENTUM)
S.OneCycleLR(o, [0.8, 0.3], epochs=5, steps_per_epoch=4, anneal_strategy='linear', cycle_momentum=MOMENTUM)
S.OneCycleLR(o, 0.8, total_steps=19, pct_start=0.2, three_phase=True, cycle_momentum=MOMENTUM, base_momentum=0.7)
S.OneCycleLR(o, 0.8, 20, div_factor=5, final_div_factor=10, cycle_momentum=False)
S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9)])
S.ChainedScheduler([S.LinearLR(o), S.StepLR(o, 2)], o)
S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=4), S.ExponentialLR(o, 0.9)], [4])
S.SequentialLR(o, [S.ConstantLR(o, 0.1, 2), S.CosineAnnealingLR(o, 5), S.StepLR(o, 2)], [3, 9])
S.SequentialLR(o, [S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)]), S.LinearLR(o)], [5])
""".strip().splitlines()
OPTIMIZERS = {"SGD": "momentum=0.9", "Adam": "betas=(0.9, 0.99)", "Adagrad": ""}


def prepared(library: ModuleType, optimizer: str, schedule: str, rate: Callable[[float], Any] = float) -> Any:
    groups = [{"params": library.zeros(1)}, {"params": library.zeros(2), "lr": rate(0.05)}]
    options = eval(f"dict({OPTIMIZERS[optimizer]})")
    o = getattr(library.optim, optimizer)(groups, lr=rate(0.5), **options)
    momentum = optimizer != "Adagrad"
    return eval(schedule, {"S": library.optim.lr_scheduler, "o": o, "MOMENTUM": momentum}), o


def options_of(optimizer: Any) -> list[dict[str, Any]]:
    """Options that schedules change, as plain numbers."""
    return [
        {name: tuple(map(float, group[name])) if name == "betas" else float(group[name])
         for name in ("lr", "initial_lr", "momentum", "betas") if name in group}
        for group in optimizer.param_groups
    ]  # fmt: skip


def follow(schedule: Any, optimizer: Any, steps: int) -> list[Any]:
    results = [options_of(optimizer)]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        results.append([options_of(optimizer), [float(rate) for rate in schedule.get_last_lr()]])
    return results


SINGLE_SCHEDULES = [each for each in SCHEDULES if "Chained" not in each and "Sequential" not in each]
LIKE = Like(rtol=1e-14)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_rates(optimizer: str) -> None:
    for schedule in SCHEDULES:
        oracle.check(lambda L, s=schedule: follow(*prepared(L, optimizer, s), 19), schedule, LIKE)


def test_rates_that_are_tensors() -> None:
    def rates_of(library: Any, schedule: str) -> Any:
        run = prepared(library, "SGD", schedule, partial(library.tensor, dtype=library.float64))
        rates = [group["lr"] for group in run[1].param_groups]
        result = follow(*run, 12)
        assert all(group["lr"] is rate for group, rate in zip(run[1].param_groups, rates, strict=True))
        return result

    for schedule in SCHEDULES:
        oracle.check(lambda L, s=schedule: rates_of(L, s), schedule, Like(rtol=1e-12))


def saved(value: Any) -> Any:
    """A state without functions, which only compare by identity."""
    if isinstance(value, dict):
        return {key: saved(each) for key, each in value.items() if not callable(each)}
    return [saved(each) for each in value if not callable(each)] if isinstance(value, (list, tuple)) else value


def test_states_are_taken_over() -> None:
    """Seven epochs, and eight more of a schedule that takes over the state, which has torch's form."""

    def taken_over(library: Any, schedule: str) -> Any:
        first, optimizer = prepared(library, "SGD", schedule)
        follow(first, optimizer, 7)
        second, other = prepared(library, "SGD", schedule)
        second.load_state_dict(first.state_dict())
        for group, given in zip(other.param_groups, optimizer.param_groups, strict=True):
            group.update({name: value for name, value in given.items() if name != "params"})
        return saved(first.state_dict()), follow(second, other, 8)

    for schedule in SCHEDULES:
        oracle.check(lambda L, s=schedule: taken_over(L, s), schedule, LIKE)


def test_epochs() -> None:
    """`step(epoch)`: any epoch, in any order."""

    def epochs(library: Any, schedule: str) -> Any:
        scheduler, optimizer = prepared(library, "SGD", schedule)
        optimizer.step()
        results = []
        for epoch in (1, 4, 2, 11, 0, 7):
            scheduler.step(epoch)
            results.append([options_of(optimizer), scheduler.last_epoch, epoch])
        return results

    for schedule in SINGLE_SCHEDULES:
        oracle.check(lambda L, s=schedule: epochs(L, s), schedule, LIKE)


def test_fractions_of_epochs() -> None:
    def epochs(library: Any) -> Any:
        scheduler, optimizer = prepared(library, "SGD", "S.CosineAnnealingWarmRestarts(o, 3, T_mult=2)")
        optimizer.step()
        results = []
        for epoch in (0.25, 1.5, 2.75, 4.0, 8.9, 9.1, 30.5):
            scheduler.step(epoch)
            results.append([options_of(optimizer), scheduler.last_epoch])
        return results

    oracle.check(epochs, "", LIKE)


def test_resumed() -> None:
    """`last_epoch`: groups that know the rates which they began with."""

    def resumed(library: Any, schedule: str) -> Any:
        scheduler, optimizer = prepared(library, "SGD", schedule)
        follow(scheduler, optimizer, 5)
        again = eval(
            schedule.removesuffix(")") + ", last_epoch=5)",
            {"S": library.optim.lr_scheduler, "o": optimizer, "MOMENTUM": True},
        )
        return options_of(optimizer), follow(again, optimizer, 4)

    for schedule in SINGLE_SCHEDULES:
        oracle.check(lambda L, s=schedule: resumed(L, s), schedule, LIKE)


PLATEAUS = (
    "S.ReduceLROnPlateau(o, patience=2)",
    "S.ReduceLROnPlateau(o, 'max', factor=0.5, patience=1, threshold=0.1)",
    "S.ReduceLROnPlateau(o, patience=1, threshold=0.3, threshold_mode='abs', cooldown=2)",
    "S.ReduceLROnPlateau(o, 'max', patience=0, threshold_mode='abs', min_lr=[0.2, 0.01], factor=0.7)",
    "S.ReduceLROnPlateau(o, patience=0, eps=0.01, factor=0.5)",
)
METRICS = (
    3.0,
    2.0,
    2.1,
    1.9999,
    2.5,
    2.5,
    2.5,
    1.0,
    1.2,
    1.1,
    1.3,
    5.0,
    6.0,
    7.0,
    float("nan"),
    0.1,
    -1.0,
    -1.05,
    -3.0,
)


@pytest.mark.parametrize("taken_over", [False, True])
def test_plateaus(taken_over: bool) -> None:
    """Of metrics that are numbers and tensors; a schedule that takes over the state goes on alike."""

    def reduced(library: Any, schedule: str) -> Any:
        scheduler, optimizer = prepared(library, "SGD", schedule)
        results = [options_of(optimizer)]
        for index, metric in enumerate(METRICS):
            if taken_over and index == 4:  # before the rates are reduced
                state = scheduler.state_dict()
                scheduler, optimizer = prepared(library, "SGD", schedule)
                scheduler.load_state_dict(state)
            scheduler.step(library.tensor(metric, dtype=library.float64) if index % 2 else metric)
            results.append(
                [options_of(optimizer), scheduler.get_last_lr(), scheduler.in_cooldown, saved(scheduler.state_dict())]
            )
        return results

    for schedule in PLATEAUS[: 1 if taken_over else None]:
        oracle.check(lambda L, s=schedule: reduced(L, s), schedule, LIKE)


ERRORS = """
S.StepLR(5, 2)
S.StepLR(o, 2, last_epoch=3)
S.LambdaLR(o, [abs])
S.MultiplicativeLR(o, 5)
S.MultiplicativeLR(o, [abs, abs, abs])
S.ConstantLR(o, factor=1.5)
S.ConstantLR(o, factor=-0.5)
S.LinearLR(o, start_factor=0)
S.LinearLR(o, start_factor=1.1)
S.LinearLR(o, end_factor=-0.1)
S.CosineAnnealingWarmRestarts(o, 0)
S.CosineAnnealingWarmRestarts(o, 2.5)
S.CosineAnnealingWarmRestarts(o, 2, T_mult=0)
S.CosineAnnealingWarmRestarts(o, 2, eta_min='x')
S.CosineAnnealingWarmRestarts(o, 2).step(-1)
S.CyclicLR(5, 0.1, 0.2)
S.CyclicLR(o, [0.1], 0.2)
S.CyclicLR(o, 0.1, [0.2, 0.3, 0.4])
S.CyclicLR(o, 0.1, 0.2, mode='square')
S.CyclicLR(L.optim.Adagrad([z]), 0.1, 0.2)
S.OneCycleLR(5, 0.1, 3)
S.OneCycleLR(o, 0.1)
S.OneCycleLR(o, 0.1, epochs=3)
S.OneCycleLR(o, 0.1, 0)
S.OneCycleLR(o, 0.1, 2.5)
S.OneCycleLR(o, 0.1, epochs=-1, steps_per_epoch=2)
S.OneCycleLR(o, 0.1, epochs=1, steps_per_epoch=0.5)
S.OneCycleLR(o, 0.1, 10, pct_start=2.0)
S.OneCycleLR(o, 0.1, 10, pct_start=1)
S.OneCycleLR(o, 0.1, 10, anneal_strategy='steps')
S.OneCycleLR(o, [0.1], 10)
S.OneCycleLR(L.optim.Adagrad([z]), 0.1, 10)
[s.step() for s in [S.OneCycleLR(o, 0.1, 4)] for _ in range(6)]
S.ChainedScheduler([])
S.ChainedScheduler([5], o)
S.ChainedScheduler([S.ReduceLROnPlateau(o)])
S.ChainedScheduler([S.StepLR(o, 2), S.StepLR(L.optim.SGD([z]), 2)])
S.SequentialLR(o, [], [])
S.SequentialLR(o, [5], [])
S.SequentialLR(o, [S.ReduceLROnPlateau(o)], [])
S.SequentialLR(o, [S.StepLR(o, 2)], [3])
S.SequentialLR(o, [S.StepLR(L.optim.SGD([z]), 2)], [])
S.ReduceLROnPlateau(5)
S.ReduceLROnPlateau(o, 'least')
S.ReduceLROnPlateau(o, factor=1.0)
S.ReduceLROnPlateau(o, threshold_mode='sum')
S.ReduceLROnPlateau(o, min_lr=[0.1])
S.ReduceLROnPlateau(o).step()
S.ReduceLROnPlateau(o).step('x')
S.LRScheduler(o)
""".strip().splitlines()
PREPARED = "S = L.optim.lr_scheduler; o = L.optim.SGD([{'params': z}, {'params': a}], lr=0.5, momentum=0.9); "


def test_errors() -> None:
    for text in ERRORS:
        # What one can do about the second mistake is said in fewer words.
        until = "specified in" if "last_epoch=3" in text else ""
        expressions.check(PREPARED + text, Like(printed=True, until=until))
