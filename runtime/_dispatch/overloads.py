"""Operators as users see them in `opweave.ops`: by namespace, name and overload, in torch's manner.

`opweave.ops.aten.add` is a packet of overloads, `opweave.ops.aten.add.Tensor` one of them: a function and its schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from .op import FORMS, INPLACE, NEW, OUT, Op
from .ops import namespaces

if TYPE_CHECKING:
    from ..codegen.schema import FunctionSchema


class OpOverload:
    """One schema of an operator, and what calls it. There is one object for each, so that `is` compares them."""

    def __init__(self, function: Any, is_out: bool) -> None:
        op: Op = function.op
        self._function = function
        self._is_out = is_out
        self.op = op
        self.namespace = op.namespace
        self._opname: str = operator_name(function)
        self._overloadname: str = "out" if is_out else op.overload or "default"
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = f"opweave.ops.{self.namespace}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return call(self._function, args, kwargs)

    def name(self) -> str:
        """Return the qualified name, such as `aten::add.Tensor`."""
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._opname}{overload}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator that it is an overload of."""
        packet: OpOverloadPacket = getattr(namespace(self.namespace), self._opname)
        return packet

    @property
    def mode(self) -> int:
        """The place of the result: NEW, INPLACE or OUT of opweave.library."""
        return OUT if self._is_out else INPLACE if self._function.form == FORMS["in_place"] else NEW

    @property
    def is_view(self) -> bool:
        """True if the result shares memory with an argument that is not written to."""
        return self._schema.returns_alias

    @property
    def _schema(self) -> FunctionSchema:
        from .schemas import schema

        return schema(self.op, self.mode)

    def __str__(self) -> str:
        return f"{self.namespace}.{self._opname}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (self.namespace, self._opname, self._overloadname)


class OpOverloadPacket:
    """All overloads of an operator. Calling it calls the one that the arguments fit."""

    def __init__(self, space: str, name: str, functions: dict[str, Any]) -> None:
        self._functions = functions
        self._namespace = space
        self._qualified_op_name = f"{space}::{name}"
        self.__name__ = name
        self.__module__ = f"opweave.ops.{space}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return call(next(iter(self._functions.values())), args, kwargs)

    def overloads(self) -> list[str]:
        """Return the names of the overloads."""
        return [*self._functions, *(["out"] if any(map(_has_out, self._functions.values())) else [])]

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):  # copying asks for some before there is anything to look into
            raise AttributeError(name)
        if name in self._functions:
            return overload(self._functions[name], False)
        for each in self._functions.values():
            is_out = _is_out(each.op, name)
            if name in _names(each.op) and (_has_out(each) or not is_out):
                return overload(each, is_out)
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.overloads()]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _found_packet, (self._namespace, self.__name__)


def _has_out(function: Any) -> bool:
    return function.op.out is not None and function.op.function is function


def _is_out(op: Op, name: str) -> bool:
    """Return True if torch's schema of this name has an `out=`, which the word, a result or the operator tells
    (`sort.values_stable`, `max.dim_max`)."""
    fields = () if op.results is None else op.results._fields
    return not {"out", "OutTensor", "OutScalar", op.name, *fields}.isdisjoint(name.split("_"))


def _names(op: Op) -> set[str]:
    """The names of torch's schemas that an operator answers."""
    own = {op.overload or "default", *op.overloads}
    words = ["out", *([] if op.results is None else op.results._fields[:1])]
    return own.union(words, (f"{each}_{word}" for each in own for word in words))


class Namespace:
    """The operators of a package, or those registered under a name: `opweave.ops.mylib`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            raise AttributeError(name)
        functions = _overloads_of(self.name, name)
        if not functions:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        first = next(iter(functions.values()))
        return _packet(self.name, operator_name(first), tuple(functions.items()))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *namespaces.get(self.name, ())]

    def __repr__(self) -> str:
        return f"<namespace opweave.ops.{self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.name,)


@cache
def namespace(name: str) -> Namespace:
    """The namespace of this name, whether something is registered there or not."""
    return Namespace(name)


def _overloads_of(space: str, name: str) -> dict[str, Any]:
    """The functions of an operator by the names of their overloads."""
    found = namespaces.get(space, {}).get(name, {})
    return found if isinstance(found, dict) else {found.op.overload or "default": found}


@cache
def _packet(space: str, name: str, functions: tuple[tuple[str, Any], ...]) -> OpOverloadPacket:
    return OpOverloadPacket(space, name, dict(functions))


@cache
def overload(function: Any, is_out: bool) -> OpOverload:
    """The overload that a function calls: with `out=` it is another one."""
    return OpOverload(function, is_out)


def of_call(op: Op, mode: int, out: Any) -> OpOverload:
    """The overload that a call of the dispatcher is one of."""
    return overload(function_of(op, mode), out is not None)


def operator_name(function: Any) -> str:
    """Return the name of the operator that a function calls, with `_` in place: that of the function and the prefix of
    a submodule."""
    op: Op = function.op
    return op.name if function is op.function else f"{op.name}_"


def function_of(op: Op, mode: int) -> Any:
    """The function that makes such calls."""
    if mode == INPLACE and not op.is_inplace:
        return namespaces[op.namespace][f"{op.name}_"]
    return op.function


def public_function(op: Op, mode: int) -> Any:
    """Return the function of such calls that users know: for operators of their own the overload, for a property what
    reads it (`Tensor.mT.__get__`)."""
    if op.getter is not None:
        return op.getter.__get__
    function = function_of(op, mode)
    return function if op.schema is None else overload(function, False)


def as_called(op: Op, args: Sequence[Any], out: Any, mode: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of the dispatcher as `function_of` takes them: positional ones up to the last that is not
    at its default, and by name those of the others that are not."""
    function = function_of(op, mode)
    values = list(zip(op.names, args, op.defaults, strict=True))
    positional, named = values[: op.positional], values[op.positional :]
    if function.leads:
        positional.insert(0, positional.pop(function.leads))
    while positional and _is_default(*positional[-1][1:]):
        positional.pop()
    kwargs = {name: value for name, value, default in named if not _is_default(value, default)}
    if out is not None:
        kwargs["out"] = out
    return tuple([value for _, value, _ in positional]), kwargs


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call by the names of the schema, where the first tensor is `self`."""
    if "self" in kwargs and "self" not in function.names:
        kwargs = {"input" if name == "self" else name: value for name, value in kwargs.items()}
    return function(*args, **kwargs)


def _found_packet(space: str, name: str) -> OpOverloadPacket:
    found: OpOverloadPacket = getattr(namespace(space), name)
    return found


def _found(space: str, name: str, overload_name: str) -> OpOverload:
    found: OpOverload = getattr(_found_packet(space, name), overload_name)
    return found
