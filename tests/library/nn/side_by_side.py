"""The same module in two libraries: made by an expression under one seed, and called with numbers written down."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from harness.programs import environment, numbers


def first(value: Any) -> Any:
    """The first tensor in it."""
    while isinstance(value, (tuple, list)):
        value = value[0]
    return getattr(value, "data", value) if not hasattr(value, "backward") else value


def results(library: ModuleType, module: str, inputs: str) -> Any:
    """The printed form, the state, the output and all gradients."""
    names = environment(library)
    library.manual_seed(5)
    made = eval(module, names)
    lazy = "Lazy" in module  # without values yet
    before = None if lazy else {name: each.detach().clone() for name, each in made.state_dict().items()}
    given = eval(f"({inputs},)", names)
    output = made(*given)
    value = first(output)
    gradients = []
    if value.requires_grad:
        (value * numbers(library, *value.shape, dtype=str(value.dtype).rpartition(".")[2], step=0.4)).sum().backward()
        gradients = [each.grad for each in given if hasattr(each, "grad")] + [each.grad for each in made.parameters()]
    return [repr(made), before, dict(made.state_dict()), output, gradients]
