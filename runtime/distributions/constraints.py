"""opweave.distributions.constraints: which values parameters and samples may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
    "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack", "symmetric",
    "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values. `check(value)` says which elements are in it; of the last `event_dim` dimensions all at once."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        raise NotImplementedError(f"{type(self).__name__} has no check()")

    def __repr__(self) -> str:
        return self.__class__.__name__[1:] + "()"


class _Test(Constraint):
    """A constraint that is one function, perhaps of bounds."""

    def __init__(
        self,
        name: str,
        test: Callable[..., Any],
        bounds: dict[str, Any] | None = None,
        discrete: bool = False,
        event_dim: int = 0,
    ) -> None:
        self._name, self._test, self._bounds = name, test, bounds or {}
        self.is_discrete, self.event_dim = discrete, event_dim
        self.__dict__.update(self._bounds)

    def check(self, value: Any) -> Any:
        return self._test(value, *self._bounds.values())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self._bounds.items())
        return f"{self._name}({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Test) and (self._name, self._bounds) == (other._name, other._bounds)

    __hash__ = object.__hash__


class _Dependent(Constraint):
    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, *, is_discrete: bool = False, event_dim: int = 0) -> _Dependent:
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Return whether what is allowed depends on parameters."""
    return isinstance(constraint, _Dependent)


class dependent_property(property, _Dependent):  # noqa: N801 (PyTorch's name)
    """Decorator: a property whose value is a constraint that depends on parameters."""

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class independent(Constraint):  # noqa: N801 (PyTorch's name)
    """A constraint of several dimensions at once."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.dim() < count:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - count], -1)).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture allow, of values that have no dimension of components."""

    def __init__(self, base_constraint: Any) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape((*result.shape[: value.dim() - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Parts(Constraint):
    def __init__(self, parts: Any, dim: int, lengths: Any) -> None:
        self.cseq, self.dim = list(parts), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        self.is_discrete = any(each.is_discrete for each in self.cseq)
        self.event_dim = max(each.event_dim for each in self.cseq)


class cat(_Parts):  # noqa: N801 (PyTorch's name)
    """Constraints of parts that are joined along a dimension."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim, lengths)

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        from .._operators import cat as joined

        checks, first = [], 0
        for each, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(each.check(value.narrow(self.dim, first, length)))
            first += length
        return joined(checks, self.dim)


class stack(_Parts):  # noqa: N801 (PyTorch's name)
    """Constraints of the positions of a dimension."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        super().__init__(cseq, dim, None)
        if 0 <= dim <= self.event_dim:
            self.event_dim += 1

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        from .._operators import stack as stacked

        parts = value.unbind(self.dim)
        return stacked([each.check(part) for each, part in zip(self.cseq, parts, strict=True)], self.dim)


def _positive_definite(value: Any) -> Any:
    from ..linalg import cholesky_ex

    return _symmetric(value) & cholesky_ex(value)[1].eq(0)


def _symmetric(value: Any) -> Any:
    return value.isclose(value.mT, atol=1e-6).all(-2).all(-1)


def _semidefinite(value: Any) -> Any:
    from ..linalg import eigvalsh

    return _symmetric(value) & eigvalsh(value).ge(-1e-6).all(-1)


def _lower_cholesky(value: Any) -> Any:
    return value.tril().eq(value).flatten(-2).all(-1) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _corr_cholesky(value: Any) -> Any:
    lengths = value.square().sum(-1)
    return _lower_cholesky(value) & ((lengths - 1).abs() < 1e-4).all(-1)


def greater_than(lower_bound: Any) -> Any:
    """Numbers above a bound."""
    return _Test("GreaterThan", lambda value, low: low < value, {"lower_bound": lower_bound})


def greater_than_eq(lower_bound: Any) -> Any:
    """Numbers from a bound on."""
    return _Test("GreaterThanEq", lambda value, low: low <= value, {"lower_bound": lower_bound})


def less_than(upper_bound: Any) -> Any:
    """Numbers below a bound."""
    return _Test("LessThan", lambda value, high: value < high, {"upper_bound": upper_bound})


def _bounds(low: Any, high: Any) -> dict[str, Any]:
    return {"lower_bound": low, "upper_bound": high}


def interval(lower_bound: Any, upper_bound: Any) -> Any:
    """Numbers between two bounds, and these."""
    test = lambda value, low, high: (low <= value) & (value <= high)  # noqa: E731
    return _Test("Interval", test, _bounds(lower_bound, upper_bound))


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Any:
    """Numbers between two bounds, and the lower one."""
    test = lambda value, low, high: (low <= value) & (value < high)  # noqa: E731
    return _Test("HalfOpenInterval", test, _bounds(lower_bound, upper_bound))


def integer_interval(lower_bound: Any, upper_bound: Any) -> Any:
    """Integers between two bounds, and these."""
    test = lambda value, low, high: (value % 1 == 0) & (low <= value) & (value <= high)  # noqa: E731
    return _Test("IntegerInterval", test, _bounds(lower_bound, upper_bound), True)


def _integers_from(bound: int) -> Any:
    test = lambda value, low: (value % 1 == 0) & (value >= low)  # noqa: E731
    return _Test("IntegerGreaterThan", test, {"lower_bound": bound}, True)


def multinomial(upper_bound: Any) -> Any:
    """Counts along the last dimension that sum to a number."""
    test = lambda value, most: (value >= 0).all(-1) & (value.sum(-1) <= most)  # noqa: E731
    return _Test("Multinomial", test, {"upper_bound": upper_bound}, True, 1)


dependent = _Dependent()
boolean = _Test("Boolean", lambda value: (value == 0) | (value == 1), discrete=True)
one_hot = _Test(
    "OneHot", lambda value: ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1), discrete=True, event_dim=1
)
nonnegative_integer, positive_integer = _integers_from(0), _integers_from(1)
real = _Test("Real", lambda value: value == value)
real_vector = independent(real, 1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Test("Simplex", lambda value: (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6), event_dim=1)
lower_triangular = _Test("LowerTriangular", lambda value: value.tril().eq(value).flatten(-2).all(-1), event_dim=2)
lower_cholesky = _Test("LowerCholesky", _lower_cholesky, event_dim=2)
corr_cholesky = _Test("CorrCholesky", _corr_cholesky, event_dim=2)
square = _Test(
    "Square", lambda value: (value.new_zeros(value.shape[:-2]) == 0) & (value.size(-1) == value.size(-2)), event_dim=2
)
symmetric = _Test("Symmetric", _symmetric, event_dim=2)
positive_semidefinite = _Test("PositiveSemidefinite", _semidefinite, event_dim=2)
positive_definite = _Test("PositiveDefinite", _positive_definite, event_dim=2)
