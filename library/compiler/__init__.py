"""opweave.compiler: functions whose calls are recorded, and run as fewer loops afterwards (docs/compiler.md).

A call runs the function and records its operators (`_recording`), while it is watched for what a later call could do
otherwise (`_watch`, `_python_state`). The record becomes a graph (`_graph`), whose joins are computed piece by piece
(`_joins`, `_parts`, `_pieces`), and whose operators of elements are merged (`_groups`), printed and compiled
(`_drafts`) to kernels (`_kernels`), unless another process has done so (`_kept_steps`). The graph becomes a program of
Python that calls these (`_program`), which answers the calls that it is for (`_compiled`).
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "explain",
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
"""The names that torch gives to what may compile, and their tags. That of its own compiler stands for this one."""
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
    """Return a function that gives what another one does, in fewer loops over memory.

    Its first call runs the function and records the operators that it calls. Later calls with tensors of the same
    dtypes run what was recorded, with other sizes as well where Python is told none of these: operators of elements
    that follow each other are one kernel, which is compiled when it is first needed and kept on disk. What another call
    could do otherwise is compared before: numbers and other arguments, variables that the function reads, modules with
    their parameters and settings. A function that reads several elements at once, or does anything besides
    computing tensors, runs as it is, with the modules that it calls compiled; `explain` says why. The step of an
    optimizer is returned as it is: it is one call of the core for all parameters.

    A module is changed and returned itself, so that the names in its `state_dict` stay what they are: its calls are
    compiled. The results are those of the function, bit for bit but for what docs/compile.md names.

    Args:
        model: what is called, or None, which makes a decorator.
        fullgraph (bool): whether a function that cannot be recorded is an error.
        dynamic (bool or None): whether what is recorded is to be for other sizes: True from the first call on, None
            once a size has changed, False never.
        backend (str or callable): `inductor` or None; with any other of torch's names, or a callable, which is never
            called, the function is returned as it is.
        mode (str): without effect; one of torch's.
        options (dict): without effect, and its names are not looked at.
        disable (bool): whether the function is returned as it is.
        recompile_limit (int or None): the number of programs that are recorded, 8 unless given; calls that none of them
            is for run the function.

    The other arguments are without effect.

    Raises:
        AssertionError: `model` cannot be called, or `dynamic` is no bool.
        RuntimeError: there are both `mode` and `options`, torch has no such mode, or no such backend; the decorator is
            given None. Of a call: with `fullgraph`, the function cannot be recorded.
        AttributeError: `options` are no dictionary.

    Examples:
        >>> @opweave.compile
        ... def gelu(x):
        ...     return 0.5 * x * (1 + opweave.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
        >>> gelu(opweave.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8412])

    Example:
        >>> @opweave.compile
        ... def distance(x, y):
        ...     return (x - y).square().sum().sqrt()
        >>> distance(opweave.zeros(4), opweave.ones(4))
        tensor(2.)
    """
    settings = {"dynamic": dynamic, "backend": backend or "inductor", "mode": mode, "options": options}
    is_left = disable or (backend or "inductor") != "inductor"

    def decorate(model: Any) -> Any:
        if model is None:
            raise RuntimeError("Model can't be None")
        _check(model, **settings)
        is_plain = is_left or model in _disabled or _is_method_of_optimizer(model)
        return model if is_plain else _compile_calls(model, fullgraph, recompile_limit, dynamic)

    return decorate if model is None else decorate(model)


def _compile_calls(model: Any, fullgraph: bool, limit: int | None, dynamic: bool | None) -> Any:
    from ._compiled import compiled
    from ._python_state import is_module

    if not is_module(model):
        return compiled(model, fullgraph, limit, dynamic)
    vars(model)["_compiled_call_impl"] = compiled(model._call_impl, fullgraph, limit, dynamic)
    return model


def _is_method_of_optimizer(model: Any) -> bool:
    """Return whether a method is one of the package's optimizers, whose steps are one call of the core already."""
    owner = getattr(model, "__self__", None)
    return owner is not None and type(owner).__module__.startswith(f"{__name__.partition('.')[0]}.optim.")


class _Marked:
    """Functions that are never compiled."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Any] | Any] = {}

    def add(self, function: Any) -> None:
        """Mark a function."""
        try:
            kept: Any = weakref.ref(function)
        except TypeError:  # of a class whose objects last
            kept = lambda: function  # noqa: E731 (as a reference would)
        self._known[id(function)] = kept

    def __contains__(self, function: Any) -> bool:
        known = self._known.get(id(function))
        return known is not None and known() is function


_disabled = _Marked()


def _check(model: Any, dynamic: Any, backend: Any, mode: Any, options: Any) -> None:
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
    _disabled.add(fn)
    return fn


def allow_in_graph(fn: _Value) -> _Value:
    """Return the function, or the list or tuple of functions; it does nothing, as all operators are in graphs.

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
    """Forget all programs that were recorded. Kernels stay on disk; `opweave cache --clear` removes them."""
    if f"{__name__}._compiled" in sys.modules:
        from ._compiled import forget_all

        forget_all()


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return what is known of a compiled function: its programs, with the kernels, the bytes that these read and write,
    and their C; and why calls could not be recorded.

    Args:
        function: what `compile` returned, or a function that is not compiled.
        args: the arguments of a call that is made first, as are those by name.

    Examples:
        >>> print(opweave.compiler.explain(lambda x: (x + 1).relu() * 2, opweave.ones(3)).splitlines()[0])
        program 1: 1 kernel of 3 operators, 0 other operators
    """
    from ._explanation import explanation

    return explanation(function, args, kwargs)


def cudagraph_mark_step_begin() -> None:
    """Mark the beginning of another iteration: without effect."""


def is_compiling() -> bool:
    """Return whether a function is being recorded to be compiled, or a module to be exported."""
    return is_dynamo_compiling()


def is_dynamo_compiling() -> bool:
    """Return whether a function is being recorded to be compiled, or a module to be exported."""
    if f"{__name__}._recording" not in sys.modules:
        return False
    from ._recording import active

    return active() is not None


def is_exporting() -> bool:
    """Return whether a module is being exported."""
    if f"{__name__}._recording" not in sys.modules:
        return False
    from ._recording import active

    recording = active()
    return recording is not None and recording.is_export
