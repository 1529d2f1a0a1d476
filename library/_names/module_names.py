"""Modules that torch has in other files: one table of their names and of the modules that have what they name.

`import opweave.nn.modules.padding` gives a module whose names lead to `opweave.nn.modules.shapes`; under torch's name
the same modules are found, and those whose names only say that they have no meaning here (`absent_modules.py`,
`absent_devices.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from .absent_devices import ABSENT_DEVICES, names_of
from .absent_modules import ABSENT, refused_name
from .advice import no_attribute

if TYPE_CHECKING:
    from importlib.abc import Loader

__all__ = ["MODULES", "submodule"]

MODULES: Mapping[str, str] = {
    "_dynamo.eval_frame": "_dynamo",
    "_dynamo.utils": "_dynamo",
    "_functorch.vmap": "_transforms",
    "_guards": "_fake_tensors",
    "_higher_order_ops": "_branches",
    "_higher_order_ops.associative_scan": "_branches",
    "_jit_internal": "jit",
    "_subclasses": "_fake_tensors",
    "_subclasses.fake_tensor": "_fake_tensors",
    "_tensor_str": "_tensor.tensor_str",
    "_torch_c._functorch": "_transforms",
    "_torch_c._nn": "nn.functional",
    "autograd.grad_mode": "_autograd.grad_mode",
    "cpu.amp": "amp",
    "cpu.amp.autocast_mode": "amp.autocast_mode",
    "cuda.memory": "cuda",
    "cuda.random": "cuda",
    "cuda.streams": "cuda",
    "distributed._composable.fsdp": "distributed.fsdp",
    "distributed._tensor": "distributed.tensor",
    "distributed._tensor.experimental": "distributed.tensor.experimental",
    "distributed._tensor.placement_types": "distributed.tensor.placement_types",
    "distributed.constants": "distributed",
    "distributed.distributed_c10d": "distributed",
    "distributed.fsdp.api": "distributed.fsdp",
    "distributed.fsdp.fully_sharded_data_parallel": "distributed.fsdp",
    "distributed.launcher.api": "distributed.launcher",
    "export.exported_program": "export",
    "fx._pytree": "utils._pytree",
    "fx.experimental.proxy_tensor": "_fake_tensors",
    "fx.experimental.symbolic_shapes": "_symbolic",
    "nn.modules.channelshuffle": "nn.modules.shapes",
    "nn.modules.flatten": "nn.modules.shapes",
    "nn.modules.fold": "nn.modules.pooling",
    "nn.modules.instancenorm": "nn.modules.batchnorm",
    "nn.modules.padding": "nn.modules.shapes",
    "nn.modules.pixelshuffle": "nn.modules.shapes",
    "nn.parallel.scatter_gather": "nn.parallel",
    "nn.quantized": "ao.nn.quantized",
    "nn.quantized.dynamic": "ao.nn.quantized.dynamic",
    "nn.quantized.dynamic.modules": "ao.nn.quantized.dynamic",
    "nn.quantized.modules": "ao.nn.quantized.modules",
    "onnx.symbolic_helper": "onnx",
    "optim.adamw": "optim.adam",
    "quantization": "ao.quantization",
    "quantization.fake_quantize": "ao.quantization.fake_quantize",
    "quantization.observer": "ao.quantization.observer",
    "quantization.qconfig": "ao.quantization.qconfig",
    "quantization.quantize": "ao.quantization.quantize",
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.data._utils.pin_memory": "utils.data.pinning",
    "utils.data._utils.worker": "utils.data.worker",
    "utils.data.datapipes._decorator": "utils.data.datapipes.datapipe",
    "utils.model_zoo": "hub",
}
"""The modules that names lead to, by the name of the module without that of the package."""

_PACKAGE = __name__.partition(".")[0]
_NAMES = {*MODULES, *ABSENT, *ABSENT_DEVICES}


class _Renamed(ModuleType):
    """A module whose names are those of another one, which is imported when the first of them is asked for, or names
    that say that they have no meaning here."""

    def __getattr__(self, name: str) -> Any:
        own = self.__name__.partition(".")[2]
        if f"{own}.{name}" in _NAMES:
            return import_module(f"{self.__name__}.{name}")
        if own in ABSENT:
            value = refused_name(_PACKAGE, own, name)
            setattr(self, name, value)
            return value
        if own in MODULES and (not name.startswith("__") or name == "__all__"):
            target = import_module(f".{MODULES[own]}", _PACKAGE)
            if hasattr(target, name):
                return getattr(target, name)
        raise no_attribute(self.__name__, name)

    def __dir__(self) -> Sequence[str]:
        own = self.__name__.partition(".")[2]
        if own in ABSENT:
            return sorted(ABSENT[own][1].replace("@", "").split())
        if own in ABSENT_DEVICES:
            return sorted(vars(self)["__all__"])
        return dir(import_module(f".{MODULES[own]}", _PACKAGE))


class _Finder:
    """A finder and a loader; their base classes would import all that resources and archives need."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != _PACKAGE or name not in _NAMES:
            return None
        return ModuleSpec(
            fullname, cast("Loader", _Finder()), is_package=any(each.startswith(name + ".") for each in _NAMES)
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Renamed(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Make the names of a namespace of devices; those of other modules are looked for when they are asked for."""
        own = module.__name__.partition(".")[2]
        if own in ABSENT_DEVICES:
            vars(module).update(names_of(module.__name__))


# Last, so that only modules that no file has come here.
sys.meta_path.append(_Finder())


def submodule(package: str, name: str) -> ModuleType:
    """The module `name` of a package of opweave that the tables have, for the `__getattr__` of that package.

    Raises AttributeError if there is none.
    """
    if f"{package}.{name}".partition(".")[2] not in _NAMES:
        raise no_attribute(package, name)
    return import_module(f"{package}.{name}")
