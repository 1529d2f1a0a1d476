"""The literals that a default of each type may have, and their Python values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal as OneOf

from ..errors import suggest
from .types import BaseType, Constant, ListType, OptionalType, Type, Value

Kind = OneOf["none", "boolean", "integer", "float", "string", "list", "name"]


@dataclass(frozen=True)
class Literal:
    """A default as read, before its type is checked. For a list `value` is a tuple of these."""

    kind: Kind
    value: bool | int | float | str | tuple[Literal, ...] | None
    offset: int
    length: int


class DefaultError(Exception):
    """A literal, or a part of it, that does not fit the type of its argument."""

    def __init__(self, message: str, literal: Literal, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.literal = literal
        self.help = help


# Names a default may have instead of a literal, by the type of the argument. The dtypes are torch's, whether
# or not an operator can be computed in them.
# fmt: off
CONSTANTS: dict[str, tuple[str, ...]] = {
    "int": ("Mean", "Sum"),  # torch declares its reduction modes as int
    "ScalarType": (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
        "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128",
        "byte", "char", "short", "int", "long", "half", "float", "double", "chalf", "cfloat", "cdouble",
        "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
        "qint8", "quint8", "qint32",
    ),
    "Layout": ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"),
    "MemoryFormat": ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"),
    "QScheme": (
        "per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric",
        "per_channel_affine_float_qparams",
    ),
}
# fmt: on
_NON_FINITE = {"inf": math.inf, "nan": math.nan}

_INTEGERS = ("int", "SymInt", "DeviceIndex")
_STRINGS = ("str", "Device", "Dimname")
_BOOLEANS = ("bool", "SymBool")
_DESCRIPTIONS: dict[Kind, str] = {
    "none": "None",
    "boolean": "a bool",
    "integer": "an integer",
    "float": "a float",
    "string": "a string",
    "list": "a list",
    "name": "a name",
}
_EXPECTED = {
    **dict.fromkeys(_INTEGERS, "an integer"),
    **dict.fromkeys(_STRINGS, "a string in quotes"),
    **dict.fromkeys(_BOOLEANS, "True or False"),
    "float": "a number",
    "Scalar": "a number",
    "DimVector": "a list of integers",
}


def value_of(literal: Literal, type: Type) -> Value:
    """The Python value of a default of this type; raises DefaultError if the literal does not fit it."""
    if isinstance(type, OptionalType):
        return None if literal.kind == "none" else value_of(literal, type.element)
    if literal.kind == "none":
        raise DefaultError(f"None is no default of type {type}", literal, f"make it optional: '{type}?'")
    if isinstance(type, ListType):
        return _list_value(literal, type)
    return _base_value(literal, type.name)


def _list_value(literal: Literal, type: ListType) -> Value:
    if not isinstance(literal.value, tuple):
        if type.size is not None:
            return value_of(literal, type.element)
        raise DefaultError(f"default of type {type} must be a list, got {_describe(literal)}", literal)
    values = tuple(value_of(element, type.element) for element in literal.value)
    # Size 1 only allows one element without brackets; torch has `int[1] dim=[-2,-1]`.
    if type.size is not None and type.size > 1 and len(values) not in (0, type.size):
        raise DefaultError(f"default of type {type} has {len(values)} elements", literal)
    return values


def _base_value(literal: Literal, name: str) -> Value:
    kind, value = literal.kind, literal.value
    if name == "DimVector" and kind == "list":
        return _list_value(literal, ListType(BaseType("int")))
    if kind == "integer" and name in (*_INTEGERS, "Scalar", "float") and isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise DefaultError(f"default of type {name} does not fit 64 bits", literal)
        return float(value) if name == "float" else value
    if kind == "name" and isinstance(value, str):
        return _named_value(literal, value, name)
    suits = {
        "float": ("float", "Scalar"),
        "boolean": (*_BOOLEANS, "Scalar"),
        "string": _STRINGS,
    }.get(kind, ())
    if name in suits and isinstance(value, (bool, float, str)):
        return value
    raise DefaultError(*_wrong_kind(literal, name))


def _wrong_kind(literal: Literal, name: str) -> tuple[str, Literal, str | None]:
    """Message, literal and help for a literal of a kind that the type `name` cannot have."""
    if name in CONSTANTS and name not in _EXPECTED:
        expected = "a name, without quotes"
        names = CONSTANTS[name]
        help = f"known names: {', '.join(names[:8])}" + (", …" if len(names) > 8 else "")
    elif name in _EXPECTED:
        expected, help = _EXPECTED[name], None
    else:
        return f"type {name} has no defaults", literal, f"make it optional: '{name}? …=None'"
    if name in _INTEGERS and literal.kind == "float":
        help = "an argument that may be any number has type Scalar or float"
    if name == "str" and literal.kind != "string":
        help = "write '…' or \"…\""
    return f"default of type {name} must be {expected}, got {_describe(literal)}", literal, help


def _named_value(literal: Literal, word: str, name: str) -> Value:
    sign, magnitude = (-1.0, word[1:]) if word.startswith("-") else (1.0, word)
    if name in ("float", "Scalar") and magnitude in _NON_FINITE:
        return sign * _NON_FINITE[magnitude]
    if word in CONSTANTS.get(name, ()):
        return Constant(word)
    for spelling in ("None", "True", "False"):
        if word.lower() == spelling.lower():
            raise DefaultError(f"unknown default '{word}'", literal, f"did you mean {spelling}?")
    if name in ("str", "Device", "Dimname"):
        raise DefaultError(
            f"default of type {name} must be a string, got the name {word}", literal, f"quote it: '{word}'"
        )
    if name in CONSTANTS:
        raise DefaultError(f"unknown default '{word}' of type {name}", literal, suggest(word, CONSTANTS[name]))
    raise DefaultError(*_wrong_kind(literal, name))


def _describe(literal: Literal) -> str:
    return f"the name {literal.value}" if literal.kind == "name" else _DESCRIPTIONS[literal.kind]
