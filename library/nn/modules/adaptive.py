"""Softmax over many classes, of which rare ones stand in clusters."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from ... import _operators as ops
from ..._base.dtypes import EXPORTS
from .. import functional
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Adaptive softmax over classes sorted by frequency (Grave and others, 2016), for the logarithms of probabilities:
    the first classes have a logit each, others stand in clusters whose maps are the smaller the rarer the classes are.

    Args:
        in_features (int): the last size of inputs.
        n_classes (int): how many classes.
        cutoffs (sequence of int): where clusters begin, ascending, all between 1 and `n_classes - 1`.
        div_value (float): by how much smaller the map of each cluster is than that of the one before it.
        head_bias (bool): whether the logits of the first classes have a bias.
        device, dtype: those of the parameters.

    Raises:
        ValueError: the cutoffs do not ascend, or are out of range.

    Example:
        >>> model = opweave.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[5, 10])
        >>> model(opweave.ones(3, 16), opweave.tensor([0, 7, 19])).output.shape
        opweave.Size([3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or any(int(each) != each for each in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        place = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for cluster in range(self.n_clusters):
            inner = int(in_features // div_value ** (cluster + 1))
            count = self.cutoffs[cluster + 1] - self.cutoffs[cluster]
            self.tail.append(
                Sequential(Linear(in_features, inner, bias=False, **place), Linear(inner, count, bias=False, **place))
            )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input: Any, target: Any) -> _ASMoutput:
        """Return the logarithms of the probabilities of the targets, (N), and minus their mean.

        Args:
            input (Tensor): of shape (N, in_features) or (in_features).
            target (Tensor): classes, of shape (N) or ().

        Raises:
            RuntimeError: the shapes do not fit, or a target is no class.
        """
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input.dim() != 2:
                raise RuntimeError(
                    "1D target tensor expects 2D input tensors, but found inputs with size", input.size()
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size", input.size()
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        one = target.dim() == 0
        rows, classes = (input.unsqueeze(0), target.unsqueeze(0)) if one else (input, target)
        if classes.numel() and not bool(((classes >= 0) & (classes < self.n_classes)).all()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{classes.min().item()}, {classes.max().item()}] were found. "
            )
        head = self._ow_head(rows)
        cluster = sum((classes >= cutoff).to(EXPORTS["int64"]) for cutoff in self.cutoffs[:-1])
        named = ops.where(cluster == 0, classes, self.shortlist_size + cluster - 1)
        output = head.gather(1, named.unsqueeze(1)).squeeze(1)
        for number, tail in enumerate(self.tail):
            members = (cluster == number + 1).nonzero().squeeze(1)
            if members.numel():
                inner = tail(rows.index_select(0, members)).log_softmax(1)
                places = classes.index_select(0, members) - self.cutoffs[number]
                output = output.index_add(0, members, inner.gather(1, places.unsqueeze(1)).squeeze(1))
        return _ASMoutput(output.squeeze(0) if one else output, -output.mean())

    def _ow_head(self, rows: Any) -> Any:
        return functional.log_softmax(self.head(rows), 1)

    def log_prob(self, input: Any) -> Any:
        """Return the logarithms of the probabilities of all classes, (N, n_classes)."""
        head = self._ow_head(input)
        parts = [head[:, : self.shortlist_size]]
        for number, tail in enumerate(self.tail):
            parts.append(tail(input).log_softmax(1) + head[:, self.shortlist_size + number].unsqueeze(1))
        return ops.cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """Return the most probable class of each row."""
        return self.log_prob(input).argmax(1)
