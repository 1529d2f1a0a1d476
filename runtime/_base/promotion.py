"""The dtype of an operation on several: the core's rules of promotion, for Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._C import lib
from . import handles
from .allocation import allocate
from .dtypes import BY_CODE, QUANTIZED, dtype
from .errors import raise_pending
from .handles import type_name, wrap

if TYPE_CHECKING:
    from .._operators import Number
    from .._tensor.tensor import Tensor

__all__ = ["can_cast", "promote_types", "result_type"]

# For each dtype an empty tensor, which stands for it in a question to the core.
_samples: dict[int, Any] = {}


def _sample(dtype: dtype) -> Any:
    if dtype.code not in _samples:
        _samples[dtype.code] = allocate((0,), dtype.code)
    return _samples[dtype.code]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the smallest dtype that holds the values of both dtypes. Raises TypeError for anything but dtypes."""
    for position, value in enumerate((type1, type2), 1):
        if not isinstance(value, dtype):
            raise TypeError(
                f"promote_types(): argument 'type{position}' (position {position}) must be opweave.dtype, not "
                f"{type_name(value)}"
            )
    if type(type1) is not dtype or type(type2) is not dtype:  # of elements that the core does not know
        if type1 is type2:
            return type1
        if not {type1, type2} & {*QUANTIZED.values()}:
            raise RuntimeError(
                "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                f"{type1.scalar_name} and {type2.scalar_name}"
            )
        raise RuntimeError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
            f"offending types: {type1.scalar_name} {type2.scalar_name}"
        )
    first, second = _sample(type1), _sample(type2)
    return common_dtype(first._h, second._h)


def can_cast(from_: dtype, to: dtype) -> bool:
    """Return whether a result of dtype `from_` may be stored in a tensor of dtype `to`: whether its kind (bool,
    integer, floating, complex) does not come after that of `to`.
    """
    for position, (name, value) in enumerate((("from_", from_), ("to", to)), 1):
        if not isinstance(value, dtype):
            raise TypeError(
                f"can_cast(): argument '{name}' (position {position}) must be opweave.dtype, not {type_name(value)}"
            )
    return bool(lib.can_cast(from_.code, to.code))


def result_type(tensor1: Tensor | Number, tensor2: Tensor | Number) -> dtype:
    """Return the dtype of an arithmetic operation on two tensors or numbers.

    Numbers and tensors without dimensions only count where their kind comes after that of the other operand.
    """
    operands = [_operand(position, value) for position, value in enumerate((tensor1, tensor2), 1)]
    return common_dtype(operands[0]._h, operands[1]._h)


def common_dtype(first: float, second: float) -> dtype:
    """The dtype of the operation on two handles. Raises RuntimeError where their dtypes do not combine."""
    code = lib.result_type(first, second)
    if code < 0:
        raise_pending()
    return BY_CODE[code]


def _operand(position: int, value: Any) -> Any:
    if isinstance(value, handles.Tensor):
        return value
    if isinstance(value, bool):
        return wrap(lib.number_b(value))
    if isinstance(value, int):
        return wrap(lib.number_i(max(-1, min(value, 1))))  # only the kind of number matters
    if isinstance(value, float):
        return wrap(lib.number_d(value))
    if isinstance(value, complex):
        return wrap(lib.number_c(value.real, value.imag))
    raise TypeError(
        f"result_type(): argument 'tensor{position}' (position {position}) must be Tensor, not {type_name(value)}"
    )
