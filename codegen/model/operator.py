"""The model of an operator, once its entry has been read: frozen, typed, complete. Every emitter works from it alone.

Facts that follow from others (which dtypes need a kernel, which variants exist) are properties here or live in
variants.py; nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

from ..dtypes import COMPUTE_DTYPES, DTYPE_CLASSES, FLOAT64, DType, Promotion, ordered
from ..errors import Span
from ..expr import Expr, Literal, names, shared_parts, simplify, substitute
from ..expr.geometry import Geometry
from ..schema import Argument, FunctionSchema, Type, base_name
from ..source import Scalar
from .compute import Compute
from .folding import Folding
from .loop import Loop
from .parts import ERROR_KINDS as ERROR_KINDS
from .parts import End as End
from .parts import Expression as Expression
from .parts import Requirement as Requirement

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


class Family(Enum):
    """The kinds of bodies; the value is the key in ops.yaml."""

    ELEMENTWISE = "elementwise"
    REDUCE = "reduce"
    SCAN = "scan"
    ROWS = "rows"
    VIEW = "view"
    FACTORY = "factory"
    EXTERN = "extern"
    INDEXING = "indexing"
    RANDOM = "random"
    LAPACK = "lapack"
    CORE = "core"
    COMPUTE = "compute"
    FOLD = "fold"
    LOOP = "c"
    COMPOSITE = "composite"

    @property
    def body(self) -> str:
        """The name of a body of this kind in messages."""
        if self is Family.FOLD:
            return "a body with a state"
        if self is Family.LOOP:
            return "a body in C"
        return f"{'an' if self.value[0] in 'aeiou' else 'a'} {self.value} body"


def labels_of(schema: FunctionSchema) -> tuple[str, ...]:
    """Return the names of a schema's results, numbers for those without a name; of a single result an empty one."""
    returns = schema.returns
    return tuple(result.name or str(index) for index, result in enumerate(returns)) if len(returns) > 1 else ("",)


class Found(Enum):
    """The result of a reduction or a scan: the combination of elements, or the position of an element."""

    VALUE = "value"
    POSITION = "position"


def is_dimension(argument: Argument, family: Family) -> bool:
    """Return True if the argument names the lines of a fold or of rows, or says whether their dimension stays."""
    return family in (Family.FOLD, Family.ROWS) and argument.name in ("dim", "keepdim")


def parameters(schema: FunctionSchema, family: Family) -> tuple[Argument, ...]:
    """Arguments that kernels take as numbers."""
    takes_reals = family in (Family.ELEMENTWISE, Family.ROWS, Family.COMPUTE, Family.FOLD, Family.LOOP)
    integral = family in (Family.ELEMENTWISE, Family.ROWS, Family.FOLD, Family.LOOP)
    return tuple(
        each
        for each in schema.arguments
        if each.is_scalar
        or (takes_reals and each.is_real)
        or (integral and each.is_integral and not is_dimension(each, family))
    )


@dataclass(frozen=True)
class Drawn:
    """Random numbers that are drawn before an expression of elements is computed."""

    tensors: tuple[tuple[str, str], ...]
    """The kinds of distributions and the arguments that stand for numbers, in the order in which they are drawn."""
    schema: FunctionSchema
    """The schema of the operator, which has no such arguments."""


@dataclass(frozen=True)
class Iteration:
    """A loop for each element: `state` has what its variables start with, `following` those of the next round.

    There is one while `proceeds` holds (None: always), and at most `times` rounds, a number of the parameters.
    """

    state: tuple[tuple[str, Expression], ...]
    proceeds: Expression | None
    times: Expression
    following: tuple[Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.state)

    @property
    def rounds(self) -> tuple[Expression, ...]:
        """The expressions of a round."""
        return (*([] if self.proceeds is None else [self.proceeds]), *self.following)


@dataclass(frozen=True)
class Elementwise:
    """An expression of each result for every dtype, or for each class of dtypes."""

    cases: tuple[tuple[frozenset[DType], tuple[Expression, ...]], ...]
    fixed: Mapping[str, DType]
    absent: Mapping[str, End | float]
    """The values of optional arguments that are None: for tensors an end of the range, for numbers one of its finite
    ends or a number."""
    natural: Mapping[str, str]
    """Inputs that must not be negative when they are integer numbers, and the message when they are."""
    require: tuple[Requirement[Expression, Argument], ...] = ()
    """Conditions on the parameters, as numbers of float64; their messages give values of parameters."""
    local: tuple[tuple[str, Expression], ...] = ()
    """The names that the entry gives to parts of the expressions, in which the parts stand in place of these names."""
    own: tuple[DType | None, ...] = (None,)
    """Declared dtypes of the results; None: those that follow from the inputs."""
    iterate: Iteration | None = None
    """The loop that is computed before the results, which may use its variables."""

    @property
    def is_uniform(self) -> bool:
        """True if the expression is the same for every dtype, whether it has a meaning there or not."""
        return len(self.cases) == 1 and self.cases[0][0] == DTYPE_CLASSES["any"]

    @property
    def is_single(self) -> bool:
        """True if there is one expression, from which all else follows."""
        return len(self.own) == 1 and self.iterate is None

    def expressions(self, dtype: DType) -> tuple[Expression, ...]:
        """The expressions of the results that are computed in `dtype`; none where they are not defined for it."""
        return next((expressions for dtypes, expressions in self.cases if dtype in dtypes), ())

    def expression(self, dtype: DType) -> Expression | None:
        """Return the expression of the first result."""
        return next(iter(self.expressions(dtype)), None)


