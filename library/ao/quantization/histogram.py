"""The observer that leaves out rare elements: of all ranges it takes the one with the least error over a histogram."""

from __future__ import annotations

import math
from typing import Any

from ..._base.dtypes import dtype, quint8
from ..._base.types import per_tensor_affine, qscheme
from ..._base.warn import warn
from ..._dispatch.ops import ops
from ..._tensor.construct import tensor
from .observer import PER_TENSOR, UniformQuantizationObserverBase

__all__ = ["HistogramObserver"]

_UPSAMPLE_RATE = 16
_STEP = 1e-5  # of the share of elements that is left out


class HistogramObserver(UniformQuantizationObserverBase):
    """Remembers a histogram of the elements of all tensors.

    Args:
        bins (int): of the histogram.
    """

    def __init__(
        self,
        bins: int = 2048,
        dtype: dtype = quint8,
        qscheme: qscheme = per_tensor_affine,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if qscheme not in PER_TENSOR:
            raise NotImplementedError(
                "HistogramObserver's qscheme only support opweave.per_tensor_symmetric and opweave.per_tensor_affine, "
                f"but got {qscheme}"
            )
        if kwargs.get("is_dynamic"):
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, *args, **kwargs)
        self.bins = bins
        self.register_buffer("histogram", ops.zeros((bins,)))
        self.register_buffer("min_val", tensor(math.inf))
        self.register_buffer("max_val", tensor(-math.inf))
        self.dst_nbins = 1 << 8 * self.dtype.itemsize

    def forward(self, x_orig: Any) -> Any:
        """Add the finite elements of a tensor to the histogram, and return the tensor."""
        x = x_orig.detach()
        if x.numel() and x.abs().max().item() == math.inf:
            warn("opweave.inf detected in input tensor, ignoring input")
            x = x[x.abs() != math.inf]
        if not x.numel():
            return x_orig
        low, high = (each.item() for each in ops.aminmax(x))
        before = self.min_val.item(), self.max_val.item()
        after = min(low, before[0]), max(high, before[1])
        update = ops.histc(x.to(self.histogram.dtype), self.bins, *after)
        if before[0] != math.inf and before[1] != -math.inf:
            update = update + (self.histogram if before == after else self._moved(before, after))
        self.histogram.copy_(update)
        self.min_val.fill_(after[0])
        self.max_val.fill_(after[1])
        return x_orig

    def _moved(self, before: tuple[float, float], after: tuple[float, float]) -> Any:
        """The histogram so far, over a wider range."""
        if before[0] == before[1]:
            return ops.histc(self.min_val.reshape(-1), self.bins, *after) * self.histogram.sum()
        parts = self.bins * _UPSAMPLE_RATE
        fine = self.histogram.repeat_interleave(_UPSAMPLE_RATE) / _UPSAMPLE_RATE
        middles = ops.linspace(*before, parts + 1)[:-1] + 0.5 * ((self.max_val - self.min_val) / parts)
        edges = ops.linspace(*after, self.bins + 1)
        places = (ops.bucketize(middles, edges, right=True) - 1).clamp(0, self.bins - 1)
        return ops.bincount(places, weights=fine, minlength=self.bins)

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scale and zero point, tensors with one element."""
        if self.min_val.item() == math.inf and self.max_val.item() == -math.inf:
            warn("must run observer before calling calculate_qparams. Returning default scale and zero point ")
            return tensor([1.0]), tensor([0])
        return self._calculate_qparams(*self._range())

    def _range(self) -> tuple[Any, Any]:
        """The range that is used: from either end the share of elements that grows slower is left out, step by step,
        as long as the error falls."""
        counts = self.histogram.tolist()
        total = self.histogram.sum().item()
        sums = self.histogram.cumsum(0).tolist()
        first, last, least = 0, len(counts) - 1, math.inf
        alpha, beta = 0.0, 1.0
        while alpha < beta:
            next_alpha, next_beta = alpha + _STEP, beta - _STEP
            left, right = first, last
            while left < last and sums[left] < next_alpha * total:
                left += 1
            while right > first and sums[right] > next_beta * total:
                right -= 1
            if left - first > last - right:
                next_range = left, last
                alpha = next_alpha
            else:
                next_range = first, right
                beta = next_beta
            if next_range == (first, last):
                continue
            error = self._error(*next_range)
            if error > least:
                break
            least = error
            first, last = next_range
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * first, self.min_val + width * (last + 1)

    def _error(self, first: int, last: int) -> float:
        """The sum of squared errors, where elements are spread evenly in each bin and those beyond the range go to its
        ends."""
        width = (self.max_val.item() - self.min_val.item()) / self.bins
        step = width * (last - first + 1) / self.dst_nbins
        if step == 0.0:
            return 0.0
        begin = (ops.arange(self.bins) - first) * width
        end = begin + width
        steps_of_begin, steps_of_end = ((each / step).floor().clamp(0, self.dst_nbins - 1) for each in (begin, end))
        density = self.histogram / width
        from_begin = begin - (steps_of_begin + 0.5) * step
        to_end = end - (steps_of_end * step + step / 2)
        error = _squares(from_begin, step / 2, density)
        error = error + (steps_of_end - steps_of_begin - 1) * _squares(-step / 2, step / 2, density)
        error = error + _squares(-step / 2, to_end, density)
        return float(error.sum().item())

    def extra_repr(self) -> str:
        """Return the least and the greatest element."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


def _squares(begin: Any, end: Any, density: Any) -> Any:
    """The integral of squares from `begin` to `end`."""
    return density * ((end * end * end - begin * begin * begin) / 3)
