"""Transforms of the parts of a dimension, each by one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _operators as ops
from . import constraints
from .transform_base import Transform
from .utils import _sum_rightmost

__all__ = ["CatTransform", "StackTransform"]


class _PartTransform(Transform):
    """Base of transforms whose parts lie along `dim`."""

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(each, Transform) for each in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """True if all are."""
        return all(each.bijective for each in self.transforms)

    def _ow_check(self, value: Any, expected: int, what: str) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {value.dim()} dimensions")
        if value.size(self.dim) != expected:
            raise AssertionError(f"x.size({self.dim}) = {value.size(self.dim)} must equal {what} {expected}")


class CatTransform(_PartTransform):
    """Transforms of parts along a dimension, as joined by `cat`, with these lengths (one each unless given).

    Example:
        >>> parts = [opweave.distributions.ExpTransform(), opweave.distributions.TanhTransform()]
        >>> transform = opweave.distributions.CatTransform(parts, lengths=[1, 2])
        >>> transform(opweave.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        """The number of dimensions of values."""
        return int(max(each.event_dim for each in self.transforms))

    @property
    def length(self) -> int:
        """The length of all parts."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """The constraint on the values that have images."""
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The constraint on images."""
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        same = self._cache_size == cache_size
        return self if same else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _ow_parts(self, value: Any) -> Any:
        self._ow_check(value, self.length, "length")
        return value.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        return ops.cat([each(part) for each, part in zip(self.transforms, self._ow_parts(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        parts = zip(self.transforms, self._ow_parts(y), strict=True)
        return ops.cat([each.inv(part) for each, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of the size of the determinant of the derivative."""
        logarithms = []
        for each, before, after in zip(self.transforms, self._ow_parts(x), self._ow_parts(y), strict=True):
            logarithm = each.log_abs_det_jacobian(before, after)
            logarithms.append(_sum_rightmost(logarithm, self.event_dim - each.event_dim))
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return ops.cat(logarithms, dim) if dim < 0 else sum(logarithms)


class StackTransform(_PartTransform):
    """Transforms of the positions of a dimension, as joined by `stack`.

    Example:
        >>> parts = [opweave.distributions.ExpTransform(), opweave.distributions.TanhTransform()]
        >>> transform = opweave.distributions.StackTransform(parts)
        >>> transform(opweave.zeros(2))
        tensor([1., 0.])
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Any:
        """The constraint on the values that have images."""
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The constraint on images."""
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return the transform with a cache of this size."""
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _ow_parts(self, value: Any) -> Any:
        self._ow_check(value, len(self.transforms), "len(transforms)")
        return value.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        return ops.stack([each(part) for each, part in zip(self.transforms, self._ow_parts(x), strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        parts = zip(self.transforms, self._ow_parts(y), strict=True)
        return ops.stack([each.inv(part) for each, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithms of the sizes of the determinants of the derivatives."""
        parts = zip(self.transforms, self._ow_parts(x), self._ow_parts(y), strict=True)
        return ops.stack([each.log_abs_det_jacobian(before, after) for each, before, after in parts], self.dim)