@dataclass(frozen=True)
class Reduce:
    """`combine` joins `acc` and `self`, `map` prepares each element, `finalize` makes a result of `acc` and `count`."""

    combine: Expression
    identity: Expression | End
    refuses_empty: bool
    map: Expression | None
    finalize: Expression | None
    results: tuple[Found, ...] = (Found.VALUE,)
    degree: int | None = None
    """The degree, as in `Rows`."""
    pairwise: str | None = None
    """The operator that a tensor in place of `dim` asks for."""


@dataclass(frozen=True)
class Scan:
    """A body that combines the elements of a line one after the other, with a result for each."""

    combine: Expression
    identity: Expression | End
    results: tuple[Found, ...] = (Found.VALUE,)


@dataclass(frozen=True)
class Let:
    """A value of each row: `combine` of the expression over all elements, or (None) the expression of other values."""

    name: str
    expression: Expression
    combine: str | None


def needed(lets: Iterable[Let], used: Iterable[str]) -> tuple[Let, ...]:
    """Return the values that these names need, in their order."""
    wanted, found = set(used), list[Let]()
    for let in reversed(tuple(lets)):
        if let.name in wanted:
            wanted |= names(let.expression.tree)
            found.insert(0, let)
    return tuple(found)


class Extent(Enum):
    """The elements of a result of rows: one for each element, row or place."""

    ELEMENT = "value"
    ROW = "results"
    PLACE = "across"
    """A place in the row: the sum over all rows."""


@dataclass(frozen=True)
class Rows:
    """Values of each row one after the other; then results, in the order of the schema."""

    lets: tuple[Let, ...]
    outputs: tuple[tuple[Extent, Expression], ...]
    degrees: tuple[int, ...] = ()
    """A row times a number has the results times powers of that number: its exponents. The first is of sums of squares,
    or a root of them. None: not so."""
    per_row: frozenset[str] = frozenset()
    """The tensors of which each row has one element."""
    per_place: frozenset[str] = frozenset()
    """The tensors whose elements are the same in all rows."""
    fixed: Mapping[str, DType] = field(default_factory=dict)
    own: tuple[DType | None, ...] = (None,)

    def extent(self, tensor: str) -> Extent:
        """Return what a tensor has one element for; its gradient has one there as well."""
        if tensor in self.per_row:
            return Extent.ROW
        return Extent.PLACE if tensor in self.per_place else Extent.ELEMENT

    def of(self, extent: Extent) -> tuple[Expression, ...]:
        return tuple(expression for each, expression in self.outputs if each is extent)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*(let.expression for let in self.lets), *(expression for _, expression in self.outputs))


@dataclass(frozen=True)
class View:
    """A body that gives another shape, strides and offset to the memory of its first argument."""

    shape: Geometry
    strides: Geometry
    offset: Geometry | None
    let: tuple[tuple[str, Geometry], ...]
    require: tuple[Requirement[Geometry, Geometry], ...]
    wrap: Mapping[str, Geometry]
    """Range of each dimension argument (`ndim` unless the entry says otherwise)."""
    copies: bool
    """True if a contiguous copy is taken where the memory order has no such view."""
    line: int


@dataclass(frozen=True)
class Factory:
    """`value` of element `i`; None leaves the memory uninitialised. `shape`, `let` and `fill` are Python."""

    shape: str
    let: tuple[tuple[str, str], ...]
    value: Expression | None
    fill: str | None
    """The returned expression in terms of `result`, whose memory is not initialised."""
    dtype: DType | None
    """The dtype of the result when none is given; None: it follows from the numbers."""


@dataclass(frozen=True)
class Extern:
    """A body that is a product of the core, with the signature of a generalised ufunc."""

    routine: str
    signature: str


@dataclass(frozen=True)
class Indexing:
    """A routine over computed places; a reduction combines what is written there with what there is.

    `words` are the values of the text argument that chooses one of several reductions.
    """

    routine: str
    reductions: tuple[str, ...]
    words: tuple[str, ...]
    numbers: Mapping[str, str]
    """Tensor arguments in whose place a number may be given, with the name that the number then has."""
    source: Scalar = field(repr=False, compare=False)


@dataclass(frozen=True)
class Random:
    """Fills `self` with numbers of a distribution of the core."""

    distribution: str


@dataclass(frozen=True)
class Lapack:
    """A routine of LAPACK, called for each matrix of a batch; it may have several results."""

    routine: str


@dataclass(frozen=True)
class Core:
    """A function of the core that is given the whole call."""

    routine: str


@dataclass(frozen=True)
class Composite:
    """Python in terms of other operators; or, if it is `opaque`, in terms of the core."""

    source: Scalar
    core: str | None
    """Python for a call of the core that gives the result of plain tensors at once, or None."""
    require: tuple[Requirement[Scalar, Scalar], ...] = ()
    """Conditions on the arguments, checked before the body runs: Python, as what their messages quote."""
    opaque: bool = False
    """True if the body reads memory or handles itself. A call is then not decomposed for tensors of other kinds."""
    loops: Compute | Rows | Folding | None = None
    """The expressions over indices, or the rows or folds in an order, that it computes;"""
    automatic: tuple[str, ...] = ()
    """and the arguments by which these have derivatives."""

    @property
    def quoted(self) -> tuple[Scalar, ...]:
        """The expressions of the requirements."""
        return tuple(value for each in self.require for value in each.values)


Body: TypeAlias = (
    Elementwise
    | Reduce
    | Scan
    | Rows
    | Compute
    | Folding
    | Loop
    | View
    | Factory
    | Extern
    | Indexing
    | Random
    | Lapack
    | Core
    | Composite
)


def floating_expressions(body: Body | None) -> tuple[Expression, ...]:
    """The expressions whose derivatives are taken: what an elementwise operator computes for floating numbers."""
    return body.expressions(FLOAT64) if isinstance(body, Elementwise) else ()


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

    doc: str
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
