"""The graph of a program that runs with example inputs: every call that has tensors becomes a node."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import _operators
from .._base.tensor_class import Tensor
from .._base.types import Size
from .._dispatch.modes import without_innermost
from .._dispatch.ops import ops
from .._handle import Function
from .._tensor.construct import tensor
from ..fx._symbolic_trace import TracerBase, _tensor_paths
from ..fx.graph import Graph
from ..fx.node import Node
from ..nn import Module
from ._numbers import SIGNS, TracedNumber, plain_number, traced_number
from ._state import Recording

__all__ = ["Recorder"]

_LIMIT = 10
"""The largest number of elements of a tensor that a message shows."""


class Recorder(Recording, TracerBase):
    """Records what is called in its block, as a graph of operators and of the package's functions in Python.

    Args:
        root (Module): has the parameters and buffers, whose paths become nodes. Other tensors that the program did not
            compute are constants.
        constants (dict): by name, the constants, to which those that are met are added.
    """

    def __init__(self, root: Module, constants: dict[str, Any]) -> None:
        self.graph = Graph()
        self._constants = constants
        self._paths = _tensor_paths(root)
        self._nodes: dict[int, tuple[Any, Node]] = {}
        self._sizes: dict[Node, Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The result of a call, which is recorded. The mode is left meanwhile."""
        kwargs = kwargs or {}
        nodes = self._arguments(args), self._arguments(kwargs)
        result = func(*_plain(args), **_plain(kwargs))
        read = getattr(func, "__self__", None)
        if isinstance(read, property):
            name = next(name for name, each in _operators.METHODS.items() if each is read)
            return self._record(getattr, ((*nodes[0], name), {}), result)
        return self._record(func, nodes, result)

    def call(self, target: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a function, whose call is recorded as one of `target`, or of the method of this name."""
        nodes = self._arguments(args), self._arguments(kwargs)
        result = self.outside(function, *_plain(args), **_plain(kwargs))
        return self._record(target, nodes, result)

    def outside(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of a function; nothing of what it does is recorded."""
        return without_innermost("function_mode", lambda: function(*args, **kwargs))

    def node(self, kind: str, target: Any, args: Any, kwargs: Any) -> Node:
        """A new node."""
        return self.graph.create_node(kind, target, self._arguments(args), self._arguments(kwargs))

    def _record(self, target: Any, nodes: tuple[Any, Any], result: Any) -> Any:
        if target in (operator.setitem, ops.assert_values) or _has_tensor(result):
            kind = "call_method" if isinstance(target, str) else "call_function"
            self.bind(result, self.graph.create_node(kind, target, *nodes))
        return result

    def bind(self, value: Any, node: Node) -> None:
        """Make a node stand for a value, and parts of it for the tensors in it."""
        if isinstance(value, (Tensor, tuple)):
            self._nodes[id(value)] = value, node
        if isinstance(value, (tuple, list, dict)):
            for key, each in value.items() if isinstance(value, dict) else enumerate(value):
                if _has_tensor(each):
                    self.bind(each, self.graph.create_node("call_function", operator.getitem, (node, key)))

    def sizes(self, of: Any, sizes: tuple[int, ...]) -> Any:
        """The sizes of a tensor, as numbers that are recorded where the tensor is the result of a call or an input."""
        _, node = self._nodes.get(id(of), (None, None))
        if node is None or node.op == "get_attr":
            return sizes
        known = self._sizes.get(node)
        if known is None or known != sizes:
            made = (self.graph.create_node("call_method", "size", (node, dim)) for dim in range(len(sizes)))
            numbers = [traced_number(size, each) for size, each in zip(sizes, made, strict=True)]
            known = self._sizes[node] = tuple.__new__(Size, numbers)
        return known

    # ---- arguments ----

    def _arguments(self, values: Any) -> Any:
        if isinstance(values, dict):
            return {name: self.create_arg(each) for name, each in values.items()}
        return tuple(map(self.create_arg, values))

    def create_arg(self, a: Any) -> Any:
        """An argument as nodes have it: nodes for tensors, and for numbers that were computed of sizes.

        Raises:
            RuntimeError: a tensor has a history, and is neither a parameter of the module nor was it computed.
        """
        if isinstance(a, Tensor) or id(a) in self._nodes:
            return self._node_of(a)
        if isinstance(a, TracedNumber):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.graph.create_node("call_function", type(a), tuple(map(self.create_arg, a)))
        if isinstance(a, Size):
            return tuple(map(self.create_arg, a))
        try:
            return super().create_arg(a)
        except NotImplementedError:
            return a  # a constant, which the code names

    def _node_of(self, of: Any) -> Node:
        known = self._nodes.get(id(of))
        if known is None:
            _, path = self._paths.get(id(of), (None, None))
            known = of, self.graph.get_attr(self._constant(of) if path is None else path)
            self._nodes[id(of)] = known
        return known[1]

    def _constant(self, value: Any) -> str:
        if value.requires_grad:
            shown = str(value.detach()) if value.numel() <= _LIMIT else str(tuple(value.shape))
            raise RuntimeError(
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or "
                f"detaching the gradient\nTensor:\n{shown}"
            )
        name = f"_tensor_constant{len(self._constants)}"
        self._constants[name] = value
        return name

    # ---- the end ----

    def finish(self, result: Any) -> Graph:
        """The graph, without what nothing uses of it."""
        self.graph.output(self._output(result))
        self.graph.eliminate_dead_code(_is_kept)
        return self.graph

    def _output(self, value: Any) -> Any:
        """A result as nodes have it: sizes are tensors there."""
        if id(value) in self._nodes:
            return self._node_of(value)
        if isinstance(value, TracedNumber):
            return self.graph.create_node("call_function", tensor, (value.node,))
        if isinstance(value, dict):
            return {key: self._output(each) for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            parts = list(map(self._output, value))
            if hasattr(value, "_fields"):
                return self.graph.create_node("call_function", type(value), tuple(parts))
            return parts if isinstance(value, list) else tuple(parts)
        return self.create_arg(value)


_READING = frozenset({getattr, operator.getitem, *SIGNS})
"""Functions besides operators that change nothing."""


def _is_kept(node: Node) -> bool:
    """Return True if a call is kept though nothing uses its result, as it writes to an argument or may do so."""
    if node.is_impure() or "out" in node.kwargs:
        return True
    target: Any = node.target
    if isinstance(target, Function):
        return bool(target.op.inplace_argument)
    return callable(target) and target not in _READING


def _has_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_tensor, value.values()))
    return isinstance(value, Tensor) or (isinstance(value, (list, tuple)) and any(map(_has_tensor, value)))


def _plain(value: Any) -> Any:
    """The same value with plain numbers in the places of those that were computed of sizes."""
    if isinstance(value, TracedNumber):
        return plain_number(value)
    if isinstance(value, slice):
        return slice(_plain(value.start), _plain(value.stop), _plain(value.step))
    if type(value) is tuple or type(value) is list:
        return type(value)(map(_plain, value)) if _has_number(value) else value
    if type(value) is Size:
        return Size(value)
    if type(value) is dict:
        return {name: _plain(each) for name, each in value.items()}
    return value


def _has_number(values: Any) -> bool:
    return any(
        isinstance(each, (TracedNumber, slice, Size)) or (type(each) in (tuple, list) and _has_number(each))
        for each in values
    )
