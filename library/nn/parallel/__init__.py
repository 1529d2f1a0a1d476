"""opweave.nn.parallel: modules that several processes train together, or several devices, of which there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._names.module_names import submodule
from ..modules.parallel import DataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

_ONE = "opweave has one device, the CPU of one process"


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Return what a module returns for inputs, a tensor or a tuple of them. The other arguments are without effect."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Sequence[Any] | None = None, devices: Any = None
) -> list[Any]:
    """Return what each module returns for its inputs, a tensor or a tuple of them.

    Raises:
        AssertionError: there are not as many inputs, or keyword arguments, as modules.
    """
    options = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    for name, given in (("inputs", inputs), ("keyword arguments", options)):
        if len(given) != len(modules):
            raise AssertionError(f"The number of modules {len(modules)} is not equal to that of {name} {len(given)}")
    calls = zip(modules, inputs, options, strict=True)
    return [data_parallel(module, each, module_kwargs=named) for module, each, named in calls]


def replicate(network: Any, devices: Any, detach: bool = False) -> Any:
    """Raise RuntimeError: there are no devices to copy a module to."""
    raise RuntimeError(f"replicate() copies a module to several devices, but {_ONE}: call the module itself")


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Raise RuntimeError: there are no devices to share inputs among."""
    raise RuntimeError(f"scatter() shares inputs among devices, but {_ONE}: use `chunk` for parts of a tensor")


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Raise RuntimeError: there are no devices to gather outputs from."""
    raise RuntimeError(f"gather() joins outputs of several devices, but {_ONE}: use `cat` for parts of a tensor")


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name == "DistributedDataParallel":  # with which opweave.distributed is imported
            from .distributed import DistributedDataParallel

            return DistributedDataParallel
        return submodule(__name__, name)
