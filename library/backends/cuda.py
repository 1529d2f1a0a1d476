"""`opweave.backends.cuda`: nothing is built for CUDA."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


def is_built() -> bool:
    """Return whether this build is for CUDA: False."""
    return False


class _Matmul:
    """Switches of products on CUDA devices."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False


matmul = _Matmul()
