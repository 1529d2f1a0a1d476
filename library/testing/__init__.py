"""opweave.testing: comparisons of tensors up to rounding errors, and tensors to test with, as in torch.testing."""

from __future__ import annotations

from typing import Any as _Any

from .._names.module_names import submodule as _submodule
from .comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]


def __getattr__(name: str) -> _Any:
    return _submodule(__name__, name)
