"""The table of dtypes: names, codes, C and NumPy spellings, classes, and the rules by which they combine.

Reads nothing; every other module of codegen asks this one. A new dtype is a row here, so callers take what they
need from the fields and never list dtypes themselves.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType


class Kind(enum.Enum):
    """The kind of number that a dtype holds."""

    BOOL = "bool"
    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FLOATING = "floating"
    COMPLEX = "complex"
    LIST = "list"
    """INT_LIST alone, which holds no number."""

    @property
    def category(self) -> int:
        """Rank in type promotion: an operand of a higher category decides the dtype of the result."""
        return _CATEGORIES[self]


_DLPACK_CODES = {Kind.SIGNED: 0, Kind.UNSIGNED: 1, Kind.FLOATING: 2, Kind.COMPLEX: 5, Kind.BOOL: 6}
_CATEGORIES = {Kind.BOOL: 0, Kind.UNSIGNED: 1, Kind.SIGNED: 1, Kind.FLOATING: 2, Kind.COMPLEX: 3, Kind.LIST: 4}


class Specials(enum.Enum):
    """The special values of a floating format: infinities and NaN."""

    IEEE = "infinities and NaN have the largest exponent"
    FN = "no infinity; NaN are the numbers without a sign bit that are all ones, and their negatives"
    FNUZ = "no infinity and no negative zero, whose bits are NaN"


@dataclass(frozen=True)
class Format:
    """A binary floating format: numbers are ± significand · 2 ** exponent, and subnormal ones where it has a sign."""

    bits: int
    precision: int
    """Bits of the significand, with the one that is not stored."""
    bias: int
    """The bias of the exponent: what is stored is the number's exponent plus this."""
    specials: Specials = Specials.IEEE
    signed: bool = True
    """False: neither negative numbers nor zero. The format holds powers of two alone."""
    saturates: bool = False
    """True if numbers beyond the range, also infinite ones, become the largest one rather than infinity or NaN."""

    @property
    def magnitudes(self) -> int:
        """The number of codes without the sign bit."""
        return 1 << (self.bits - self.signed)

    @property
    def stored(self) -> int:
        """Bits of the significand that are stored."""
        return self.precision - 1

    @property
    def largest_code(self) -> int:
        """The code of the largest finite number."""
        last = 1 << self.stored if self.specials is Specials.IEEE else int(self.specials is Specials.FN)
        return self.magnitudes - 1 - last

    @property
    def overflow_code(self) -> int:
        """The code of positive numbers beyond the range."""
        if self.saturates:
            return self.largest_code
        return self.largest_code + 1 if self.specials is Specials.IEEE else self.nan_code

    @property
    def nan_code(self) -> int:
        """The code of the NaN that conversions give, without a sign."""
        return self.magnitudes if self.specials is Specials.FNUZ else self.magnitudes - 1

    def value(self, code: int) -> float:
        """The number that a code stands for."""
        magnitude = code & (self.magnitudes - 1)
        exponent, fraction = divmod(magnitude, 1 << self.stored)
        if self.specials is Specials.FNUZ and code == self.nan_code:
            return math.nan
        if magnitude > self.largest_code:
            is_nan = fraction or self.specials is Specials.FN
            return math.nan if is_nan else math.copysign(math.inf, self.magnitudes - code - 1)
        normal = exponent > 0 or not self.signed
        significand = fraction + (normal << self.stored)
        number = math.ldexp(significand, (exponent if normal else 1) - self.bias - self.stored)
        return -number if code >= self.magnitudes else number

    @property
    def largest(self) -> float:
        return self.value(self.largest_code)

    @property
    def lowest(self) -> float:
        return -self.largest if self.signed else self.value(0)

    @property
    def smallest_normal(self) -> float:
        return self.value(1 << self.stored if self.signed else 0)


