"""Base of transforms, their inverses, and those that are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _operators as ops
from . import constraints
from .utils import _sum_rightmost

__all__ = ["ComposeTransform", "IndependentTransform", "Transform", "identity_transform"]


class Transform:
    """Base of transforms. A derived class defines `_call(x)`, `_inverse(y)` and `log_abs_det_jacobian(x, y)`.

    Args:
        cache_size (int): 1 keeps the last pair of a value and its image; 0: nothing.
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        self._inv: Any = None

    @property
    def event_dim(self) -> int:
        """The number of dimensions of values, if it is that of images too."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 if the transform grows, -1 if it falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __call__(self, x: Any) -> Any:
        """Return the image."""
        if not self._cache_size:
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self.__class__.__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the image of a value of this shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of a value whose image has this shape."""
        return shape


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform
        self.bijective = transform.bijective

    @property
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"


class IndependentTransform(Transform):
    """A transform whose last `reinterpreted_batch_ndims` batch dimensions are event dimensions.

    Example:
        >>> transform = opweave.distributions.IndependentTransform(opweave.distributions.ExpTransform(), 1)
        >>> transform.log_abs_det_jacobian(opweave.ones(2), opweave.ones(2))
        tensor(2.)
    """

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = count = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.domain = constraints.independent(base_transform.domain, count)
        self.codomain = constraints.independent(base_transform.codomain, count)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        """1 if the transform grows, -1 if it falls."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ComposeTransform(Transform):
    """Composition of several transforms, the first of which is applied first.

    Example:
        >>> parts = [opweave.distributions.ExpTransform(), opweave.distributions.AffineTransform(1.0, 2.0)]
        >>> transform = opweave.distributions.ComposeTransform(parts)
        >>> transform(opweave.zeros(2))
        tensor([3., 3.])
    """

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @property
    def domain(self) -> Any:
        """The constraint on the values that have images."""
        return _at_least(self.parts[0].domain, self._ow_dims()[0]) if self.parts else constraints.real

    @property
    def codomain(self) -> Any:
        """The constraint on images."""
        return _at_least(self.parts[-1].codomain, self._ow_dims()[1]) if self.parts else constraints.real

    def _ow_dims(self) -> tuple[int, int]:
        """The dimensions of values and of images."""
        first = last = 0
        for part in self.parts:
            first += max(part.domain.event_dim - last, 0)
            last = max(last, part.domain.event_dim) + part.codomain.event_dim - part.domain.event_dim
        return first, last

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if all are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """1 if the transform grows, -1 if it falls."""
        result: Any = 1
        for part in self.parts:
            result = result * part.sign
        return result

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        """Return the image."""
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        if not self.parts:
            return ops.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        dims, total = self._ow_dims()[0], None
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            term = _sum_rightmost(part.log_abs_det_jacobian(before, after), dims - part.domain.event_dim)
            total = term if total is None else total + term
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the image of a value of this shape."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of a value whose image has this shape."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{self.__class__.__name__}(\n    {parts}\n)"


def _at_least(constraint: Any, dims: int) -> Any:
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])
