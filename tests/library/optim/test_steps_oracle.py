"""A hundred steps of each optimizer equal torch's to rounding, state included; states go from library to library."""

from __future__ import annotations

from typing import Any

import pytest
from harness import oracle
from harness.oracle import Like

from .side_by_side import converted, parameters, plain, take_steps

CONFIGURATIONS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"lr": 0.05, "maximize": True}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.02, "maximize": True}),
    ("SGD", {"lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.02}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.7, 0.95), "eps": 1e-3}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "maximize": True, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.2, "amsgrad": True, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.9, "eps": 1e-4, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.05, "centered": True}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "maximize": True}),
    ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.5, "weight_decay": 0.1}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.05, "betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.02}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.05, "betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.05, "betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.05, "lambd": 0.01, "alpha": 0.5, "t0": 20, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.05, "etas": (0.4, 1.1), "step_sizes": (1e-3, 0.1), "maximize": True}),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.05, "beta2_decay": -0.5, "eps": (1e-8, 1e-2), "d": 2.0, "weight_decay": 0.1}),
]
# In units of what is compared; rounding errors of a hundred steps add up.
TOLERANCES = {"float64": 1e-13, "float32": 3e-5}


def text(part: Any) -> str | None:
    return ",".join(f"{key}={value}" for key, value in part.items()) if isinstance(part, dict) else None


def like(dtype: str) -> Like:
    error = TOLERANCES[dtype]
    return Like(rtol=error, atol=error, scale=True, strides=False, grad=False)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS, ids=text)
def test_hundred_steps(name: str, options: dict[str, Any], dtype: str) -> None:
    def steps(library: Any) -> Any:
        given = parameters(library, dtype)
        optimizer = getattr(library.optim, name)(given, **options)
        take_steps(library, optimizer, dtype, range(100))
        return given, optimizer.state_dict()

    oracle.check(steps, "", like(dtype))


@pytest.mark.parametrize(("name", "options"), CONFIGURATIONS, ids=text)
def test_states_are_taken_over(name: str, options: dict[str, Any]) -> None:
    """Twenty steps, and thirty more of an optimizer that takes over the state: the states have torch's form."""

    def steps(library: Any) -> Any:
        given = parameters(library, "float64")
        optimizer = getattr(library.optim, name)(given, **options)
        take_steps(library, optimizer, "float64", range(20))
        saved = plain(optimizer.state_dict())
        taken_over = [converted(plain(each), library).requires_grad_() for each in given]
        other = getattr(library.optim, name)(taken_over)
        other.load_state_dict(converted(saved, library))
        assert repr(other) == repr(optimizer)
        take_steps(library, other, "float64", range(20, 50))
        return converted(saved, library), repr(other), taken_over, other.state_dict()

    oracle.check(steps, "", like("float64"))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_groups_and_tensor_rates(name: str) -> None:
    """Options of groups, and a learning rate that is a tensor."""

    def steps(library: Any) -> Any:
        first, second, third = parameters(library, "float64")
        groups = [{"params": [first, third], "lr": 0.02, "weight_decay": 0.3}, {"params": second, "maximize": True}]
        rate = library.tensor(0.05, dtype=library.float64)
        optimizer = getattr(library.optim, name)(groups, lr=rate)
        take_steps(library, optimizer, "float64", range(10))
        optimizer.param_groups[0]["lr"] = 0.3
        rate.fill_(0.01)
        take_steps(library, optimizer, "float64", range(10, 30))
        return [first, second, third]

    oracle.check(steps, "", like("float64"))


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "Adagrad"])
def test_states_of_older_versions(name: str) -> None:
    """Counts of steps were numbers once, and options were fewer."""

    def steps(library: Any) -> Any:
        given = parameters(library, "float32")
        optimizer = getattr(library.optim, name)(given)
        take_steps(library, optimizer, "float32", range(3))
        saved = optimizer.state_dict()
        for state in saved["state"].values():
            state["step"] = int(state["step"])
        for group in saved["param_groups"]:
            group.pop("maximize")
        optimizer.load_state_dict(saved)
        take_steps(library, optimizer, "float32", range(3, 6))
        return optimizer.state_dict()

    oracle.check(steps, "", like("float32"))
