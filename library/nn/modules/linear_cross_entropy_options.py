"""Options of the cross entropy of a linear map."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..._base.dtypes import EXPORTS

__all__ = ["LinearCrossEntropyOptions"]

_POLICIES = ("auto", "accurate", "balanced", "compact")
_DTYPES = ("float16", "bfloat16", "float32", "float64")


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Options by which linear_cross_entropy splits a batch, so that there are never scores of all of it.

    Args:
        allow_retain_graph (bool): without effect; graphs can be kept.
        batch_chunk_size (int): how many rows are computed at once.
        chunking_method (str): `aspect_ratio`: as many rows as have scores of the size of the input; `aspect_ratio:N`, a
            Nth of these; `auto`: the half; None: `batch_chunk_size` says.
        acc_policy (str), acc_dtype (dtype): without effect.

    Raises:
        ValueError: there is no such policy, method, size or dtype.

    Example:
        >>> options = opweave.nn.LinearCrossEntropyOptions(batch_chunk_size=2, chunking_method=None)
        >>> loss = opweave.nn.LinearCrossEntropyLoss(8, 5, options=options)
        >>> loss(opweave.ones(3, 8), opweave.tensor([0, 2, 4])).shape
        opweave.Size([])
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, mark, factor = self.chunking_method.partition(":")
            if name != "aspect_ratio" or (mark and not (factor.isdigit() and int(factor))):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype is not None and self.acc_dtype not in [EXPORTS[each] for each in _DTYPES]:
            raise ValueError(f"acc_dtype must be None, float16, bfloat16, float32 or float64, got {self.acc_dtype!r}")

    def rows_of_chunk(self, rows: int, features: int, classes: int) -> int:
        """Return how many of so many rows are computed at once."""
        if self.batch_chunk_size is not None or self.chunking_method is None:
            return max(self.batch_chunk_size or rows, 1)
        factor = self.chunking_method.partition(":")[2] or ("2" if self.chunking_method == "auto" else "1")
        share = -(-rows // max(-(-classes // max(features, 1)), 1))
        return max((1 << max(share - 1, 0).bit_length()) // int(factor), 1)
