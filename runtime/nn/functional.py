"""opweave.nn.functional: activations and the like, as in torch.nn.functional. The operators come from ops.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _nn_functional, _operators
from .._nn_functional import *  # noqa: F403 (the generated module has __all__)

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = [*_nn_functional.__all__, "dropout"]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to zero with probability `p` when training, and multiply the others by `1 / (1 - p)`.

    Shape and dtype are those of `input`, which is overwritten if `inplace`. Raises ValueError if `p` is not between
    0 and 1. `opweave.dropout` is the same without defaults.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    result = _operators.dropout(input, p, training)
    return input.copy_(result) if inplace else result
