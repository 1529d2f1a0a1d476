"""opweave.utils: tools around tensors, as in torch.utils."""

from . import benchmark as benchmark

__all__ = ["benchmark"]
