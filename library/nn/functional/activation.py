"""Random choices among classes."""

from __future__ import annotations

from typing import Any

from ..._operators import empty_like, zeros_like

__all__ = ["gumbel_softmax"]


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """Draw from the Gumbel-softmax distribution (Jang, Gu and Poole, 2017), by the default generator.

    Args:
        logits (Tensor): of any shape, logarithms of probabilities that need not sum to one.
        tau (float): the temperature.
        hard (bool): a one for the class that was drawn and zeros for the others; the gradient is that of the soft one.
        eps: not used.
        dim (int): the dimension of the classes.

    Returns:
        A tensor of the shape and dtype of `logits`.
    """
    noise = -empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return chosen - soft.detach() + soft
