"""Small programs of several calls; each module has one subject and names its programs in TARGETS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ..callables import Target
from . import capsules, distributions, files, functions, layers, operators, optimizers, storages, woven

_MODULES = (capsules, distributions, files, functions, layers, operators, optimizers, storages, woven)


@cache
def programs() -> Mapping[str, Target]:
    return {
        f"{module.__name__.rpartition('.')[2]}: {name}": target
        for module in _MODULES
        for name, target in module.targets().items()
    }
