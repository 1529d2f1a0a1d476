"""`accepts`: further types of an argument of a composite, or of operands of an elementwise operator, which may then be
numbers of Python.

torch spells such arguments as overloads (`norm.ScalarOpt_dim`, `norm.names_ScalarOpt_dim`); an entry here is one
operator, whose body tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..errors import suggest
from ..model.operator import Family
from ..schema import Argument, Type, base_name
from ..schema.types import BaseType, ListType, without_optional
from ..source import Scalar, Sequence
from .fields import Entry

Accepts = Mapping[str, tuple[Type, ...]]

TENSOR = BaseType("Tensor")
NUMBER = BaseType("Scalar")
ANY = BaseType("any")
"""Any type: the body checks it."""

# Types that the runtime can recognize from the value alone.
_BASES = ("Tensor", "Scalar", "int", "float", "bool", "str", "Generator", "ScalarType")
_TYPES: Mapping[str, Type] = MappingProxyType(
    {"any": ANY}
    | {
        str(type): type
        for base in _BASES
        for type in (BaseType(base), ListType(BaseType(base)), ListType(ListType(BaseType(base))))
    }
)


def read(entry: Entry) -> Accepts:
    """The further types by argument."""
    node = entry.mapping(entry.node, "accepts", "argument to types")
    if node is None:
        return MappingProxyType({})
    entry.known_keys(node, [argument.name for argument in entry.schema.arguments], "argument")
    unions: dict[str, tuple[Type, ...]] = {}
    for key in node.keys:
        value = node.get(key.value)
        words = tuple(value) if isinstance(value, Sequence) else (value,)
        types = [_type(entry, word) for word in words if isinstance(word, Scalar)]
        is_operand = any(each.name == key.value for each in entry.tensors)
        if entry.family is Family.ELEMENTWISE and not (is_operand and types == [NUMBER]):
            help = f"{entry.schema.arguments[0].name}: Scalar"
            entry.report(key.span, "an elementwise operator accepts nothing but a number as an operand", help)
        unions[key.value] = tuple(type for type in types if type is not None)
    return MappingProxyType(unions)


def _type(entry: Entry, word: Scalar) -> Type | None:
    if word.value not in _TYPES:
        entry.report(word.span, f"'{word.value}' is no type to accept", suggest(word.value, _TYPES))
    return _TYPES.get(word.value)


def described(argument: Argument, accepts: Accepts) -> str | None:
    """The types of a composite's argument as the runtime checks them, such as `Tensor|Scalar?`. None for arguments that
    it does not check: dtypes and placements, which are checked elsewhere, and those that the body checks."""
    types = (without_optional(argument.type), *accepts.get(argument.name, ()))
    if ANY in types or base_name(argument.type).replace("SymInt", "int") not in _BASES:
        return None
    text = "|".join(map(str, types)).replace("SymInt", "int")
    return f"{text}?" if argument.is_optional else text
