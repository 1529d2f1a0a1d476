"""opweave.utils._python_dispatch: modes that see every operator, as in torch.utils._python_dispatch."""

from __future__ import annotations

from .._dispatch.modes import TorchDispatchMode

__all__ = ["TorchDispatchMode"]
