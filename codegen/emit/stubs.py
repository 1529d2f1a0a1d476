"""opweave/_operators.pyi: the types of every function and method, for checkers and editors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import variants
from ..model import Family, Operator
from ..schema import Argument, base_name
from .text import render

_TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "ScalarType": "dtype",
    "int": "int",
    "SymInt": "int",
    "bool": "bool",
    "float": "float",
    "Layout": "layout",
    "Device": "device | str",
    "MemoryFormat": "memory_format",
}


@dataclass(frozen=True)
class Stub:
    """One `def` line and its docstring's first sentence."""

    name: str
    signature: str
    result: str
    summary: str


def emit(operators: Sequence[Operator], source: str, output: str, package: str | None = None) -> str:
    """The stub file. `package` names the woven package it belongs to; None: opweave itself."""
    return render(
        "operators.pyi.j2",
        source,
        output,
        functions=[stub for operator in operators for stub in functions(operator)],
        methods=[stub for operator in operators for stub in methods(operator)],
        package=package,
    )


def functions(operator: Operator) -> list[Stub]:
    """What the operator puts into the module."""
    signature = _signature(operator, "input")
    return [Stub(name, signature, "Tensor", _summary(operator)) for name in variants.function_names(operator)]


def methods(operator: Operator) -> list[Stub]:
    """What the operator puts into class Tensor, special methods included."""
    found: list[Stub] = []
    summary = _summary(operator)
    if operator.method:
        for name in (operator.name, *operator.aliases):
            found.append(Stub(name, _signature(operator, "self"), "Tensor", summary))
            if variants.has_inplace(operator):
                signature = _signature(operator, "self", with_out=False)
                found.append(Stub(name + "_", signature, "Self", f"In-place version of `{name}`."))
    python = variants.python_operator(operator)
    if python is None:
        return found
    if python.operands == 1:
        return [*found, Stub(python.method, "self", "Tensor", summary)]
    # Comparisons override those of `object`, which take anything.
    ignore = "  # type: ignore[override]" if python.method in ("__eq__", "__ne__") else ""
    other = "self, other: Tensor | Number"
    found.append(Stub(python.method, other, "Tensor" + ignore, summary))
    if python.reflected:
        found.append(Stub(python.reflected_method, other, "Tensor", summary))
    if python.augmented and variants.has_inplace(operator):
        found.append(Stub(python.augmented_method, other, "Self", summary))
    return found


def _summary(operator: Operator) -> str:
    return operator.doc.split(". ")[0].rstrip(".") + "."


def _signature(operator: Operator, first: str, with_out: bool = True) -> str:
    parameters = list(variants.parameters(operator))
    if first == "self":
        parameters.sort(key=lambda p: p.argument.name != "self")
    vararg = variants.varargs(operator)
    parts: list[str] = []
    star = False
    for parameter in parameters:
        is_self = parameter.argument.name == "self"
        if is_self and first == "self":
            parts.append("self")
            continue
        if vararg is not None and parameter.name == vararg.name:
            parts.append(f"*{parameter.name}: int | Sequence[int]")
            star = True
            continue
        if parameter.keyword_only and not star:
            parts.append("*")
            star = True
        text = f"{parameter.name}: {_type(parameter.argument)}"
        parts.append(text if parameter.default is None else f"{text} = {parameter.default}")
    if with_out and variants.has_out(operator):
        parts += ["out: Tensor | None = None"] if star else ["*", "out: Tensor | None = None"]
    if operator.family is Family.FACTORY:
        parts.append("requires_grad: bool = False")
    return ", ".join(parts)


def _type(argument: Argument) -> str:
    base = base_name(argument.type)
    text = _TYPES.get(base, "object")
    if base == "Tensor" and not argument.is_list:
        text = "Tensor" if argument.name == "self" else "Tensor | Number"
    if argument.is_list:
        text = "int | Sequence[int]" if str(argument.type).rstrip("?").endswith("[1]") else f"Sequence[{text}]"
    return f"{text} | None" if argument.is_optional else text
