"""The parts of an operator's schema as frozen values. Printing them gives the original text.

The grammar is that of the `func:` strings in PyTorch's native_functions.yaml. Values know their offset in
that text, so that later rules can point at an argument; offsets do not take part in comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

BASE_TYPES: tuple[str, ...] = (
    "Tensor",
    "Scalar",
    "ScalarType",
    "int",
    "SymInt",
    "float",
    "bool",
    "SymBool",
    "str",
    "Device",
    "DeviceIndex",
    "Layout",
    "MemoryFormat",
    "Generator",
    "Dimname",
    "DimVector",
    "QScheme",
    "Storage",
    "Stream",
    "ConstQuantizerPtr",
    "GraphModule",
)
CLASS_PREFIX = "__torch__.torch.classes."

# Methods that Python calls for `a op= b`: `__iadd__` is the in-place form of `__add__`; `__index__` is none.
# fmt: off
AUGMENTED_OPERATORS = frozenset((
    "add", "sub", "mul", "matmul", "div", "truediv", "floordiv", "mod", "pow",
    "lshift", "rshift", "and", "xor", "or",
))
# fmt: on


def _offset() -> int:
    """An offset in the schema's text for messages, which comparisons ignore."""
    offset: int = field(default=0, compare=False, repr=False)
    return offset


@dataclass(frozen=True)
class BaseType:
    """A type with a name, such as `Tensor`."""

    name: str

    def spell(self, alias: str = "") -> str:
        """The type as written, with `alias` at the position of the alias annotation."""
        return self.name + alias

    def __str__(self) -> str:
        return self.spell()


@dataclass(frozen=True)
class ClassType:
    """A class registered from C++, of which only the dotted name is known."""

    name: str

    def spell(self, alias: str = "") -> str:
        return CLASS_PREFIX + self.name + alias

    def __str__(self) -> str:
        return self.spell()


@dataclass(frozen=True)
class OptionalType:
    """A type that may also be None."""

    element: Type

    def spell(self, alias: str = "") -> str:
        return self.element.spell(alias) + "?"

    def __str__(self) -> str:
        return self.spell()


@dataclass(frozen=True)
class ListType:
    """A list. With a `size` a single element may also be given, which means `size` of them."""

    element: Type
    size: int | None = None

    def spell(self, alias: str = "") -> str:
        return f"{self.element.spell(alias)}[{'' if self.size is None else self.size}]"

    def __str__(self) -> str:
        return self.spell()


Type = BaseType | ClassType | OptionalType | ListType


def without_optional(type: Type) -> Type:
    """Return the type without its question mark."""
    return type.element if isinstance(type, OptionalType) else type


def base_name(type: Type) -> str:
    """The name inside all brackets and question marks: `Tensor` for `Tensor?[]`."""
    while isinstance(type, (OptionalType, ListType)):
        type = type.element
    return type.name


@dataclass(frozen=True)
class Alias:
    """`a`, `a!` (written to), `a|b` (either), `a -> *` (in set `a` before the call, in any set after it)."""

    before: tuple[str, ...]
    is_write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        before = "|".join(self.before) + ("!" if self.is_write else "")
        return f"{before} -> {'|'.join(self.after)}" if self.after else before


@dataclass(frozen=True)
class Constant:
    """A default that is a name: `Mean`, `long`, `contiguous_format`."""

    name: str

    def __str__(self) -> str:
        return self.name


Value = bool | int | float | str | Constant | tuple["Value", ...] | None


