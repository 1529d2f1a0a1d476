"""Changes of classes and modules while a program is traced, besides the calls of operators, which a mode sees.

Methods and functions that are written in Python become one node each, whose sizes are those of each call; sizes are
numbers that are recorded; and what makes a Python value of elements warns that it is the example's.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from .._base.tensor_class import Tensor
from .._handle import TensorBase
from ..autograd import Function
from ..fx._names import public_functions
from ._numbers import CONVERTED, traced_number
from ._state import recorder, warn_of_value

__all__ = ["patched"]

_PACKAGE = __name__.partition(".")[0]
_MISSING = object()
_lock = threading.RLock()
"""Classes and modules are changed while a program is traced: there is one at a time."""

_VALUES = {
    "__bool__": "boolean",
    "__int__": "integer",
    "__float__": "float",
    "__complex__": "complex",
    "__index__": "index",
    "__array__": "NumPy array",
    "numpy": "NumPy array",
    "tolist": "list",
    "item": "number",
}
"""The kinds of Python values that methods make of elements, by method."""

_CONSTANT = (
    "torch.{} results are registered as constants in the trace. You can safely ignore this warning if you use this "
    "function to create tensors out of constant variables that would be the same every time you call this function. In "
    "any other case, this might cause the trace to be incorrect."
)
_LENGTH = (
    "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be tensor.shape[0]. "
    "Passing a tensor of different shape might lead to errors or silently give incorrect results."
)
_ITERATION = (
    "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape won't change "
    "the number of iterations executed (and might lead to errors or silently give incorrect results)."
)


def _warning(function: Callable[..., Any], text: str) -> Callable[..., Any]:
    """A function that says what a trace makes of it; nothing that it does is recorded."""

    def warn_and_call(*args: Any, **kwargs: Any) -> Any:
        current = recorder()
        if current is None:
            return function(*args, **kwargs)
        warn_of_value(text)
        return current.outside(function, *args, **kwargs)

    return warn_and_call


def _recorded(function: Callable[..., Any], target: Any) -> Callable[..., Any]:
    """A function whose calls are recorded as calls of `target`, or of the method of this name."""

    def record(*args: Any, **kwargs: Any) -> Any:
        current = recorder()
        return function(*args, **kwargs) if current is None else current.call(target, function, args, kwargs)

    return record


def _iterating(iterate: Callable[..., Any]) -> Callable[..., Any]:
    def iterating(self: Any) -> Any:
        if recorder() is not None:
            warn_of_value(_ITERATION)
        return iterate(self)

    return iterating


def _counting(count: Callable[..., int]) -> Callable[..., Any]:
    """The number of elements, recorded."""

    def counting(self: Any) -> Any:
        current = recorder()
        number = count(self)
        return number if current is None else traced_number(number, current.node("call_method", "numel", (self,), {}))

    return counting


def _shape(self: Any) -> Any:
    current = recorder()
    sizes = TensorBase.shape.__get__(self)
    return sizes if current is None else current.sizes(self, sizes)


def _size(plain: Any) -> Callable[..., Any]:
    def size(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain.__get__(self, type(self))(*args, **kwargs)
        if recorder() is None or (args and not isinstance(args[0], int)):
            return found
        sizes = _shape(self)
        dims = (*args, *kwargs.values())
        return sizes[dims[0]] if dims and dims[0] is not None else sizes

    return size


def _data(plain: property) -> property:
    def read(self: Any) -> Any:
        current = recorder()
        return plain.__get__(self) if current is None else current.call(getattr, getattr, (self, "data"), {})

    return property(read, plain.fset)


def _apply(plain: Any) -> Any:
    """`apply` of functions with a derivative of their own: it is one node, so that calls of the trace have it."""

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        function = plain.__get__(None, cls)
        return _recorded(function, function)(*args, **kwargs)

    return classmethod(apply)


def _changes() -> Iterator[tuple[Any, str, Any]]:
    """Yield what is set while a program is traced: where, by which name, to what."""
    for kind in reversed(Tensor.__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, FunctionType) and not name.startswith("_"):
                yield Tensor, name, _recorded(value, name)
    for name, kind in _VALUES.items():
        yield Tensor, name, _warning(getattr(Tensor, name), CONVERTED.format(kind).replace("Python NumPy", "NumPy"))
    yield Tensor, "__len__", _warning(Tensor.__len__, _LENGTH)
    yield Tensor, "__iter__", _iterating(Tensor.__iter__)
    yield Tensor, "__getitem__", _recorded(Tensor.__getitem__, operator.getitem)
    yield Tensor, "__setitem__", _recorded(Tensor.__setitem__, operator.setitem)
    for name in ("numel", "nelement"):
        yield Tensor, name, _counting(getattr(Tensor, name))
    yield Tensor, "shape", property(_shape)
    yield Tensor, "size", _size(vars(Tensor)["size"])
    yield Tensor, "data", _data(Tensor.data)
    yield Function, "apply", _apply(vars(Function)["apply"])
    package = sys.modules[_PACKAGE]
    for name in ("tensor", "as_tensor", "from_numpy"):
        yield package, name, _warning(getattr(package, name), _CONSTANT.format(name))
    for path, functions in public_functions().items():
        module = sys.modules[f"{_PACKAGE}.{path}".rstrip(".")]
        for name, function in functions.items():
            if isinstance(function, FunctionType) and vars(module).get(name) is function:
                yield module, name, _recorded(function, function)


@contextmanager
def patched() -> Iterator[None]:
    """A block in which methods and functions record themselves in threads that have a recorder."""
    with _lock:
        before: list[tuple[Any, str, Any]] = []
        try:
            for owner, name, value in list(_changes()):
                before.append((owner, name, vars(owner).get(name, _MISSING)))
                setattr(owner, name, value)
            yield
        finally:
            for owner, name, value in reversed(before):
                if value is _MISSING:
                    delattr(owner, name)
                else:
                    setattr(owner, name, value)
