"""Class Op: an operator in the runtime, with its schema and the facts of its entry that calls depend on.

A call is `(op, args, out, mode)`: the arguments in schema order with their defaults filled in, the tensor (or several)
given as `out`, and whether the result is new, overwrites the first argument or goes to `out`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .._handle import FORMS as _FORMS
from .._handle import VALUES
from ..return_types import named_results
from .ops import BUILTIN

NEW, INPLACE, OUT = 0, 1, 2
"""The places of a result: ow_mode of the core."""

FORMS = {name.lower(): number for number, name in enumerate(_FORMS)}
"""The forms of calling a function, from the table of the core (core/python/operator_function.h)."""
MODES = tuple(INPLACE if form in ("in_place", "augmented") else NEW for form in FORMS)
"""The place of the result by form, unless there is an `out`."""

COMPOSITE = "composite"

_BITS = {name: 1 << index for index, name in enumerate(VALUES)}
_KINDS: Mapping[str, int] = {
    "Tensor": _BITS["TENSOR"],
    "Scalar": _BITS["INT"] | _BITS["FLOAT"] | _BITS["BOOL"] | _BITS["COMPLEX"],
    "int": _BITS["INT"],
    "float": _BITS["FLOAT"] | _BITS["INT"],
    "bool": _BITS["BOOL"],
    "str": _BITS["STR"],
    "Generator": _BITS["GENERATOR"],
    "dtype": _BITS["DTYPE"],
    "MemoryFormat": _BITS["FORMAT"],
    "int[]": _BITS["INTS"],
    "Tensor[]": _BITS["TENSORS"],
    "Tensor?[]": _BITS["TENSORS"],
    "placement": _BITS["NONE"],
    "any": sum(_BITS.values()),
}
"""The values of each type that the quick way takes as they are, in the bits of the core's table."""

NUMBERS = _KINDS["Scalar"]


@cache
def kinds(types: str) -> int:
    """The bits of a type such as `Tensor|Scalar?`, of which `int[2]` takes one int as well."""
    found = _BITS["NONE"] if types.endswith("?") else 0
    for each in types.rstrip("?").split("|"):
        element, bracket, size = each.partition("[")
        found |= _KINDS.get(f"{element}[]" if bracket else element, 0)
        if size not in ("", "]"):
            found |= _KINDS.get(element, 0)
    return found


_UNPLACED = frozenset({"int", "int?", "bool", "bool?", "str", "str?"})
_OFTEN_NAMED = frozenset({"reduce", "scan", "rows"})
"""Messages leave out the position of arguments of these types in these families, which are mostly given by name."""


_AS_RULE: Any = ...
"""The mark that names of dimensions follow the rule of dimensions."""


