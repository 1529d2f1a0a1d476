"""opweave.distributions.transforms: differentiable maps between sets of values, and how much they stretch these."""

from __future__ import annotations

import math
from typing import Any

from .. import _operators as ops
from .._base.finfo import finfo
from .._base.types import Size
from . import constraints
from .matrix_transforms import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform
from .part_transforms import CatTransform, StackTransform
from .simplex_transforms import SoftmaxTransform, StickBreakingTransform
from .transform_base import ComposeTransform, IndependentTransform, Transform, identity_transform
from .transform_base import _InverseTransform as _InverseTransform
from .utils import _sum_rightmost, broadcast_all

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip


class _Simple(Transform):
    """Base of bijective transforms of single numbers that have no options."""

    bijective = True
    domain: Any = constraints.real
    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = object.__hash__


class ExpTransform(_Simple):
    """The exponential, `exp(x)`.

    Example:
        >>> opweave.distributions.ExpTransform()(opweave.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the derivative."""
        return x


class SigmoidTransform(_Simple):
    """The logistic function, `1 / (1 + exp(-x))`.

    Example:
        >>> opweave.distributions.SigmoidTransform()(opweave.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        limits = finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the derivative."""
        return -ops.softplus(-x) - ops.softplus(x)


class SoftplusTransform(_Simple):
    """The softplus function, `log(1 + exp(x))`.

    Example:
        >>> opweave.distributions.SoftplusTransform()(opweave.tensor([0.0, 1.0]))
        tensor([0.6931, 1.3133])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return ops.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the derivative."""
        return -ops.softplus(-x)


class TanhTransform(_Simple):
    """The hyperbolic tangent, `tanh(x)`.

    Example:
        >>> opweave.distributions.TanhTransform()(opweave.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the derivative."""
        return 2.0 * (math.log(2.0) - x - ops.softplus(-2.0 * x))


class AbsTransform(Transform):
    """The absolute value, `abs(x)`, which is not bijective.

    Example:
        >>> opweave.distributions.AbsTransform()(opweave.tensor([-1.0, 2.0]))
        tensor([1., 2.])
    """

    domain, codomain = constraints.real, constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(_Simple):
    """The power `x ** exponent`.

    Example:
        >>> opweave.distributions.PowerTransform(opweave.tensor(2.0))(opweave.tensor([1.0, 3.0]))
        tensor([1., 9.])
    """

    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:  # type: ignore[override]
        """1 if the transform grows, -1 if it falls."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the derivative."""
        return (self.exponent * y / x).abs().log()


class AffineTransform(Transform):
    """The affine map `loc + scale * x`, of values with `event_dim` dimensions.

    Example:
        >>> opweave.distributions.AffineTransform(loc=1.0, scale=2.0)(opweave.tensor([0.0, 1.0]))
        tensor([1., 3.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        self.domain = self.codomain = (
            constraints.real if not event_dim else constraints.independent(constraints.real, event_dim)
        )

    @property
    def event_dim(self) -> int:
        """The number of dimensions of values."""
        return self._event_dim

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        """1 if the transform grows, -1 if it falls."""
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = zip(broadcast_all(self.loc, self.scale), broadcast_all(other.loc, other.scale), strict=True)
        return all(bool((one == another).all()) for one, another in pairs)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        scale = self.scale
        if isinstance(scale, (int, float)):
            result = ops.full_like(x.detach(), math.log(abs(scale)))
        else:
            result = scale.abs().log()
        if self._event_dim:
            result = result.expand(x.shape) if result.dim() < x.dim() else result
            return _sum_rightmost(result, self._event_dim)
        return result.expand(x.shape)


class ReshapeTransform(Transform):
    """The change of an event's shape.

    Example:
        >>> opweave.distributions.ReshapeTransform((4,), (2, 2))(opweave.tensor([1.0, 2.0, 3.0, 4.0]))
        tensor([[1., 2.],
                [3., 4.]])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        same = self._cache_size == cache_size
        return self if same else ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return zeros."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the image of a value of this shape."""
        return Size(shape[: len(shape) - len(self.in_shape)]) + self.out_shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of a value whose image has this shape."""
        return Size(shape[: len(shape) - len(self.out_shape)]) + self.in_shape


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution, as a transform to [0, 1].

    Example:
        >>> transform = opweave.distributions.CumulativeDistributionTransform(opweave.distributions.Normal(0.0, 1.0))
        >>> transform(opweave.zeros(2))
        tensor([0.5000, 0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The constraint on the values that have images."""
        return self.distribution.support

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        same = self._cache_size == cache_size
        return self if same else CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the derivative."""
        return self.distribution.log_prob(x)
