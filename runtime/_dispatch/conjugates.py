"""The key `conj`: complex tensors that are read as the conjugates of what lies in memory, as views by `conj` are.

Views of them are views of the memory, read in the same way. All other operators are given conjugates that are computed
first; what they write to is conjugated in memory before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._base.keys import KEY_BITS
from .._base.sequences import remade
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import alias, as_view
from .dispatcher import redispatch, register
from .op import INPLACE, Op
from .ops import ops

__all__ = ["conjugate_view", "is_conjugated"]

CONJ = KEY_BITS["conj"]


def is_conjugated(tensor: Any) -> bool:
    """Return True if the elements in memory are conjugates of the tensor's."""
    return bool(lib.keys(tensor._h) & CONJ)


def conjugate_view(tensor: Any) -> Any:
    """Return a view of the same memory, whose elements are the conjugates of the tensor's."""
    same = alias(tensor)
    lib.set_keys(same._h, lib.keys(same._h) ^ CONJ)
    return as_view(same, tensor)


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call with conjugated tensors: views keep the mark, other operators get conjugates that are computed
    first."""
    if mode == INPLACE and (op.view or op.opaque):
        return redispatch(op, args, None, mode, below="conj")  # what the tensor is of its memory, not the memory
    if op.view:
        return _view(op, args)
    targets = [each for each in (args[op.target] if mode == INPLACE else None, *_tensors(out)) if _is(each)]
    memory = {id(each): conjugate_view(each) for each in targets}
    given = [_resolved(each, memory) for each in args]
    for each in memory.values():
        ops.conj_physical_(each)
    try:
        result = redispatch(op, given, _in_memory(out, memory), mode, below="conj")
    finally:
        for each in memory.values():
            ops.conj_physical_(each)
    return args[op.target] if mode == INPLACE else result if out is None else out


def _view(op: Op, args: Sequence[Any]) -> Any:
    """The same view of the memory, read as conjugates. What changes the dtype would be no view of conjugates."""
    tensor = args[op.target]
    if not _is(tensor):
        return redispatch(op, args, below="conj")
    given = [conjugate_view(each) if each is tensor else each for each in args]
    result = redispatch(op, given, below="conj")
    parts = result if isinstance(result, (tuple, list)) else (result,)
    if any(not each.is_complex() for each in parts):
        raise RuntimeError(
            f"{op.name} doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    for each in parts:
        lib.set_keys(each._h, lib.keys(each._h) ^ CONJ)
    return result


def _is(value: Any) -> bool:
    return isinstance(value, Tensor) and is_conjugated(value)


def _tensors(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (tuple, list)) else (value,)


def _resolved(value: Any, memory: dict[int, Any]) -> Any:
    """A value with conjugates computed, those that are overwritten in their memory, which others are read before."""
    if isinstance(value, (tuple, list)):
        return remade(type(value), [_resolved(each, memory) for each in value])
    if not isinstance(value, Tensor) or id(value) in memory:
        return memory.get(id(value), value)
    if is_conjugated(value):
        return ops.conjugated(conjugate_view(value))
    shares = any(lib.storage_of(each._h) == lib.storage_of(value._h) for each in memory.values())
    return value.clone() if shares else value


def _in_memory(value: Any, memory: dict[int, Any]) -> Any:
    if isinstance(value, (tuple, list)):
        return remade(type(value), [_in_memory(each, memory) for each in value])
    return memory.get(id(value), value)


register("conj", handle, composites=False)