class Op:
    """An operator: its arguments in schema order, and what its entry says besides."""

    __slots__ = (
        "alone", "autocast", "body", "bounds", "by_operators", "by_tensor", "called", "choices", "combine",
        "complex_refusal", "data_dependent", "decomposes", "default_dtype", "defaults", "delegates",
        "derivative", "dynamic_shape", "family", "first", "function", "getter", "in_range", "index",
        "inplace_argument", "is_differentiable", "is_implicit", "is_pure", "lone_numbers", "may_fail", "module",
        "name", "names", "naming", "numbers", "opaque", "out", "overload", "overloads", "package", "pairwise", "params",
        "positional", "promotes", "random", "refusal", "refused", "results", "rule", "schema", "separate",
        "shared", "single", "sums_rows", "target", "types", "view", "words",
    )  # fmt: skip

    params: tuple[tuple[str, int, str], ...]
    """Name, position in messages (0: by keyword only) and types of each argument."""

    def __init__(
        self,
        index: int,
        name: str,
        family: str,
        params: tuple[tuple[Any, ...], ...],
        positional: int,
        *,
        package: str,
        path: str | None = None,
        overload: str = "",
        overloads: tuple[str, ...] = (),
        schema: str | None = None,
        first: int = 1,
        out: str | None = None,
        results: tuple[str, ...] = (),
        view: bool = False,
        refused: int = 0,
        refusal: str | None = None,
        complex_refusal: str | None = None,
        promotes: bool = False,
        lone_numbers: bool = False,
        separate: str | None = None,
        single: bool = False,
        inplace_argument: bool = False,
        choices: Mapping[str, Mapping[str, str]] | None = None,
        alone: Callable[..., Any] | None = None,
        pairwise: str | None = None,
        by_tensor: tuple[str, str] | None = None,
        numbers: Mapping[str, str] | None = None,
        bounds: tuple[str, ...] = (),
        default_dtype: int | None = None,
        words: Mapping[Any, int] | None = None,
        body: Callable[..., Any] | None = None,
        opaque: bool = False,
        rule: str | None = None,
        naming: str | None = _AS_RULE,
        shared: tuple[str, ...] = (),
        sums_rows: bool = False,
        by_operators: tuple[Callable[..., Any], tuple[str, ...]] | None = None,
        combine: str | None = None,
        random: bool = False,
        data_dependent: bool = False,
        dynamic_shape: bool = False,
        may_fail: bool = False,
        in_range: tuple[str, ...] = (),
        autocast: str | None = None,
    ) -> None:
        self.index = index
        """The number in the core; -1: it is a composite."""
        self.name = name
        below, _, called = (path or name).rpartition(".")
        self.called: str = called
        """The name of the function, in messages too: that of the operator without the prefix of a submodule."""
        self.module = f"{package}.{below or '_operators'}"
        """The module in which that is found."""
        self.overload = overload
        """The name of its schema among those that operators of the same name have in torch."""
        self.overloads = overloads
        """Further names of schemas that torch has in its place."""
        self.schema = schema
        """The text of the schema; None: it is in the generated module of docstrings."""
        self.family = family
        self.names = tuple([each[0] for each in params])
        self.types: tuple[str, ...] = tuple([each[1] for each in params])
        self.defaults = tuple([each[2] if len(each) > 2 else ... for each in params])
        """`...`: it is required."""
        self.positional = positional
        self.first = first
        """The position in messages of the first argument."""
        self.target = self.names.index("input") if "input" in self.names else 0
        """The place of the argument that methods are called of, and that methods in place overwrite."""
        self.out = out
        """The rule of `out=`: `cast`, `exact`, `any` or `same_count`; None: there is no `out`."""
        self.results = named_results(name, results) if results else None
        """The class of several results that have names."""
        self.view = view
        """True if the result is a view of the first argument."""
        self.refused = refused
        """Bits of the dtypes that a composite does not take; the core knows those of all other families."""
        self.refusal = refusal
        self.complex_refusal = complex_refusal
        """The messages about real and complex dtypes that are refused."""
        self.promotes = promotes
        """True if the dtype to which the first two inputs promote decides whether a call is refused, and not that of
        the first."""
        self.lone_numbers = lone_numbers
        """True if all operands may be numbers, so that the result is a tensor without dimensions."""
        self.separate = separate
        """The list of integers or tensors that may also be given one by one."""
        self.single = single
        """True if one tensor in place of that list has one result."""
        self.inplace_argument = inplace_argument
        """True if the function has an argument `inplace`."""
        self.choices = choices or {}
        """The operators that texts other than the default stand for, by text argument."""
        self.alone = alone
        """The operator of a call with the first argument alone."""
        self.pairwise = pairwise
        """The operator that a tensor in place of `dim` asks for."""
        self.by_tensor = by_tensor
        """An argument that is no tensor, and the operator that a tensor in its place asks for."""
        self.delegates = bool(choices or pairwise or by_tensor)
        """True if some calls are those of another operator."""
        self.numbers = numbers or {}
        """Tensors in whose place a number may be given, and the name that the number then has."""
        self.bounds = bounds
        """A lower and an upper bound, of which one alone is the upper one."""
        self.default_dtype = default_dtype
        """The dtype of a factory's result, where it does not follow from numbers."""
        self.words = words
        """The number by which the core knows the reduction, by text; None: the operator has no such argument."""
        self.body = body
        """Python that takes the arguments in schema order, and that of a factory what makes its tensor of sizes, a
        dtype and numbers; None: the core does all."""
        self.opaque = opaque
        """True if the body of a composite reads memory or handles itself."""
        self.rule = rule
        """The rule by which dimensions of its results come from those of its tensors: a word or a signature (rules.py),
        or None."""
        self.naming = rule if naming is _AS_RULE else naming
        """The rule by which results get names of dimensions; None: there is none."""
        self.shared = shared
        """The tensors of rows whose elements are the same in all rows."""
        self.sums_rows = sums_rows
        """True if a result of rows is a sum over all of them."""
        self.by_operators = by_operators
        """A function of the tensors, the numbers, the dimensions of a row and the number of its elements that computes
        rows as operators of tensors, and what each result has an element for (_ops/rows.py)."""
        self.combine = combine
        """Word for how the results of parts of a reduction make that of the whole: `sum`, `product`, `max`, `min`, or
        `avg` of parts of equal size; None: they do not."""
        self.random = random
        """True if it draws random numbers."""
        self.data_dependent = data_dependent
        """True if it reads elements for what is no tensor."""
        self.dynamic_shape = dynamic_shape
        """True if the shape of its result depends on elements."""
        self.may_fail = may_fail
        """True if elements may make it raise an error; what a composite calls is not looked at."""
        self.in_range = in_range
        """The arguments of a composite that, where they are numbers, must be in the range of its floating dtype."""
        self.autocast = autocast
        """The format in which autocast computes it; None: operators that it is made of cast within."""
        self.package = package
        """The one whose generated modules it is in."""
        self.function: Any = None
        """The function that calls it for a new result: `_handle.Function`."""
        self.getter: property | None = None
        """The property of class Tensor that it is; None also where there is a function besides."""
        self.is_differentiable = False
        """True if it has a derivative of its own."""
        self.is_implicit = False
        """True if its body says all, gradients among it: it has no derivative of its own, and makes no memory that is
        told where to be."""
        self.decomposes = False
        """True if it is known by the operators that its body calls alone: no call of the core computes all of it
        either."""
        self.is_pure = False
        """True if it does nothing but compute its results, and does so whatever the elements are; False of what Python
        alone computes, of which nothing is known."""
        self.derivative: Any = ...
        """The class of its nodes in a graph, or None; found when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        """Make an attribute when it is first asked for; then it stands in the slot, and this is not called."""
        if name != "params":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        unplaced = _UNPLACED if self.family in _OFTEN_NAMED else ()
        self.params = tuple(
            (name, 0 if place >= self.positional or types in unplaced else max(place + self.first, 1), types)
            for place, (name, types) in enumerate(zip(self.names, self.types, strict=True))
        )
        return self.params

    @property
    def namespace(self) -> str:
        """The one of `opweave.ops` that it is in."""
        return BUILTIN if self.package == "opweave" else self.package

    @property
    def qualified(self) -> str:
        """The name, with the namespace where that is another than opweave's own."""
        return self.name if self.namespace == BUILTIN else f"{self.namespace}::{self.name}"

    @property
    def is_composite(self) -> bool:
        """True if the body is Python in terms of other operators."""
        return self.family == COMPOSITE

    @property
    def is_decomposable(self) -> bool:
        """True if a call with tensors of any kind is the same as the calls that its body makes."""
        return self.is_composite and not self.opaque

    def gives_first_alone(self, args: Sequence[Any]) -> bool:
        """Return True if the result of this call is the first one alone: the value of all elements, without its
        position."""
        return self.family == "reduce" and self.results is not None and args[self.names.index("dim")] is None

    @property
    def is_inplace(self) -> bool:
        """True if the schema itself says that the first argument is written to."""
        return self.name.endswith("_")

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


OPERATORS: dict[int, Op] = {}
"""Every operator that the core knows, by its number."""
