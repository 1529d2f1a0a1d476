"""opweave.array_api.linalg: the extension of the standard for linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._derive import functions
from ._products import cross, matmul, solve, tensordot, trace, vecdot, vector_norm
from ._signatures import LINALG, SIGNATURES

_TRANSPOSE = "matrix_transpose(x, /)"
_MADE = functions({**LINALG, _TRANSPOSE: SIGNATURES[_TRANSPOSE]})
globals().update(_MADE)

__all__ = [*_MADE, "cross", "matmul", "solve", "tensordot", "trace", "vecdot", "vector_norm"]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # what is derived
