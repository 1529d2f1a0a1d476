"""The device and the dtype of a call's result: what the call says of it, or its tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.devices import CPU, available, device, device_of, get_default_device
from .._base.generator import Generator
from .._base.handles import tensors_in
from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import check_placement, layout, strided
from .._handle import ELSEWHERE
from .._handle import keys as keys_of
from .op import Op

_ELSEWHERE = ELSEWHERE | KEY_BITS["meta"]


def placed(op: Op, values: Sequence[Any], out: Any) -> tuple[Sequence[Any], device | None, bool]:
    """The arguments of an operator, with the dtype of `out` where that decides, the device of the tensors that it
    makes, where None stands for the default one, and whether a new result is to be pinned. Refuses what it cannot give:
    other devices, layouts, orders of memory."""
    placement = placement_of(op, values)
    where = (check_placement(op.name, **placement) if placement else None) or _device_of(values, out)
    if not placement or out is None or "dtype" not in op.names:
        return values, where, out is None and bool(placement.get("pin_memory"))
    index = op.names.index("dtype")
    return [*values[:index], _dtype_with_out(op, values[index], out), *values[index + 1 :]], where, False


def made_on(op: Op, args: Sequence[Any], out: Any) -> device | None:
    """The device of what a call makes: one that it names, that of its tensors, or the default one; None where it makes
    a tensor of nothing on no device that it could name."""
    named = args[op.names.index("device")] if "device" in op.names else None
    if named is not None:
        return available(named)
    makes_of_nothing = "device" in op.names or op.family == "factory"
    return _device_of(args, out) or (get_default_device() if makes_of_nothing else None)


def require_one_device(op: Op, args: Sequence[Any], out: Any) -> None:
    """Raises RuntimeError for tensors of several devices, of which one is a registered one, and for a generator of
    another kind, and where memory that is not the CPU's is to be pinned. Tensors of the CPU without dimensions go with
    any other, and those of a list that selects from another tensor."""
    selects = bool(args) and isinstance(args[0], Tensor)
    values = [*(value for value in args if not (selects and isinstance(value, (list, tuple)))), out]
    found = {device_of(each): None for each in tensors_in(values) if each.ndim or device_of(each) is not CPU}
    if len(found) > 1:
        first, second, *_ = found
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
        )
    if "pin_memory" in op.names and args[op.names.index("pin_memory")] and made_on(op, args, out) not in (None, CPU):
        raise RuntimeError("Only dense CPU tensors can be pinned")
    for each in args:
        if isinstance(each, Generator):
            where = made_on(op, args, out) or CPU
            if each.device.type != where.type:
                raise RuntimeError(
                    f"Expected a '{where.type}' device type for generator but found '{each.device.type}'"
                )


def is_transfer(op: Op, args: Sequence[Any]) -> bool:
    """True if the call takes elements from one device to another, of which one is a registered one."""
    if op.name not in _TRANSFERS or not isinstance(args[0], Tensor):
        return False
    if op.name == "copy_":
        return isinstance(args[1], Tensor) and device_of(args[0]) is not device_of(args[1])
    named = args[op.names.index("device")]
    return named is not None and available(named) is not device_of(args[0])


_TRANSFERS = frozenset({"_to_copy", "copy_"})


def is_laid_out(op: Op, args: Sequence[Any]) -> bool:
    """True if the call asks for a tensor of another layout than `strided`."""
    asked = args[op.names.index("layout")] if "layout" in op.names else None
    return isinstance(asked, layout) and asked is not strided


def _device_of(values: Sequence[Any], out: Any) -> device | None:
    """The device of tensors; None where there are none."""
    if keys_of(values, out) & _ELSEWHERE:
        devices = [tensor.device for tensor in tensors_in([*values, out])]
        return next((each for each in devices if each != CPU), CPU)
    return CPU if out is not None or any(_is_of_tensors(value) for value in values) else None


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
