"""All parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._base.tensor_class import Tensor
from ..._operators import cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the elements of all parameters, one after the other."""
    return cat([each.reshape(-1) for each in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give parameters the elements of a vector, whose memory they share.

    Raises:
        TypeError: it is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected opweave.Tensor, but got: {type(vec).__name__}")
    first = 0
    for each in parameters:
        count = each.numel()
        each.data = vec[first : first + count].view_as(each).data
        first += count
