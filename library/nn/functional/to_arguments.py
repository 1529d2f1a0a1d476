"""The arguments of `Module.to`, which libraries read by the same function as torch: `torch._C._nn._parse_to`."""

from __future__ import annotations

from typing import Any

from ..._base.devices import device as device_type
from ..._base.dtypes import dtype
from ..._base.types import memory_format as memory_format_type
from ..._tensor.tensor import Tensor


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The arguments of `to` as device, dtype, non_blocking and memory format."""
    found = {"device": kwargs.pop("device", None), "dtype": kwargs.pop("dtype", None)}
    order, non_blocking = kwargs.pop("memory_format", None), kwargs.pop("non_blocking", False)
    if "tensor" in kwargs:
        args = (kwargs.pop("tensor"), *args)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    flags = []
    for each in args:
        if isinstance(each, Tensor):
            found.update(device=each.device, dtype=each.dtype)
        elif isinstance(each, dtype):
            found["dtype"] = each
        elif isinstance(each, (str, device_type)):
            found["device"] = device_type(each) if isinstance(each, str) else each
        elif isinstance(each, memory_format_type):
            order = each
        elif isinstance(each, bool):
            flags.append(each)
        elif each is not None:
            raise TypeError(
                "to() received an invalid combination of arguments: expected a device, a dtype, or a tensor, but got "
                f"{type(each).__name__}"
            )
    return found["device"], found["dtype"], flags[0] if flags else non_blocking, order
