"""opweave.fx.node: one step of a graph, and what walks through the arguments of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from .._base.sequences import remade
from .._checks import _assert
from .._dispatch.ops import ops
from ._names import qualified_name
from .immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Argument: TypeAlias = Any
"""An argument of a node: nodes, numbers, strings, dtypes and the like, functions, and containers of these."""
Target: TypeAlias = Callable[..., Any] | str

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")

_side_effects: set[Callable[..., Any]] = {setattr, _assert, ops.assert_values}


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function whose calls `Graph.eliminate_dead_code` keeps, and return it."""
    _side_effects.add(fn)
    return fn


def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """Return `a` with `fn` of everything in its lists, tuples, dictionaries and slices."""
    if isinstance(a, tuple):
        values = [map_aggregate(each, fn) for each in a]
        return remade(type(a), values) if hasattr(a, "_fields") else tuple(values)
    if isinstance(a, list):
        return immutable_list(map_aggregate(each, fn) for each in a)
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(value, fn)) for key, value in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """Return `a` with `fn` of every node in it.

    Raises:
        AssertionError: `fn` cannot be called.
    """
    if not callable(fn):
        raise AssertionError("opweave.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


class Node:
    """A step of a graph: an input, an attribute, a call or the result. Graphs make them (`Graph.create_node`).

    `op` is "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output"; `target` is what is
    called, or the name of it; `args` and `kwargs` are the arguments, among them other nodes; `users` has the nodes
    that take this one, and `meta` whatever passes keep with it.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in OPS:
            raise AssertionError(f"op {op!r} is not one of {', '.join(OPS)}")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target!r} has type {type(target).__name__} but a "
                    "Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target!r} has type {type(target).__name__} but a str "
                "is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target: Any = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._previous = self._following = self
        self._erased = False
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = immutable_dict()
        self._take(args, kwargs)

    # ---- arguments ----

    @property
    def args(self) -> tuple[Argument, ...]:
        """The arguments by position, a tuple. Assign another one to change them."""
        return self._args

    @args.setter
    def args(self, value: tuple[Argument, ...]) -> None:
        self._take(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The arguments by name, a dictionary. Assign another one to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Argument]) -> None:
        self._take(self._args, value)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in their order."""
        return list(self._inputs)

    @property
    def stack_trace(self) -> str | None:
        """The place where the step was recorded, if the tracer keeps that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def _take(self, args: Iterable[Argument], kwargs: dict[str, Argument]) -> None:
        for each in self._inputs:
            each.users.pop(self, None)
        self._inputs = {}
        self._args = map_arg(tuple(args), self._used)
        self._kwargs = map_arg(dict(kwargs), self._used)

    def _used(self, node: Node) -> Node:
        self._inputs[node] = None
        node.users[self] = None
        return node

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Make `arg` the argument at position `idx`."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert `arg` before position `idx`.

        Raises:
            AssertionError: there is no such position.
        """
        if not 0 <= idx <= len(self._args):
            count = len(self._args)
            raise AssertionError(f"insert_arg index must be between 0 and len(self.args) = {count}, got {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Make `arg` the argument of this name."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Put `new_input` wherever `old_input` is an argument."""

        def replaced(node: Node) -> Node:
            return new_input if node is old_input else node

        self._take(map_arg(self._args, replaced), map_arg(self._kwargs, replaced))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Put another node wherever this one is an argument, and return the nodes that were changed.

        Args:
            replace_with (Node): the other node.
            delete_user_cb (Callable): whether a user is to be changed.
            propagate_meta (bool): whether the other node, which has no `meta`, gets that of this one.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already "
                    "has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ---- place ----

    @property
    def next(self) -> Node:
        """The step after this one; that of the last is the root of the graph."""
        return self._following

    @property
    def prev(self) -> Node:
        """The step before this one; that of the first is the root of the graph."""
        return self._previous

    def prepend(self, x: Node) -> None:
        """Move node `x`, of the same graph, before this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._previous
        before._following, x._previous = x, before
        x._following, self._previous = self, x

    def append(self, x: Node) -> None:
        """Move node `x`, of the same graph, behind this one."""
        if x is not self._following:
            self._following.prepend(x)

    def _unlink(self) -> None:
        self._previous._following, self._following._previous = self._following, self._previous

    # ---- what it is ----

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether the step is kept though nothing uses it: inputs, the result, and calls that change something
        by what they are called. `impure_random` has no effect: a random number that nothing uses is not drawn."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effects or _changes_something(self.target)
        if self.op == "call_method":
            return _is_in_place(self.target)
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        return False

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None
    ) -> str:
        """Return the line of this step in a printed graph."""
        kind = "" if self.type is None else f"{_type_text(self.type)} "
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={self._target_text()}]"
        if self.op == "placeholder":
            if placeholder_names is not None:
                placeholder_names.append(self.name if self.type is None else f"{self.name} : {kind.strip()}")
            return head + (f"(default={self._args[0]})" if self._args else "")
        if self.op == "get_attr":
            return head
        if self.op == "output":
            if self.type is not None and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {kind.strip()}"
            return f"return {self._args[0]}"
        return f"{head}(args = {_argument_text(self._args)}, kwargs = {_argument_text(self._kwargs)})"

    def _target_text(self) -> str:
        return self.target if isinstance(self.target, str) else qualified_name(self.target)

    def __repr__(self) -> str:
        return self.name


def _argument_text(value: Argument) -> str:
    """Return the text of an argument in printed graphs: nodes with %, strings without quotes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, list):
        return f"[{', '.join(map(_argument_text, value))}]"
    if isinstance(value, tuple):
        texts = ", ".join(map(_argument_text, value))
        if hasattr(value, "_fields"):
            fields = (f"{name}={_argument_text(each)}" for name, each in zip(value._fields, value, strict=True))
            return f"{type(value).__name__}({', '.join(fields)})"
        return f"({texts},)" if len(value) == 1 else f"({texts})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_argument_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, slice):
        return f"slice({', '.join(map(_argument_text, (value.start, value.stop, value.step)))})"
    return str(value)


def _type_text(kind: Any) -> str:
    if isinstance(kind, type) and not hasattr(kind, "__origin__"):
        return kind.__name__ if kind.__module__ == "builtins" else qualified_name(kind)
    return kind if isinstance(kind, str) else repr(kind).replace("typing.", "typing_")


def _changes_something(function: Any) -> bool:
    """True of calls that write to an argument, by their names."""
    name = str(getattr(function, "__name__", ""))
    if getattr(function, "__module__", "") == "_operator":
        return name in ("setitem", "delitem")
    return _is_in_place(name)


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")
