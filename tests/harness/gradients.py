"""Gradients of an operator against differences of what it computes, beside the suite of its family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import opweave
from opweave.autograd import gradcheck, gradgradcheck

from codegen.dtypes import DTYPES

from .arrays import tensor
from .drawn import Drawn
from .suite import Case

if TYPE_CHECKING:
    from .suite import OperatorTests

    Base = OperatorTests
else:
    Base = object

_LOW, _HIGH = 0.2, 0.9
"""Where logarithms, roots and inverse functions are all defined."""


class GradientTests(Base):
    def test_gradient(self) -> None:
        """By the numbers that a call has anyway, where the operator is what its derivative says."""
        spec = self.spec
        for case in self.variant_cases():
            given = {name: value for name, value in case.keywords.items() if name in (*spec.params, *spec.chosen)}
            if "float64" in spec.dtypes and given == spec.keywords and any(map(_is_floating, case.arguments)):
                self.check_gradient(case)

    def check_gradient(self, case: Case) -> None:
        """At other values than those of the case, in double precision."""
        places = [index for index, each in enumerate(case.arguments) if _is_floating(each)]
        inputs = [differentiated(case.arguments[index], index) for index in places]

        def call(*given: opweave.Tensor) -> Any:
            arguments = list(case.arguments)
            for index, value in zip(places, given, strict=True):
                arguments[index] = value
            return self.functional(Case(*arguments, **case.keywords))

        results = call(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        # Numbers at which there is no value have no gradient either.
        if any(each.requires_grad for each in results) and all(each.isfinite().all() for each in results):
            assert gradcheck(call, inputs), f"the gradient of {self.spec.name}{case} differs from differences"
            check_again(call, inputs, f"{self.spec.name}{case}")


def check_again(call: Callable[..., Any], inputs: Sequence[opweave.Tensor], what: str) -> None:
    """Second derivatives, unless the entry declines them."""
    try:
        agrees = gradgradcheck(call, inputs)
    except RuntimeError as error:
        if "is not implemented" not in str(error):
            raise
    else:
        assert agrees, f"a second derivative of {what} differs from differences"


def _is_floating(value: object) -> bool:
    return isinstance(value, opweave.Tensor) and value.is_floating_point()


def differentiated(like: opweave.Tensor, seed: int) -> opweave.Tensor:
    """Values in double precision, all different, by which a gradient is taken."""
    values = Drawn(seed, like.numel()).uniform(_LOW, _HIGH, tuple(like.shape))
    return tensor(values, DTYPES["float64"]).requires_grad_()
