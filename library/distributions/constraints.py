"""opweave.distributions.constraints: which values parameters and samples may have."""

from __future__ import annotations

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
    """Base class of constraints, which are sets of values. `check(value)` says which elements are in the set; of the
    last `event_dim` dimensions all at once."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        raise NotImplementedError(f"{type(self).__name__} has no check()")

    def __repr__(self) -> str:
        return self.__class__.__name__[1:] + "()"


class _Bounded(Constraint):
    """Elements between bounds, which are attributes."""

    def __init__(self, **bounds: Any) -> None:
        self._bounds = tuple(bounds)
        self.__dict__.update(bounds)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{self.__class__.__name__[1:]}({shown})"


class _From(_Bounded):
    lower_bound: Any

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)


class _To(_Bounded):
    upper_bound: Any

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)


class _Within(_Bounded):
    lower_bound: Any
    upper_bound: Any

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)


class _Dependent(Constraint):
    """A constraint that depends on other parameters. Its dimension, and whether it is discrete, may be known."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return bool(self._is_discrete)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return int(self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Return True if the constraint depends on parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """Decorator: a property whose value is a constraint that depends on parameters."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return type(self)(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
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
        return f"{self.__class__.__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The constraint of a mixture's components, for values that have no dimension of components."""

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


class _Cat(_Parts):
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


class _Stack(_Parts):
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


class _GreaterThan(_From):
    """Numbers above a bound."""

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return self.lower_bound < value


class _GreaterThanEq(_From):
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return self.lower_bound <= value


class _LessThan(_To):
    """Numbers below a bound."""

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return value < self.upper_bound


class _Interval(_Within):
    """Numbers between two bounds, and these."""

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Within):
    """Numbers between two bounds, and the lower one."""

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Within):
    """Integers between two bounds, and these."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_From):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (value % 1 == 0) & (value >= self.lower_bound)


class _IntegerLessThan(_To):
    """Integers up to a bound."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (value % 1 == 0) & (value <= self.upper_bound)


class _Multinomial(Constraint):
    """Counts along the last dimension that sum to a number."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        """Return a bool tensor."""
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Real(Constraint):
    def check(self, value: Any) -> Any:
        return value == value


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return value.tril().eq(value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return lower_cholesky.check(value) & ((value.square().sum(-1) - 1).abs() < 1e-4).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.new_zeros(value.shape[:-2]) == 0) & (value.size(-1) == value.size(-2))


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        is_square = super().check(value)
        return value.isclose(value.mT, atol=1e-6).all(-2).all(-1) if is_square.all() else is_square


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        from ..linalg import eigvalsh

        is_symmetric = super().check(value)
        return is_symmetric & eigvalsh(value).ge(-1e-6).all(-1) if is_symmetric.all() else is_symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        from ..linalg import cholesky_ex

        is_symmetric = super().check(value)
        return is_symmetric & cholesky_ex(value)[1].eq(0) if is_symmetric.all() else is_symmetric


# Torch's names of the classes, of which those of its documentation begin without an underscore.
cat, stack, independent, dependent_property = _Cat, _Stack, _IndependentConstraint, _DependentProperty
greater_than, greater_than_eq, less_than, multinomial = _GreaterThan, _GreaterThanEq, _LessThan, _Multinomial
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval

dependent, boolean, one_hot, real, simplex = _Dependent(), _Boolean(), _OneHot(), _Real(), _Simplex()
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
real_vector = independent(real, 1)
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
