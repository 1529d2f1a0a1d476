"""The text that explains an operator: its docstring, which follows from its entry.

Kinds of arguments come from the schema and the family.
tests/package/test_docstrings.py calls every operator as its docstring says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from ..model.operator import Family, Operator
from ..model.python_operators import PYTHON_OPERATORS
from ..model.signatures import accepted_types
from ..model.variants import (
    Parameter,
    has_inplace,
    has_inplace_argument,
    has_out,
    is_factory,
    own_name,
    parameters,
    separate_tensors,
    varargs,
)
from ..schema import ListType, Type, base_name
from .examples import example
from .results import errors, meaning, result

_TYPES = {
    "Scalar": "number",
    "SymInt": "int",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device or str or int",
    "MemoryFormat": "memory format",
}
"""Names of schema types in documentation, where they differ."""
_MEANINGS = {
    "keepdim": "whether reduced dimensions stay, with size 1",
    "dtype": "dtype of the result",
    "layout": "must be strided",
    "device": "device of the result; that of the input or the default one if None",
    "pin_memory": "whether the result is in memory that the accelerator allocates",
    "memory_format": "order of the result's elements in memory",
    "size": "sizes of the result",
    "generator": "source of random numbers; the default generator if None",
}


def docstring(operator: Operator, package: str, recorded: Mapping[str, str]) -> str:
    """The docstring: meaning, formula, arguments, result, errors, spellings and an example."""
    blocks = [meaning(operator)]
    formula = operator.body.formula(operator.result_names)
    if formula:
        blocks.append(f"Formula: {formula}")
    blocks += [_section("Args", arguments(operator)), _section("Returns", [result(operator)])]
    blocks.append(_section("Raises", errors(operator)))
    also = spellings(operator)
    if also:
        blocks.append(f"Also: {also}.")
    session = example(operator, package, recorded)
    if session:
        blocks.append("Example:\n" + textwrap.indent(session, "    "))
    return "\n\n".join(blocks) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join(
        [f"{title}:", *(textwrap.fill(line, 112, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines)]
    )


# ---- arguments ----------------------------------------------------------------------------------------------


def arguments(operator: Operator) -> Iterator[str]:
    """A line for each argument of the functions: its name, its kinds, and its meaning where that is not in `doc`."""
    named = {argument: name for argument, name in operator.body.numbers.items() if argument != name}
    for parameter in parameters(operator):
        meaning = _meaning(parameter, operator.family)
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


def _meaning(parameter: Parameter, family: Family) -> str:
    if parameter.name == "dim":
        noun = "dimension or dimensions" if parameter.argument.is_list else "dimension"
        every = "; all of them if None" if parameter.argument.takes_none else ""
        return f"{noun} to work along, negative ones counted from the end{every}"
    if parameter.name == "dtype" and base_name(parameter.argument.type) != "ScalarType":
        return ""  # a number of that name
    if parameter.name == "dtype" and family in (Family.REDUCE, Family.SCAN, Family.ROWS):
        return "dtype of the result, to which the input is converted first"
    return _MEANINGS.get(parameter.name, "")


def spellings(operator: Operator) -> str:
    """The operators of Python, methods, in-place forms and aliases that compute the same."""
    names = []
    if operator.operator:
        python = PYTHON_OPERATORS[operator.operator]
        names.append(f"`a {python.symbol} b`" if python.operands == 2 else f"`{python.symbol}(a)`")
    if operator.method:
        names.append(f"`Tensor.{operator.name}`")
    if operator.property_name:
        names.append(f"`Tensor.{operator.property_name}`, a property")
    if has_inplace(operator):
        below = operator.module or ("Tensor" if operator.method else None)
        where = own_name(operator) if below is None else f"{below}.{own_name(operator)}"
        names.append(f"`{where}_` in place")
    names += [f"`{alias}`" for alias in operator.aliases]
    return ", ".join(names)
