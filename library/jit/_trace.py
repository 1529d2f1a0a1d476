"""Tracing: a function or module runs once with example inputs, and what it called becomes a graph that is run again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._base.warn import warn
from ..nn import Module
from ._check_trace import TracingCheckError, check
from ._method import TracedMethod
from ._numbers import TracedNumber
from ._patches import patched
from ._recorder import Recorder
from ._script import ScriptFunction, ScriptModule
from ._state import TracerWarning
from ._traced import TopLevelTracedModule, TracedModule

__all__ = ["TopLevelTracedModule", "TracedModule", "TracingCheckError", "trace", "trace_module"]

_OUTPUTS = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
_CONTAINER = (
    "Encountering a {} at the output of the tracer might cause the trace to be incorrect, this is only valid if the "
    "container structure does not change based on the module's inputs. Consider using a constant container instead "
    "(e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and "
    "know the side effects, pass strict=False to trace() to allow this behavior."
)
_NOT_A_METHOD = "trace doesn't support compiling individual module's functions.\nPlease use trace_module"


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> Any:
    """Run a function or module with example inputs and return what runs the same operators again.

    Conditions and loops are those of the example; sizes of tensors are those of each call.

    Args:
        func (Callable | Module): what is run.
        example_inputs (tuple | Tensor): its arguments: tensors, and tuples, lists and dictionaries of tensors.
        optimize: without effect.
        check_trace (bool): whether the trace is compared with the function, and with another trace.
        check_inputs (list): arguments for that, in the place of the example's.
        check_tolerance (float): the relative error that is no difference.
        strict (bool): whether dictionaries are no results, and lists are reported.
        example_kwarg_inputs (dict): arguments by name, in the place of `example_inputs`.

    Returns:
        A ScriptModule for a module, which has its parameters, and a ScriptFunction for a function.

    Raises:
        RuntimeError: arguments or results that are no tensors, or a tensor with a history that is no parameter.
        AttributeError: a method of a module, except `forward`.
        TracingCheckError: another run made another graph.
    """
    if isinstance(func, ScriptModule):
        warn("The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.")
        return func
    owner = func if isinstance(func, Module) else getattr(func, "__self__", None)
    if isinstance(owner, Module):
        if owner is not func and func.__name__ != "forward":
            raise AttributeError(_NOT_A_METHOD)
        if example_inputs is None and not isinstance(example_kwarg_inputs, dict):
            raise RuntimeError("example_kwarg_inputs should be a dict")
        inputs = example_kwarg_inputs if example_inputs is None else example_inputs
        checks = None if check_inputs is None else [{"forward": each} for each in check_inputs]
        return trace_module(
            owner, {"forward": inputs}, optimize, check_trace, checks, check_tolerance, strict,
            example_inputs_is_kwarg=isinstance(example_kwarg_inputs, dict),
        )  # fmt: skip
    by_name = isinstance(example_kwarg_inputs, dict)
    example = example_kwarg_inputs if by_name else _as_arguments(example_inputs)
    constants: dict[str, Any] = {}
    holder = Module()
    traced = ScriptFunction(_trace(func, func, holder, example, strict, constants), holder)
    holder.__dict__.update(constants)
    if check_trace:
        for each in [example] if check_inputs is None else check_inputs:
            again: dict[str, Any] = {}
            given = _as_arguments(each) if not by_name else each
            method = _trace(func, func, Module(), given, strict, again)
            check(func, traced, (traced.graph, constants), (method.graph, again), given, check_tolerance)
    return traced


def trace_module(
    mod: Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *,
    example_inputs_is_kwarg: bool = False,
) -> TopLevelTracedModule:
    """Run methods of a module with example inputs and return a module whose methods run the same operators again.

    Args:
        mod (Module): the module.
        inputs (dict): by the name of each method, its arguments.
        optimize: without effect.
        check_trace (bool): whether the traces are compared with the methods, and with other traces.
        check_inputs (list): dictionaries as `inputs` for that, in its place.
        check_tolerance (float): the relative error that is no difference.
        strict (bool): whether dictionaries are no results, and lists are reported.
        example_inputs_is_kwarg (bool): whether arguments are given by name.

    Raises:
        AttributeError: no module, or no dictionary.
        NameError: an argument is given by a name that there is not.
        RuntimeError: arguments or results that are no tensors, or a tensor with a history that is no parameter.
        TracingCheckError: another run made another graph.
    """
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    module = TopLevelTracedModule(mod)
    constants: dict[str, Any] = {}
    for name, given in inputs.items():
        signature_of = getattr(mod, name)
        run = mod if name == "forward" else signature_of  # with its hooks
        example = given if example_inputs_is_kwarg else _as_arguments(given)
        method = _trace(run, signature_of, mod, example, strict, constants)
        module._add_method(name, method, constants)
        if check_trace:
            for each in [inputs] if check_inputs is None else check_inputs:
                again: dict[str, Any] = {}
                arguments = each[name] if example_inputs_is_kwarg else _as_arguments(each[name])
                other = _trace(run, signature_of, mod, arguments, strict, again)
                traced = getattr(module, name)
                check(run, traced, (method.graph, constants), (other.graph, again), arguments, check_tolerance)
    return module


def _as_arguments(inputs: Any) -> tuple[Any, ...]:
    return (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)


def _trace(
    run: Callable[..., Any], named_by: Any, root: Module, example: Any, strict: bool, constants: dict[str, Any]
) -> TracedMethod:
    """Return the recorded method of a call with the example.

    Args:
        run (Callable): what is called.
        named_by (Callable): what has the names of its arguments.
        root (Module): the module whose parameters are known.
        example (tuple | dict): the arguments, by position or by name.
        strict (bool): whether dictionaries are no results.
        constants (dict): other tensors, which are added to it.
    """
    given = _named(example, _names(named_by))
    if not given or not all(map(_is_traced, given.values())):
        raise RuntimeError(
            f"Type '{_type_of(tuple(given.values()))}' cannot be traced. Only Tensors and (possibly nested) Lists, "
            "Dicts, and Tuples of Tensors can be traced"
        )
    recorder = Recorder(root, constants)
    seen: set[int] = set()
    given = {name: _apart(value, seen) for name, value in given.items()}
    for name, value in given.items():
        recorder.bind(value, recorder.graph.placeholder(name))
    with patched(), recorder:
        result = run(**given) if isinstance(example, dict) else run(*given.values())
        if result is None:
            raise RuntimeError(
                "The traced function didn't return any values! Side-effects are not captured in traces, so it would be "
                "a no-op."
            )
        _check_output(result, strict)
    tensors = {name: isinstance(value, Tensor) for name, value in given.items()}
    name = getattr(named_by, "__name__", type(named_by).__name__).replace("<lambda>", "_lambda")
    on_module = run is root or getattr(run, "__self__", None) is root
    return TracedMethod(name, recorder.finish(result), tensors, on_module)


# ---- arguments and results ----------------------------------------------------------------------------------


def _names(function: Any) -> list[str]:
    """The arguments that have a name."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]


