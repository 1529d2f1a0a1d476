"""Namespaces of devices and libraries that are not used: one table of what their names say.

Programs ask them whether there is something, whatever they run on. A question is answered; what concerns every device,
of which there is none, does nothing; what needs one raises the exception that torch raises without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .._base.errors import OutOfMemoryError
from .refusals import refused_class

__all__ = ["ABSENT_DEVICES", "names_of"]

_NO_CUDA = AssertionError("opweave is not compiled with CUDA or XPU: tensors live on the CPU")
_NO_MPS = RuntimeError("opweave is not compiled with MPS: tensors live on the CPU")
_NO_INSTANCES = "there are no such devices. Tensors live on the CPU"


class Namespace:
    """Row of the table: the names of a module.

    Attributes:
        answers: functions, by what they return for any arguments; a class is called for a new value.
        values: what other names stand for.
        refused: names of functions that raise the error.
        error: what they raise.
        classes: names of classes without instances.
    """

    __slots__ = ("answers", "classes", "error", "refused", "values")

    def __init__(
        self,
        answers: Mapping[str, Any],
        values: Mapping[str, Any] | None = None,
        refused: str = "",
        error: Exception | None = None,
        classes: str = "",
    ) -> None:
        self.answers, self.values = answers, values or {}
        self.refused, self.error, self.classes = refused.split(), error, classes.split()


@contextmanager
def device(device: Any) -> Iterator[None]:
    """A context in which that device is the current one; None and negative numbers stand for none."""
    if not (device is None or (isinstance(device, int) and device < 0)):
        raise _NO_CUDA
    yield


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A context in which that stream is the current one; None stands for none."""
    if stream is not None:
        raise _NO_CUDA
    yield


_DEVICES = Namespace(
    answers={
        **dict.fromkeys(["is_available", "is_bf16_supported", "is_current_stream_capturing"], False),
        **dict.fromkeys(["is_initialized", "is_tf32_supported"], False),
        **dict.fromkeys(["device_count", "max_memory_allocated", "max_memory_reserved"], 0),
        **dict.fromkeys(["memory_allocated", "memory_reserved"], 0),
        "memory_stats": dict,
        **dict.fromkeys(("get_arch_list", "get_rng_state_all"), list),
        **dict.fromkeys(["empty_cache", "reset_max_memory_allocated", "reset_peak_memory_stats"]),
        **dict.fromkeys(["manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state_all"]),
    },
    values={"default_generators": (), "device": device, "stream": stream, "OutOfMemoryError": OutOfMemoryError},
    refused="current_device current_stream default_stream get_device_capability get_device_name get_device_properties "
    "get_rng_state init initial_seed ipc_collect mem_get_info memory_summary set_device set_rng_state set_stream "
    "synchronize",
    error=_NO_CUDA,
    classes="CUDAGraph Event ExternalStream Stream StreamContext graph",
)
_NOT_AVAILABLE = {"is_available": False}

ABSENT_DEVICES: Mapping[str, Namespace] = {
    "backends.mkl": Namespace(_NOT_AVAILABLE),
    "backends.mkldnn": Namespace(_NOT_AVAILABLE, {"enabled": False}),
    "backends.mps": Namespace({"is_available": False, "is_built": False, "is_macos_or_newer": False}),
    "backends.openmp": Namespace(_NOT_AVAILABLE),
    "backends.opt_einsum": Namespace(_NOT_AVAILABLE, {"enabled": False}),
    "cuda": _DEVICES,
    "mps": Namespace(
        {"is_available": False, "device_count": 0, "manual_seed": None},
        refused="current_allocated_memory driver_allocated_memory empty_cache get_rng_state recommended_max_memory "
        "seed set_per_process_memory_fraction set_rng_state synchronize",
        error=_NO_MPS,
    ),
    "xpu": _DEVICES,
}
"""The names of each module, by its name without that of the package."""


def names_of(module: str) -> dict[str, Any]:
    """Return what a module with the names of a row of the table has, `__all__` among it."""
    _, _, own = module.partition(".")
    row = ABSENT_DEVICES[own]
    names = {
        **{name: _function(module, name, value) for name, value in row.answers.items()},
        **{name: _function(module, name, row.error) for name in row.refused},
        **{name: refused_class(module, name, _NO_INSTANCES) for name in row.classes},
        **row.values,
    }
    return {**names, "__all__": sorted(names)}


def _function(module: str, name: str, answer: Any) -> Callable[..., Any]:
    """Make a function that returns the answer, or raises it where it is an exception."""
    returned: Callable[[], Any] = answer if isinstance(answer, type) else lambda: answer

    def function(*args: Any, **kwargs: Any) -> Any:
        if isinstance(answer, Exception):
            raise type(answer)(*answer.args)
        return returned()

    function.__module__ = module
    function.__name__ = function.__qualname__ = name
    shown = f"Raise {type(answer).__name__}: {answer}" if isinstance(answer, Exception) else f"Return {returned()!r}"
    function.__doc__ = f"{shown}, as there are no such devices or libraries here."
    return function
