"""The model of an operator, once its entry has been read: frozen, typed, complete. Every emitter works from it alone.

Facts that follow from others (which dtypes need a kernel, which variants exist) are properties here or live in
variants.py; nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from ..dtypes import COMPUTE_DTYPES, DType, Promotion, ordered
from ..errors import Span
from ..expr import Expr, Literal, shared_parts, simplify, substitute
from ..schema import Argument, FunctionSchema, Type, base_name
from ..source import Scalar
from .accumulation import Reduce as Reduce
from .accumulation import Scan as Scan
from .body import Body as Body
from .composite import Composite as Composite
from .elementwise import Elementwise as Elementwise
from .elementwise import Iteration as Iteration
from .factory import Factory as Factory
from .family import Family as Family
from .family import parameters as parameters
from .parts import ERROR_KINDS as ERROR_KINDS
from .parts import End as End
from .parts import Expression as Expression
from .parts import Found as Found
from .parts import Requirement as Requirement
from .routine import Core as Core
from .routine import Extern as Extern
from .routine import Indexing as Indexing
from .routine import Lapack as Lapack
from .routine import Random as Random
from .rows import Extent as Extent
from .rows import Let as Let
from .rows import Rows as Rows
from .rows import needed as needed
from .view import View as View

AUTOCAST = ("as_is", "borders", "float32", "half", "widest")
"""The words that an entry may say of autocast; the runtime knows them (_dispatch/autocast.py)."""
# OW_MAX_INPUTS and so on of opweave.h; the core does not compile where they differ (ow_routines.h).
MAX_INPUTS = 12
MAX_PARAMS = 8
MAX_OUTPUTS = 8
MAX_OPERANDS = 8
"""Tensors that an operator may take: the kernels of its derivatives may take gradients and results as well."""
MAX_REDUCTIONS = 5
MAX_ROW_VALUES = 16
MAX_ROW_LETS = 64
MAX_RESULTS = 3
MAX_SHORTCUTS = 8


def labels_of(schema: FunctionSchema) -> tuple[str, ...]:
    """Return the names of a schema's results, numbers for those without a name; of a single result an empty one."""
    returns = schema.returns
    return tuple(result.name or str(index) for index, result in enumerate(returns)) if len(returns) > 1 else ("",)


@dataclass(frozen=True)
class Drawn:
    """Random numbers that are drawn before an expression of elements is computed."""

    tensors: tuple[tuple[str, str], ...]
    """The kinds of distributions and the arguments that stand for numbers, in the order in which they are drawn."""
    schema: FunctionSchema
    """The schema of the operator, which has no such arguments."""


@dataclass(frozen=True)
class Derivative:
    """A declared formula, `none` (declined) or `auto` (the derivative of the expression).

    `tree` is the formula of an elementwise operator, or what `auto` came to; those of other families are Python.
    """

    text: str
    source: Scalar = field(repr=False, compare=False)
    tree: Expr | None = None
    differs: bool = False
    """True if it is meant to differ from the derivative of the body."""
    calls: bool = False
    """True if it is Python that calls an operator, although the family's formulas are expressions."""
    place: int | None = None
    """The position of its gradient, in a formula that gives several gradients at once."""
    grads: str | None = None
    """Python of what stands for the gradients by the results in the formulas of all inputs, and is computed once."""

    @property
    def formula(self) -> str | None:
        """The formula to compute, as text; None when there is none."""
        if self.text == "none":
            return None
        if self.text != "auto" or self.tree is None:
            return self.text
        return shared_parts.text(self.tree)


B = TypeVar("B", bound=Body)


def grad_name(label: str) -> str:
    """Return the name of a result's gradient in formulas."""
    return f"grad_{label}" if label else "grad"


def term_of(tree: Expr, label: str, labels: Iterable[str]) -> Expr:
    """The part of a formula, which is linear in the gradients of all results, that is due to one of them."""
    others = {grad_name(other): Literal(0) for other in labels if other != label}
    return simplify(substitute(tree, others)) if others else tree


