"""opweave.fx._symbolic_trace: a program's graph, from one run with values that record what is done with them."""

from __future__ import annotations

import enum
import inspect
import math
import operator
import os
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from .._base.devices import device
from .._base.dtypes import dtype
from .._base.notes import explained
from .._base.tensor_class import Tensor
from .._base.types import layout, memory_format
from ..nn import Module, Parameter, Sequential
from ._patches import Patches, original_of, wrap
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, Target, has_side_effect
from .proxy import ParameterProxy, Proxy, TraceError, proxy_among

__all__ = ["PH", "GraphAppendingTracer", "PHBase", "Scope", "Tracer", "TracerBase", "symbolic_trace", "wrap"]

_VALUES = (str, int, float, bool, complex, bytes, range, dtype, device, layout, memory_format, enum.Enum, type)
_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PHBase:
    """A stand-in in `concrete_args` for what is not concrete."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class Scope(NamedTuple):
    """The module in whose `forward` a node was recorded."""

    module_path: str
    module_type: Any


class TracerBase:
    """The recorder: it makes nodes of calls, and proxies of nodes."""

    graph: Graph
    record_stack_traces: bool = False
    """True if nodes keep where they were recorded."""
    trace_asserts: bool = False
    """An option without effect: conditions are never recorded."""
    proxy_buffer_attributes: bool = False
    """True if buffers are recorded where they are read, as parameters are."""
    traced_func_name: str = "forward"
    """The method of a module that is traced."""

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph: derived classes may look at the call, and change it."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """Return the value that stands for a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """Record a call, and return what stands for its result.

        Args:
            kind (str): the `op` of the node.
            target (Callable | str): what is called.
            args (tuple): arguments, among them proxies.
            kwargs (dict): arguments by name.
            name (str): what the node is to be called.
            type_expr: the annotation of the result.
            proxy_factory_fn (Callable): makes the result, in the place of `proxy`.
        """
        positional = tuple(self.create_arg(each) for each in args)
        named = {key: self.create_arg(value) for key, value in kwargs.items()}
        node = self.create_node(kind, target, positional, named, name, type_expr)
        if self.record_stack_traces:
            node.stack_trace = "".join(traceback.format_list(_stack_of_user()))
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Argument:
        """Return an argument as nodes have it: a node for a proxy, what nodes may have for all else.

        Raises:
            NotImplementedError: values of this class cannot be written in code.
            RuntimeError: a key of a dictionary is traced.
        """
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*map(self.create_arg, a))
        if isinstance(a, (tuple, list)):
            made = [self.create_arg(each) for each in a]
            return tuple(made) if isinstance(a, tuple) else made
        if isinstance(a, dict):
            if any(isinstance(key, Proxy) for key in a):
                raise RuntimeError(
                    "Keys for dictionaries used as an argument cannot contain a Node. Use a key that is known while "
                    f"the program is traced, got the keys {list(a)}"
                )
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if type(a).__module__ == "numpy" and hasattr(a, "item") and getattr(a, "ndim", None) == 0:
            return a.item()
        if a is None or a is ... or isinstance(a, (Node, *_VALUES)):
            return a
        if callable(a) and hasattr(a, "__name__"):
            return original_of(a)
        raise NotImplementedError(
            f"argument of type: {type(a)}. Values of this class cannot be written in code: make them an attribute of "
            "the module, or register the function that is called by opweave.fx.wrap"
        )

    def to_bool(self, obj: Proxy) -> bool:
        """Return whether a traced value is true: derived classes may know that.

        Raises:
            TraceError: always.
        """
        error = TraceError("symbolically traced variables cannot be used as inputs to control flow")
        raise explained(error, "docs/fx.md#traces")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Return what goes through a traced value: derived classes may know how many elements there are.

        Raises:
            TraceError: always.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument: how many values there are is known when the graph runs. Index it, or trace "
            "with concrete_args"
        )

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a traced value, recorded as a call of `keys`."""
        return self.create_proxy("call_method", "keys", (obj,), {})


class GraphAppendingTracer(TracerBase):
    """Records into a graph that is there: what a proxy without a tracer has.

    Args:
        graph (Graph): the graph.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


