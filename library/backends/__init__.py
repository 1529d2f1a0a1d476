"""The namespace `opweave.backends`: which libraries and devices compute, and switches of those that do not.

Programs set `backends.cudnn.deterministic` and its like whatever they run on: such a switch keeps its value, and
nothing asks for it.
"""

from __future__ import annotations

from typing import Any

from .._names.module_names import submodule
from . import cpu, cuda, cudnn

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]


def __getattr__(name: str) -> Any:
    return submodule(__name__, name)
