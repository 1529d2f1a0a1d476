"""The same module in two libraries: made by an expression under one seed, and called with numbers written down."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


def numbers(library: ModuleType, *shape: int, dtype: str = "float32", step: float = 0.7, grad: bool = False) -> Any:
    values = np.cos(step * np.arange(np.prod(shape, dtype=int)) + 0.3).reshape(shape)
    return library.tensor(values.tolist(), dtype=getattr(library, dtype)).reshape(shape).requires_grad_(grad)


def environment(library: ModuleType) -> dict[str, Any]:
    """What expressions see: `L` the library, `nn`, `F`, `x(2, 3)` a tensor of these sizes, `g(2, 3)` one with a
    gradient, `i(10, 2, 3)` one of integers below ten."""

    def integers(below: int, *shape: int) -> Any:
        places = np.arange(np.prod(shape, dtype=int))
        return library.tensor(((places * places + places // 2) % below).reshape(shape).tolist())

    return {
        "L": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "x": lambda *shape, **options: numbers(library, *shape, **options),
        "g": lambda *shape, **options: numbers(library, *shape, grad=True, **options),
        "i": integers,
    }


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
