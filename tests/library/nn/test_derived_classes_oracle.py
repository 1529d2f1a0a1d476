"""Classes that users derive theirs from. What is private here and unknown to torch begins with `_ow_`, so that it hides
nothing that a derived class has under a name of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import opweave
from harness import oracle

OF_OBJECTS = {"_param", "_params"}
"""Properties here that torch has as attributes of the objects."""
NAMESPACES = ("nn", "optim", "optim.lr_scheduler", "distributions", "distributions.transforms")


def classes(library: ModuleType, namespace: str) -> Iterator[tuple[str, type]]:
    for name, value in sorted(vars(import_module(f"{library.__name__}.{namespace}")).items()):
        # Tensors have the names of the object that holds them, and exceptions those of Python.
        if isinstance(value, type) and not name.startswith("_") and not issubclass(value, (library.Tensor, Warning)):
            yield name, value


def private(kind: type) -> list[str]:
    names = {name for name in dir(kind) if name.startswith("_") and not name.startswith(("__", "_ow_"))}
    return sorted(names - OF_OBJECTS)


def known(library: Any, namespace: str, name: str, names: list[str]) -> list[str]:
    """Those of the names that the class has; an alias that the library lacks has all."""
    kind = getattr(import_module(f"{library.__name__}.{namespace}"), name, None)
    return [each for each in names if kind is None or hasattr(kind, each)]


def test_private_names_are_those_of_torch() -> None:
    for namespace in NAMESPACES:
        for name, mine in classes(opweave, namespace):
            call = partial(known, namespace=namespace, name=name, names=private(mine))
            oracle.check(call, f"{namespace}.{name}")


def test_members_of_derived_modules_may_have_any_name() -> None:
    names = {"_persistent": {}, "_call": 1, "_before": 2, "_after": 3, "_update": 4, "_taken": 5, "_set_full": 6}
    kind: Any = type("Derived", (opweave.nn.Linear,), names)
    module = kind(2, 2)
    module.register_forward_hook(lambda *_: None)
    module.register_full_backward_hook(lambda *_: None)
    module(opweave.ones(2)).sum().backward()
    assert list(module.load_state_dict(module.state_dict())) == [[], []]


def test_results_are_no_parameters() -> None:
    parameter: Any = opweave.nn.Parameter(opweave.ones(2))
    makers = [name for name in vars(opweave) if name.endswith("_like")]
    assert len(makers) >= 7
    for name in makers:
        more = {"full_like": (1,), "randint_like": (3,)}.get(name, ())
        assert type(getattr(opweave, name)(parameter, *more)) is opweave.Tensor, name
    module = opweave.nn.Module()
    module.mask = opweave.zeros_like(parameter)
    module.register_buffer("mean", opweave.empty_like(parameter))
    assert (list(module.parameters()), list(module.state_dict())) == ([], ["mean"])


def test_arguments_of_to_are_read_as_torch_reads_them() -> None:
    parse: Any = opweave.nn.functional._parse_to
    float64 = opweave.float64
    assert parse("cpu", float64, True) == (opweave.device("cpu"), float64, True, None)
    order = opweave.channels_last
    assert parse(opweave.ones(1), memory_format=order)[1:] == (opweave.float32, False, order)
