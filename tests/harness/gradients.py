"""Gradients of an operator against differences of what it computes, beside the suite of its family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import opweave
from opweave.autograd import gradcheck

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

        result = call(*inputs)
        # Numbers at which there is no value have no gradient either.
        if result.requires_grad and result.isfinite().all():
            assert gradcheck(call, inputs), f"the gradient of {self.spec.name}{case} differs from differences"


def _is_floating(value: object) -> bool:
    return isinstance(value, opweave.Tensor) and value.is_floating_point()


def differentiated(like: opweave.Tensor, seed: int) -> opweave.Tensor:
    """Values in double precision, all different, by which a gradient is taken."""
    values = Drawn(seed, like.numel()).uniform(_LOW, _HIGH, tuple(like.shape))
    return tensor(values, DTYPES["float64"]).requires_grad_()
