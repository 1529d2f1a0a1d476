"""Common parts of modules whose results are quantized by a scale and a zero point of their own."""

from __future__ import annotations

from typing import Any

from ...._tensor.construct import tensor
from ....nn.modules.module import Module


class Scaled(Module):
    """A module with a scale and a zero point, which its state has as tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0
        self.zero_point = 0

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = tensor(self.scale)
        destination[prefix + "zero_point"] = tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, metadata: Any, strict: bool, *rest: Any) -> None:
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, metadata, False, *rest)
