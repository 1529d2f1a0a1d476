"""The base of the bodies of operators: questions that every family answers.

The values here are those of a body that has nothing to tell; the classes of bodies say what differs. A class that has
one of these names as a field without a default writes `field()`: a dataclass would take the value here for one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ..dtypes import DTYPE_CLASSES, DType, Promotion
from ..expr import Apply, Expr, applications, names, type_of
from ..expr.functions import ROWS
from ..expr.lower import Env
from ..source import Scalar
from .family import Family
from .parts import End, Expression, Found, Requirement

if TYPE_CHECKING:
    from .operator import Declaration, Derivative, Operator

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Body:
    """The base of all bodies."""

    family: ClassVar[Family]

    # ---- arguments

    fixed: Mapping[str, DType] = _NOTHING
    """The dtypes of inputs that take no part in promotion."""
    absent: Mapping[str, End | float] = _NOTHING
    """The values of optional arguments that are None: for tensors an end of the range, for numbers one of its finite
    ends or a number."""
    natural: Mapping[str, str] = _NOTHING
    """Inputs that must not be negative when they are integer numbers, and the message when they are."""
    conditions: tuple[Requirement[Expression, Any], ...] = ()
    """Conditions on the numbers that kernels take, and on sizes."""
    numbers: Mapping[str, str] = _NOTHING
    """Tensor arguments in whose place a number may be given, with the name that the number then has."""
    words: tuple[str, ...] = ()
    """The values of the text argument that chooses one of several reductions,"""
    reductions: tuple[str, ...] = ()
    """and these reductions."""
    pairwise: str | None = None
    """The operator that a tensor in place of `dim` asks for."""
    per_place: frozenset[str] = frozenset()
    """The tensors whose elements are the same in all rows."""

    @property
    def named_sizes(self) -> tuple[str, ...]:
        """The sizes of dimensions that conditions may use."""
        return ()

    @property
    def told(self) -> Mapping[str, DType]:
        """The dtypes of inputs that the entry tells."""
        return self.fixed

    @property
    def discrete(self) -> Collection[str]:
        """Tensors that have no gradient."""
        return self.fixed.keys()

    def interprets(self, name: str) -> bool:
        """Return True if the body makes of this argument what it needs, whatever it is."""
        return False

    # ---- computation

    found: tuple[Found, ...] = ()
    """The results of a reduction or a scan of one value."""
    refuses_empty: bool = False
    degrees: tuple[int, ...] = ()
    """A line times a number has the results times powers of that number: its exponents."""
    routine: str | None = None
    """The function of the core that computes it."""
    signature: str = ""
    """The dimensions of its tensors and results, as those of a generalised ufunc."""
    copies: bool = False
    """True if a view is a copy where the memory order has none."""

    @property
    def updates_self(self) -> bool:
        """True if the result is `self` with some elements written anew."""
        return False

    def by_operators(self, operator: Operator) -> str | None:
        """Return Python of a function that computes the results as operators of tensors, and of what each of them has
        an element for; None where there is none."""
        return None

    @property
    def sums_rows(self) -> bool:
        """True if a result is a sum over all rows."""
        return False

    @property
    def promotes(self) -> bool:
        """True if a tensor takes part in the dtype of computation."""
        return True

    @property
    def has_table(self) -> bool:
        """True if there are kernels for dtypes, in a family that has tables of them."""
        return True

    @property
    def single(self) -> Expr | None:
        """The expression of elements from which all else follows."""
        return None

    @property
    def iterates(self) -> bool:
        """True if elements are computed in rounds."""
        return False

    @property
    def floating(self) -> tuple[tuple[DType | None, Expression], ...]:
        """The expressions whose derivatives are taken, what an elementwise operator computes for floating numbers, with
        the declared dtypes of the results."""
        return ()

    def values(self, dtype: DType) -> tuple[Expression, ...]:
        """The expressions of results that are computed in `dtype`, of bodies that consist of these."""
        return ()

    def computes(self, dtype: DType) -> bool:
        """Return True if the body is defined for this dtype of computation."""
        return True

    def variable_dtypes(self, operator: Declaration, dtype: DType) -> Mapping[str, DType]:
        """The dtypes of the variables of these expressions."""
        return {}

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        """Yield every expression that is computed in `dtype` with the dtypes of its variables and of its value."""
        return iter(())

    @property
    def index_names(self) -> Collection[str]:
        """Names in expressions that stand for the same numbers whatever the elements are, besides the parameters."""
        return ()

    def may_fail(self, operator: Operator) -> bool:
        """Return True if elements may make it raise an error, as integers do that are divided by zero."""
        known = {*self.index_names, *(each.name for each in operator.params)}
        return any(
            ROWS[each.function].may_fail and names(each.args[-1]) - known and type_of(each, env).dtype.is_integer
            for dtype in operator.compute_dtypes
            for expression, env, _ in self.typed(operator, dtype)
            for each in applications(expression.tree)
            if isinstance(each, Apply)
        )

    def own_dtypes(self, operator: Declaration) -> tuple[DType | None, ...]:
        """The dtypes of results that do not follow from promotion."""
        return (None,)

    def called(self, operator: Operator) -> str | None:
        """The name, or the signature, by which the core knows what to do."""
        return self.routine

    # ---- what entries need not declare

    @property
    def cost(self) -> float:
        """The cost of an element, at least that of an addition."""
        return 1.0

    def dtypes(
        self, declaration: Declaration, derivatives: Mapping[str, Derivative], complex_derivatives: Mapping[str, Any]
    ) -> frozenset[DType]:
        """The dtypes that are accepted."""
        return DTYPE_CLASSES["all"]

    def promotion(self, declaration: Declaration, dtypes: frozenset[DType]) -> Promotion:
        """The promotion that follows from the types of expressions in the dtypes that the operator accepts."""
        return Promotion.DEFAULT

    def rule(self, operator: Operator) -> str | None:
        """The rule of dimensions (rules.py)."""
        return self.family.rule

    @property
    def reason(self) -> str | None:
        """The reason why there is no rule."""
        return None

    @property
    def combination(self) -> str | None:
        """A word for how the results of parts of a reduction make that of the whole; None where they do not."""
        return None

    # ---- Python

    core: str | None = None
    """Python for a call of the core that gives the result of plain tensors at once."""
    opaque: bool = False
    """True if Python reads memory or handles itself."""
    loops: Body | None = None
    """The body of the entry, where this one is Python that stands for it;"""
    automatic: tuple[str, ...] = ()
    """and the arguments by which that has derivatives."""
    default_dtype: DType | None = None
    """The dtype of a new tensor when none is given."""
    fill: str | None = None
    """Python that fills a new tensor."""

    @property
    def python(self) -> Scalar | None:
        """The Python of the entry."""
        return None

    @property
    def quoted(self) -> tuple[Scalar, ...]:
        """Expressions in Python besides."""
        return ()

    # ---- documentation

    def formula(self, names: tuple[str, ...]) -> str:
        """The text that documentation shows of the body; `names` are those of the results where there are several."""
        return ""

    def shape_text(self, operator: Operator) -> str | None:
        """The shape of the result in words, as far as it follows from the body."""
        return None

    def dtype_text(self, operator: Operator) -> str | None:
        """The dtype of the result in words, where it does not follow from promotion."""
        return None

    def is_shape(self, name: str) -> bool:
        """Return True if this argument is the shape of a new tensor, which is required though arguments before it are
        optional."""
        return False
