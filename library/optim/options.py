"""Options of optimizers: a class declares them as annotated attributes, with their defaults.

    @declared
    class Adadelta(ElementwiseOptimizer):
        lr: Rate = 1.0
        rho: float = option(default=0.9, doc="factor by which the means shrink", check=...)
        _: KW_ONLY
        maximize: bool = False

has `__init__(self, params, lr=1.0, rho=0.9, *, maximize=False)`. What is said and checked of an option is a row of the
table here, or of the class, where it is particular to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from .._base.declared import dataclass_transform, declared_defaults, give_constructor
from .._tensor.tensor import Tensor
from .optimizer import Optimizer, Parameters

__all__ = ["KW_ONLY", "SHOULD_BE", "DeclaredOptimizer", "Rate", "declared", "not_negative", "one_rate", "option"]

Rate: TypeAlias = float | Tensor
"""A learning rate: schedules write to a tensor of one element in place."""
Check: TypeAlias = Callable[[Any], None]

_Class = TypeVar("_Class", bound=type)
_Value = TypeVar("_Value")


SHOULD_BE = "{name} should be >= 0 but is: {value}"


def not_negative(name: str, text: str = "Invalid {name}: {value}") -> Check:
    """Return a check that raises ValueError with this text for negative numbers and NaN."""

    def check(value: Any) -> None:
        if not value >= 0.0:
            raise ValueError(text.format(name=name, value=value))

    return check


def one_rate(check: Check) -> Check:
    """Return a check that raises ValueError for a tensor of several rates, too."""

    def check_rate(lr: Rate) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check(lr)

    return check_rate


def _factors(betas: Any) -> None:
    """Raises ValueError unless all are at least 0 and less than 1."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


class _Option(NamedTuple):
    doc: str
    check: Check | None = None
    default: Any = None


_OPTIONS = {
    "lr": _Option("learning rate.", one_rate(not_negative("learning rate"))),
    "betas": _Option("factors by which the means of gradients and of their squares shrink in each step.", _factors),
    "eps": _Option("is added to the root.", not_negative("epsilon value")),
    "weight_decay": _Option(
        "factor of the parameter that is added to its gradient.", not_negative("weight_decay value")
    ),
    "decoupled_weight_decay": _Option("parameters shrink by `1 - lr * weight_decay`, and gradients stay as they are."),
    "foreach": _Option("accepted, without effect."),
    "fused": _Option("accepted, without effect; not with `foreach` or `differentiable`."),
    "maximize": _Option("goes uphill."),
    "capturable": _Option("accepted; steps raise AssertionError on the CPU."),
    "differentiable": _Option("steps are recorded, so that gradients go through them."),
}


def option(*, default: _Value, doc: str, check: Check | None = None) -> _Value:
    """Return the declaration of an option that is not, or not in all, as the table has it.

    Args:
        default: its default.
        doc: what it is, for the docstring.
        check: raises an error for values that it cannot have; None: as the table says.
    """
    declaration: Any = _Option(doc, check, default)
    return declaration  # type: ignore[no-any-return]


@dataclass_transform(eq_default=False, field_specifiers=(option,))
def declared(cls: _Class) -> _Class:
    """Give an optimizer the constructor, the checks and the docstring that its options declare."""
    rows: dict[str, _Option] = {}
    for name, default in declared_defaults(cls).items():
        common = _OPTIONS.get(name, _Option(""))
        own = default if isinstance(default, _Option) else common._replace(default=default)
        rows[name] = own if own.check else own._replace(check=common.check)
    annotations = list(vars(cls)["__annotations__"])
    positional = annotations.index("_") if "_" in annotations else len(rows)
    defaults = {name: row.default for name, row in rows.items()}
    give_constructor(cls, defaults, positional, {"params": Parameters})
    made: Any = cls
    made._ow_checks = {name: row.check for name, row in rows.items() if row.check}
    if cls.__doc__:  # which `python -OO` leaves out
        text, mark, errors = cls.__doc__.rstrip().partition("\n\n    Raises:\n")
        listed = "".join(f"\n        {name}: {row.doc}" for name, row in rows.items())
        errors = errors or "        ValueError: an option is out of its range."
        mark = mark or "\n\n    Raises:\n"
        cls.__doc__ = f"{text}\n\n    Args:\n        params: parameters or groups of them.{listed}{mark}{errors}\n    "
    return cls


@declared
class DeclaredOptimizer(Optimizer):
    """Base of optimizers that declare their options."""

    if TYPE_CHECKING:
        params: InitVar[Parameters]  # the first argument of all constructors

    _ow_checks: ClassVar[dict[str, Check]]

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        self._ow_check(options)
        Optimizer.__init__(self, params, options)

    def _ow_check(self, options: dict[str, Any]) -> None:
        """Raises ValueError for options out of their range."""
        for name, check in self._ow_checks.items():
            check(options[name])
