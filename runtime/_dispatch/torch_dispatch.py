"""The key `python`: operators of tensors whose class has a `__torch_dispatch__`, which says what their results are.

It is below autograd, which records the calls as those of other tensors, and operators that are made of others are
decomposed before it. A class that also has no `__torch_function__` of its own takes no part in that protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .._base.errors import take_pending
from .._base.handles import exchange
from .._base.keys import KEY_BITS
from .._base.tensor_class import Tensor
from .._C import lib
from .._handle import adopt, as_view, function_view, shape_of, strides_of, with_keys
from . import overloads
from .dispatcher import KEYS, redispatch, register
from .op import INPLACE, Op


def dispatches_not(func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """`__torch_dispatch__` of class Tensor: the operator, for what the tensors are without their classes.

    Tensors that only stand for others have no elements, so that the result is on `meta`.
    """
    return with_keys(0, KEYS["python"], partial(func, *args, **(kwargs or {})))


def dispatches(kind: type) -> bool:
    """True if a class of tensors has a `__torch_dispatch__` of its own."""
    return getattr(kind, "__torch_dispatch__", dispatches_not) is not dispatches_not


def is_wrapper(tensor: Any) -> bool:
    """True if the tensor stands for others, and has no memory of its own."""
    return dispatches(type(tensor)) and bool(lib.keys(tensor._h) & (KEY_BITS["wrapper"] | KEYS["meta"]))


def share_storage(tensor: Any, of: Any) -> None:
    """Make writes to one of two tensors that stand for others count as writes to both: what they stand for is shared.

    Nothing happens where the sizes and strides of the first one do not fit into the storage of the second.
    """
    handle = tensor._h
    sizes = shape_of(handle)
    same = lib.as_strided(of._h, sizes, strides_of(handle), len(sizes), lib.storage_offset(handle), lib.dtype(handle))
    if same:
        exchange(tensor, adopt(same, Tensor))
    else:
        take_pending()


def detached(tensor: Any) -> Any:
    """The same without history, as its class says."""
    same = with_keys(0, KEYS["autograd"], tensor.detach)
    if is_wrapper(same) and is_wrapper(tensor):
        share_storage(same, tensor)
    return same


def _handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    if op.is_implicit:
        return redispatch(op, args, out, mode, below="python")
    overload = overloads.of_call(op, mode, out)
    positional, named = overloads.as_called(op, args, out, mode)
    kinds = _kinds((*args, out))
    for kind in kinds:
        result = kind.__torch_dispatch__(overload, tuple(kinds), positional, named)
        if result is not NotImplemented:
            return _written(op, args, out, mode, result)
    declined = "".join(f"\n\n  - tensor subclass {kind!r}" for kind in kinds)
    raise TypeError(
        f"Multiple dispatch failed for 'opweave.ops.{overload}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:{declined}\n\nReturn a result for these types from the __torch_dispatch__ of one of them."
    )


def _written(op: Op, args: Sequence[Any], out: Any, mode: int, result: Any) -> Any:
    """The tensor that was to be written to, whatever the class gives back, and counts the write; else the result."""
    target = args[op.target] if mode == INPLACE or op.is_inplace else out
    if target is None:
        return _viewed(result, args[0], op.is_differentiable) if op.view else result
    for each in target if isinstance(target, (list, tuple)) else [target]:
        if dispatches(type(each)):
            lib.count_write(each._h)
    return target


def _viewed(result: Any, of: Any, have_history: bool) -> Any:
    """The views of a tensor, which are not overwritten as part of a graph: only the class knows what they share."""
    is_several = isinstance(result, (list, tuple))
    for each in result if is_several else [result]:
        if isinstance(each, Tensor) and each is not of and is_wrapper(each) and is_wrapper(of):
            share_storage(each, of)
            if have_history:  # that of a detached tensor ends
                as_view(each, of)
                function_view(each, is_several)
    return result


def _kinds(values: Sequence[Any]) -> list[Any]:
    """The classes that are asked, derived ones before those that they are derived from."""
    found: list[Any] = []
    for each in _tensors(values):
        kind = type(each)
        if kind not in found and dispatches(kind):
            found.insert(next((n for n, other in enumerate(found) if issubclass(kind, other)), len(found)), kind)
    return found


def _tensors(values: Sequence[Any], depth: int = 3) -> Iterator[Any]:
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif depth and isinstance(each, (list, tuple)):
            yield from _tensors(each, depth - 1)


class DispatchMethods:
    """Methods of class Tensor for classes that have a `__torch_dispatch__`."""

    __slots__ = ()

    __torch_dispatch__: Any = staticmethod(dispatches_not)


register("python", _handle)
