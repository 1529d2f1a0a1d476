"""Parameter lists of the Python functions and methods, as type checkers see them."""

from __future__ import annotations

from ..schema import Argument, ListType, Type, base_name
from ..schema.types import BaseType, without_optional
from .operator import Family, Operator
from .variants import (
    has_inplace_argument,
    has_out,
    is_factory,
    parameters,
    separate_tensors,
    varargs,
)

_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "ScalarType": "dtype",
    "int": "int",
    "SymInt": "int",
    "bool": "bool",
    "float": "float",
    "str": "str",
    "Layout": "layout",
    "Device": "device | str",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
}
# The parameter that collects the integers after the first one, of a list that may be given as separate integers.
_OTHERS = "more"
# NumPy's names of `dim` and `keepdim`, keyword-only parameters of reductions.
_NUMPY = (("axis", "int | Sequence[int] | None", "None"), ("keepdims", "bool | None", "None"))


def signature(operator: Operator, first: str, *, with_out: bool = True) -> str:
    """The parameter list of the function (`first` = input) or of the method (`first` = self, which then leads)."""
    declared = list(parameters(operator))
    if first == "self":
        declared.sort(key=lambda parameter: parameter.argument.name != "self")
    separate, tensors = varargs(operator), separate_tensors(operator)
    renamed = {argument: name for argument, name in operator.body.numbers.items() if argument != name}
    parts: list[str] = []
    star = False
    for parameter in declared:
        is_self = parameter.argument.name == "self"
        name = first if is_self else parameter.name
        if parameter == separate:
            # This parameter is the first integer or the whole list, so that it can be given by name; then the other
            # integers.
            parts += [f"{name}: int | Sequence[int]", f"*{_OTHERS}: int"]
            star = True
            continue
        if parameter == tensors:
            parts.append(f"*{name}: Tensor | Sequence[Tensor]")
            star = True
            continue
        if parameter.keyword_only and not star:
            parts.append("*")
            star = True
        if is_self and first == "self":
            parts.append(name)
            continue
        kind, default = _annotations(operator, parameter.argument), parameter.default
        if operator.family is Family.RANDOM and str(parameter.argument.type) == "int?":
            default = "..."  # random_(2, None) is not random_(2)
        if parameter.argument.name in renamed:
            kind, default = "Tensor | Number | None", "None"
        parts.append(_part(name, kind, default))
    if has_inplace_argument(operator) and first == "input":
        parts.append(_part("inplace", "bool", "False"))
    kind = "Sequence[Tensor] | None" if operator.result_names else "Tensor | None"
    added = [(name, "Number | None", "None") for name in renamed.values()]
    added += [("out", kind, "None")] if with_out and has_out(operator) else []
    if operator.family is Family.FACTORY or is_factory(operator):
        added.append(("requires_grad", "bool", "False"))
        if not operator.inputs:
            added.append(("names", "Sequence[str | None] | None", "None"))
    if {"dim", "keepdim"} <= {parameter.name for parameter in declared}:
        added += _NUMPY
    if operator.body.pairwise:
        added.append(("other", "Tensor | None", "None"))
    if added and not star:
        parts.append("*")
    parts += [_part(name, kind, default) for name, kind, default in added]
    return ", ".join(parts)


def _part(name: str, kind: str, default: str | None) -> str:
    return f"{name}: {kind}" + ("" if default is None else f" = {default}")


def accepted_types(operator: Operator, argument: Argument) -> tuple[Type, ...]:
    """The types that an argument may have, besides None."""
    types = [without_optional(argument.type)]
    if argument.is_tensor and _may_be_number(operator, argument):
        types.append(BaseType("Scalar"))
    return tuple(dict.fromkeys([*types, *operator.accepts.get(argument.name, ())]))


def _may_be_number(operator: Operator, argument: Argument) -> bool:
    """True for a tensor in whose place the schema has a number: the last operand of an overload `Tensor`, beside which
    torch has an overload `Scalar`. Probabilities may be numbers too."""
    if argument.name in operator.body.numbers:
        return True
    if operator.family is Family.ELEMENTWISE:
        is_last = len(operator.inputs) > 1 and argument == operator.inputs[-1]
        return is_last and operator.schema.name.overload.startswith("Tensor")
    return operator.family is Family.RANDOM and argument != operator.schema.arguments[0]


def overload_names(operator: Operator) -> tuple[str, ...]:
    """The overloads of torch that the operator answers besides its own: those that the entry names, and `Scalar`."""
    inputs, own = operator.inputs, operator.schema.name.overload
    has_scalar = own == "Tensor" and operator.family is Family.ELEMENTWISE and _may_be_number(operator, inputs[-1])
    return (*(["Scalar"] if has_scalar else []), *operator.overloads)


def _annotations(operator: Operator, argument: Argument) -> str:
    kinds = map(_annotation, accepted_types(operator, argument))
    return " | ".join(dict.fromkeys([*kinds, "None"] if argument.takes_none else kinds))


def _annotation(type: Type) -> str:
    if not isinstance(type, ListType):
        return _TYPES.get(base_name(type), "object")
    element = _annotation(type.element)
    return f"{element} | Sequence[{element}]" if type.size else f"Sequence[{element}]"
