"""The namespace `opweave.distributed.tensor`: tensors whose elements lie on several processes."""

from __future__ import annotations

from . import _handler as _handler  # registers the key
from . import _indexing as _indexing  # these three register operators that are answered otherwise than by rules
from . import _linalg as _linalg
from . import _softmax as _softmax
from ._factories import empty, full, ones, rand, randn, zeros
from ._modules import distribute_module
from ._tensor import DTensor, distribute_tensor
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]
