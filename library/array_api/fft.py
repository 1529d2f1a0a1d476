"""opweave.array_api.fft: the extension of the standard for Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._derive import functions
from ._signatures import FFT

_MADE = functions(FFT)
globals().update(_MADE)

__all__ = [*_MADE]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # what is derived
