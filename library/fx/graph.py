"""opweave.fx.graph: the steps of a program, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._code import CodeGen, PythonCode
from ._names import Names, function_name, snake_case
from .node import Argument, Node, Target, map_aggregate, map_arg

if TYPE_CHECKING:
    from ..nn import Module
    from ._symbolic_trace import Tracer

__all__ = ["CodeGen", "Graph", "PythonCode"]

_Record = tuple[str, str, Any, Any, Any, Any, dict[str, Any]]


class _NodeList:
    """The nodes of a graph in their order, which may be changed while one goes through them."""

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self._graph = graph
        self._backwards = backwards

    def __len__(self) -> int:
        return self._graph._count

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        node = root.prev if self._backwards else root.next
        while node is not root:
            if not node._erased:
                yield node
            node = node.prev if self._backwards else node.next

    def __reversed__(self) -> _NodeList:
        return _NodeList(self._graph, not self._backwards)


class Graph:
    """A list of nodes: inputs, calls with earlier nodes as arguments, and the result.

    Args:
        owning_module (Module): the module that has the attributes and modules which nodes name.
        tracer_cls (type): the class of the tracer that recorded it.
        tracer_extras (dict): what that tracer wants to keep with it.
    """

    def __init__(
        self,
        owning_module: Module | None = None,
        tracer_cls: type[Tracer] | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._transform_code: Callable[[list[str]], list[str]] | None = None
        self._graph_namespace = Names()
        self._count = 0
        self._root = Node(self, "", "placeholder", "", (), {})
        self._at = self._root
        """New nodes go before this one."""

    @property
    def nodes(self) -> _NodeList:
        """The nodes in their order, forwards and by `reversed` backwards."""
        return _NodeList(self)

    def output_node(self) -> Node:
        """Return the node of the result.

        Raises:
            RuntimeError: there is none.
        """
        for node in reversed(self.nodes):
            if node.op == "output":
                return node
        raise RuntimeError("the graph has no output node")

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """Return the nodes of a kind, in their order.

        Args:
            op (str): the kind.
            target (Callable | str): what they call; required for "call_function".
            sort (bool): without effect, the order is always that of the graph.
        """
        if op == "call_function" and target is None:
            raise AssertionError("find_nodes(op='call_function') needs a target")
        return [each for each in self.nodes if each.op == op and (target is None or each.target == target)]

    # ---- making nodes ----

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node where nodes are inserted, which is the end unless `inserting_before` says otherwise.

        Args:
            op (str): its kind.
            target (Callable | str): what it calls, or names.
            args (tuple): arguments by position.
            kwargs (dict): arguments by name.
            name (str): what it is to be called; a number is put behind if there is such a node.
            type_expr: the annotation of its value.

        Raises:
            AssertionError: there is no such kind.
        """
        candidate = name if name is not None else _name_of(target)
        node = Node(self, self._graph_namespace.create_name(candidate), op, target, args or (), kwargs or {}, type_expr)
        self._at.prepend(node)
        self._count += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Add an input; `default_value` is what it is where the caller leaves it out."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a node whose value is an attribute of the module, such as `layer.weight`."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a module in the module, such as `layers.0`."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Add the result: nodes, and containers of nodes."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda node: node) -> Node:
        """Add a copy of a node, which may be another graph's.

        Args:
            node (Node): the node.
            arg_transform (Callable): the node of this graph for one among the arguments.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Add copies of all nodes of another graph, and return its result, of which no node is made.

        Args:
            g (Graph): the other graph.
            val_map (dict): the nodes of this graph for those of the other one: it is filled in, and nodes that are in
                it already are not copied.
            return_output_node (bool): whether the node of the result is returned as well.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    # ---- changing ----

    @contextmanager
    def _inserting_at(self, node: Node) -> Iterator[None]:
        if node.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        before, self._at = self._at, node
        try:
            yield
        finally:
            self._at = before

    def inserting_before(self, n: Node | None = None) -> Any:
        """Return a block in which new nodes go before node `n`; None: before the first."""
        return self.inserting_after(self._root) if n is None else self._inserting_at(n)

    def inserting_after(self, n: Node | None = None) -> Any:
        """Return a block in which new nodes go behind node `n`, in their order; None: behind the last."""
        return self._inserting_at(self._root if n is None else n.next)

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out that nothing uses.

        Raises:
            RuntimeError: it has users, or is another graph's.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        if self._at is to_erase:
            self._at = to_erase.next
        to_erase._unlink()
        to_erase._erased = True
        self._count -= 1
        to_erase._take((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out nodes that nothing uses and that change nothing, and return whether there were any.

        Args:
            is_impure_node (Callable): whether a node is kept though nothing uses it (`Node.is_impure`).

        Raises:
            RuntimeError: the graph is not in order.
        """
        self.lint()
        is_kept = Node.is_impure if is_impure_node is None else is_impure_node
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and not is_kept(node):
                self.erase_node(node)
        return len(self.nodes) < before

    def lint(self) -> None:
        """Check that arguments are nodes of this graph which come before, and that the module has what nodes name.

        Raises:
            RuntimeError: there is something wrong.
        """
        known: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for each in node.all_input_nodes:
                if each.graph is not self:
                    raise RuntimeError(
                        f"Argument '{each}' of Node '{node}' does not belong to this Graph, but was used as an "
                        "argument! If you are copying nodes from another graph, make sure to use ``arg_transform`` on "
                        "node_copy() to remap values\n"
                        f"{self}"
                    )
                if each not in known:
                    raise RuntimeError(
                        f"Argument '{each}' of Node '{node}' was used before it has been defined! Please check that "
                        f"Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            known.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._lint_path(node, self.owning_module)

    def _lint_path(self, node: Node, module: Module) -> None:
        from ..nn import Module

        value: Any = module
        path = node.target.split(".")
        for place, name in enumerate(path):
            if not hasattr(value, name):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {name} of "
                    f"{'.'.join(path[:place])}"
                )
            value = getattr(value, name)
        if node.op == "call_module" and not isinstance(value, Module):
            raise RuntimeError(f"Node {node} target {node.target} does not reference an nn.Module")

    # ---- code and text ----

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """Return the function that does what the graph says: its text `src`, and the values of names in it, `globals`.

        Args:
            root_module (str): what the module is called in it, `self`.
        """
        return self._codegen.python_code(self, root_module)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` write the function from now on."""
        self._codegen = codegen

    @contextmanager
    def on_generate_code(self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]) -> Iterator[None]:
        """Change the lines of the function when it is written; the block that this begins ends it.

        Args:
            make_transformer (Callable): takes what is done to the lines up to now, or None, and returns what is to be
                done, which takes the list of lines and returns another.
        """
        before, self._transform_code = self._transform_code, make_transformer(self._transform_code)
        try:
            yield
        finally:
            self._transform_code = before

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the inputs, from the arguments of the module."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return what the module returns, from the values of the result."""
        return self._codegen.process_outputs(out)

    def __str__(self) -> str:
        kind = [""]
        lines = [node.format_node([], kind) for node in self.nodes]
        return "\n    ".join([f"graph():{kind[0]}", *lines])

    def print_tabular(self) -> None:
        """Print a table of all nodes: kind, name, target and arguments."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [list(map(str, (n.op, n.name, n.target, n.args, n.kwargs))) for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    # ---- copies ----

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        copied = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        copied._codegen = self._codegen
        copied._transform_code = self._transform_code
        values: dict[Node, Node] = {}
        if memo is not None:
            memo[id(self)] = copied
        for node in self.nodes:
            values[node] = copied.node_copy(node, values.__getitem__)
            if memo is not None:
                memo[id(node)] = values[node]
        return copied

    def __getstate__(self) -> dict[str, Any]:
        numbers = {node: _Numbered(number) for number, node in enumerate(self.nodes)}
        state = {name: value for name, value in self.__dict__.items() if name not in ("_root", "_at", "_count")}
        tracer = self._tracer_cls
        if tracer is not None and "<locals>" in tracer.__qualname__:  # which nothing finds by its name
            state["_tracer_cls"] = None
        records = [_record(node, numbers) for node in numbers]
        return {**state, "owning_module": None, "_transform_code": None, "nodes": records}

    def __setstate__(self, state: dict[str, Any]) -> None:
        records: list[_Record] = state.pop("nodes")
        self.__init__()  # type: ignore[misc]
        self.__dict__.update(state)
        nodes: list[Node] = []

        def numbered(each: Any) -> Any:
            return nodes[each.number] if isinstance(each, _Numbered) else each

        for name, op, target, args, kwargs, kind, meta in records:
            node = Node(self, name, op, target, map_aggregate(args, numbered), map_aggregate(kwargs, numbered), kind)
            node.meta = meta
            self._root.prepend(node)
            nodes.append(node)
        self._count = len(nodes)


class _Numbered:
    """A stand-in for a node in a file: links from node to node would be as deep as the graph is long."""

    def __init__(self, number: int) -> None:
        self.number = number


def _record(node: Node, numbers: dict[Node, _Numbered]) -> _Record:
    args, kwargs = map_arg(node.args, numbers.__getitem__), map_arg(node.kwargs, numbers.__getitem__)
    return node.name, node.op, node.target, args, kwargs, node.type, dict(node.meta)


def _name_of(target: Target) -> str:
    """Return the name of a node after what it calls: that of `operator.__add__` is `add`."""
    if isinstance(target, str):
        name = target
    else:
        name = function_name(target) or str(getattr(target, "__name__", type(target).__name__))
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return snake_case(name.replace(".", "_"))