class Tracer(TracerBase):
    """Runs a module or function once with proxies, and records what is done with them.

    Derived classes say which modules are calls in the graph (`is_leaf_module`), and look at calls (`call_module`,
    `create_proxy`, `create_arg`).

    Args:
        autowrap_modules (tuple): Python modules whose functions are recorded as calls.
        autowrap_functions (tuple): functions that are recorded as calls.
        param_shapes_constant (bool): whether shapes of parameters are numbers of the module that is traced.
    """

    def __init__(
        self,
        autowrap_modules: Sequence[ModuleType] = (math,),
        autowrap_functions: Sequence[Callable[..., Any]] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_modules = tuple(autowrap_modules)
        self._autowrap_functions = tuple(autowrap_functions)
        self.param_shapes_constant = param_shapes_constant
        self.root: Module = Module()
        self.submodule_paths: dict[Module, str] | None = None
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}
        self._attributes: dict[int, tuple[Tensor, str]] = {}
        self._parameter_proxies: dict[str, Any] = {}

    # ---- what derived classes say ----

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return whether calls of a module are nodes, and what it does is not traced: those of `nn` except Sequential.

        Args:
            m (Module): the module.
            module_qualified_name (str): its path, such as `layers.0`.
        """
        parts = type(m).__module__.split(".")
        is_ours = parts[0] in (__name__.partition(".")[0], "torch")
        return is_ours and (parts[1:2] == ["nn"] or parts[1:3] == ["ao", "nn"]) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """Return the path of a module in the root.

        Raises:
            NameError: it is not there.
        """
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, each in self.root.named_modules():  # it may have been added meanwhile
            if each is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the call of a module, or what it does.

        Args:
            m (Module): the module.
            forward (Callable): calls it, with its hooks.
            args (tuple): arguments.
            kwargs (dict): arguments by name.
        """
        path = self.path_of_module(m)
        before, self.scope = self.scope, Scope(path, type(m))
        key = path or "root"
        while key in self.module_stack:  # it calls itself
            key += "@"
        self.module_stack[key] = (path, type(m))
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            del self.module_stack[key]
            self.scope = before

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what reading an attribute of a module gives: for a parameter, and where `proxy_buffer_attributes` says
        so for a buffer, what stands for it.

        Args:
            attr (str): the name.
            attr_val: the value.
            parameter_proxy_cache (dict): what was made before, by paths.
        """
        is_parameter = isinstance(attr_val, Parameter)
        if not is_parameter and not (self.proxy_buffer_attributes and isinstance(attr_val, Tensor)):
            return attr_val
        _, path = self._attributes.get(id(attr_val), (None, None))
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            options: dict[str, Any] = {}  # which create_proxy of derived classes need not know
            if is_parameter and self.param_shapes_constant:

                def make(node: Node) -> Proxy:
                    return ParameterProxy(self, node, path, attr_val)

                options["proxy_factory_fn"] = make
            parameter_proxy_cache[path] = self.create_proxy("get_attr", path, (), {}, **options)
        return parameter_proxy_cache[path]

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return a name, beginning with `prefix`, that the root has no attribute of."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph: derived classes may look at the call, and change it."""
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = tuple(self.scope)
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        return node

    def create_arg(self, a: Any) -> Argument:
        """Return an argument as nodes have it: besides proxies, a node for parameters, tensors, modules and named
        tuples. Tensors that the root does not have become attributes of it.

        Raises:
            NameError: a parameter or module is not the root's.
            NotImplementedError: values of this class cannot be written in code.
        """
        if isinstance(a, Tensor):
            _, path = self._attributes.get(id(a), (None, None))
            if path is None and isinstance(a, Parameter):
                raise NameError("parameter is not a member of this module")
            if path is None:
                path = self.get_fresh_qualname("_tensor_constant")
                setattr(self.root, path, a)
                self._attributes[id(a)] = a, path
            return self.create_node("get_attr", path, (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(map(self.create_arg, a)), {})
        return super().create_arg(a)

    # ---- tracing ----

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Return the graph of a module or function.

        Args:
            root (Module | Callable): the module, whose `forward` is run, or the function.
            concrete_args (dict): values of arguments, by name, that are not traced; `PH` in lists, tuples and
                dictionaries stands for what is.

        Raises:
            TraceError: the program depends on values that are traced.
        """
        is_module = isinstance(root, Module)
        function: Any
        if isinstance(root, Module):
            self.root, function = root, getattr(type(root), self.traced_func_name)
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, function, self.submodule_paths = Module(), root, None
        self.graph = Graph(tracer_cls=type(self))
        self.scope, self.module_stack, self.node_name_to_scope = Scope("", None), OrderedDict(), {}
        self._parameter_proxies = {}
        self._attributes = _tensor_paths(self.root)
        function, args = self.create_args_for_root(function, is_module, concrete_args)
        with _running(self, inspect.unwrap(function)):
            result = function(*args)
        annotations = getattr(inspect.unwrap(function), "__annotations__", {})
        output = (self.create_arg(result),)
        self.create_node("output", "output", output, {}, type_expr=annotations.get("return"))
        self.submodule_paths, self._attributes = None, {}
        return self.graph

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Return what is to be called, and its arguments in order, with the inputs of the graph among them.

        Args:
            root_fn (Callable): the function, or method of a module.
            is_module (bool): whether the first argument is the root.
            concrete_args (dict): values of arguments that are not traced.
        """
        concrete = dict(concrete_args or {})
        parameters = list(inspect.signature(root_fn).parameters.values())
        args: list[Any] = []
        if is_module:
            if not parameters:
                raise RuntimeError("`self` argument cannot be part of *args expansion!")
            parameters = parameters[1:]
            args.append(self.root)
        for each in parameters:
            proxy = self._input(each)
            args.append(self._concrete(each.name, concrete.pop(each.name), proxy) if each.name in concrete else proxy)
        if concrete:
            names = [each.name for each in parameters]
            raise RuntimeError(f"concrete_args has {list(concrete)}, which are no arguments: these are {names}")
        return _taking_positions(root_fn, parameters), args

    def _input(self, parameter: inspect.Parameter) -> Any:
        stars = _STARS.get(parameter.kind, "")
        default = () if parameter.default is parameter.empty else (parameter.default,)
        kind = None if parameter.annotation is parameter.empty or stars else parameter.annotation
        return self.create_proxy("placeholder", stars + parameter.name, default, {}, type_expr=kind)

    def _concrete(self, name: str, value: Any, proxy: Any) -> Any:
        """An argument that is known, but for what `PH` stands for."""
        if isinstance(value, (int, float, bool, str, type(None))):
            self.create_proxy("call_function", check_specialized, (proxy, value, name), {})
        return _filled(value, proxy)


@has_side_effect
def check_specialized(got: Any, expected: Any, name: str) -> None:
    """Check that an argument has the value that a program was traced for.

    Raises:
        AssertionError: it has another one.
    """
    if got is not expected and got != expected:
        raise AssertionError(
            f"{name} has been specialized to have value {expected} but got another value: {got}. Trace the program "
            "again with that value in concrete_args"
        )


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Return a module that does what a module or function does, as a graph.

    Args:
        root (Module | Callable): the module or function.
        concrete_args (dict): values of arguments, by name, that are not traced.

    Raises:
        TraceError: the program depends on values that are traced.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", type(root).__name__)
    return GraphModule(tracer.root, graph, name)


# ---- arguments ----------------------------------------------------------------------------------------------


def _filled(value: Any, proxy: Any) -> Any:
    """A concrete value in which parts of an input are in the places of `PH`."""
    if isinstance(value, PHBase):
        return proxy
    if not _has_placeholder(value):
        return value
    if isinstance(value, dict):
        return {key: _filled(each, proxy[key]) if _has_placeholder(each) else each for key, each in value.items()}
    made = [_filled(each, proxy[place]) if _has_placeholder(each) else each for place, each in enumerate(value)]
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


def _has_placeholder(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_placeholder, value.values()))
    return isinstance(value, PHBase) or (isinstance(value, (list, tuple)) and any(map(_has_placeholder, value)))


