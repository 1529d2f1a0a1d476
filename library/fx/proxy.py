"""opweave.fx.proxy: values that record what is done with them."""

from __future__ import annotations

import dis
import inspect
import operator
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from ._names import function_name
from .node import Node, map_aggregate

if TYPE_CHECKING:
    from ._symbolic_trace import TracerBase

__all__ = ["Attribute", "ParameterProxy", "Proxy", "TraceError", "proxy_among"]


class TraceError(ValueError):
    """A program does with a value what cannot be recorded."""


class Proxy:
    """A stand-in for a value while a program is traced: what is done with it becomes nodes of a graph, and gives
    proxies.

    Operators, functions of the package, methods and attributes are recorded. What needs the value is a TraceError:
    conditions, loops over it, conversions to numbers.

    Args:
        node (Node): the node whose value it stands for.
        tracer (TracerBase): what records; without it nodes go into the node's graph.
    """

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        from ._symbolic_trace import GraphAppendingTracer

        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name in ("node", "tracer") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)  # copying asks before there is anything, and protocols ask for what is not there
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        return self  # a value that is used again, as in default arguments

    def __iter__(self) -> Iterator[Any]:
        frame = inspect.currentframe()
        count = None if frame is None or frame.f_back is None else _unpacked(frame.f_back)
        if count is not None:
            return (self[place] for place in range(count))
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "opweave.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """Return the keys of the value, which `**` asks for.

        Raises:
            TraceError: they are not known.
        """
        return self.tracer.keys(self)

    def __getitem__(self, index: Any) -> Proxy:
        return self._record(operator.getitem, self, index)

    def __hash__(self) -> int:
        return id(self)

    def _record(self, function: Callable[..., Any], *args: Any) -> Proxy:
        result: Proxy = self.tracer.create_proxy("call_function", function, args, {})
        return result

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Record a call of a function of the package."""
        kwargs = kwargs or {}
        proxy = proxy_among((args, kwargs))
        assert proxy is not None
        name = getattr(func, "__name__", "")
        if function_name(func) is None and getattr(func, "__module__", "").endswith("._operators"):
            return proxy.tracer.create_proxy("call_method", name, args, kwargs)
        return proxy.tracer.create_proxy("call_function", func, args, kwargs)


class Attribute(Proxy):
    """An attribute of a value, which is recorded when it is used; where it is called, the call of the method is."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute, which is made when it is first asked for."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A stand-in for a parameter, whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The shape of the parameter."""
        return self.param.shape

    def size(self, *args: Any) -> Any:
        """Return the shape of the parameter, or one of its sizes."""
        return self.param.size(*args)

    def dim(self) -> int:
        """Return the number of dimensions of the parameter."""
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        """The number of dimensions of the parameter."""
        return self.dim()

    def numel(self) -> int:
        """Return the number of elements of the parameter."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """Return the number of elements of the parameter."""
        return self.numel()


def proxy_among(values: Any) -> Proxy | None:
    """A proxy in nested containers; None: there is none."""
    found: list[Proxy] = []
    map_aggregate(values, lambda each: found.append(each) if isinstance(each, Proxy) else None)
    return found[0] if found else None


def _unpacked(frame: FrameType) -> int | None:
    """The number of names that the statement which runs unpacks a value into: `a, b = value`."""
    at = frame.f_lasti
    for each in dis.get_instructions(frame.f_code):
        if each.offset == at:
            return each.argval if each.opname == "UNPACK_SEQUENCE" else None
    return None


_BINARY = ("add", "floordiv", "lshift", "matmul", "mod", "mul", "pow", "rshift", "sub", "truediv", "and_", "or_", "xor")
_OTHERS = ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "abs")


def _method(function: Callable[..., Any]) -> Callable[..., Proxy]:
    def method(self: Proxy, *others: Any) -> Proxy:
        return self._record(function, self, *others)

    return method


def _reflected(function: Callable[..., Any]) -> Callable[..., Proxy]:
    def method(self: Proxy, other: Any) -> Proxy:
        return self._record(function, other, self)

    return method


for _name in (*_BINARY, *_OTHERS):
    _function = getattr(operator, _name)
    setattr(Proxy, f"__{_name.rstrip('_')}__", _method(_function))
    if _name in _BINARY:
        setattr(Proxy, f"__r{_name.rstrip('_')}__", _reflected(_function))
