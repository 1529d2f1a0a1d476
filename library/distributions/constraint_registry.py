"""Transforms from unconstrained numbers to what a constraint allows: `transform_to` and, bijective, `biject_to`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A registry of transforms by constraint."""

    def __init__(self) -> None:
        self._registry: dict[Any, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register `factory(constraint)`, which makes the transform for a constraint, or for a class of constraints."""
        if factory is None:
            return lambda made: self.register(constraint, made)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return the transform for a constraint. Raises NotImplementedError if there is none."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints: {constraint!r} has no transform"
            )
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _above(constraint: Any) -> Any:
    bound = constraint.lower_bound
    exp = transforms.ExpTransform()
    is_zero = isinstance(bound, (int, float)) and bound == 0
    return exp if is_zero else transforms.ComposeTransform([exp, transforms.AffineTransform(bound, 1)])


def _below(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    numbers = isinstance(low, (int, float)) and isinstance(high, (int, float))
    if numbers and (low, high) == (0, 1):
        return sigmoid
    return transforms.ComposeTransform([sigmoid, transforms.AffineTransform(low, high - low)])


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda several: transforms.IndependentTransform(
        registry(several.base_constraint), several.reinterpreted_batch_ndims
    )


def _cat(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda parts: transforms.CatTransform([registry(each) for each in parts.cseq], parts.dim, parts.lengths)


def _stack(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda parts: transforms.StackTransform([registry(each) for each in parts.cseq], parts.dim)


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda _: transforms.identity_transform)
    _registry.register(constraints.independent, _independent(_registry))
    _registry.register(constraints.greater_than, _above)
    _registry.register(constraints.greater_than_eq, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
    _registry.register(constraints.corr_cholesky, lambda _: transforms.CorrCholeskyTransform())
    _registry.register(constraints.cat, _cat(_registry))
    _registry.register(constraints.stack, _stack(_registry))
biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda _: transforms.PositiveDefiniteTransform())
