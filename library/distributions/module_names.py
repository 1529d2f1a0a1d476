"""Modules named as PyTorch's are, so that `from opweave.distributions.normal import Normal` finds the class."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

__all__ = ["named_modules"]

_OTHERWISE = {
    "ExpRelaxedCategorical": "relaxed_categorical",
    "ExponentialFamily": "exp_family",
    "FisherSnedecor": "fishersnedecor",
    "LogitRelaxedBernoulli": "relaxed_bernoulli",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal",
    "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "RelaxedOneHotCategorical": "relaxed_categorical",
    "StudentT": "studentT",
}
"""Classes whose module is not named by the words of their name."""


def named_modules(package: str, classes: Iterable[type]) -> Iterator[tuple[str, ModuleType]]:
    """Make a module for each name that no file has, with its classes, and have the package know it. What torch's module
    of that name imports, such as `Distribution`, is found in the package.
    """
    made: dict[str, ModuleType] = {}
    for each in classes:
        name = _OTHERWISE.get(each.__name__) or re.sub("(?<=[a-z])(?=[A-Z])", "_", each.__name__).lower()
        if f"{package}.{name}" in sys.modules and name not in made:
            continue
        if name not in made:
            made[name] = module_from_spec(ModuleSpec(f"{package}.{name}", None))
            made[name].__doc__ = f"The same as in {package}."
            vars(made[name])["__getattr__"] = _names_of(package, made[name].__name__)
        module = made[name]
        sys.modules[module.__name__] = module
        setattr(module, each.__name__, each)
        module.__dict__.setdefault("__all__", []).append(each.__name__)
    yield from made.items()


def _names_of(package: str, module: str) -> Callable[[str], Any]:
    def find(name: str) -> Any:
        if not name.startswith("__") and hasattr(sys.modules[package], name):
            return getattr(sys.modules[package], name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find
