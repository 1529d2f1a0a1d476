"""Distances and angles of vectors."""

from __future__ import annotations

from typing import Any

from ._declared import Call

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Call, call="pairwise_distance", shown=""):
    """Pairwise distance: the p-norm of differences over the last dimension, with `eps` added to each.

    Example:
        >>> opweave.nn.PairwiseDistance()(opweave.tensor([[0.0, 0.0]]), opweave.tensor([[3.0, 4.0]]))
        tensor([5.0000])
    """

    p: float = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        # torch's name of the exponent, in files that it has written.
        super().__setstate__({"p": state["norm"], **state} if "norm" in state else state)


class CosineSimilarity(Call, call="cosine_similarity", shown=""):
    """Cosine similarity of vectors along `dim`; `eps` is the least length.

    Example:
        >>> opweave.nn.CosineSimilarity(dim=1)(opweave.tensor([[1.0, 0.0]]), opweave.tensor([[1.0, 1.0]]))
        tensor([0.7071])
    """

    dim: int = 1
    eps: float = 1e-8