@dataclass(frozen=True)
class DType:
    """One dtype. `code` is its value in the C enum; `suffix` ends the names of C helpers and kernels."""

    name: str
    code: int
    c_type: str
    itemsize: int
    kind: Kind
    suffix: str
    numpy: str | None
    scalar_name: str
    """The name of torch's C++ type, which messages and names such as `FloatTensor` use."""
    aliases: tuple[str, ...] = ()
    opmath_name: str | None = None
    method: str | None = None
    """The method of Tensor that converts to it, or None."""
    format: Format | None = None
    """The format of a floating dtype; None for other dtypes."""
    dlpack: int | None = None
    """The code of the dtype in DLPack; None: that of its kind."""
    promotes: bool = True
    """False for dtypes to be stored and converted: they combine with no other one, and operators take them only where
    their entries name them."""

    @property
    def opmath(self) -> DType:
        """The dtype in which arithmetic on this one is done."""
        return self if self.opmath_name is None else DTYPES[self.opmath_name]

    @property
    def compute(self) -> bool:
        """True if it has kernels. Other dtypes are cast to `opmath` and back in chunks."""
        return self.opmath_name is None

    @property
    def is_floating(self) -> bool:
        return self.kind is Kind.FLOATING

    @property
    def is_complex(self) -> bool:
        return self.kind is Kind.COMPLEX

    @property
    def to_real(self) -> DType:
        """The dtype of the parts of a complex dtype; any other dtype itself."""
        return DTYPES[_PARTS[self.name]] if self.is_complex else self

    @property
    def to_complex(self) -> DType:
        """The complex dtype whose parts hold the values of this floating dtype."""
        if not self.is_floating:
            return self
        return next((DTYPES[name] for name, part in _PARTS.items() if part == self.name), COMPLEX64)

    @property
    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        """True if it has negative numbers."""
        return self.format.signed if self.format else self.kind in (Kind.SIGNED, Kind.COMPLEX)

    @property
    def dlpack_code(self) -> int:
        return _DLPACK_CODES[self.kind] if self.dlpack is None else self.dlpack

    @property
    def is_narrow(self) -> bool:
        """True for a floating dtype of so few bits that tables have all its numbers."""
        return self.is_floating and self.bits == 8

    @property
    def cpp_name(self) -> str:
        """The type of torch's elements as its sources call it, and messages about numbers that do not fit."""
        if self.is_complex:
            return f"c10::complex<{self.to_real.cpp_name}>"
        if self.is_floating and not self.compute:
            return f"c10::{self.scalar_name}"
        return {BOOL: "bool", INT32: "int"}.get(self, self.c_type)

    @property
    def cpp_type(self) -> str:
        """The same as C++ spells it out, which other messages have."""
        return _CPP_TYPES.get(self.c_type, self.c_type) if self.is_integer else self.cpp_name

    @property
    def is_list(self) -> bool:
        return self.kind is Kind.LIST

    @property
    def bits(self) -> int:
        return 8 * self.itemsize

    @property
    def lowest(self) -> int:
        """Smallest value of an integer dtype or bool."""
        return -(1 << (self.bits - 1)) if self.kind is Kind.SIGNED else 0

    @property
    def highest(self) -> int:
        """Largest value of an integer dtype or bool."""
        if self.kind is Kind.BOOL:
            return 1
        return (1 << (self.bits - (self.kind is Kind.SIGNED))) - 1

    def __str__(self) -> str:
        return self.name


_B, _U, _S, _F, _C = Kind.BOOL, Kind.UNSIGNED, Kind.SIGNED, Kind.FLOATING, Kind.COMPLEX

BOOL = DType("bool", 0, "uint8_t", 1, _B, "bool", "bool", "Bool", (), None, "bool")
UINT8 = DType("uint8", 1, "uint8_t", 1, _U, "u8", "uint8", "Byte", (), None, "byte")
# Signed integers of twice the size hold every value of uint16 and uint32, and results are truncated: no kernels needed.
UINT16 = DType("uint16", 2, "uint16_t", 2, _U, "u16", "uint16", "UInt16", (), "int32")
UINT32 = DType("uint32", 3, "uint32_t", 4, _U, "u32", "uint32", "UInt32", (), "int64")
UINT64 = DType("uint64", 4, "uint64_t", 8, _U, "u64", "uint64", "UInt64")
INT8 = DType("int8", 5, "int8_t", 1, _S, "i8", "int8", "Char", (), None, "char")
INT16 = DType("int16", 6, "int16_t", 2, _S, "i16", "int16", "Short", ("short",), None, "short")
INT32 = DType("int32", 7, "int32_t", 4, _S, "i32", "int32", "Int", ("int",), None, "int")
INT64 = DType("int64", 8, "int64_t", 8, _S, "i64", "int64", "Long", ("long",), None, "long")
FLOAT16 = DType(
    "float16", 9, "uint16_t", 2, _F, "f16", "float16", "Half", ("half",), "float32", "half", Format(16, 11, 15)
)
# NumPy has no bfloat16.
BFLOAT16 = DType(
    "bfloat16", 10, "uint16_t", 2, _F, "bf16", None, "BFloat16", (), "float32", "bfloat16", Format(16, 8, 127), 4
)
FLOAT32 = DType(
    "float32", 11, "float", 4, _F, "f32", "float32", "Float", ("float",), None, "float", Format(32, 24, 127)
)
FLOAT64 = DType(
    "float64", 12, "double", 8, _F, "f64", "float64", "Double", ("double",), None, "double", Format(64, 53, 1023)
)
# NumPy and C have no complex halves either: one is stored as a pair of halves.
COMPLEX32 = DType("complex32", 13, "ow_complex32", 4, _C, "c32", None, "ComplexHalf", ("chalf",), "complex64", "chalf")
COMPLEX64 = DType(
    "complex64", 14, "float _Complex", 8, _C, "c64", "complex64", "ComplexFloat", ("cfloat",), None, "cfloat"
)
COMPLEX128 = DType(
    "complex128", 15, "double _Complex", 16, _C, "c128", "complex128", "ComplexDouble", ("cdouble",), None, "cdouble"
)


