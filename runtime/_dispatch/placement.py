"""Where the result of a call is, and of which dtype: what the call says of it, or its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._base.devices import CPU, META, available, device, get_default_device
from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import check_placement, layout, strided
from .._handle import keys as keys_of
from .op import Op


def placed(op: Op, values: Sequence[Any], out: Any) -> tuple[Sequence[Any], device | None]:
    """The arguments of an operator, with the dtype of `out` where that decides, and the device of the tensors that it
    makes: None stands for the default one. Refuses what it cannot give: other devices, layouts, orders of memory."""
    placement = placement_of(op, values)
    where = (check_placement(op.name, **placement) if placement else None) or _device_of(values, out)
    if not placement or out is None or "dtype" not in op.names:
        return values, where
    index = op.names.index("dtype")
    return [*values[:index], _dtype_with_out(op, values[index], out), *values[index + 1 :]], where


def is_made_on(where: device, op: Op, args: Sequence[Any], out: Any) -> bool:
    """True if the call makes a tensor on a device, which it names or which is the default one."""
    if "device" not in op.names:
        return False
    named = args[op.names.index("device")]
    return where is (_device_of(args, out) or get_default_device() if named is None else available(named))


def is_laid_out(op: Op, args: Sequence[Any]) -> bool:
    """True if the call asks for a tensor of another layout than `strided`."""
    asked = args[op.names.index("layout")] if "layout" in op.names else None
    return isinstance(asked, layout) and asked is not strided


def _device_of(values: Sequence[Any], out: Any) -> device | None:
    """The device of tensors; None where there are none."""
    keys = keys_of(values, out)
    if keys & (KEY_BITS["sparse"] | KEY_BITS["wrapper"]):  # whose handles have no memory, wherever their values are
        devices = [tensor.device for tensor in _tensors_of([*values, out])]
        return next((each for each in devices if each != CPU), CPU)
    if keys & KEY_BITS["meta"]:
        return META
    return CPU if out is not None or any(_is_of_tensors(value) for value in values) else None


def _tensors_of(values: Sequence[Any]) -> Iterator[Any]:
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (list, tuple)):
            yield from _tensors_of(each)


def _is_of_tensors(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, (list, tuple)) and any(map(_is_of_tensors, value)))


def placement_of(op: Op, values: Sequence[Any]) -> dict[str, Any]:
    """Layout, device, kind and order of memory, by the names of the arguments."""
    named = zip(op.params, values, strict=True)
    return {name: value for (name, _, types), value in named if types == "placement"}


def _dtype_with_out(op: Op, dtype: Any, out: Any) -> Any:
    """The dtype of what is written into `out`: its own, which `dtype` must not contradict."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type_name(out)}")
    if dtype is not None and dtype is not out.dtype:
        message = f"dtype {dtype.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        raise RuntimeError(message)
    return out.dtype
