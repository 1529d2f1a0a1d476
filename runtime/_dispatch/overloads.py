"""Operators as users see them in `opweave.ops`: by namespace, name and overload, in torch's manner.

`opweave.ops.aten.add` is a packet of overloads, `opweave.ops.aten.add.Tensor` one of them: a function and its schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .op import FORMS, INPLACE, NEW, OUT, Op
from .ops import namespaces

if TYPE_CHECKING:
    from opweave.codegen.schema import Alias, Argument, FunctionSchema, Return


class OpOverload:
    """One schema of an operator, and what calls it. There is one object for each, so that `is` compares them."""

    def __init__(self, function: Any, is_out: bool = False) -> None:
        op: Op = function.op
        self._function = function
        self._is_out = is_out
        self.op = op
        self.namespace = op.namespace
        self._opname: str = function.__name__
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
        """Where the result goes: NEW, INPLACE or OUT of opweave.library."""
        return OUT if self._is_out else INPLACE if self._function.form == FORMS["in_place"] else NEW

    @property
    def is_view(self) -> bool:
        """True if the result shares memory with an argument that is not written to."""
        return self._schema.returns_alias

    @property
    def _schema(self) -> FunctionSchema:
        return schema(self)

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
        has_out = any(each.op.out is not None and each.op.function is each for each in self._functions.values())
        return [*self._functions, *(["out"] if has_out else [])]

    def __getattr__(self, name: str) -> OpOverload:
        if name in self._functions:
            return overload(self._functions[name])
        if name == "out" and "out" in self.overloads():
            return overload(next(iter(self._functions.values())), True)
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.overloads()]

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class Namespace:
    """The operators of a package, or those registered under a name: `opweave.ops.mylib`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        functions = _overloads_of(self.name, name)
        if not functions:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        first = next(iter(functions.values()))
        return _packet(self.name, first.__name__, tuple(functions.items()))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *{each.partition(".")[0] for each in namespaces.get(self.name, ())}]

    def __repr__(self) -> str:
        return f"<namespace opweave.ops.{self.name}>"


@cache
def namespace(name: str) -> Namespace:
    """The namespace of this name, whether something is registered there or not."""
    return Namespace(name)


def _overloads_of(space: str, name: str) -> dict[str, Any]:
    """The functions of an operator by the names of their overloads."""
    functions = namespaces.get(space, {})
    if name in functions:
        return {functions[name].op.overload or "default": functions[name]}
    return {key[len(name) + 1 :]: each for key, each in functions.items() if key.startswith(f"{name}.")}


@cache
def _packet(space: str, name: str, functions: tuple[tuple[str, Any], ...]) -> OpOverloadPacket:
    return OpOverloadPacket(space, name, dict(functions))


@cache
def overload(function: Any, is_out: bool = False) -> OpOverload:
    """The overload that a function calls: with `out=` it is another one."""
    return OpOverload(function, is_out)


def of_call(op: Op, mode: int, out: Any) -> OpOverload:
    """The overload that a call of the dispatcher is one of."""
    return overload(function_of(op, mode), out is not None)


def function_of(op: Op, mode: int) -> Any:
    """The function that makes such calls."""
    if mode == INPLACE and not op.is_inplace:
        return namespaces[op.namespace][f"{op.name}_"]
    return op.function


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call by the names of the schema, where the first tensor is `self`."""
    if "self" in kwargs:
        kwargs = {"input" if name == "self" else name: value for name, value in kwargs.items()}
    return function(*args, **kwargs)


def _found(space: str, name: str, overload_name: str) -> OpOverload:
    found: OpOverload = getattr(getattr(namespace(space), name), overload_name)
    return found


# ---- schemas ------------------------------------------------------------------------------------------------


@cache
def schema(overload: OpOverload) -> FunctionSchema:
    """The schema of an overload; those of in-place forms and of `out=` follow from that of the operator."""
    from opweave.codegen.schema import parse

    op = overload.op
    text = op.schema if op.schema is not None else _texts(op)[op.name]
    found = parse(text)
    found = replace(found, name=replace(found.name, namespace=op.namespace))
    if overload._is_out:
        return _with_out(found)
    return _in_place(found) if overload.mode == INPLACE and not op.is_inplace else found


def _texts(op: Op) -> dict[str, str]:
    texts: dict[str, str] = import_module(f"{op.package}._docstrings").SCHEMAS
    return texts


def _written(letter: str) -> Alias:
    from opweave.codegen.schema import Alias

    return Alias((letter,), is_write=True)


def _in_place(functional: FunctionSchema) -> FunctionSchema:
    target = functional.self_argument or functional.arguments[0]
    alias = _written("a")

    def marked(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(replace(each, alias=alias) if each is target else each for each in arguments)

    return replace(
        functional,
        name=replace(functional.name, inplace=True),
        positional=marked(functional.positional),
        keyword_only=marked(functional.keyword_only),
        returns=(replace(functional.returns[0], alias=alias),),
    )


def _with_out(functional: FunctionSchema) -> FunctionSchema:
    from opweave.codegen.schema import Argument

    aliases = [_written(letter) for letter, _ in zip("abcdefgh", functional.returns, strict=False)]
    single = len(aliases) == 1
    out = tuple(
        Argument("out" if single else result.name or f"out{place}", result.type, alias=alias)
        for place, (result, alias) in enumerate(zip(functional.returns, aliases, strict=True))
    )
    returns: tuple[Return, ...] = tuple(
        replace(result, alias=alias) for result, alias in zip(functional.returns, aliases, strict=True)
    )
    return replace(functional, name=replace(functional.name, overload="out"), out=out, returns=returns)
