"""opweave.jit: functions and modules run as they are. What compiles or marks them returns them, and what would save or
trace them is an error that says what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from .._base.refusals import refused_class, refused_function
from .._base.warn import warn
from ..futures import Future
from ..nn import Module as _Module

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

_Any = TypeVar("_Any")


_COMPILED = (
    "Python functions and modules run as they are. To make one kernel of an expression, declare it in YAML and weave "
    "it (opweave.weave)."
)
_SAVED = "programs are not saved. Save the state_dict() of a module, and make the module by its class."

trace = refused_function(__name__, "trace", _COMPILED)
trace_module = refused_function(__name__, "trace_module", _COMPILED)
freeze = refused_function(__name__, "freeze", _COMPILED)
save = refused_function(__name__, "save", _SAVED)
load = refused_function(__name__, "load", _SAVED)


ScriptFunction = refused_class(__name__, "ScriptFunction", _COMPILED)
_warned = False


class ScriptModule(_Module):
    """A module that torch has compiled; here one like any other, which only its subclasses make."""


class TracerWarning(Warning):
    """What torch warns of while it traces."""


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
    """Return whether calls are being traced: False."""
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """As a decorator, return the function."""
    return drop if callable(drop) else lambda function: function


def unused(fn: _Any) -> _Any:
    """Return the function."""
    return fn


def export(fn: _Any) -> _Any:
    """Return the function."""
    return fn


def script_if_tracing(fn: _Any) -> _Any:
    """Return the function, which is never traced."""
    return fn


_script_if_tracing = script_if_tracing


def _overload_method(func: _Any) -> _Any:
    return func


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
