"""opweave.utils.einops_backend: makes einops take tensors. It is imported after einops (_names/import_hooks.py)."""

from __future__ import annotations

import sys
from typing import Any

from .._base.lazy_imports import load

_backends: Any = load("einops._backends")


class OpweaveBackend(_backends.TorchBackend):  # type: ignore[misc]
    """The backend that einops uses for tensors. It finds the class among those derived from its own."""

    framework_name = "opweave"

    def __init__(self) -> None:
        self.torch = sys.modules["opweave"]

    def layers(self) -> Any:
        """Raise NotImplementedError: there are no layers of einops for opweave."""
        raise NotImplementedError("einops has no layers for opweave: call einops.rearrange and the like in forward()")