def _taking_positions(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """The function with all arguments by position, also what `*args` and `**kwargs` stand for, which is traced as one
    value each."""
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if all(each.kind in plain for each in parameters):
        return function
    inner: Any = inspect.unwrap(function)
    inner = getattr(inner, "__func__", inner)
    code: CodeType = inner.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    count += bool(code.co_flags & inspect.CO_VARKEYWORDS)
    changed = code.replace(
        co_flags=code.co_flags & ~_VARIABLE, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0
    )
    made: Any = FunctionType(changed, inner.__globals__, inner.__name__, None, inner.__closure__)
    made.__annotations__ = inner.__annotations__
    owner = getattr(function, "__self__", None)
    if owner is None:
        return made  # type: ignore[no-any-return]
    bound: Callable[..., Any] = made.__get__(owner)
    return bound


def _tensor_paths(root: Module) -> dict[int, tuple[Tensor, str]]:
    """Return the paths of parameters, buffers and other tensors that are attributes, by identity. As the tensors are
    kept, no other tensor gets the identity of one that the program lets go."""
    found: dict[int, tuple[Tensor, str]] = {}
    for path, module in root.named_modules():
        members = {**module.__dict__, **module._buffers, **module._parameters}
        for name, value in members.items():
            if isinstance(value, Tensor):
                found.setdefault(id(value), (value, f"{path}.{name}".lstrip(".")))
    return found


def _stack_of_user() -> list[traceback.FrameSummary]:
    """The frames up to the one that did what is recorded."""
    folder = os.path.dirname(__file__)
    return [each for each in traceback.extract_stack() if not each.filename.startswith(folder)]


# ---- what is different while a program is traced --------------------------------------------------------------

_lock = threading.RLock()
"""Classes and modules are changed while a program is traced: there is one at a time."""


# Methods whose arguments tell which of several forms is meant, so that they do not ask the classes of these.
_METHODS_OF_TENSORS = ("__getitem__", "to")


def _recording_method(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)

    def recording(self: Any, *args: Any, **kwargs: Any) -> Any:
        proxy = proxy_among((args, kwargs))
        if proxy is None:
            return method(self, *args, **kwargs)
        if name == "__getitem__":
            return proxy.tracer.create_proxy("call_function", operator.getitem, (self, *args), {})
        return proxy.tracer.create_proxy("call_method", name, (self, *args), kwargs)

    return recording


@contextmanager
def _running(tracer: Tracer, function: Any) -> Iterator[None]:
    with _lock, Patches(tracer._autowrap_modules, tracer._autowrap_functions) as patches:
        thread = threading.get_ident()
        call, read = Module.__call__, Module.__getattr__

        def traced_call(module: Module, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return call(module, *args, **kwargs)

            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            patches.look_at(_globals_of(type(module).forward))
            return tracer.call_module(module, forward, args, kwargs)

        def traced_read(module: Module, name: str) -> Any:
            value = read(module, name)
            if threading.get_ident() != thread:
                return value
            return tracer.getattr(name, value, tracer._parameter_proxies)

        for name in _METHODS_OF_TENSORS:
            patches.set_attribute(Tensor, name, _recording_method(name))
        patches.set_attribute(Module, "__call__", traced_call)
        patches.set_attribute(Module, "__getattr__", traced_read)
        patches.look_at(_globals_of(function))
        yield


def _globals_of(function: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    return found
