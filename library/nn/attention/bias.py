"""opweave.nn.attention.bias: masks by which queries see the keys before them."""

from __future__ import annotations

import warnings
from enum import IntEnum
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._dispatch.subclass import disabled
from ..._operators import ones
from ..._tensor.tensor import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """The corner in which the triangle of a mask begins, where there are not as many queries as keys."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask of queries by keys, True where a query sees a key. What is computed of it is a plain tensor.

    Args:
        variant (CausalVariant): whether the first query sees the first key alone, or the last query all keys.
        seq_len_q, seq_len_kv (int): the numbers of queries and keys.

    Raises:
        AssertionError: there is no such variant.
    """

    __torch_function__ = disabled

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        offset = seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0
        if offset < 0:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", stacklevel=3
            )
        mask: Any = ones(seq_len_q, seq_len_kv, dtype=EXPORTS["bool"]).tril(offset)
        made: CausalBias = mask.as_subclass(cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        pass


def causal_upper_left(*size: int) -> CausalBias:
    """Return the mask of so many queries and keys in which the first query sees the first key alone.

    Raises:
        AssertionError: there are not two sizes.
    """
    return _made(CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return the mask of so many queries and keys in which the last query sees all keys.

    Raises:
        AssertionError: there are not two sizes.
    """
    return _made(CausalVariant.LOWER_RIGHT, size)


def _made(variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{variant.name.lower()} only supports 2D tensors")
    return CausalBias(variant, *size)
