"""opweave.masked: tensors some of whose elements do not count, and functions of those that do, as in torch.masked."""

# ruff: noqa: F405 (the names in __all__ are those of the modules, in full for type checkers)
from __future__ import annotations

from .functions import *  # noqa: F403
from .maskedtensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor",
    "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm", "normalize", "prod",
    "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
