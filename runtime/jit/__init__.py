"""opweave.jit: what torch.jit has, as errors that say what to use instead; what only marks functions does nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

__all__ = [
    "annotate",
    "export",
    "freeze",
    "ignore",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "trace",
    "trace_module",
    "unused",
]

_Any = TypeVar("_Any")


def _refused(name: str, instead: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"opweave.jit.{name}() does not exist: {instead}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raise NotImplementedError: {instead}"
    return function


_COMPILED = (
    "Python functions and modules run as they are. To make one kernel of an expression, declare it in YAML and weave "
    "it (opweave.weave)."
)
_SAVED = "programs are not saved. Save the state_dict() of a module, and make the module by its class."

script = _refused("script", _COMPILED)
trace = _refused("trace", _COMPILED)
trace_module = _refused("trace_module", _COMPILED)
freeze = _refused("freeze", _COMPILED)
save = _refused("save", _SAVED)
load = _refused("load", _SAVED)


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