def _narrow(code: int, name: str, dlpack: int, format: Format) -> DType:
    """A dtype of eight bits: name, C and NumPy spellings follow from that of its format."""
    return DType(
        *(f"float8_{name}", code, "uint8_t", 1, _F, name, None, f"Float8_{name}"),
        opmath_name="float32",
        format=format,
        dlpack=dlpack,
        promotes=False,
    )


NARROW = (
    _narrow(16, "e5m2", 12, Format(8, 3, 15)),
    _narrow(17, "e4m3fn", 10, Format(8, 4, 7, Specials.FN, saturates=True)),
    _narrow(18, "e5m2fnuz", 13, Format(8, 3, 16, Specials.FNUZ)),
    _narrow(19, "e4m3fnuz", 11, Format(8, 4, 8, Specials.FNUZ)),
    _narrow(20, "e8m0fnu", 14, Format(8, 1, 127, Specials.FN, signed=False)),
)
"""Formats of eight bits, in which quantized weights and their scales are stored."""
_CPP_TYPES = {
    "uint8_t": "unsigned char",
    "uint16_t": "short unsigned int",
    "uint32_t": "unsigned int",
    "uint64_t": "long unsigned int",
    "int8_t": "signed char",
    "int16_t": "short int",
    "int32_t": "int",
    "int64_t": "long int",
}
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}

INT_LIST = DType("int64[]", -1, "ow_list", 8, Kind.LIST, "list", None, "")
"""A list of integers, such as a shape or strides: a type of expressions, but no dtype of tensors, so not in DTYPES."""

_ROWS = (
    *(BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64),
    *(FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX32, COMPLEX64, COMPLEX128),
    *NARROW,
)

DTYPES: Mapping[str, DType] = MappingProxyType({dtype.name: dtype for dtype in _ROWS})
"""Every dtype by name, in the order of the codes."""

COMPUTE_DTYPES: tuple[DType, ...] = tuple(dtype for dtype in DTYPES.values() if dtype.compute)

_BY_ALIAS = {alias: dtype for dtype in DTYPES.values() for alias in (dtype.name, *dtype.aliases)}


def lookup(name: str) -> DType | None:
    """The dtype of that name or alias (`half`, `long`, ...)."""
    return _BY_ALIAS.get(name)


def _select(*kinds: Kind) -> frozenset[DType]:
    return frozenset(dtype for dtype in DTYPES.values() if dtype.kind in kinds and dtype.promotes)


EVERY_DTYPE = frozenset(DTYPES.values())


DTYPE_CLASSES: Mapping[str, frozenset[DType]] = MappingProxyType(
    {
        "any": _select(*Kind),
        "all": _select(*(kind for kind in Kind if kind is not Kind.COMPLEX)),
        "bool": _select(Kind.BOOL),
        "signed": _select(Kind.SIGNED),
        "unsigned": _select(Kind.UNSIGNED),
        "integer": _select(Kind.UNSIGNED, Kind.SIGNED),
        "floating": _select(Kind.FLOATING),
        "complex": _select(Kind.COMPLEX),
        "numeric": _select(Kind.UNSIGNED, Kind.SIGNED, Kind.FLOATING),
        "integral_and_bool": _select(Kind.BOOL, Kind.UNSIGNED, Kind.SIGNED),
        "lapack": frozenset(DTYPES[name] for name in ("float32", "float64", "complex64", "complex128")),
        "half": frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating and dtype.itemsize == 2),
        "float8": frozenset(NARROW),
    }
)
"""The classes that ops.yaml may name in place of a dtype. Dtypes that do not promote are in none but their own."""


