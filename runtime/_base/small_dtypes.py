"""Dtypes of integers of one to seven bits: names with facts and no tensors, as torch computes with none of them."""

from __future__ import annotations

from typing import NoReturn

from .dtypes import EXPORTS, dtype

__all__ = [
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
]


class _SmallDtype(dtype):
    """The dtype of integers of less than eight bits, which take a byte each."""

    __slots__ = ()
    __module__ = "opweave"

    def _refuse(self, function: str) -> NoReturn:
        raise NotImplementedError(f'"{function}" not implemented for {self.scalar_name!r}')


def _make(name: str, is_signed: bool, bits: int) -> dtype:
    result = object.__new__(_SmallDtype)
    byte = EXPORTS["int8" if is_signed else "uint8"]
    maximum = (1 << (bits - is_signed)) - 1
    for attribute, value in {
        "_name": name,
        "code": byte.code,
        "itemsize": byte.itemsize,
        "is_signed": is_signed,
        "minimum": -maximum - 1 if is_signed else 0,
        "maximum": maximum,
        "scalar_name": f"{'' if is_signed else 'U'}Int{bits}",
        **dict.fromkeys(("is_floating_point", "is_complex", "is_integer", "promotes"), False),
        **dict.fromkeys(("numpy_name", "method", "typecode", "limits")),
    }.items():
        object.__setattr__(result, attribute, value)
    object.__setattr__(result, "cpp_name", result.scalar_name)
    return result


int1, int2, int3, int4, int5, int6, int7 = (_make(f"int{bits}", True, bits) for bits in range(1, 8))
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = (_make(f"uint{bits}", False, bits) for bits in range(1, 8))
