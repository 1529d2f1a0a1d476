"""NumPy's Fourier transforms with the interface of `ducc0.fft`, as far as transforms.py uses it.

NumPy is there in any case, and has no threads for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

_Norm: TypeAlias = Literal["backward", "ortho", "forward"]
_NORMS: Mapping[bool, tuple[_Norm, _Norm, _Norm]] = {
    True: ("backward", "ortho", "forward"),
    False: ("forward", "ortho", "backward"),
}
"""By direction: how NumPy calls the normalizations 0, 1 and 2."""


def c2c(a: Any, *, axes: Sequence[int], forward: bool = True, inorm: int, out: Any, nthreads: int) -> None:
    transform = np.fft.fftn if forward else np.fft.ifftn
    out[...] = transform(a, axes=axes, norm=_NORMS[forward][inorm])


def r2c(a: Any, *, axes: Sequence[int], inorm: int, out: Any, nthreads: int) -> None:
    out[...] = np.fft.rfftn(a, axes=axes, norm=_NORMS[True][inorm])


def c2r(a: Any, *, axes: Sequence[int], lastsize: int, forward: bool, inorm: int, out: Any, nthreads: int) -> None:
    (axis,) = axes
    out[...] = np.fft.irfft(a, lastsize, axis, _NORMS[forward][inorm])
