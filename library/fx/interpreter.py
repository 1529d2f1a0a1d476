"""opweave.fx.interpreter: graphs that are run node by node, and changed while they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..nn import Module
from ._code import last_uses
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, Target, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node. Derived classes define what a kind of node does, or look at each (`run_node`).

    Args:
        module (Module): has the attributes and modules that nodes name, and the graph.
        garbage_collect_values (bool): whether a value is forgotten after its last use.
        graph (Graph): the graph; None: that of the module.
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Return the result for these arguments.

        Args:
            *args: the arguments, in the order of the inputs.
            initial_env (dict): values of nodes, which are not run then.
            enable_io_processing (bool): whether arguments and result are treated as the graph's code generator says.

        Raises:
            RuntimeError: an argument is missing.
        """
        self.env = dict(initial_env or {})
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _say_where(error, node)
                raise
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
            for each in self.user_to_last_uses.get(node, ()):
                self.env.pop(each, None)
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Return the result for the arguments in a list, which is emptied, so that they are freed after their use.

        Args:
            args_list (list): the arguments.
        """
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """Return the value of a node, by the method that is called as its `op` is.

        Args:
            n (Node): the node.
        """
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # ---- kinds of nodes ----

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument; for one with a star all that are left.

        Raises:
            RuntimeError: there is none, and no default.
        """
        if str(target).startswith("*"):
            return list(self.args_iter)
        missing = object()
        value = next(self.args_iter, missing)
        if value is not missing:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(str(target))

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the function returns."""
        assert callable(target)
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the method of the first argument returns."""
        owner, *rest = args
        return getattr(owner, str(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the module in the module returns."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result."""
        return args[0]

    # ---- values ----

    def fetch_attr(self, target: str) -> Any:
        """Return an attribute by its path.

        Raises:
            RuntimeError: the module does not have it.
        """
        value: Any = self.module
        path = target.split(".")
        for place, name in enumerate(path):
            if not hasattr(value, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[: place + 1])}")
            value = getattr(value, name)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a node with values in the places of nodes."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError(f"args and kwargs of node {n} are a tuple and a dict, got {args} and {kwargs}")
        return args, kwargs

    def map_nodes_to_values(self, args: Argument, n: Node) -> Argument:
        """Return `args` with the values of nodes in their places.

        Raises:
            RuntimeError: a node has not been run.
        """

        def value(each: Node) -> Any:
            if each not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {each}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[each]

        return map_arg(args, value)


class _TransformerTracer(Tracer):
    """Records into the new graph, where modules that were called are called again."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph = graph
        self.root = root

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return True."""
        return True


class Transformer(Interpreter):
    """Runs a graph with proxies, so that another one is recorded. Derived classes define what becomes of a kind of
    node, with proxies as arguments:

        class NegateSigmoid(Transformer):
            def call_function(self, target, args, kwargs):
                result = super().call_function(target, args, kwargs)
                return -result if target is sigmoid else result

    Args:
        module (GraphModule): the module with the graph, which stays as it is.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer: Tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Record an input."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(str(target), default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Record an attribute of the module."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_function(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record the call of a module."""
        module = self.fetch_attr(str(target))
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def transform(self) -> GraphModule:
        """Return a module with the graph that was recorded, and the attributes of this one."""
        before = self.graph.output_node()
        result = self.run(enable_io_processing=False)
        node = self.new_graph.output(map_aggregate(result, lambda each: each.node if isinstance(each, Proxy) else each))
        node.type, node.meta = before.type, dict(before.meta)
        return GraphModule(self.module, self.new_graph)


def _say_where(error: Exception, node: Node) -> None:
    """Adds the node to the message of an error."""
    where = f"While executing {node.format_node()}"
    if node.stack_trace:
        where += f"\nOriginal traceback:\n{node.stack_trace}"
    if len(error.args) <= 1 and not isinstance(error, KeyError):  # others have no message alone
        error.args = ("\n\n".join([*map(str, error.args), where]),)
