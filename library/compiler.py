"""opweave.compiler: there is no compiler. Functions and modules run as they are, and what marks them does nothing.

Programs written for torch call `compile` wherever they run: it checks its arguments as torch does and returns what it
was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
]
_PACKAGE_NAMES = ["compile"]

_Called = TypeVar("_Called", bound=Callable[..., Any])
_Value = TypeVar("_Value")

_BACKENDS: Mapping[str, str] = {
    "aot_eager": "debug",
    "aot_eager_decomp_partition": "debug",
    "aot_eager_default_partitioner": "debug",
    "aot_ts": "debug",
    "cudagraphs": "",
    "eager": "debug",
    "eager_debug": "debug",
    "eager_noexcept": "debug",
    "inductor": "",
    "openxla": "",
    "openxla_eval": "experimental",
    "ts": "debug",
    "tvm": "",
}
"""The names that torch gives to what may compile, and their tags. None of them is here, so that all are one."""
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


@overload
def compile(
    model: _Called,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> _Called: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Callable[[_Called], _Called]: ...
def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """Return a function or module as it is: there is no compiler, and it runs as it would without this call.

    A module comes back itself, without a module around it, so that the names in its `state_dict` stay what they are.

    Args:
        model: what is called, or None, which makes a decorator.
        dynamic (bool or None): without effect.
        backend (str or callable): without effect. A name is one of torch's; a callable is never called.
        mode (str): without effect; one of torch's.
        options (dict): without effect, and its names are not looked at.

    The other arguments are without effect, too.

    Raises:
        AssertionError: `model` cannot be called, or `dynamic` is no bool.
        RuntimeError: there are both `mode` and `options`, torch has no such mode, or no such backend; the decorator is
            given None.
        AttributeError: `options` are no dictionary.
    """
    settings = {"dynamic": dynamic, "backend": backend or "inductor", "mode": mode, "options": options}
    if model is not None:
        return _checked(model, **settings)

    def decorate(model: Any) -> Any:
        if model is None:
            raise RuntimeError("Model can't be None")
        return _checked(model, **settings)

    return decorate


def _checked(model: Any, dynamic: Any, backend: Any, mode: Any, options: Any) -> Any:
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if backend == "inductor":
        if mode and mode not in _MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
        if options and not hasattr(options, "items"):
            raise AttributeError(f"'{type(options).__name__}' object has no attribute 'items'")
    elif isinstance(backend, str) and backend not in _BACKENDS:
        raise RuntimeError(
            f"Invalid backend: {backend!r}, see `opweave.compiler.list_backends(None)` for available backends."
        )
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if not (dynamic is None or isinstance(dynamic, bool)):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    return model


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """Return the names that `compile` takes as a backend, without those of some tags."""
    return sorted(name for name, tag in _BACKENDS.items() if tag not in (exclude_tags or ()))


@overload
def disable(fn: None = None, recursive: bool = True, *, reason: str | None = None) -> Callable[[_Called], _Called]: ...
@overload
def disable(fn: _Called, recursive: bool = True, *, reason: str | None = None) -> _Called: ...
def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function, which is not compiled in any case; without one, a decorator that does so.

    Raises:
        AssertionError: `fn` cannot be called.
    """
    if fn is None:
        return disable
    if not callable(fn):
        raise AssertionError("fn must be callable")
    return fn


def allow_in_graph(fn: _Value) -> _Value:
    """Return the function, or the list or tuple of functions; it does nothing, as there are no graphs.

    Raises:
        AssertionError: one of them cannot be called.
    """
    if isinstance(fn, (list, tuple)):
        for each in fn:
            allow_in_graph(each)
    elif not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: _Value) -> _Value:
    """Return the function, which is called each time."""
    return fn


def reset() -> None:
    """Forget what was compiled: nothing was."""


def cudagraph_mark_step_begin() -> None:
    """Mark the beginning of another iteration: without effect."""


def is_compiling() -> bool:
    """Return whether a function is being compiled or exported: False."""
    return False


def is_dynamo_compiling() -> bool:
    """Return whether a function is being compiled: False."""
    return False


def is_exporting() -> bool:
    """Return whether a function is being exported: False."""
    return False
