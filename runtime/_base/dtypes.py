"""The dtypes: one object for each row of the generated table `_dtypes.TABLE`, with PyTorch's names.

`EXPORTS` has every name under which a dtype is known (`float16`, `half`); the package exports them all.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._C import lib
from .._dtypes import TABLE, Limits, Row
from .lazy_imports import load
from .notes import noted
from .shown_name import qualified
from .type_names import type_name

__all__ = ["BY_CODE", "EXPORTS", "OF_ELEMENTS", "QUANTIZED", "dtype", "get_default_dtype", "set_default_dtype"]


class dtype:  # noqa: N801 (PyTorch's name)
    """The type of the elements of a tensor. There is one object for each dtype, so `is` compares them."""

    __slots__ = (
        "_name",
        "code",
        "cpp_name",
        "is_complex",
        "is_floating_point",
        "is_integer",
        "is_signed",
        "itemsize",
        "limits",
        "maximum",
        "method",
        "minimum",
        "numpy_name",
        "promotes",
        "scalar_name",
        "typecode",
    )
    # Pickled as a global of this module, by name.
    __module__ = "opweave"

    _name: str
    code: int
    """The number in the core."""
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    is_integer: bool
    """False for bool."""
    minimum: int
    """The range of values of integers and bool."""
    maximum: int
    method: str | None
    """The method of Tensor that converts to it."""
    numpy_name: str | None
    """The name in NumPy; None where NumPy has no such dtype."""
    scalar_name: str
    """The name in `FloatTensor` and the like."""
    cpp_name: str
    """The type of torch's elements, which messages about numbers have that do not fit."""
    limits: Limits | None
    """The limits of floating dtypes: bits of the significand, lowest and largest number, smallest normal one."""
    promotes: bool
    """False: it combines with no other dtype, and few operators take it."""
    typecode: str | None
    """The code in the modules `array` and `struct`, for complex dtypes that of the parts; None where they have no such
    type."""

    def __new__(cls, *args: Any, **kwargs: Any) -> dtype:
        raise TypeError("cannot create 'opweave.dtype' instances")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of 'opweave.dtype' objects is not writable")

    def __repr__(self) -> str:
        return qualified(self._name)

    def __reduce__(self) -> str:
        return self._name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self

    @property
    def __numpy_dtype__(self) -> Any:
        """NumPy's dtype of the same elements, which `numpy.dtype` asks for; AttributeError where NumPy has none."""
        if self.numpy_name is None:
            raise AttributeError(f"NumPy has no dtype for {self!r}")
        return load("numpy").dtype(self.numpy_name)

    @property
    def name(self) -> str:
        """The name without that of the package, as NumPy's dtypes have it: libraries look for it."""
        return self._name

    @property
    def kind(self) -> str:
        """The letter for its kind as NumPy's dtypes have it: one of `biufc`."""
        if self.is_complex:
            return "c"
        if self.is_floating_point:
            return "f"
        return "b" if not self.is_integer else "i" if self.is_signed else "u"

    def to_real(self) -> dtype:
        """The dtype of the parts of a complex dtype; any other itself."""
        return EXPORTS[_PARTS[self._name]] if self.is_complex else self

    def to_complex(self) -> dtype:
        """The complex dtype whose parts hold the values of this floating one."""
        if self.is_complex:
            return self
        if not (self.is_floating_point and self.promotes):
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return next((EXPORTS[name] for name, part in _PARTS.items() if part == self._name), EXPORTS["complex64"])

    def _refuse(self, function: str) -> NoReturn:
        """Raise the error that no function makes such elements: for dtypes that are no rows of the table."""
        raise NotImplementedError

    @staticmethod
    def resolve(value: Any, function: str) -> dtype:
        """The dtype that a user meant: a dtype, or one of Python's types. `function` is named in the error."""
        if type(value) is dtype:
            return value
        if isinstance(value, type) and value in _OF_PYTHON_TYPES:
            return _OF_PYTHON_TYPES[value]
        if isinstance(value, dtype):
            value._refuse(function)
        raise advised(TypeError(f"{function}(): argument 'dtype' must be opweave.dtype, not {type_name(value)}"), value)


def advised(error: Exception, value: object) -> Exception:
    """The error, with a note that says what to write where the value is the name of a dtype, or NumPy's class of it."""
    name = value if isinstance(value, str) else getattr(value, "__name__", None)
    return noted(error, f"Write opweave.{name}.") if name in EXPORTS else error


_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_INTEGER_TYPECODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATING_TYPECODES = {4: "f", 8: "d"}