@dataclass(frozen=True)
class Default:
    """A default as written (`text`) and as a Python value (`value`; lists are tuples)."""

    text: str
    value: Value
    offset: int = _offset()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Argument:
    """An argument of a schema."""

    name: str
    type: Type
    default: Default | None = None
    alias: Alias | None = None
    offset: int = _offset()
    name_offset: int = _offset()
    group: str | None = field(default=None, compare=False, repr=False)
    """The word that stands for this argument and others in the text: `*placement`."""

    @property
    def length(self) -> int:
        """The number of its characters in the text."""
        return len(self.group or str(self))

    @property
    def name_length(self) -> int:
        return len(self.group or self.name)

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{_spell(self.type, self.alias)} {self.name}{default}"

    @property
    def is_tensor(self) -> bool:
        """One tensor, possibly optional; a list of tensors is `is_tensor_list`."""
        return without_optional(self.type) == BaseType("Tensor")

    @property
    def is_tensor_list(self) -> bool:
        return self.is_list and base_name(self.type) == "Tensor"

    @property
    def is_scalar(self) -> bool:
        """A number of any dtype (`Scalar`), possibly optional."""
        return without_optional(self.type) == BaseType("Scalar")

    @property
    def is_real(self) -> bool:
        """A float, possibly optional: a number that does not depend on a dtype."""
        return without_optional(self.type) == BaseType("float")

    @property
    def is_integral(self) -> bool:
        """An int or a bool, which does not depend on a dtype either."""
        return self.type in (BaseType("int"), BaseType("SymInt"), BaseType("bool"))

    @property
    def is_optional(self) -> bool:
        return isinstance(self.type, OptionalType)

    @property
    def takes_none(self) -> bool:
        """True for an optional argument, and for a list that is empty by default, for which None stands as in torch."""
        return self.is_optional or (self.is_list and self.default is not None and self.default.value == ())

    @property
    def is_list(self) -> bool:
        return isinstance(without_optional(self.type), ListType)

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.is_write


@dataclass(frozen=True)
class Return:
    """A result of a schema."""

    type: Type
    name: str | None = None
    alias: Alias | None = None
    offset: int = _offset()

    def __str__(self) -> str:
        spelled = _spell(self.type, self.alias)
        return spelled if self.name is None else f"{spelled} {self.name}"

    @property
    def is_tensor(self) -> bool:
        return self.type == BaseType("Tensor")

    @property
    def is_tensor_list(self) -> bool:
        return isinstance(self.type, ListType) and base_name(self.type) == "Tensor"

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.is_write


@dataclass(frozen=True)
class OperatorName:
    """`add_.Tensor`: base `add`, in place, overload `Tensor`; `__iand__`: base `and`, in place, dunder."""

    base: str
    overload: str = ""
    inplace: bool = False
    dunder: bool = False
    namespace: str = ""
    offset: int = _offset()
    overload_offset: int = _offset()

    @property
    def identifier(self) -> str:
        """The name in Python, without namespace and overload."""
        if self.dunder:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        return self.base + ("_" if self.inplace else "")

    def __str__(self) -> str:
        namespace = f"{self.namespace}::" if self.namespace else ""
        return namespace + self.identifier + (f".{self.overload}" if self.overload else "")


class SchemaKind(Enum):
    """The kind of a schema, by where results go."""

    FUNCTIONAL = "functional"
    INPLACE = "inplace"
    OUT = "out"
    MUTABLE = "mutable"


@dataclass(frozen=True)
class FunctionSchema:
    """An operator's signature. `out` holds the keyword-only arguments that the result is written to."""

    name: OperatorName
    positional: tuple[Argument, ...] = ()
    keyword_only: tuple[Argument, ...] = ()
    out: tuple[Argument, ...] = ()
    returns: tuple[Return, ...] = ()

    def __str__(self) -> str:
        star = ("*",) if self.keyword_only or self.out else ()
        arguments: Sequence[object] = (*self.positional, *star, *self.keyword_only, *self.out)
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.name}({', '.join(map(str, arguments))}) -> {returns}"

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments but the out ones, in order."""
        return self.positional + self.keyword_only

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        return self.arguments + self.out

    def argument(self, name: str) -> Argument | None:
        return next((argument for argument in self.all_arguments if argument.name == name), None)

    @property
    def self_argument(self) -> Argument | None:
        return next((argument for argument in self.positional if argument.name == "self"), None)

    @property
    def kind(self) -> SchemaKind:
        if self.name.inplace:
            return SchemaKind.INPLACE
        if self.out:
            return SchemaKind.OUT
        if any(argument.is_write for argument in self.positional):
            return SchemaKind.MUTABLE
        return SchemaKind.FUNCTIONAL

    @property
    def returns_value(self) -> bool:
        """True if the result is a value of Python instead of a tensor."""
        return len(self.returns) == 1 and str(self.returns[0]) in ("bool", "int", "Scalar")

    @property
    def returns_alias(self) -> bool:
        """True for views: a result shares memory with an argument that is not written to."""
        return any(result.alias is not None and not result.is_write for result in self.returns)


def _spell(type: Type, alias: Alias | None) -> str:
    return type.spell("" if alias is None else f"({alias})")
