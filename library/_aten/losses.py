"""Losses whose `reduction` is a number: 0, the default, for the losses themselves, 1 for their mean, 2 for their sum.

Shapes, dtypes and errors are those of the functions of these names in `nn.functional`.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

from .._base.type_names import wrong_type
from .._tensor.tensor import Tensor
from ..nn import functional

_WORDS = {1: "mean", 2: "sum"}


def _word(function: str, reduction: Any, position: int) -> str:
    if isinstance(reduction, bool) or not isinstance(reduction, int):
        raise wrong_type(function, "reduction", "int", reduction, position)
    return _WORDS.get(reduction, "none")


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div` with a number for `reduction`; the mean is one over all elements."""
    word = _word("kl_div", reduction, 3)
    losses = functional.kl_div(input, target, reduction="none", log_target=log_target)
    return losses if word == "none" else getattr(losses, word)()


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`nn.functional.poisson_nll_loss` with a number for `reduction`, and no defaults."""
    word = _word("poisson_nll_loss", reduction, 6)
    return functional.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=word)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss` with a number for `reduction`."""
    word = _word("triplet_margin_loss", reduction, 8)
    return functional.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=word)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """`nn.functional.hinge_embedding_loss` with a number for `reduction`."""
    word = _word("hinge_embedding_loss", reduction, 4)
    return functional.hinge_embedding_loss(input, target, margin, reduction=word)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.margin_ranking_loss` with a number for `reduction`."""
    word = _word("margin_ranking_loss", reduction, 5)
    return functional.margin_ranking_loss(input1, input2, target, margin, reduction=word)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Tensor:
    """`nn.functional.cosine_embedding_loss` with a number for `reduction`."""
    word = _word("cosine_embedding_loss", reduction, 5)
    return functional.cosine_embedding_loss(input1, input2, target, margin, reduction=word)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits` with a number for `reduction`, behind the weights."""
    word = _word("binary_cross_entropy_with_logits", reduction, 5)
    return functional.binary_cross_entropy_with_logits(input, target, weight, reduction=word, pos_weight=pos_weight)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss` with a number for `reduction`."""
    word = _word("ctc_loss", reduction, 6)
    return functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)
