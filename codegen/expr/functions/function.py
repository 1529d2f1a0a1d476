"""What is known of a function of the expression language: the columns of the table of functions."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...dtypes import DType, Kind


class Rule(enum.Enum):
    """How operand and result dtypes follow from the dtypes of the arguments."""

    ARITHMETIC = "arithmetic"
    """The common dtype; bool counts as a small integer."""
    FLOATING = "floating"
    """The common dtype, integers and bool converted to floating point."""
    SAME = "same"
    """The common dtype, bool included."""
    BITWISE = "bitwise"
    """The common dtype of integers or of bool."""
    SHIFT = "shift"
    """The common dtype of integers; bool counts as a small integer."""
    COMPARISON = "comparison"
    """Operands in the common dtype, result bool."""
    LOGICAL = "logical"
    """Operands by their truth, result bool."""
    SELECT = "select"
    """First argument by its truth, the others in their common dtype."""
    TYPED = "typed"
    """Operands and result of the types that the row names."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Function:
    """One row of the table. Whatever else depends on the function is derived from these columns."""

    name: str
    params: tuple[str, ...]
    rule: Rule
    definitions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Text in the language by kind of operand (or `any`, `integral`). Kinds without one are primitives: each target and
    the evaluator know the function."""
    derivatives: tuple[str, ...] | None = None
    """By each argument, in terms of the parameters and of `result`; None where none is known."""
    types: tuple[DType, ...] = ()
    """The types of the operands, where the rule is TYPED."""
    result: DType | None = None
    """The type of the result, where the rule is TYPED."""

    # ---- how it is written
    symbol: str | None = None
    """The operator that stands for it in the language; C's is the same but for `and`, `or` and `not`."""
    foreign: tuple[str, ...] = ()
    """What people call it from habit, for messages."""
    meant: str | None = None
    """What is probably meant where this cannot be applied, for messages."""

    # ---- how it is computed
    c: str | None = None
    """Its name in <math.h> or special.h without the suffix of float32, for floating operands."""
    c_complex: str | None = None
    """Its name in <complex.h> without the suffix, or `operator` where C has an operator for complex numbers."""
    c_integer: str | None = None
    """The helper of kernel.h, without the suffix of the dtype, for integers: C leaves a case undefined, or has none."""
    may_fail: bool = False
    """Does the helper report an error at run time? A division by zero does."""
    native: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By dtype: a function of the core's headers that is better than the library's or than the definition."""
    numpy: str | Callable[..., Any] | None = None
    """Its name in NumPy where that is another one, or a function of arrays."""
    scipy: str | None = None
    """Its name in scipy.special, by which it is evaluated in float64."""
    python: Callable[..., Any] | None = None
    """The same for Python's numbers, by which constants are folded."""
    cost: float = 1.0
    """What it takes for an element, where an addition of float32 numbers is 1."""

    # ---- vector forms
    libmvec: bool = False
    """Has libmvec a vector form, whose last bit may differ from the scalar one? kernel.h declares them."""
    exact: bool = True
    """Have all its C forms for floating operands the same last bit?"""
    by_level: bool = True
    """Of a function that is not exact: does its last bit depend on the instruction-set level?"""
    branches: str | None = None
    """The class of operands (`floating`, `integral`) for which its C branches, so that no compiler makes vector
    instructions of it."""
    blocks: tuple[str, ...] = ()
    """The dtypes for whose rows the core has a function: `block` names it."""
    fills: bool = False
    """Do the functions of rows take any length, as they compute less than for rows that are filled up to vectors?"""
    avx512: bool = False
    """Has avx512.h a function of a register of float32 numbers, `ow_NAME_16`?"""
    lanes: str | None = None
    """The function of half.h for lanes of float32 numbers."""
    signs: bool = False
    """Does it look at the sign and set it, the first bit in all formats? half.h has it for registers of halves."""

    # ---- algebra
    commutative: bool = False
    associative: bool = False
    """But for rounding, where there is any."""
    rounds: bool = True
    """May its result be a number that a format of the operands does not hold?"""
    monotone: bool = False
    """Of one that does not round: is it the same whether operands are rounded before or the result afterwards?"""
    modular: bool = False
    """Do results modulo 2^n depend on the operands modulo 2^n only?"""
    holomorphic: bool = True
    """Is its derivative by a complex argument a complex number?"""

    @property
    def arity(self) -> int:
        return len(self.params)

    def call(self, name: str, *before: str) -> str:
        """A call of a C function of this name, with `{0}`, `{1}` for the operands, after those that come `before`."""
        return f"{name}({', '.join((*before, *(f'{{{index}}}' for index in range(self.arity))))})"

    @property
    def is_special(self) -> bool:
        """Is it a function of the core's special.h?"""
        return self.c is not None and self.c.startswith("ow_")

    def _of(self, operand: DType, column: Mapping[str, str]) -> str | None:
        return next((column[key] for key in (operand.kind.value, class_of(operand), "any") if key in column), None)

    def definition(self, operand: DType) -> str | None:
        """Its meaning for operands of this dtype; None: a primitive."""
        return self._of(operand, self.definitions)

    def takes(self, operand: DType) -> bool:
        """Has it a meaning for operands of this dtype? All functions have for real ones; lists are equal or not, but
        have no order and no arithmetic."""
        if operand.is_list:
            return self.rule is Rule.COMPARISON and self.commutative
        return not operand.is_complex or self.c_complex is not None or self.definition(operand) is not None

    def branches_for(self, operand: DType) -> bool:
        return self.branches == class_of(operand)

    def is_exact_for(self, operand: DType) -> bool:
        """Have all C forms of the primitive the same last bit?"""
        return self.exact or not operand.is_floating

    def depends_on_level(self, operand: DType) -> bool:
        """Does the last bit depend on the instruction-set level? Arithmetic alone does not; functions of rows of
        complex numbers are made of vector functions of real ones."""
        if operand.is_complex:
            return operand.name in self.blocks
        return not self.is_exact_for(operand) and self.by_level

    def block(self, operand: DType) -> str | None:
        """The function of rows of this dtype."""
        if operand.name not in self.blocks:
            return None
        prefix = "c" if operand.is_complex else ""
        return f"ow_{prefix}{self.name}_block" + ("" if operand.name == "float32" else f"_{operand.suffix}")


def class_of(dtype: DType) -> str:
    """The coarser kinds that columns name."""
    return {Kind.FLOATING: "floating", Kind.COMPLEX: "complex"}.get(dtype.kind, "integral")


def row(name: str, params: str, rule: Rule, *derivatives: str, differentiable: bool = True, **columns: Any) -> Function:
    """A row as the tables write it: `params` as one text, and definitions by the kinds that `DEFINED` names."""
    names = tuple(params.split())
    definitions = {kind: columns.pop(kind) for kind in tuple(columns) if kind in DEFINED}
    known = (derivatives or ("0",) * len(names)) if differentiable else None
    return Function(name=name, params=names, rule=rule, derivatives=known, definitions=definitions, **columns)


DEFINED = ("any", "floating", "complex", "integral", "signed", "unsigned", "bool")
