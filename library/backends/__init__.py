"""The namespace `opweave.backends`: which libraries and devices compute, and switches of those that do not.

Programs set `backends.cudnn.deterministic` and its like whatever they run on: such a switch keeps its value, and
nothing asks for it.
"""

from __future__ import annotations

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