def _named(example: Any, names: list[str]) -> dict[str, Any]:
    """The arguments of an example by their names."""
    if not isinstance(example, dict):
        further = [f"argument_{place}" for place in range(len(names), len(example))]
        return dict(zip([*names, *further], example, strict=False))
    for name in example:
        if name not in names:
            raise NameError(
                f"'{name}' is not in forward() method's arguments,\n"
                f"                         valid arguments name are [{','.join(names)}]"
            )
    return {name: example[name] for name in names if name in example}


def _is_traced(value: Any) -> bool:
    """Return True if a value is made of tensors alone."""
    if isinstance(value, (tuple, list, dict)):
        return all(map(_is_traced, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Tensor)


def _type_of(value: Any) -> str:
    """The type of a value as torch's annotations have it."""
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(_type_of, value))}]"
    if isinstance(value, list):
        return f"List[{_type_of(value[0]) if value else ''}]"
    return "Tensor" if isinstance(value, Tensor) else type_name(value)


def _apart(value: Any, seen: set[int]) -> Any:
    """A value in which each tensor is an object of its own, so that it stands for one input."""
    if isinstance(value, Tensor):
        if id(value) in seen:
            value = value.view_as(value)
        seen.add(id(value))
        return value
    if isinstance(value, dict):
        return {key: _apart(each, seen) for key, each in value.items()}
    parts = [_apart(each, seen) for each in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def _check_output(value: Any, strict: bool) -> None:
    """Raises RuntimeError for what is no result of a trace; warns of lists."""
    if isinstance(value, (Tensor, TracedNumber)):
        return
    if not isinstance(value, (tuple, list, dict)):
        raise RuntimeError(_OUTPUTS)
    if isinstance(value, dict) and strict:
        raise RuntimeError(_CONTAINER.format("dict"))
    if isinstance(value, list) and strict:
        warn(_CONTAINER.format("list"), TracerWarning)
    for each in value.values() if isinstance(value, dict) else value:
        _check_output(each, strict)
