"""The kind of each argument of an operator for the core: one letter for each, in schema order.

    t  a tensor, or a number in its place      n  a number that kernels take
    i  an integer or a truth value             f  a float
    l  a list of integers                      w  a text that stands for a number
    d  dimensions to reduce or to scan         k  keepdim
    y  a dtype                                 g  a generator
    s  a list of tensors                       o  the same, some of which may be None
    m  a memory format
    -  nothing: the core has no such argument, and the quick way takes it by default only

The core reads them by this (core/python/operator_arguments.c). A composite's letters say where its dtype is, if it has
one.
"""

from __future__ import annotations

from ..schema import Argument, base_name
from .operator import Family, Operator

_INTEGERS = (Family.COMPUTE, Family.VIEW, Family.INDEXING, Family.LAPACK, Family.RANDOM, Family.CORE)


def layout(operator: Operator) -> str:
    """Return the letters of an operator's arguments."""
    return "".join(_letter(operator, argument) for argument in operator.schema.arguments)


def _letter(operator: Operator, argument: Argument) -> str:
    base = base_name(argument.type).replace("SymInt", "int")
    if base == "ScalarType":
        return "y"
    if operator.family is Family.COMPOSITE:
        return "-"
    if argument.is_tensor:
        return "t"
    if argument.is_tensor_list:
        return "o" if "?[" in str(argument.type) else "s"
    if base == "MemoryFormat" and operator.family is Family.CORE:
        return "m"
    if argument.group is not None:
        return "-"
    if argument in operator.params:
        return "n"
    if operator.family.has_lines:
        return {"dim": "d", "keepdim": "k"}.get(argument.name, "-")
    if base == "str" and operator.family is Family.INDEXING:
        return "w"
    if base == "Generator" and operator.family is Family.RANDOM:
        return "g"
    if base == "float":
        return "f"
    if argument.is_list and base == "int":
        return "l"
    return "i" if base in ("int", "bool") and operator.family in _INTEGERS else "-"
