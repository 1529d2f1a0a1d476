"""The facts about one operator that its generated tests need. Written by codegen, read by the suites."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from codegen.expr import FUNCTIONS
from codegen.model.python_operators import PYTHON_OPERATORS, PythonOperator

POLYNOMIALS = tuple(name for name, function in FUNCTIONS.items() if function.params == ("x", "n"))


@dataclass(frozen=True)
class Spec:
    """Argument names are those of the Python function; `schema_names` maps them to those of expressions."""

    name: str
    dtypes: tuple[str, ...]
    complex_dtypes: tuple[str, ...] = ()
    """Accepted besides; tests/runtime/ops/elementwise/test_complex_arithmetic.py compares what comes of them."""
    inputs: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """Inputs in whose place a number may be, as they take part in promotion."""
    promotion: str = "default"
    params: Mapping[str, float | str | None] = field(default_factory=dict)
    """Numbers besides the tensors, with their defaults: a text is that end of the result's finite range, None means
    that there is none."""
    ints: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    variadic: bool = False
    """May the list be given as separate integers (and then has no name)?"""
    reference: str | None = None
    """NumPy's form of the operator, an expression over the names of the schema; None: there is none."""
    expressions: tuple[tuple[tuple[str, ...], str], ...] = ()
    """The declared expressions of an elementwise operator, with the dtypes they are for."""
    inexact: tuple[str, ...] = ()
    """Dtypes in which the operator calls functions of the mathematics library: results may be off by some ULP."""
    magnitude: str | None = None
    """Size of the largest intermediate value, where results may be smaller: an expression over the names of the schema.
    Its rounding errors are forgiven."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Texts that select this operator among those of one name."""
    module: str | None = None
    """The submodule that has the function; None: the package itself."""
    exports: tuple[tuple[str, str], ...] = ()
    """Aliases in submodules: module and name."""
    optional_params: tuple[str, ...] = ()
    """Numbers that may be None."""
    refuses_factors: bool = False
    """Is `refusal` about the inputs after the first, one of which must have an accepted dtype?"""
    same_dtype: bool = False
    """Must all tensors have one dtype?"""
    strict_numbers: bool = False
    """Must the numbers be of the kind of the result?"""
    fitting_numbers: bool = False
    """Must numbers in place of tensors be in the range of the common dtype, unless it is a half format?"""
    in_range: tuple[str, ...] = ()
    """Arguments whose numbers must be in the range of a half format that is the common dtype."""
    inplace_argument: bool = False
    function: bool = True
    method: bool = True
    inplace: bool = False
    out: bool = True
    aliases: tuple[str, ...] = ()
    operator: str | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Inputs of one dtype only, which do not take part in promotion."""
    optional: tuple[str, ...] = ()
    """Inputs that may be None; one of them must be given."""
    refusal: bool = False
    """Is a dtype that is not accepted a RuntimeError (else NotImplementedError)?"""
    complex_refusal: bool = False
    """Is a complex one?"""
    dtype_argument: bool = False
    refuses_empty: bool = False
    multiplies: bool = False
    """Does a reduction or scan multiply or add exponentials, so that the rounding errors of all elements add up?"""
    signature: str = ""
    """Shapes of an extern operator in the grammar of NumPy's generalised ufuncs."""
    opmath_number: bool = False
    """Is a tensor of one element in the last place not rounded to the common dtype, as numbers are not?"""
    natural: tuple[str, ...] = ()
    """Inputs that must not be negative, nor wrap, when they are integers given as Python's numbers."""
    requirements: tuple[tuple[str, tuple[str, ...] | None], ...] = ()
    """What the numbers besides the tensors must keep, as expressions, and for results of which dtypes, None: all."""
    conditional: bool = False
    """Does a view make conditions of its own?"""
    copies: bool = False
    """Does a view of a memory order that has none give a copy?"""
    entry: tuple[str, str] = ("", "")
    """The file that declares the operator, relative to the folder two above that of its tests, and its name there: for
    suites that compare with the body itself."""
    automatic: tuple[str, ...] = ()
    """Arguments whose derivative follows from the body, by the names of the schema."""
    several_out: bool = False
    """Are there several results, which `out=` may name?"""
    fallible: bool = False
    """Can the computation itself fail, for example by a division by zero?"""

    def find(self, library: Any) -> Callable[..., Any]:
        """The function, in opweave or another library of the same interface."""
        return attrgetter(f"{self.module}.{self.name}" if self.module else self.name)(library)  # type: ignore[no-any-return]

    def admits(self, dtype: str, **numbers: Any) -> bool:
        """Do these, and the defaults of the others, keep what the operator requires of its numbers for this result?"""
        values = {**self.params, **self.keywords, **numbers, "inf": math.inf}
        held = (text for text, dtypes in self.requirements if dtypes is None or dtype in dtypes)
        return all(eval(text, {}, values) for text in held)

    @property
    def keywords(self) -> dict[str, Any]:
        """What a call needs besides tensors: texts that select the operator, and numbers that have no default."""
        return {**self.chosen, **{name: 1 for name, default in self.params.items() if default is None}}

    def keywords_for(self, dtype: str) -> dict[str, Any]:
        """What a call needs for this result: all numbers, ascending ones, where the defaults are refused."""
        return self.keywords if self.admits(dtype) else self.keywords | {n: k for k, n in enumerate(self.params)}

    def __str__(self) -> str:
        return "-".join((self.name, *self.chosen.values()))

    @property
    def python_operator(self) -> PythonOperator | None:
        return PYTHON_OPERATORS[self.operator] if self.operator else None

    @property
    def schema_names(self) -> dict[str, str]:
        return {name: "self" if name == "input" else name for name in (*self.inputs, *self.params)}

    @property
    def free(self) -> tuple[str, ...]:
        """Inputs that take part in promotion."""
        return tuple(name for name in self.inputs if name not in self.fixed)


def chooses(spec: Spec) -> bool:
    """Is one of the operands the result, so that it matters which of two equal ones is chosen?"""
    return any(re.search(r"\b(maximum|minimum|fmax|fmin|clamp|relu)\(", text) for _, text in spec.expressions)
