"""Class Distribution, the base of all distributions."""

from __future__ import annotations

from typing import Any, ClassVar

from .._autograd.grad_mode import no_grad
from .._base.types import Size
from .._tensor.tensor import Tensor
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution", "ExponentialFamily"]

_PACKAGE = f"{__package__}."


class Distribution:
    """Base of distributions. A batch of them has the shape `batch_shape`, a sample of one `event_shape`.

    A derived class names its parameters in `arg_constraints`, which says what they may be, and calls
    `super().__init__` with the shapes.

    Args:
        batch_shape, event_shape (Size): the shapes.
        validate_args (bool): whether parameters and values are checked. None: as set by `set_default_validate_args`.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    arg_constraints: Any = {}  # noqa: RUF012 (a property of some classes)
    support: Any = constraints.dependent

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                given = name in self.__dict__ or not isinstance(getattr(type(self), name, None), lazy_property)
                if constraints.is_dependent(constraint) or not given:
                    continue
                value = getattr(self, name)
                if not bool(constraint.check(value).all()):
                    raise ValueError(
                        f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                        f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                        f"{value}"
                    )

    _ow_names: ClassVar[tuple[str, ...]] = ()
    """The parameters that `expand` expands, beside those of `arg_constraints`."""

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether parameters and values are checked. Raises ValueError if it is no bool."""
        if value not in (True, False):
            raise ValueError(f"validate_args must be True or False, but got {value}")
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        """The shape of parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a sample of one distribution."""
        return self._event_shape

    def _ow_parameters(self) -> list[str]:
        """The parameters that this distribution has as attributes of its own."""
        return [name for name in (*self.arg_constraints, *self._ow_names) if name in self.__dict__]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return a distribution whose parameters are expanded to another batch shape."""
        made = self._ow_instance(_instance)
        shape = Size(batch_shape)
        for name in self._ow_parameters():
            value = self.__dict__[name]
            keeps = value.dim() - len(self._batch_shape)
            setattr(
                made,
                name,
                value.expand(shape + value.shape[len(value.shape) - keeps :]) if keeps else value.expand(shape),
            )
        made._batch_shape, made._event_shape, made._validate_args = shape, self._event_shape, False
        self._ow_expanded(made, shape)
        made._validate_args = self._validate_args
        return made

    def _ow_instance(self, _instance: Any) -> Any:
        """Return the object that `expand` fills in, for a class of this package and those derived from it.

        Raises NotImplementedError for other classes, which have to define `expand`.
        """
        kind = next(each for each in type(self).__mro__ if each.__module__.startswith(_PACKAGE))
        if kind in (Distribution, ExponentialFamily):
            raise NotImplementedError(f"{type(self).__name__} has no expand()")
        return self._get_checked_instance(kind, _instance)

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """The distribution that `expand` of class `cls` fills in: the one given, else a new one, without `__init__`.

        Raises NotImplementedError if a derived class has an `__init__` that would have to be called.
        """
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _ow_expanded(self, made: Any, shape: Size) -> None:
        """Expand what a derived class has besides its parameters."""

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variances."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviations."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return samples, of shape `sample_shape + batch_shape + event_shape`, without a history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return samples that have gradients by the parameters. Raises NotImplementedError where there are none."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample()")

    def sample_n(self, n: int) -> Tensor:
        """Return n samples."""
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities, or probabilities, of values."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """Return the probabilities of values that are not larger."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """Return the values below which samples are with such probabilities."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values that samples may have, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropies."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponentials of the entropies."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*tuple(sample_shape), *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = value.dim() - len(self._event_shape)
        if value.size()[max(events, 0) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for one, other in zip(reversed(value.size()), reversed(expected), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}."
                )
        if constraints.is_dependent(self.support):
            return
        if not bool(self.support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _ow_checked(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        parts = []
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if value is not None:
                parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{self.__class__.__name__}({', '.join(parts)})"


class Symmetric(Distribution):
    """Base class of distributions that are symmetric about `loc`, which is their mode."""

    loc: Any

    @property
    def mean(self) -> Tensor:
        """The expectations."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most probable values."""
        return self.loc


class ExponentialFamily(Distribution):
    """Base class of distributions of the exponential family."""
