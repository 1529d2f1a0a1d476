"""What a call says of where and of which dtype its result is to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import check_placement
from .op import Op


def placed(op: Op, values: Sequence[Any], out: Any) -> Sequence[Any]:
    """The arguments of an operator that makes tensors, whose dtype is that of `out` where there is one. Refuses what it
    cannot give: another device, layout, order or kind of memory."""
    placement = placement_of(op, values)
    if not placement:
        return values
    check_placement(op.name, **placement)
    if out is None or "dtype" not in op.names:
        return values
    index = op.names.index("dtype")
    return [*values[:index], _dtype_with_out(op, values[index], out), *values[index + 1 :]]


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
