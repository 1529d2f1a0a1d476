"""Losses: one call of a function each. `reduction` is `none`, `mean` or `sum`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._ops.losses import reduction_word
from ..._tensor.tensor import Tensor
from ._declared import Loss
from .distance import PairwiseDistance
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """Base of losses that users write, by PyTorch's name: the word that its options mean."""

    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        old = size_average is not None or reduce is not None
        self.reduction = reduction_word(reduction, size_average, reduce) if old else reduction


class _WeightedLoss(_Loss):
    """Base of those with a weight for each class."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(Loss, call="l1_loss"):
    """Mean absolute error: `abs(input - target)`.

    Example:
        >>> opweave.nn.L1Loss()(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]))
        tensor(0.8333)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MSELoss(Loss, call="mse_loss"):
    """Mean squared error: `(input - target) ** 2`.

    Example:
        >>> opweave.nn.MSELoss()(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]))
        tensor(1.4167)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class SmoothL1Loss(Loss, call="smooth_l1_loss"):
    """Smooth L1 loss: `d ** 2 / (2 * beta)` for absolute differences `d` below `beta`, and `d - beta / 2` from there
    on.

    Example:
        >>> opweave.nn.SmoothL1Loss(beta=1.0)(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]))
        tensor(0.5417)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    beta: float = 1.0


class HuberLoss(Loss, call="huber_loss"):
    """Huber loss: `d ** 2 / 2` for absolute differences `d` below `delta`, and `delta * (d - delta / 2)` from there
    on.

    Example:
        >>> opweave.nn.HuberLoss(delta=1.0)(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]))
        tensor(0.5417)
    """

    reduction: str = "mean"
    delta: float = 1.0


class NLLLoss(Loss, call="nll_loss"):
    """Negative log likelihood of classes, by logarithms of probabilities of shape (N, C, *).

    Example:
        >>> loss = opweave.nn.NLLLoss()
        >>> loss(opweave.tensor([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]]).log_softmax(1), opweave.tensor([0, 2]))
        tensor(0.2056)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """The same as NLLLoss.

    Example:
        >>> opweave.nn.NLLLoss2d()(opweave.zeros(1, 2, 2, 2), opweave.zeros(1, 2, 2, dtype=opweave.int64))
        tensor(-0.)
    """


class CrossEntropyLoss(Loss, call="cross_entropy"):
    """Cross entropy of logits, whose softmax is over the second dimension, and classes or their probabilities.

    Example:
        >>> opweave.nn.CrossEntropyLoss()(opweave.tensor([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]]), opweave.tensor([0, 2]))
        tensor(0.2056)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class BCELoss(Loss, call="binary_cross_entropy"):
    """Binary cross entropy of probabilities and targets between 0 and 1.

    Example:
        >>> opweave.nn.BCELoss()(opweave.tensor([0.2, 0.9]), opweave.tensor([0.0, 1.0]))
        tensor(0.1643)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class BCEWithLogitsLoss(Loss, call="binary_cross_entropy_with_logits"):
    """Binary cross entropy of logits and targets between 0 and 1, without overflow.

    Example:
        >>> opweave.nn.BCEWithLogitsLoss()(opweave.tensor([-1.0, 2.0]), opweave.tensor([0.0, 1.0]))
        tensor(0.2201)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    pos_weight: Tensor | None = None


