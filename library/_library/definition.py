"""An operator that a user defines: an `Op` as all others, whose kernels are functions of Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from .._autograd.record import refuse_out
from .._base import dtypes
from .._base.notes import explained
from .._C import lib
from .._dispatch import dispatcher
from .._dispatch.define import Operators
from .._dispatch.op import Op
from .._dispatch.ops import BUILTIN, namespaces
from .._dispatch.overloads import OpOverload, overload
from .._dispatch.store import store
from ..codegen.schema import Argument, Constant, FunctionSchema, SchemaError, base_name, parse
from .formula import Formula, call_recorded
from .results import check_aliases, check_result, tensors_in

_CHECKED = frozenset({"Tensor", "Scalar", "int", "float", "bool", "str", "Generator"})
"""Types of arguments that are checked and converted; a list of some may have any of them as elements."""
_SPACES = ((r"\s+", " "), (r"\s*,\s*", ", "), (r"\s*\(\s*", "("), (r"\s*\)", ")"), (r"\s*->\s*", " -> "))
RESERVED = (BUILTIN, "opweave", "prim")
_PAGE = "docs/dispatch.md#a-custom-operator"

definitions: dict[str, Definition] = {}
"""The definitions by qualified name, with the overload where it has one."""

waiting_fakes: dict[str, Callable[..., Any]] = {}
"""Functions for the device `meta` of operators that are not defined yet, by qualified name. Libraries register them
also where their compiled operators, which are for torch alone, could not be loaded."""


class Definition:
    """An operator's schema, and what is registered for it."""

    def __init__(self, namespace: str, schema: FunctionSchema) -> None:
        if namespace in RESERVED:
            raise ValueError(f"the namespace {namespace!r} is reserved; use the name of your package")
        self.namespace = namespace
        self.schema = schema
        self.kernels: dict[str | None, Callable[..., Any]] = {}
        """The kernels by device type; None: the kernel of all devices that have none of their own."""
        self.formula = Formula()
        self.decomposes = False
        """True if the kernel is made of other operators, which are recorded and seen instead."""
        name = schema.name
        self.qualified = f"{namespace}::{name}"
        self.fake: Callable[..., Any] | None = waiting_fakes.pop(self.qualified, None)
        if self.qualified in definitions:
            definitions[self.qualified].forget()  # the last definition counts, as where a module is loaded again
        self.function = self._define()
        self.op: Op = self.function.op
        self._overloads()[name.overload or "default"] = self.function
        definitions[self.qualified] = self
        dispatcher.register("autograd", self._recorded, self.op)
        dispatcher.register("meta", self._faked, self.op)

    def _define(self) -> Any:
        functions: dict[str, Any] = {}
        operators = Operators(functions, self.namespace)
        arguments = self.schema.all_arguments
        name = self.schema.name.identifier
        returns = self.schema.returns
        is_functional = bool(returns) and not self.written and all(each.is_tensor for each in returns)
        operators.define(
            -1,
            name,
            "composite",
            "-" * len(arguments),
            tuple(_row(each) for each in arguments),
            len(self.schema.positional),
            overload=self.schema.name.overload,
            schema=str(self.schema),
            function=True,
            differentiable=True,
            out="cast" if is_functional else None,
            body=self._run,
        )
        return operators.functions[name]

    def _overloads(self) -> dict[str, Any]:
        """The operators of this name in `opweave.ops`."""
        overloads: dict[str, Any] = namespaces.setdefault(self.namespace, {}).setdefault(self.op.name, {})
        return overloads

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The places of the arguments that are written to."""
        return tuple(place for place, each in enumerate(self.schema.all_arguments) if each.is_write)

    @property
    def overload(self) -> OpOverload:
        """The operator's overload, as `ops.NAMESPACE.NAME.OVERLOAD` gives it."""
        return overload(self.function, False)

    # ---- calls ----

    def _run(self, *values: Any) -> Any:
        """The body of the operator, for arguments in schema order."""
        device = next((each.device.type for each in tensors_in(values)), "cpu")
        kernel = self.kernels.get(device) or self.kernels.get(None)
        if kernel is None:
            text = (
                f"{self.qualified} has no implementation for {device} tensors; register one with "
                f"@opweave.library.register_kernel({self.qualified!r}, {device!r})"
            )
            raise explained(NotImplementedError(text), _PAGE)
        result = self._called(kernel, values)
        check_result(f"the {device} kernel of {self.qualified}", self.schema, result)
        if not self.schema.returns_alias and not any(each.alias for each in self.schema.returns):
            check_aliases(self.schema.name.identifier, inspect.getmodule(kernel), values, result)
        for place in self.written:
            for each in tensors_in(values[place]):
                lib.count_write(each._h)
        return result

    def _called(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        count = len(self.schema.positional)
        named = dict(zip(self.op.names[count:], values[count:], strict=True))
        result = function(*values[:count], **named)
        return tuple(result) if isinstance(result, list) and len(self.schema.returns) > 1 else result

    def _faked(self, op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if self.fake is None and self.schema.returns:
            text = (
                f"{self.qualified} has no implementation for meta tensors: there was no fake impl registered; register "
                f"one with @opweave.library.register_fake({self.qualified!r})"
            )
            raise explained(NotImplementedError(text), _PAGE)
        result = None if self.fake is None else self._called(self.fake, args)
        check_result(f"the fake of {self.qualified}", self.schema, result)
        return result if out is None else store(op, result, out)

    def _recorded(self, op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if self.decomposes:
            return dispatcher.redispatch(op, args, out, mode, below="autograd")
        if out is not None:
            refuse_out(op, args)
        return call_recorded(self.formula, self.overload, args, mode)

    # ---- registrations ----

    def add_kernel(self, device_type: str | None, function: Callable[..., Any]) -> None:
        """Registers what computes the results for tensors of a device, or on `meta` what makes them."""
        if device_type == "meta":
            self.fake = function
        else:
            self.kernels[device_type] = function

    def remove_kernel(self, device_type: str | None, function: Callable[..., Any]) -> None:
        """Takes a function back, unless another one has taken its place."""
        if device_type == "meta":
            self.fake = None if self.fake is function else self.fake
        elif self.kernels.get(device_type) is function:
            del self.kernels[device_type]

    def set_formula(self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None, who: object) -> None:
        """Set the functions that compute gradients. Raises RuntimeError for operators that write to arguments or return
        views."""
        if self.written or self.schema.returns_alias:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {who} with schema "
                f"{self.overload._schema}. Please create a functional operator and register an autograd formula for "
                "that."
            )
        self.formula.backward, self.formula.setup_context = backward, setup_context

    def forget(self) -> None:
        """Takes the operator out of its namespace, unless another one of its name is there."""
        if definitions.get(self.qualified) is not self:
            return
        del definitions[self.qualified], self._overloads()[self.schema.name.overload or "default"]
        self.kernels.clear()  # whoever has the operator yet is told that there is none
        for key in ("autograd", "meta"):
            dispatcher.unregister(key, self.op)


def read(text: str) -> FunctionSchema:
    """A schema as users write it: blanks do not matter, and a single result may stand in parentheses."""
    for pattern, spaces in _SPACES:
        text = re.sub(pattern, spaces, text.strip())
    text = re.sub(r"-> \((\w+(?:\([^)]*\))?[\[\]?]*)\)$", r"-> \1", text)
    if "(" not in text:
        raise RuntimeError(f"Tried to parse a function schema but only the operator name was given: {text!r}")
    try:
        return parse(text, conventions=False)
    except SchemaError as mistake:
        hint = f" ({mistake.help})" if mistake.help else ""
        raise RuntimeError(f"{text}: {mistake.message}{hint}, at character {mistake.offset}") from None


def find(qualified: str) -> Definition:
    """The operator of this name. Raises RuntimeError where there is none."""
    if qualified not in definitions:
        raise RuntimeError(f"operator {qualified} does not exist")
    return definitions[qualified]


def _row(argument: Argument) -> tuple[Any, ...]:
    """An argument as the rows of the generated module have them: name, types and perhaps default."""
    if argument.default is None:
        return argument.name, _types(argument)
    value = argument.default.value
    return argument.name, _types(argument), _constant(value) if isinstance(value, Constant) else value


def _types(argument: Argument) -> str:
    base = base_name(argument.type).replace("SymInt", "int")
    text = str(argument.type).replace("SymInt", "int")
    if base == "ScalarType":
        return "dtype?"
    return text if base in _CHECKED and "?[" not in text else "any"


def _constant(constant: Constant) -> Any:
    return dtypes.EXPORTS.get(constant.name, constant.name)
