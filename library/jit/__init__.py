"""opweave.jit: functions and modules run as they are. What compiles or marks them returns them, `trace` makes a graph
of one run, and what would save them is an error that says what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from .._base.warn import warn
from .._names.module_names import submodule as _submodule
from .._names.refusals import refused_function
from ..futures import Future
from ._script import SAVED as _SAVED
from ._script import ScriptFunction, ScriptModule
from ._state import TracerWarning
from ._state import recorder as _tracing

__all__ = [
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
_PACKAGE_NAMES = ["ScriptModule"]

_Any = TypeVar("_Any")


_COMPILED = (
    "Python functions and modules run as they are. To make one kernel of an expression, declare it in YAML and weave "
    "it (opweave.weave)."
)

freeze = refused_function(__name__, "freeze", _COMPILED)
save = refused_function(__name__, "save", _SAVED)
load = refused_function(__name__, "load", _SAVED)


_OF_TRACES = ("TopLevelTracedModule", "TracingCheckError", "trace", "trace_module")
_warned = False


class Error(RuntimeError):
    """The exception of torch for a compiled function that fails; nothing raises it here."""


class Attribute(NamedTuple):
    """A value and its type, which torch's compiler reads; it is not unpacked here either."""

    value: Any
    type: Any


def script(obj: _Any, *args: Any, **kwargs: Any) -> _Any:
    """Return the function, module or class, which runs as it is; the first call warns of that."""
    global _warned
    if not _warned:
        _warned = True
        warn("opweave.jit.script() returns what it is given: Python functions and modules run as they are.")
    return obj


def script_method(fn: _Any) -> _Any:
    """Return the method."""
    return fn


def interface(obj: _Any) -> _Any:
    """Return the class."""
    return obj


def fork(func: Callable[..., _Any], *args: Any, **kwargs: Any) -> Future[_Any]:
    """Return the future of `func(*args, **kwargs)`, which is called at once; its exception is raised by `wait`."""
    future: Future[_Any] = Future()
    try:
        result = func(*args, **kwargs)
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


def wait(future: Future[_Any]) -> _Any:
    """Return the result of a future."""
    return future.wait()


def is_scripting() -> bool:
    """Return whether a function is being compiled: False."""
    return False


def is_tracing() -> bool:
    """Return whether the calls of this thread are recorded by `trace`."""
    return _tracing() is not None


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Return the function, as a decorator."""
    return drop if callable(drop) else lambda function: function


def unused(fn: _Any) -> _Any:
    """Return the function."""
    return fn


def export(fn: _Any) -> _Any:
    """Return the function."""
    return fn


def script_if_tracing(fn: _Any) -> _Any:
    """Return the function, which is traced as any other."""
    return fn


_script_if_tracing = script_if_tracing


def _overload(func: _Any) -> _Any:
    """Return the function, one of several of its name that annotate what it takes."""
    return func


_overload_method = _copy_to_script_wrapper = _overload


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: Any, func_name: str
) -> Callable[..., Any]:
    """Return a function that calls one of two, as an argument of it says."""

    def function(*args: Any, **kwargs: Any) -> Any:
        chosen = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    function.__name__, function.__doc__ = func_name, if_false.__doc__
    return function


def annotate(the_type: Any, the_value: _Any) -> _Any:
    """Return the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return what Python's `isinstance` says."""
    import builtins

    return builtins.isinstance(obj, target_type)


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block like any other."""
    yield


if not TYPE_CHECKING:  # type checkers would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name in _OF_TRACES:  # what they need is not imported at start
            from . import _trace

            return getattr(_trace, name)
        return _submodule(__name__, name)