def _typecode(kind: str, itemsize: int) -> str | None:
    if kind == "complex":
        return _FLOATING_TYPECODES.get(itemsize // 2)
    if kind == "floating":
        return _FLOATING_TYPECODES.get(itemsize)
    code = _INTEGER_TYPECODES[itemsize]
    return code if kind == "signed" else code.upper()


def _make(row: Row) -> dtype:
    name, code, itemsize, kind, numpy_name, _, scalar_name, method, is_signed, cpp_name, promotes, limits = row
    result = object.__new__(dtype)
    bits = 8 * itemsize
    integer = kind in ("signed", "unsigned")
    minimum = -(1 << (bits - 1)) if kind == "signed" else 0
    maximum = minimum + (1 << bits) - 1 if integer else int(kind == "bool")
    for attribute, value in {
        "_name": name,
        "code": code,
        "itemsize": itemsize,
        "is_floating_point": kind == "floating",
        "is_complex": kind == "complex",
        "is_signed": is_signed,
        "is_integer": integer,
        "minimum": minimum,
        "maximum": maximum,
        "numpy_name": numpy_name,
        "scalar_name": scalar_name,
        "method": method,
        "typecode": _typecode(kind, itemsize),
        "cpp_name": cpp_name,
        "limits": limits,
        "promotes": promotes,
    }.items():
        object.__setattr__(result, attribute, value)
    return result


class _QuantizedDtype(dtype):
    """The dtype of elements of which integers of another one are in memory. The core and its kernels know that alone,
    and by its number."""

    __slots__ = ("memory",)
    __module__ = "opweave"

    memory: dtype | None
    """None: such elements are smaller than a byte, and nothing computes with them."""

    def _refuse(self, function: str) -> NoReturn:
        raise RuntimeError(
            f"{function}() cannot make elements of {self!r}, which need a scale and a zero point: quantize a float "
            "tensor with quantize_per_tensor() or quantize_per_channel()"
        )

    @property
    def is_signed(self) -> bool:  # type: ignore[override]
        raise RuntimeError("isSignedType not supported for quantized types")


def _make_quantized(name: str, memory: str | None, scalar_name: str) -> dtype:
    result = object.__new__(_QuantizedDtype)
    integers = EXPORTS[memory or "uint8"]
    for attribute, value in {
        "_name": name,
        "code": integers.code,
        "memory": integers if memory else None,
        "scalar_name": scalar_name,
        **{each: getattr(integers, each) for each in ("itemsize", "minimum", "maximum")},
        **dict.fromkeys(("is_floating_point", "is_complex", "is_integer"), False),
        **dict.fromkeys(("numpy_name", "method", "typecode", "limits")),
        "cpp_name": scalar_name,
        "promotes": False,
    }.items():
        object.__setattr__(result, attribute, value)
    return result


BY_CODE: tuple[dtype, ...] = tuple(_make(row) for row in sorted(TABLE, key=lambda row: row[1]))
"""The dtypes by the core's number."""

EXPORTS: dict[str, dtype] = {name: BY_CODE[code] for first, code, _, _, _, more, *_ in TABLE for name in (first, *more)}
"""Every name of every dtype."""

QUANTIZED: dict[str, dtype] = {
    name: _make_quantized(name, memory, scalar_name)
    for name, memory, scalar_name in (
        ("qint8", "int8", "QInt8"),
        ("quint8", "uint8", "QUInt8"),
        ("qint32", "int32", "QInt32"),
        ("quint4x2", None, "QUInt4x2"),
        ("quint2x4", None, "QUInt2x4"),
    )
}
"""The dtypes of quantized tensors, by name."""

qint8, quint8, qint32, quint4x2, quint2x4 = QUANTIZED.values()

OF_ELEMENTS: dict[int, dtype] = {each.code: each for each in BY_CODE}
"""The dtypes of elements by the number that `lib.element_dtype` gives: that of the memory, and of quantized elements so
many more."""
for _each in QUANTIZED.values():
    if (_memory := getattr(_each, "memory", None)) is not None:
        OF_ELEMENTS[len(BY_CODE) + _memory.code] = _each

BY_NUMPY_NAME: dict[str, dtype] = {each.numpy_name: each for each in BY_CODE if each.numpy_name}

_OF_PYTHON_TYPES: dict[type, dtype] = {
    bool: EXPORTS["bool"],
    int: EXPORTS["int64"],
    float: EXPORTS["float64"],
    complex: EXPORTS["complex128"],
}


def set_default_dtype(d: dtype) -> None:
    """Sets the dtype of tensors made from Python floats, which is also that of quotients of integers.

    Example:
        >>> opweave.set_default_dtype(opweave.float64)
        >>> opweave.tensor(0.5).dtype
        opweave.float64
        >>> opweave.set_default_dtype(opweave.float32)
    """
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if not d.promotes:
        raise TypeError(f"couldn't find storage object {d.scalar_name}Storage")
    lib.set_default_dtype(d.code)


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats: float32 unless set otherwise.

    Example:
        >>> opweave.get_default_dtype()
        opweave.float32
    """
    return BY_CODE[lib.get_default_dtype()]
