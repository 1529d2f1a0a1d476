"""The columns of the table of functions: every fact about a function of the expression language."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...dtypes import DType, Kind


class Rule(enum.Enum):
    """Rules by which operand and result dtypes follow from the dtypes of the arguments."""

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
    """Operands converted to bool, result bool."""
    SELECT = "select"
    """First argument converted to bool, the others in their common dtype."""
    TYPED = "typed"
    """Operands and result of the types that the row names."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Function:
    """One row of the table. All else that depends on the function is derived from these columns."""

    name: str
    params: tuple[str, ...]
    rule: Rule
    definitions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Definitions in the language by kind of operand (or `any`, `integral`). For kinds without one the function is a
    primitive, which each target and the evaluator know."""
    derivatives: tuple[str, ...] | None = None
    """The derivative by each argument, in terms of the parameters and of `result`; None if none is known."""
    types: tuple[DType, ...] = ()
    """The types of the operands, where the rule is TYPED."""
    result: DType | None = None
    """The type of the result, where the rule is TYPED."""
    gives: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The dtype of the result by that of the operand, where they differ; without a definition for others the function
    is defined for these alone."""
    meaning: str | None = None
    """The function's description, unless the documentation of an operator or the definition says it."""

    # ---- how it is written
    symbol: str | None = None
    """The operator in the language, which is also C's, except for `and`, `or` and `not`."""
    foreign: tuple[str, ...] = ()
    """The names in other languages and libraries, for messages."""
    meant: str | None = None
    """The help of messages that say that the function cannot be applied here."""

    # ---- how it is computed
    c: str | None = None
    """The name in <math.h> or special.h without the suffix of float32, for floating operands."""
    c_complex: str | None = None
    """The name in <complex.h> without the suffix, or `operator` where C has an operator for complex numbers."""
    c_integer: str | None = None
    """The helper of kernel.h for integers, without the suffix of the dtype, if C has no such operation or leaves a case
    undefined."""
    may_fail: bool = False
    """True if the helper may report an error at run time, such as a division by zero."""
    native: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The function of the core's headers that is used instead of the library's or of the definition, by dtype."""
    numpy: str | Callable[..., Any] | None = None
    """The name in NumPy if that differs, or a function of arrays."""
    scipy: str | None = None
    """The name in scipy.special, which evaluates it in float64."""
    python: Callable[..., Any] | None = None
    """The function for Python's numbers, which folds constants."""
    cost: float = 1.0
    """The time for an element, relative to an addition of float32 numbers."""

    # ---- vector forms
    libmvec: bool = False
    """True if libmvec has a vector form, whose last bit may differ from the scalar form. kernel.h declares these."""
    exact: bool = True
    """True if all its C forms for floating operands give the same bits."""
    by_level: bool = True
    """True if the last bit of an inexact function depends on the instruction-set level."""
    branches: str | None = None
    """The class of operands (`floating`, `integral`) for which its C has branches, so that no compiler vectorizes
    it."""
    blocks: tuple[str, ...] = ()
    """The dtypes for which the core has a function of rows, which `block` names."""
    fills: bool = False
    """True if the functions of rows accept any length, so that loops need not pad their rows to vectors."""
    avx512: bool = False
    """True if avx512.h has the function `ow_NAME_16` of a register of float32 numbers."""
    lanes: str | None = None
    """The function of half.h for lanes of float32 numbers."""
    signs: bool = False
    """True if it only reads and sets signs, the first bit in all formats. half.h has it for registers of halves."""

    # ---- algebra
    commutative: bool = False
    associative: bool = False
    """True if the function is associative, up to rounding."""
    rounds: bool = True
    """True if the format of the operands may not represent the result."""
    monotone: bool = False
    """True if the result is the same whether operands are rounded before or the result is rounded afterwards."""
    modular: bool = False
    """True if results modulo 2^n depend only on the operands modulo 2^n."""
    holomorphic: bool = True
    """True if it is complex differentiable."""

    @property
    def arity(self) -> int:
        return len(self.params)

    def call(self, name: str, *before: str) -> str:
        """A call of a C function of this name, with `{0}`, `{1}` for the operands, after those that come `before`."""
        return f"{name}({', '.join((*before, *(f'{{{index}}}' for index in range(self.arity))))})"

    @property
    def is_special(self) -> bool:
        """True for a function of the core's special.h."""
        return self.c is not None and self.c.startswith("ow_")

    def _of(self, operand: DType, column: Mapping[str, str]) -> str | None:
        return next((column[key] for key in (operand.kind.value, class_of(operand), "any") if key in column), None)

    def definition(self, operand: DType) -> str | None:
        """Return the definition for operands of this dtype; None if it is a primitive."""
        return self._of(operand, self.definitions)

    def takes(self, operand: DType) -> bool:
        """True if it is defined for operands of this dtype. All functions are for real ones; lists are equal or not,
        but have no order and no arithmetic."""
        if operand.is_list:
            return self.rule is Rule.COMPARISON and self.commutative
        if self.definition(operand) is not None:
            return True
        if self.gives:
            return operand.name in self.gives
        return not operand.is_complex or self.c_complex is not None

    def branches_for(self, operand: DType) -> bool:
        return self.branches == class_of(operand)

    def is_exact_for(self, operand: DType) -> bool:
        """True if all C forms of the primitive give the same bits."""
        return self.exact or not operand.is_floating

    def depends_on_level(self, operand: DType) -> bool:
        """True if the last bit depends on the instruction-set level. Arithmetic does not; functions of rows of complex
        numbers call vector functions of real ones."""
        if operand.is_complex:
            return operand.name in self.blocks
        return not self.is_exact_for(operand) and self.by_level

    def block(self, operand: DType) -> str | None:
        """The name of the function of rows of this dtype, or None."""
        if operand.name not in self.blocks:
            return None
        prefix = "c" if operand.is_complex else ""
        return f"ow_{prefix}{self.name}_block" + ("" if operand.name == "float32" else f"_{operand.suffix}")


def class_of(dtype: DType) -> str:
    """The class of a dtype by which columns are indexed."""
    return {Kind.FLOATING: "floating", Kind.COMPLEX: "complex"}.get(dtype.kind, "integral")


def row(name: str, params: str, rule: Rule, *derivatives: str, differentiable: bool = True, **columns: Any) -> Function:
    """A row as the tables write it: `params` as one text, and definitions as keywords (`DEFINED`)."""
    names = tuple(params.split())
    definitions = {kind: columns.pop(kind) for kind in tuple(columns) if kind in DEFINED}
    known = (derivatives or ("0",) * len(names)) if differentiable else None
    return Function(name=name, params=names, rule=rule, derivatives=known, definitions=definitions, **columns)


DEFINED = ("any", "floating", "complex", "integral", "signed", "unsigned", "bool")
