"""The key `subclass`: calls with tensors of derived classes, and with objects of classes that take part in the protocol
`__torch_function__`.

The class says what the result is. What class Tensor says, and with it every class that has no `__torch_function__` of
its own, is that the result has the class of the argument that is derived the most.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .._base.tensor_class import Tensor
from .._handle import excluded, with_keys
from .dispatcher import KEYS, redispatch, register
from .op import Op
from .overloads import as_called, public_function
from .torch_dispatch import dispatches

SUBCLASS = KEYS["subclass"]


class _Running(threading.local):
    function: Any = None
    """The function that class Tensor is calling for the protocol."""


_running = _Running()


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Asks the classes of the arguments, derived ones before those that they are derived from; NotImplemented where all
    of them decline."""
    overloaded = overloaded_arguments((*args, out))
    if not overloaded and op.delegates:  # which are left to the function where a class may want them
        positional, named = as_called(op, args, out, mode)
        return disabled(public_function(op, mode), (), positional, named)
    if not overloaded:
        return with_keys(0, SUBCLASS, partial(redispatch, op, args, out, mode, below="subclass"))
    types = tuple([type(each) for each in overloaded])
    positional, named = as_called(op, args, out, mode)
    return answer(overloaded, public_function(op, mode), types, positional, named)


def answer(overloaded: Sequence[Any], function: Any, types: Sequence[type], args: Any, kwargs: Any) -> Any:
    """The first result that is not NotImplemented."""
    for each in overloaded:
        result = each.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def overloaded_arguments(values: Sequence[Any]) -> list[Any]:
    """An argument of each class that takes part in the protocol, in the order in which they are asked."""
    found: list[Any] = []
    for each in _candidates(values):
        kind = type(each)
        if all(kind is not type(other) for other in found):
            bases = (place for place, other in enumerate(found) if issubclass(kind, type(other)))
            found.insert(next(bases, len(found)), each)
    return found


def takes_part(value: Any) -> bool:
    """True if a class other than Tensor says what calls with the value are. Tensors of torch have such a method too,
    which knows nothing of functions other than torch's."""
    kind = type(value)
    protocol = getattr(kind, "__torch_function__", None)
    if kind is Tensor or protocol is None or protocol is disabled:
        return False
    if getattr(protocol, "__func__", None) is torch_function and dispatches(kind):
        return False
    return isinstance(value, Tensor) or all(base.__module__.partition(".")[0] != "torch" for base in kind.__mro__)


def _candidates(values: Any, depth: int = 3) -> Iterator[Any]:
    for each in values:
        if isinstance(each, (list, tuple)):
            yield from _candidates(each, depth - 1) if depth else ()
        elif takes_part(each):
            yield each


def disabled(func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Call the function with plain tensors as results: as `__torch_function__` of a class, it takes no part in the
    protocol."""
    return with_keys(0, SUBCLASS, partial(func, *args, **(kwargs or {})))


def torch_function(cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Return the result of `func`, as an instance of the class.

    Args:
        func: what was called, such as `opweave.add`.
        types: the classes of the arguments that take part in the protocol.
        args, kwargs: the arguments of the call.
    """
    # A function that comes back though the protocol is disabled is another library's, as `torch.add` of one of its
    # tensors and one of these.
    comes_back = excluded() & SUBCLASS and func is _running.function
    if comes_back or not all(issubclass(cls, each) for each in types):
        return NotImplemented
    outer, _running.function = _running.function, func
    try:
        return _converted(disabled(func, types, args, kwargs), cls)
    finally:
        _running.function = outer


def _converted(result: Any, kind: type) -> Any:
    """Tensors as those of the class, also those in a tuple or list."""
    if isinstance(result, Tensor):
        return result if isinstance(result, kind) else result.as_subclass(kind)
    if isinstance(result, (tuple, list)) and any(isinstance(each, Tensor) for each in result):
        parts = [_converted(each, kind) for each in result]
        return type(result)(parts)
    return result


class SubclassMethods:
    """Methods of class Tensor for calls with tensors of derived classes."""

    __slots__ = ()

    __torch_function__: Any = classmethod(torch_function)


register("subclass", handle)
