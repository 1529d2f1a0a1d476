"""Calls of dense tensors: by the core, or by the body of a composite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from .._base.devices import CPU, META, device, has_values, is_registered, on_device
from .._base.errors import no_values
from .._base.handles import wrap
from .._base.pinning import pinned_result
from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.types import check_placement, memory_order, preserve_format
from .._base.warn import warn
from .._C import lib
from .._handle import invoke, make_results, produce
from . import composite, strided_views
from .check import check, integers
from .op import INPLACE, NEW, OUT, Op
from .placement import is_transfer, placed, placement_of
from .store import store
from .transfer import copied_directly, is_dense, to_cpu, to_device


def run(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Run an operator for dense tensors on the CPU: by its kernel, or by the body of a composite."""
    if mode == INPLACE and op.view:
        return strided_views.view_inplace(op, args)
    if op.is_composite:
        if mode == INPLACE and not op.is_inplace:
            return composite.run_inplace(op, args, args[op.target])
        return composite.run(op, args, out)
    if op.family == "elementwise":
        _check_operands(op, args, mode)
    values = check(op, args)
    if op.words is not None:
        _check_word(op, values)
    if op.family == "factory":
        return _factory(op, values, out)
    if op.family == "core" and (placement := placement_of(op, values)):
        moved = _moved(op, values, check_placement(op.name, **placement))
        return pinned_result(moved) if placement.get("pin_memory") else moved
    if is_transfer(op, values):
        return _copied(op, values)
    if op.view and is_registered(values[0].device):
        return _view(op, values)
    if out is not None and not op.function.takes_out:
        return store(op, invoke(op.function, tuple(values), None, NEW), out)
    return invoke(op.function, tuple(values), _targets(op, out), OUT if out is not None else mode)


def _targets(op: Op, out: Any) -> Any:
    """The tensor that is given as `out`, or the tuple of them for several results."""
    if op.results is None:
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type_name(out)}")
        return out
    if out is None:
        return None
    fits = isinstance(out, (tuple, list)) and len(out) == len(op.results._fields)
    if not fits or not all(isinstance(each, Tensor) for each in out):
        raise TypeError(f"{op.name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    return tuple(out)


def _moved(op: Op, values: Sequence[Any], where: device | None) -> Any:
    """The copy of a tensor on a device."""
    source = values[0]
    if where is None or source.device is where:
        return invoke(op.function, tuple(values), None, NEW)
    if where is META:
        return make_results(op.function, tuple(values), None, NEW, True)
    if not has_values(source):
        raise no_values()
    if source.device is CPU and _keeps_elements(op, values):
        return to_device(source, where)
    on_cpu = to_cpu(source) if is_registered(source.device) else source
    converted = invoke(op.function, (on_cpu, *values[1:]), None, NEW)
    return to_device(converted, where) if is_registered(where) else converted


def _keeps_elements(op: Op, values: Sequence[Any]) -> bool:
    """True if a copy has the dtype and the order of its source, so that bytes of this one are those of the copy."""
    given = dict(zip(op.names, values, strict=True))
    keeps_order = given["memory_format"] in (None, preserve_format) and is_dense(values[0])
    return keeps_order and given["dtype"] in (None, values[0].dtype)


def _copied(op: Op, values: Sequence[Any]) -> Any:
    """A tensor that is overwritten by the elements of one of another device, which are copied to its own first."""
    target, source, *rest = values
    if not has_values(source):
        raise no_values()
    if copied_directly(target, source):
        return target
    return op.function(target, source.to(target.device), *rest)


def _view(op: Op, values: Sequence[Any]) -> Any:
    """A view on a registered device: of a copy, where strides do not allow another one."""
    try:
        return invoke(op.function, tuple(values), None, NEW)
    except NotImplementedError:
        if values[0].is_contiguous():
            raise
        return op.function(values[0].contiguous(), *values[1:])


def _check_operands(op: Op, args: Sequence[Any], mode: int) -> None:
    """Check that one operand at least is a tensor, in place the first one; numbers alone are for operators that have
    Python's."""
    if op.lone_numbers and mode != INPLACE:
        return
    tensors = [value for types, value in zip(op.types, args, strict=True) if types.startswith("Tensor")]
    if not any(isinstance(each, Tensor) for each in (tensors[:1] if mode == INPLACE else tensors)):
        name = op.names[0]
        raise TypeError(f"{op.name}(): argument '{name}' (position 1) must be Tensor, not {type_name(args[0])}")


def _check_word(op: Op, values: Sequence[Any]) -> None:
    words = op.words or {}
    word = next(value for types, value in zip(op.types, values, strict=True) if types.startswith("str"))
    if word not in words:
        expected = op.refusal or f"{op.name}(): expected one of {', '.join(map(repr, words))}, but got {{word!r}}"
        raise RuntimeError(expected.format(word=word))


def _factory(op: Op, values: Sequence[Any], out: Any) -> Any:
    values, where, is_pinned = placed(op, values, out)
    result = on_device(where, _made, op, values, out)
    return pinned_result(result) if is_pinned else result


def _made(op: Op, values: Sequence[Any], out: Any) -> Any:
    if op.body is not None:
        return op.body(*values, partial(_produced, op, out))
    result = invoke(op.function, tuple(values), out, OUT if out is not None else NEW)
    order = memory_order(op.name, placement_of(op, values).get("memory_format"))
    return wrap(lib.empty_like(result._h, -1, order)) if order > 1 and out is None else result


def producer(op: Op) -> Any:
    """Return the function that a factory's body calls with sizes, a dtype or None, and numbers: it makes the tensor to
    start from."""
    return partial(produce, op.index, None, _standard_dtype(op))


def _produced(op: Op, out: Any, sizes: Any, dtype: Any, *numbers: Any) -> Any:
    """The same for sizes of any kind of integers, and for `out`."""
    sizes = integers(op.name, "size", sizes)
    if op.out == "same_count" and out is not None:
        if prod(sizes) == out.numel():
            sizes = list(out.shape)
        elif op.name == "arange" and out.numel():  # torch warns of no other sequence, as their counts are not computed
            warn(
                f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which does not "
                f"match the computed number of elements {sizes[0]}. Note that this may occur as a result of rounding "
                f"error. The out tensor will be resized to a tensor of shape ({sizes[0]},)."
            )
    return produce(op.index, out, _standard_dtype(op), sizes, dtype, *numbers)


def _standard_dtype(op: Op) -> int:
    """Return the code of a factory's dtype when none is asked for; -1: it follows from the numbers."""
    return -1 if op.default_dtype is None else op.default_dtype
