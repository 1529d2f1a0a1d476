"""The reductions that processes apply to their tensors, and which combination of the core each of them is."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

__all__ = ["ReduceOp", "combination", "factor_of", "kind_of"]


class RedOpType(IntEnum):
    """The kinds of reductions."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


class ReduceOp:
    """A reduction: one of the kinds SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR and PREMUL_SUM, which are attributes.

    AVG divides the sum by the number of ranks, that of integers toward zero. PREMUL_SUM multiplies by a factor before
    it adds. Sums and products of truth values are those of logic.
    """

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: Any = RedOpType.SUM, factor: Any = None) -> None:
        self.op = op
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReduceOp):
            return (self.op, self.factor) == (other.op, other.factor)
        return bool(self.op == other)

    def __hash__(self) -> int:
        return hash(self.op)


_COMBINATIONS = {
    RedOpType.SUM: 0,
    RedOpType.AVG: 0,
    RedOpType.PREMUL_SUM: 0,
    RedOpType.PRODUCT: 1,
    RedOpType.MIN: 2,
    RedOpType.MAX: 3,
    RedOpType.BAND: 4,
    RedOpType.BOR: 5,
    RedOpType.BXOR: 6,
}
"""The numbers of runtime/core/python/messages.c."""


def kind_of(op: Any) -> RedOpType:
    """The kind of a reduction, which may be given as a kind.

    Raises:
        TypeError: it is no reduction.
    """
    kind = op.op if isinstance(op, ReduceOp) else op
    if not isinstance(kind, RedOpType):
        raise TypeError(f"expected a ReduceOp, but got {op!r} of type {type(op)}")
    return kind


def combination(kind: RedOpType) -> int:
    """The number by which the core knows the operator that combines two elements."""
    return _COMBINATIONS[kind]


def factor_of(op: Any) -> Any:
    """The factor of PREMUL_SUM; None of others."""
    return op.factor if isinstance(op, ReduceOp) else None
