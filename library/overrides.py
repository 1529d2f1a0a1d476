"""opweave.overrides: classes that say what operators do with their objects, by the protocol `__torch_function__`.

A class derived from Tensor, or any other class, defines

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): ...

and a call of an operator with an instance among its arguments returns what that returns. `func` is what was called: the
function, which is also the method of class Tensor (`opweave.add is opweave.Tensor.add`), or that of `add_`. `args` and
`kwargs` are the arguments in the order of the schema. NotImplemented leaves the call to the next class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import _operators
from ._base.keys import KEY_BITS
from ._base.tensor_class import Tensor
from ._base.type_names import type_name
from ._dispatch.binding import public_name
from ._dispatch.modes import TorchFunctionMode
from ._dispatch.subclass import answer, disabled, overloaded_arguments, takes_part
from ._handle import Function, ModeBase, excluded

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_disabled_torch_function_impl = disabled


class DisableTorchFunctionSubclass(ModeBase):
    """A block in which no class is asked: results are plain tensors. Modes see calls as before."""

    def __init__(self) -> None:
        self._set = KEY_BITS["subclass"]


class DisableTorchFunction(ModeBase):
    """A block in which neither classes nor modes of type TorchFunctionMode are asked."""

    def __init__(self) -> None:
        self._set = KEY_BITS["subclass"] | KEY_BITS["function_mode"]


def is_tensor_like(inp: Any) -> bool:
    """Return whether `inp` is a tensor, or of a class with `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether one of the arguments is of a class that says what operators do with it, and is asked."""
    return not excluded() & KEY_BITS["subclass"] and any(takes_part(each) for each in relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Return what the classes of the arguments say of a call, for a function of your own.

    Args:
        public_api (Callable): the function that was called.
        relevant_args (Iterable): those of its arguments that may be of such classes.

    Raises:
        TypeError: all of them return NotImplemented.
    """
    overloaded = overloaded_arguments(tuple(relevant_args))
    types = tuple([type(each) for each in overloaded])
    result = answer(overloaded, public_api, types, args, kwargs)
    if result is NotImplemented:
        name = resolve_name(public_api) or type_name(public_api)
        kinds = list(map(type, overloaded))
        raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {kinds}")
    return result


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[_Function], _Function]:
    """Return a decorator for functions of your own, whose calls the classes of their arguments answer.

    Args:
        dispatcher (Callable): takes the arguments of the function, and returns those that may be of such classes.
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate


def get_overridable_functions() -> dict[Any, list[Any]]:
    """Return the functions that classes are asked about, by the module or class that has them."""
    import opweave

    modules = (opweave.nn.functional, opweave.linalg, opweave.fft, opweave.special)
    functions = {module: [each for each in vars(module).values() if isinstance(each, Function)] for module in modules}
    methods = [each.__get__ if isinstance(each, property) else each for each in _operators.METHODS.values()]
    return {opweave: list(_operators.FUNCTIONS.values()), **functions, Tensor: methods}


def is_tensor_method_or_property(func: Any) -> bool:
    """Return whether `func` is a method of class Tensor, or what reads a property."""
    return func in get_overridable_functions()[Tensor]


def resolve_name(f: Any) -> str | None:
    """Return the name under which users find a function; None: it has none."""
    if isinstance(f, Function):
        return public_name(f)
    read = getattr(f, "__self__", None)
    if isinstance(read, property):
        name = next((name for name, each in _operators.METHODS.items() if each is read), None)
        return None if name is None else f"opweave.Tensor.{name}.__get__"
    name = getattr(f, "__qualname__", None)
    return None if name is None else f"{getattr(f, '__module__', '')}.{name}".removeprefix(".")
