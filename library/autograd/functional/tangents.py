"""Jacobians times vectors: what the functions jvp, linearize and jacfwd of opweave.func share.

They come from two backward passes: a gradient is linear in the gradient of the output, so its derivative by that one,
in the direction of a vector, is the Jacobian times the vector (J. Townsend, "A new trick for calculating Jacobian
vector products", 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._autograd.backward_api import grad
from ..._autograd.grad_mode import enable_grad, is_grad_enabled
from .functional_call import Call

__all__ = ["Tangents"]


class Tangents:
    """The Jacobian of a call, of which products with vectors are taken.

    Attributes:
        outputs: the tensors that the function returned.
        structure: how these are nested.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.outputs, self.structure = call.outputs()
        with enable_grad():
            self._cotangents = [output.detach().new_zeros(output.shape).requires_grad_() for output in self.outputs]
            gradients = call.gradients(self.outputs, self._cotangents, create_graph=True)
        self._linear = [(place, each) for place, each in enumerate(gradients) if each.requires_grad]

    @property
    def depends(self) -> bool:
        """True if an output depends on an argument."""
        return bool(self._linear)

    def product(self, tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the outputs for those of the variables."""
        if not self._linear:
            return [each.detach().new_zeros(each.shape) for each in self._cotangents]
        given = [tangents[place] for place, _ in self._linear]
        keeps = is_grad_enabled() and (self._call.is_connected or any(each.requires_grad for each in given))
        found = grad(
            [each for _, each in self._linear],
            self._cotangents,
            given,
            retain_graph=True,
            create_graph=keeps,
            allow_unused=True,
        )
        return [
            cotangent.detach().new_zeros(cotangent.shape) if each is None else self._call.without_variables(each)
            for each, cotangent in zip(found, self._cotangents, strict=True)
        ]