@dataclass(frozen=True)
class Declaration:
    """The parts of an entry outside its body: enough to know every name that it defines."""

    schema: FunctionSchema
    family: Family
    file: str
    span: Span
    method: bool
    function: bool
    operator: str | None
    aliases: tuple[str, ...]
    module: str | None
    """The submodule that has the function; None: the package itself."""
    exports: tuple[tuple[str, str], ...]
    """Aliases in submodules: module and name."""
    internal: bool
    """True if only other operators choose it."""
    property_name: str | None
    """The property of class Tensor whose value is the result; there is no method then."""
    assignable: bool
    """True if the property may be assigned to, which copies into the view that it is."""
    tags: tuple[str, ...]
    updates_self: bool
    """True if the result is `self` with some elements written anew."""
    places: Mapping[str, Span] = field(repr=False, compare=False)
    """The places where the entry gives names: its own, the aliases, the special methods of Python."""

    @cached_property
    def name(self) -> str:
        name = self.schema.name
        return name.identifier if name.inplace else name.base

    @cached_property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.schema.arguments if argument.is_tensor)

    @cached_property
    def params(self) -> tuple[Argument, ...]:
        return parameters(self.schema, self.family)

    @property
    def returns_list(self) -> bool:
        """True if the result is a tuple of tensors."""
        return self.schema.returns[0].is_tensor_list

    @property
    def labels(self) -> tuple[str, ...]:
        """The results by the names that formulas give them: "" of the only one, which is `result`, else the NAME of
        `result_NAME`."""
        return labels_of(self.schema)

    @cached_property
    def result_names(self) -> tuple[str, ...]:
        """Names of the results where there are several that have names: they are then a named tuple."""
        returns = self.schema.returns
        return tuple(result.name for result in returns if result.name) if len(returns) > 1 else ()

    def place(self, name: str) -> Span:
        """Return the place where the entry gives a name that it defines; the in-place form's is that of the name
        itself."""
        return self.places.get(name) or self.places.get(name.removesuffix("_")) or self.span


@dataclass(frozen=True)
class Operator(Declaration):
    """An operator: its declaration, body, dtypes and derivatives."""

    family: Family = field(init=False)
    """The family of the body."""
    doc: str
    meanings: Mapping[str, str]
    """Meanings of arguments, by their names, where these do not say it."""
    body: Body
    dtypes: frozenset[DType]
    promotion: Promotion
    refusal: str | None
    complex_refusal: str | None
    """The message for complex dtypes, where these are not accepted and it is not `NotImplementedError`."""
    reference: str | None
    reference_span: Span | None = field(repr=False, compare=False)
    error_scale: str | None
    """Size of the largest intermediate value where it exceeds the result, as a NumPy expression."""
    derivatives: Mapping[str, Derivative]
    complex_derivatives: Mapping[str, Derivative]
    """Formulas in Python, by torch's convention, of what has no complex derivative."""
    cost: float
    unused: frozenset[str]
    """Arguments that the body ignores."""
    choices: Mapping[str, Mapping[str, str]]
    """Texts that an argument may be, and the operator that each stands for; the default stands for this one."""
    shortcuts: Mapping[float, str]
    """Numbers in place of the last input, and the operator of the first that computes the same."""
    accepts: Mapping[str, tuple[Type, ...]]
    """Types that an argument of a composite, or the first operand of an elementwise one, may have besides its own."""
    alone: str | None
    """Python for what the function returns that is called with its first argument only."""
    text: str
    """The entry as it stands in the file, for `opweave show`."""
    derived: bool = False
    """True if it follows from another entry, as a gradient does."""
    in_range: tuple[str, ...] = ()
    """The arguments that, where they are numbers, must be in the range of a half format that the tensors promote to."""
    by_tensor: tuple[str, str] | None = None
    """An argument that is no tensor, and the operator that a tensor in its place means."""
    overloads: tuple[str, ...] = ()
    """The names of further schemas of torch that it answers."""
    autocast: str | None = None
    """The format in which autocast computes it: a word of AUTOCAST."""
    order: int = 0
    """The order of the gradient that it is; 0: it is no gradient."""
    drawn: Drawn | None = None
    rule: str | None = None
    """The rule of dimensions (rules.py), where the entry declares one;"""
    reason: str | None = None
    """or why there is none."""
    naming: str | None = None
    """The rule by which results get names of dimensions, where the entry declares one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.body.family)

    @cached_property
    def tensors_only(self) -> tuple[Argument, ...]:
        """The inputs, which are nothing but tensors; of a composite those that lead."""
        if self.family is not Family.COMPOSITE:
            return self.inputs
        return tuple(
            takewhile(
                lambda argument: argument.is_tensor and not argument.is_optional and argument.name not in self.accepts,
                self.schema.arguments,
            )
        )

    @property
    def has_dtype_argument(self) -> bool:
        argument = self.schema.argument("dtype")
        return argument is not None and base_name(argument.type) == "ScalarType"

    @cached_property
    def compute_dtypes(self) -> tuple[DType, ...]:
        """The dtypes that need kernels, in the order of the codes."""
        if self.family is Family.FACTORY or self.has_dtype_argument:
            chosen = {dtype.opmath for dtype in self.dtypes} & set(COMPUTE_DTYPES)
            return ordered(frozenset(chosen))
        return ordered(frozenset(self.promotion.resolve(dtype)[0].opmath for dtype in self.dtypes))

    @property
    def result_is_bool(self) -> bool:
        return self.promotion in (Promotion.ALWAYS_BOOL, Promotion.BOOL)

    def body_of(self, kind: type[B]) -> B:
        """Return the body of an operator that is known to have one of this kind."""
        assert isinstance(self.body, kind)
        return self.body
