"""Calls of functions with dual tensors: what jvp and jacfwd of opweave.func share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._base.pytree import flatten
from ..._dispatch.levels import levels, within
from ..._forward.duals import dual_of, is_dual, primal_of, tangent_of
from ..._forward.level import DualLevel
from ..forward_ad import check_tangent
from .functional_call import check_outputs, with_aux

__all__ = ["Forward"]


class Forward:
    """A call of a function whose arguments have tangents.

    Attributes:
        outputs: the tensors that the function returned.
        tangents: their tangents.
        structure: how these are nested.
        depends: whether one of them depends on an argument.
        aux: with `has_aux`, the second part of the result.
    """

    aux: Any = None

    def __init__(
        self,
        func: Callable[..., Any],
        primals: tuple[Any, ...],
        tangents: Sequence[Any],
        has_aux: bool,
        name: str,
    ) -> None:
        given, form = flatten(primals)
        for primal, tangent in zip(given, tangents, strict=True):
            check_tangent(primal, tangent)
        self._level = DualLevel(any(each.requires_grad for each in (*given, *tangents)))
        duals = [dual_of(*pair, self._level) for pair in zip(given, tangents, strict=True)]
        try:
            result = within((*levels(), self._level), func, *form.unflatten(duals))
            if has_aux:
                result, aux = with_aux(result, name)
                values, structure = flatten(aux)
                self.aux = structure.unflatten(map(self._primal, values))
            found, self.structure = flatten(result)
            check_outputs(name, found)
            self.depends = any(is_dual(each, self._level) for each in found)
            self.tangents = list(map(self._tangent, found))
            self.outputs = list(map(self._primal, found))
        finally:
            self._level.end()

    def _primal(self, value: Any) -> Any:
        return primal_of(value) if is_dual(value, self._level) else value

    def _tangent(self, value: Any) -> Any:
        tangent = tangent_of(value) if is_dual(value, self._level) else None
        return self._primal(value).detach().new_zeros(value.shape) if tangent is None else tangent
