"""The rest of linear algebra, which each process computes of whole matrices, up to a size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._base.handles import tensors_in
from ...._dispatch.op import Op
from ...._dispatch.ops import ops
from ._matrices import answer, is_split

GATHERED_BYTES = 2**27
"""The most bytes of a tensor that is gathered: a matrix of 4096 rows and columns in float64."""


def gather(op: Op, args: Sequence[Any], described: Any) -> Any:
    """Refuse matrices that are too large."""
    for each in tensors_in(args):
        nbytes = each.numel() * each.dtype.itemsize
        if is_split(each) and nbytes > GATHERED_BYTES:
            raise RuntimeError(
                f"{op.name}() of a sharded matrix is computed by each process of all elements, up to "
                f"{GATHERED_BYTES >> 20} MiB. This tensor of the sizes {tuple(each.shape)} has {nbytes >> 20} MiB: "
                "call the function with its full_tensor() if there is memory for it in each process"
            )
    return NotImplemented


answer(
    gather,
    ops.lapack_geev,
    ops.lapack_gels,
    ops.lapack_gesdd,
    ops.lapack_potri,
    ops.lapack_syevd,
    ops.lapack_sytrf,
    ops.lapack_sytrs,
    ops.linalg_matrix_exp,
)