class KLDivLoss(Loss, call="kl_div"):
    """Kullback-Leibler divergence of logarithms of probabilities from targets.

    Example:
        >>> loss = opweave.nn.KLDivLoss(reduction="batchmean")
        >>> loss(opweave.tensor([[0.5, 0.5]]).log(), opweave.tensor([[0.9, 0.1]]))
        tensor(0.3681)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    log_target: bool = False


class PoissonNLLLoss(Loss, call="poisson_nll_loss"):
    """Negative log likelihood of counts under Poisson distributions.

    Example:
        >>> opweave.nn.PoissonNLLLoss()(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]))
        tensor(3.0643)
    """

    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"


class GaussianNLLLoss(Loss, call="gaussian_nll_loss", keyword_only=True):
    """Negative log likelihood under normal distributions: called with input, target, variance.

    Example:
        >>> loss = opweave.nn.GaussianNLLLoss()
        >>> loss(opweave.tensor([1.0, 2.0, 3.0]), opweave.tensor([1.0, 2.5, 5.0]), opweave.ones(3))
        tensor(0.7083)
    """

    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class HingeEmbeddingLoss(Loss, call="hinge_embedding_loss"):
    """Hinge embedding loss: the distance `x` where the target is 1, and `max(0, margin - x)` where it is -1.

    Example:
        >>> opweave.nn.HingeEmbeddingLoss(margin=1.0)(opweave.tensor([0.5, 0.2]), opweave.tensor([1.0, -1.0]))
        tensor(0.6500)
    """

    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class SoftMarginLoss(Loss, call="soft_margin_loss"):
    """Soft margin loss, `log(1 + exp(-target * x))`, for targets 1 and -1.

    Example:
        >>> opweave.nn.SoftMarginLoss()(opweave.tensor([0.5, -1.0]), opweave.tensor([1.0, -1.0]))
        tensor(0.3937)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class CosineEmbeddingLoss(Loss, call="cosine_embedding_loss"):
    """Cosine embedding loss: `1 - cos` where the target is 1, and `max(0, cos - margin)` where it is -1.

    Example:
        >>> loss = opweave.nn.CosineEmbeddingLoss()
        >>> loss(opweave.tensor([[1.0, 0.0]]), opweave.tensor([[1.0, 1.0]]), opweave.tensor([1.0]))
        tensor(0.2929)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MarginRankingLoss(Loss, call="margin_ranking_loss"):
    """Margin ranking loss, `max(0, margin - y * (x1 - x2))` with a target `y` of 1 or -1.

    Example:
        >>> loss = opweave.nn.MarginRankingLoss(margin=0.5)
        >>> loss(opweave.tensor([1.0, 2.0]), opweave.tensor([0.8, 3.0]), opweave.tensor([1.0, 1.0]))
        tensor(0.9000)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MultiMarginLoss(Loss, call="multi_margin_loss"):
    """Multi-class margin loss: the sum over other classes `j` of `max(0, margin - x[target] + x[j]) ** p`, divided by
    the number of classes.

    Example:
        >>> opweave.nn.MultiMarginLoss()(opweave.tensor([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]]), opweave.tensor([0, 2]))
        tensor(0.)
    """

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _ow_begin(self, options: dict[str, Any]) -> None:
        if options["p"] not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if options["weight"] is not None and options["weight"].dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {options['weight'].dim()}D instead"
            )
        super()._ow_begin(options)


class MultiLabelMarginLoss(Loss, call="multilabel_margin_loss"):
    """Multi-label margin loss: the sum over labels `y` and other classes `j` of `max(0, 1 - x[y] + x[j])`, divided by
    the number of classes.

    Example:
        >>> opweave.nn.MultiLabelMarginLoss()(opweave.tensor([0.1, 0.2, 0.4, 0.8]), opweave.tensor([3, 0, -1, 1]))
        tensor(0.8500)
    """

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MultiLabelSoftMarginLoss(Loss, call="multilabel_soft_margin_loss"):
    """Multi-label soft margin loss: the mean over classes of the binary cross entropy of each label.

    Example:
        >>> loss = opweave.nn.MultiLabelSoftMarginLoss()
        >>> input = opweave.tensor([[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]])
        >>> target = opweave.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
        >>> loss(input, target)
        tensor(0.4115)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginLoss(Loss, call="triplet_margin_loss"):
    """Triplet margin loss, `max(0, d(anchor, positive) - d(anchor, negative) + margin)`.

    Example:
        >>> loss = opweave.nn.TripletMarginLoss(margin=5.0)
        >>> loss(opweave.tensor([[0.0, 0.0]]), opweave.tensor([[0.0, 1.0]]), opweave.tensor([[3.0, 4.0]]))
        tensor(1.0000)
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _ow_begin(self, options: dict[str, Any]) -> None:
        _check_margin("TripletMarginLoss", options)
        super()._ow_begin(options)


class TripletMarginWithDistanceLoss(Loss, call="triplet_margin_with_distance_loss", keyword_only=True):
    """TripletMarginLoss by a distance of your own, `distance_function(x, y)`; None: that of nn.PairwiseDistance.

    Example:
        >>> loss = opweave.nn.TripletMarginWithDistanceLoss(margin=5.0)
        >>> loss(opweave.tensor([[0.0, 0.0]]), opweave.tensor([[0.0, 1.0]]), opweave.tensor([[3.0, 4.0]]))
        tensor(1.0000)
    """

    distance_function: Callable[[Any, Any], Any] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def _ow_begin(self, options: dict[str, Any]) -> None:
        _check_margin("TripletMarginWithDistanceLoss", options)
        if options["distance_function"] is None:
            options["distance_function"] = PairwiseDistance()
        super()._ow_begin(options)


class CTCLoss(Loss, call="ctc_loss"):
    """Connectionist temporal classification loss, the negative log likelihood of labels over all alignments with a
    sequence: called with logarithms of probabilities, labels, and the lengths of both.

    Example:
        >>> probabilities = opweave.zeros(5, 1, 3).log_softmax(2)  # 5 times, a batch of 1, 3 symbols
        >>> opweave.nn.CTCLoss()(probabilities, opweave.tensor([[1, 2]]), opweave.tensor([5]), opweave.tensor([2]))
        tensor(0.9689)
    """

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False


def _check_margin(name: str, options: dict[str, Any]) -> None:
    if options["margin"] <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {options['margin']} instead")
