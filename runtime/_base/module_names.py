"""Modules that torch has in other files: one table of their names and of the modules that have what they name.

`import opweave.nn.modules.padding` gives a module whose names lead to `opweave.nn.modules.shapes`; under torch's name
the same modules are found.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["MODULES", "submodule"]

MODULES: Mapping[str, str] = {
    "_dynamo.utils": "_dynamo",
    "_torch_c._nn": "nn.functional",
    "autograd.grad_mode": "_autograd.grad_mode",
    "cpu.amp": "amp",
    "cpu.amp.autocast_mode": "amp.autocast_mode",
    "cuda.memory": "cuda",
    "cuda.random": "cuda",
    "cuda.streams": "cuda",
    "distributed.algorithms": "distributed",
    "distributed.algorithms.join": "distributed",
    "distributed.device_mesh": "distributed",
    "distributed.distributed_c10d": "distributed",
    "distributed.fsdp": "distributed",
    "distributed.optim": "distributed",
    "distributed.tensor": "distributed",
    "nn.modules.channelshuffle": "nn.modules.shapes",
    "nn.modules.flatten": "nn.modules.shapes",
    "nn.modules.fold": "nn.modules.pooling",
    "nn.modules.instancenorm": "nn.modules.batchnorm",
    "nn.modules.padding": "nn.modules.shapes",
    "nn.modules.pixelshuffle": "nn.modules.shapes",
    "optim.adamw": "optim.adam",
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.data._utils.worker": "utils.data.worker",
    "utils.model_zoo": "hub",
}
"""For the name of each module, without that of the package, the module that its names lead to."""

_PACKAGE = __name__.partition(".")[0]


class _Renamed(ModuleType):
    """A module whose names are those of another one, which is imported when the first of them is asked for."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") or name == "__all__":
            own = self.__name__.partition(".")[2]
            if f"{own}.{name}" in MODULES:
                return import_module(f"{self.__name__}.{name}")
            target = import_module(f".{MODULES[own]}", _PACKAGE)
            if hasattr(target, name):
                return getattr(target, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> Sequence[str]:
        return dir(import_module(f".{MODULES[self.__name__.partition('.')[2]]}", _PACKAGE))


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != _PACKAGE or name not in MODULES:
            return None
        return ModuleSpec(fullname, self, is_package=any(each.startswith(name + ".") for each in MODULES))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Renamed(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: its names are looked for."""


# Last, so that only modules that no file has come here.
sys.meta_path.append(_Finder())


def submodule(package: str, name: str) -> ModuleType:
    """The module `name` of a package of opweave that the table has, for the `__getattr__` of that package.

    Raises AttributeError if there is none.
    """
    if f"{package}.{name}".partition(".")[2] not in MODULES:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return import_module(f"{package}.{name}")
