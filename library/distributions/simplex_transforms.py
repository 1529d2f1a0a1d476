"""Transforms to shares of a whole."""

from __future__ import annotations

from typing import Any

from .. import _operators as ops
from .._base.finfo import finfo
from . import constraints
from .transform_base import Transform

__all__ = ["SoftmaxTransform", "StickBreakingTransform"]


class SoftmaxTransform(Transform):
    """Softmax along the last dimension, which is not bijective.

    Example:
        >>> opweave.distributions.SoftmaxTransform()(opweave.tensor([0.0, 1.0]))
        tensor([0.2689, 0.7311])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """Stick-breaking transform from vectors to the simplex, with one component more: each is a part of what those
    before it left.

    Example:
        >>> opweave.distributions.StickBreakingTransform()(opweave.tensor([0.0, 1.0]))
        tensor([0.3333, 0.4874, 0.1793])
    """

    bijective = True
    domain, codomain = constraints.real_vector, constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    @staticmethod
    def _ow_offset(x: Any, more: int) -> Any:
        return (x.size(-1) + more - ops.ones_like(x.detach()).cumsum(-1)).log()

    def _call(self, x: Any) -> Any:
        z = (x - self._ow_offset(x, 1)).sigmoid().clamp(min=finfo(x.dtype).tiny, max=1 - finfo(x.dtype).eps)
        left = (1 - z).cumprod(-1)
        return ops.pad(z, [0, 1], value=1) * ops.pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        left = (1 - cropped.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return cropped.log() - left.log() + self._ow_offset(cropped, 1)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        x = x - self._ow_offset(x, 1)
        return (-x + ops.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the image of a value of this shape."""
        return type(shape)((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of a value whose image has this shape."""
        return type(shape)((*shape[:-1], shape[-1] - 1))
