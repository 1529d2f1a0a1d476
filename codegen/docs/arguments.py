"""The arguments of an operator in its docstring: kinds, which follow from the schema and the family, and meanings."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.operator import Family, Operator
from ..model.signatures import accepted_types
from ..model.variants import (
    Parameter,
    has_inplace_argument,
    has_out,
    is_factory,
    parameters,
    separate_tensors,
    varargs,
)
from ..schema import ListType, Type, base_name
from .conventions import EVERYWHERE, WITHIN

_TYPES = {
    "Scalar": "number",
    "SymInt": "int",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device or str or int",
    "MemoryFormat": "memory format",
}
"""Names of schema types in documentation, where they differ."""


def arguments(operator: Operator) -> Iterator[str]:
    """Yield a line for each argument: its name, its kinds and what it means."""
    named = {argument: name for argument, name in operator.body.numbers.items() if argument != name}
    for parameter in parameters(operator):
        meaning = meaning_of(operator, parameter)
        required = operator.body.is_shape(parameter.name) or (parameter.default is None and parameter.name not in named)
        optional = "" if required else ", optional"
        yield f"{parameter.name} ({_kinds(operator, parameter)}{optional}){f': {meaning}' if meaning else ''}."
    if has_inplace_argument(operator):
        yield "inplace (bool, optional): whether to write the result to the input."
    for argument, name in named.items():
        yield f"{name} (number, optional): takes the place of `{argument}`."
    if operator.body.pairwise:
        yield f"other (Tensor, optional): computes `{operator.body.pairwise}` of both tensors."
    if has_out(operator):
        kind = "tuple of Tensors" if operator.result_names else "Tensor"
        yield f"out ({kind}, optional): where to write the result; resized if its shape differs."
    if operator.family is Family.FACTORY or is_factory(operator):
        yield "requires_grad (bool, optional): whether to record operations on the result."
        if not operator.inputs:
            yield "names (tuple of strs, optional): the names of the dimensions, None for those that have none."


def _kinds(operator: Operator, parameter: Parameter) -> str:
    argument = parameter.argument
    types = accepted_types(operator, argument)
    kinds = ["others, as described" if str(type) == "any" else _kind(type) for type in types]
    if parameter == varargs(operator):
        kinds.append("separate ints")
    if parameter == separate_tensors(operator):
        kinds.append("separate Tensors")
    fixed = operator.body.told.get(argument.name)
    if fixed is not None:
        kinds = [f"{kind} of {fixed}" if kind == "Tensor" else kind for kind in kinds]
    if argument.takes_none and not operator.body.is_shape(parameter.name):
        kinds.append("None")
    return " or ".join(dict.fromkeys(kinds))


def _kind(type: Type) -> str:
    if not isinstance(type, ListType):
        return _TYPES.get(base_name(type), base_name(type))
    element = _kind(type.element)
    plural = f"{'list' if element == 'Tensor' else 'tuple'} of {element}s"
    return f"{element} or {plural}" if type.size else plural


_OPERANDS = {
    Family.ELEMENTWISE: "of any shape",
    Family.REDUCE: "of any shape",
    Family.SCAN: "of any shape",
    Family.ROWS: "of any shape",
    Family.FOLD: "of any shape",
    Family.VIEW: "the tensor that is viewed",
    Family.INDEXING: "the tensor that is indexed",
}
"""Meanings of the first input by the family, where it is the only operand."""


def meaning_of(operator: Operator, parameter: Parameter) -> str:
    """Return what an argument means: what its entry says, what follows from its kind, or what its name does."""
    argument = parameter.argument
    if argument.name in operator.meanings:
        return operator.meanings[argument.name]
    if argument.name in ("self", "input", "other") and argument.is_tensor:
        return _operand(operator, parameter)
    if parameter.name == "dim":
        noun = "dimension or dimensions" if argument.is_list else "dimension"
        every = "; all of them if None" if argument.takes_none else ""
        return f"{noun} to work along, negative ones counted from the end{every}"
    if parameter.name == "dtype" and base_name(argument.type) != "ScalarType":
        return ""  # a number of that name
    if parameter.name == "dtype" and operator.family in (Family.REDUCE, Family.SCAN, Family.ROWS):
        return "dtype of the result, to which the input is converted first"
    return WITHIN.get(operator.module or "", {}).get(parameter.name) or EVERYWHERE.get(parameter.name, "")


def _operand(operator: Operator, parameter: Parameter) -> str:
    """Return what an input means that its name says nothing about."""
    is_first = parameter.argument.name != "other"
    if operator.family is Family.ELEMENTWISE and len(operator.inputs) > 1:
        return f"{'first' if is_first else 'second'} operand; the inputs are broadcast"
    return _OPERANDS.get(operator.family, "the input") if is_first else "the second operand"
