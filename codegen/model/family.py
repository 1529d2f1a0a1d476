"""The families: kinds of bodies, and what is so for all operators of a kind.

What differs from operator to operator is told by the body (body.py). Readers of bodies (read/bodies/) and printers of
kernels (emit/printers.py) are listed by family as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..schema import Argument, FunctionSchema


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of bodies. The defaults are those of a routine of the core about which nothing else is known."""

    key: str
    """The key of its bodies in ops.yaml, and the family in the rows of the Python module."""
    called: str | None = None
    """A body of this kind in messages, where that does not follow from the key;"""
    constant: str | None = None
    """and its constant `OW_…` in the core."""
    table: str | None = None
    """The type of the table of its kernels in the core."""
    rule: str | None = None
    """The rule of dimensions that follows from the family (rules.py)."""
    takes_reals: bool = False
    """True if floats are numbers that kernels take,"""
    takes_integers: bool = False
    """and integers and truth values are."""
    has_lines: bool = False
    """True if `dim` names lines of elements, and `keepdim` says whether their dimension stays."""
    several: bool = False
    """True if an operator may have several results."""
    in_language: bool = False
    """True if formulas of derivatives are expressions of elements; those of others are Python."""
    keys: tuple[str, ...] = ()
    """The keys of entries that have a meaning for some families only, and for this one."""
    routine_keys: tuple[str, ...] | None = None
    """The keys of a routine besides its name; None: the body is no routine."""
    reserved: Mapping[str, str] = field(default_factory=dict)
    """Names that arguments cannot have, and why."""

    @property
    def title(self) -> str:
        return self.called or f"{'an' if self.key[0] in 'aeiou' else 'a'} {self.key} body"

    @property
    def name(self) -> str:
        return self.constant or self.key.upper()

    ELEMENTWISE: ClassVar[Family]
    REDUCE: ClassVar[Family]
    SCAN: ClassVar[Family]
    ROWS: ClassVar[Family]
    VIEW: ClassVar[Family]
    FACTORY: ClassVar[Family]
    EXTERN: ClassVar[Family]
    INDEXING: ClassVar[Family]
    RANDOM: ClassVar[Family]
    LAPACK: ClassVar[Family]
    CORE: ClassVar[Family]
    COMPUTE: ClassVar[Family]
    FOLD: ClassVar[Family]
    LOOP: ClassVar[Family]
    COMPOSITE: ClassVar[Family]


Family.ELEMENTWISE = Family(
    "elementwise",
    keys=("accepts", "in_range", "none_means", "operator", "overloads", "promotion", "require"),
    table="ow_elementwise_table",
    rule="unify",
    takes_reals=True,
    takes_integers=True,
    several=True,
    in_language=True,
)
Family.REDUCE = Family(
    "reduce", keys=("promotion",), table="ow_reduce_table", rule="reduce", has_lines=True, several=True
)
Family.SCAN = Family("scan", keys=("promotion",), table="ow_scan_table", rule="keep", has_lines=True, several=True)
Family.ROWS = Family(
    "rows",
    keys=("promotion",),
    table="ow_row_table",
    rule="reduce",
    takes_reals=True,
    takes_integers=True,
    has_lines=True,
    several=True,
    reserved={"count": "is the length of a row in expressions"},
)
Family.VIEW = Family("view", rule="view")
Family.FACTORY = Family(
    "factory", table="ow_elementwise_table", rule="make", reserved={"i": "is the position of an element in expressions"}
)
Family.EXTERN = Family("extern", keys=("in_range", "operator"), routine_keys=("signature",))
Family.INDEXING = Family("indexing", routine_keys=("accumulate", "numbers"))
Family.RANDOM = Family("random", rule="keep", routine_keys=())
Family.LAPACK = Family("lapack", several=True, routine_keys=())
Family.CORE = Family("core", keys=("accepts",), several=True, routine_keys=())
Family.COMPUTE = Family("compute", keys=("promotion",), table="ow_compute_table", takes_reals=True, several=True)
Family.FOLD = Family(
    "fold",
    keys=("promotion",),
    called="a body with a state",
    table="ow_fold_table",
    rule="reduce",
    takes_reals=True,
    takes_integers=True,
    has_lines=True,
    several=True,
    reserved={"count": "is the length of a line in expressions"},
)
Family.LOOP = Family(
    "c",
    keys=("require",),
    called="a body in C",
    constant="LOOP",
    table="ow_elementwise_table",
    takes_reals=True,
    takes_integers=True,
    several=True,
    routine_keys=("signature", "dtype"),
)
Family.COMPOSITE = Family("composite", keys=("accepts", "in_range", "operator", "overloads", "require"), several=True)

FAMILIES: dict[str, Family] = {
    each.key: each
    for each in (
        Family.ELEMENTWISE,
        Family.REDUCE,
        Family.SCAN,
        Family.ROWS,
        Family.VIEW,
        Family.FACTORY,
        Family.EXTERN,
        Family.INDEXING,
        Family.RANDOM,
        Family.LAPACK,
        Family.CORE,
        Family.COMPUTE,
        Family.FOLD,
        Family.LOOP,
        Family.COMPOSITE,
    )
}
"""All families by their keys, in the order of the core's."""


def parameters(schema: FunctionSchema, family: Family) -> tuple[Argument, ...]:
    """Arguments that kernels take as numbers."""
    return tuple(
        each
        for each in schema.arguments
        if each.is_scalar
        or (family.takes_reals and each.is_real)
        or (family.takes_integers and each.is_integral and not (family.has_lines and each.name in ("dim", "keepdim")))
    )