def lookup_class(name: str) -> frozenset[DType] | None:
    """The dtypes that a word of ops.yaml means: those of a class, or a single one."""
    if name in DTYPE_CLASSES:
        return DTYPE_CLASSES[name]
    dtype = lookup(name)
    return None if dtype is None else frozenset((dtype,))


def ordered(dtypes: frozenset[DType]) -> tuple[DType, ...]:
    """The dtypes sorted by code, so that output does not vary."""
    return tuple(sorted(dtypes, key=lambda dtype: dtype.code))


# ---- promotion --------------------------------------------------------------------------------------------


def promote(first: DType, second: DType) -> DType:
    """The smallest dtype that holds both: torch.promote_types, and NumPy's rule where torch has none (it does not
    combine integers with uint16, uint32 and uint64). Raises ValueError where one of two promotes with no other one."""
    if first == second:
        return first
    if not (first.promotes and second.promotes):
        raise ValueError(f"{first} and {second} do not promote")
    low, high = sorted((first, second), key=lambda dtype: (dtype.kind.category, dtype.itemsize))
    if high.is_complex:
        # The dtypes of the parts are promoted; integers and bool do not affect them.
        parts = promote(low.to_real, high.to_real) if low.is_floating or low.is_complex else high.to_real
        return parts.to_complex
    if low.kind.category < high.kind.category:
        return high
    if high.is_floating:
        # Of two formats of one size neither holds the other; the next larger one holds both.
        return high if low.itemsize < high.itemsize else _wider(Kind.FLOATING, high.itemsize)
    if low.kind is high.kind:
        return high
    signed, unsigned = (low, high) if low.kind is Kind.SIGNED else (high, low)
    if signed.itemsize > unsigned.itemsize:
        return signed
    # No integer dtype holds both int64 and uint64.
    return FLOAT64 if unsigned is UINT64 else _wider(Kind.SIGNED, unsigned.itemsize)


def promote_all(dtypes: list[DType]) -> DType:
    """Return the dtype that several promote to."""
    return reduce(promote, dtypes)


def _wider(kind: Kind, itemsize: int) -> DType:
    wider = [dtype for dtype in _select(kind) if dtype.itemsize > itemsize]
    if not wider:
        raise ValueError(f"no {kind.value} dtype is wider than {8 * itemsize} bits")
    return min(wider, key=lambda dtype: dtype.itemsize)


class Promotion(enum.Enum):
    """Rules by which the dtypes of computation and result follow from the inputs' common dtype (torch's names)."""

    DEFAULT = "default"
    INT_TO_FLOAT = "int_to_float"
    ALWAYS_BOOL = "always_bool"
    BOOL_TO_LONG = "bool_to_long"
    INT_TO_LONG = "int_to_long"
    """Integers and bool are accumulated in int64 (sum, prod, cumsum)."""
    BOOL = "bool"
    """Inputs are converted to bool (any, all); the result is bool, or uint8 for uint8."""
    TO_DOUBLE = "to_double"
    """The promotion of everything to float64 (float_power)."""
    KEEP = "keep"
    """The first input decides, whatever the others are."""

    def resolve(self, common: DType, default_floating: DType = FLOAT32) -> tuple[DType, DType]:
        """Dtypes of computation and of the result, for inputs whose common dtype is `common` (with KEEP: the first
        input's)."""
        if self is Promotion.BOOL:
            return BOOL, common if common == UINT8 else BOOL
        wide = COMPLEX128 if common.is_complex else FLOAT64
        result = wide if self is Promotion.TO_DOUBLE else common
        if not (result.is_floating or result.is_complex):
            if self is Promotion.INT_TO_FLOAT:
                result = default_floating
            elif self is Promotion.INT_TO_LONG or (self is Promotion.BOOL_TO_LONG and common.is_bool):
                result = INT64
        return result.opmath, BOOL if self is Promotion.ALWAYS_BOOL else result
