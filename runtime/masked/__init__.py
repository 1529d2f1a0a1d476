"""opweave.masked: tensors some of whose elements do not count, and functions of those that do, as in torch.masked."""

from __future__ import annotations

from . import functions
from .functions import *  # noqa: F403
from .maskedtensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
__all__ += functions.__all__
