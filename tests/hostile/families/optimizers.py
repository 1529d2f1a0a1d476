"""Optimizers: options and closures of every kind, states that are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opweave import optim

from ..callables import Target, suggested


def targets() -> Mapping[str, Target]:
    kinds = {name: kind for name, kind in vars(optim).items() if isinstance(kind, type) and name != "Optimizer"}
    schedules = {
        name: kind for name, kind in vars(optim.lr_scheduler).items()
        if isinstance(kind, type) and kind.__module__.startswith("opweave.optim")
    }  # fmt: skip
    return (
        {name: _optimizer(kind) for name, kind in kinds.items()}
        | {f"lr_scheduler.{name}": _schedule(kind) for name, kind in schedules.items()}
        | {
            "state": Target(state, ("optimizer", "any", "any")),
            "group": Target(group, ("optimizer", "any", "parameters")),
            "odd gradient": Target(odd_gradient, ("optimizer", "any")),
        }
    )


def _optimizer(kind: Any) -> Target:
    _, keywords = suggested(kind.__init__)

    def use(parameters: Any, closure: Any, **options: Any) -> Any:
        made = kind(parameters, **options)
        made.step()
        made.step(closure)
        made.zero_grad()
        return parameters

    return Target(use, ("parameters", "answer"), keywords)


def _schedule(kind: Any) -> Target:
    places, keywords = suggested(kind.__init__)
    wanted = (places or ("self", "any"))[2:]

    def use(optimizer: Any, *arguments: Any, **options: Any) -> None:
        made = kind(optimizer, *arguments, **options)
        for _ in range(3):
            optimizer.step()
            made.step()
        made.load_state_dict(made.state_dict())

    return Target(use, ("optimizer", *wanted), keywords)


def state(optimizer: Any, key: Any, value: Any) -> Any:
    optimizer.step()
    kept = optimizer.state_dict()
    for each in kept["state"].values():
        for name in each:
            each[name] = value
    kept["param_groups"][0][key] = value
    optimizer.load_state_dict(kept)
    optimizer.step()
    return [each for group in optimizer.param_groups for each in group["params"]]


def group(optimizer: Any, junk: Any, parameters: Any) -> Any:
    optimizer.add_param_group({"params": parameters, "lr": junk})
    optimizer.step()
    optimizer.add_param_group(junk)
    return parameters


def odd_gradient(optimizer: Any, gradient: Any) -> Any:
    """Gradients of another shape, dtype or representation, by the door that does not check."""
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    for each in parameters:
        each.grad = gradient
    optimizer.step()
    return parameters
