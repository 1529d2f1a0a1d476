"""The parts of kernels of all families: C variables and names of dtypes."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import DType
from ..expr.kernel_text import variable
from ..model.computation import parameter_dtype
from ..model.operator import Operator


@dataclass(frozen=True)
class Variable:
    """A C variable of a kernel: a parameter, or an input with the step between elements of its row (`step` 0: one
    element for the whole row)."""

    name: str
    ctype: str
    step: int = 1
    index: int = 0
    field: str = ""
    value: str = ""
    """C of what is computed from parameters, after `statements`."""
    statements: tuple[str, ...] = ()

    @property
    def stride(self) -> str:
        return "0" if not self.step else f"{f'{self.step} * ' if self.step > 1 else ''}sizeof({self.ctype})"

    @property
    def subscript(self) -> str:
        """The subscript of element `i` of the row."""
        return {0: "", 1: "[i]"}.get(self.step, f"[{self.step} * i]")


def parameters(operator: Operator, dtype: DType) -> tuple[Variable, ...]:
    """Return the parameters of an operator as variables of a kernel."""
    return tuple(
        Variable(variable(param.name), own.c_type, index=index, field=_field(own))
        for index, param in enumerate(operator.params)
        for own in (parameter_dtype(param, dtype),)
    )


def _field(dtype: DType) -> str:
    return "z" if dtype.is_complex else "d" if dtype.is_floating else "i"


def enum(dtype: DType) -> str:
    """Return the core's name of a dtype."""
    return f"OW_{dtype.name.upper()}"
