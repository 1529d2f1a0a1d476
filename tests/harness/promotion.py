"""torch's rules of promotion, said a second time: by tensors with dimensions, without, and Python's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codegen.dtypes import BOOL, COMPLEX64, DTYPES, FLOAT32, INT64, DType, Promotion, promote, promote_all

from .spec import Spec

NUMBERS: dict[type, DType] = {bool: BOOL, int: INT64, float: FLOAT32, complex: COMPLEX64}


def common_dtype(operands: Sequence[tuple[DType, int]]) -> DType:
    """Of operands given by their dtype and rank: 0 for tensors with dimensions, 1 without, 2 for Python's numbers."""
    result: DType | None = None
    for rank in (2, 1, 0):
        dtypes = [dtype for dtype, its_rank in operands if its_rank == rank]
        if dtypes:
            result = promote_all(dtypes) if result is None else _prevail(promote_all(dtypes), result)
    assert result is not None
    return result


def _prevail(higher: DType, lower: DType) -> DType:
    """The higher rank decides, unless the lower one brings a kind of number that it does not have."""
    if higher.is_floating and lower.is_complex:
        return higher.to_complex
    if higher.is_complex or higher.is_floating or (lower.kind.category <= higher.kind.category and not higher.is_bool):
        return higher
    return promote(higher, lower)


def operand(value: Any) -> tuple[DType, int]:
    """A tensor or Python number as common_dtype() takes it."""
    if type(value) in NUMBERS:
        return NUMBERS[type(value)], 2
    dtype: DType = DTYPES[str(value.dtype).rpartition(".")[2]]
    return dtype, 0 if value.ndim else 1


def resolve(spec: Spec, common: DType) -> tuple[DType, DType]:
    """Dtypes of computation and of the result."""
    return Promotion(spec.promotion).resolve(common)


def accepted(spec: Spec, common: DType) -> bool:
    return common.name in spec.dtypes
