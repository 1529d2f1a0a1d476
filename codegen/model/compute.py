"""The body `compute`: results by index variables, from elements at computed positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import count
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..dtypes import BOOL, DTYPE_CLASSES, FLOAT64, INT64, INT_LIST, DType
from ..errors import Span
from ..expr import Apply, Expr, Literal, Name, applications, names
from ..expr.affine import ONE, ZERO, Index, index
from ..expr.atoms import Atom, Atoms, Fold, Integer, Named, Range, Read, depends, ragged, settled, within
from ..expr.functions import ROWS
from ..expr.functions.lists import ITEM
from ..expr.geometry import TARGET, Geometry
from ..expr.indexed import POSITIONS, SHAPE
from ..expr.lower import Env, lower_integers, type_of
from ..expr.tables import Table
from ..expr.typed import Arg, Const, Op, replaced
from ..expr.typed import names as typed_names
from . import index_rule
from .body import Body
from .computation import computed_dtype, own_computed_dtype
from .family import Family
from .parts import End, Expression, Requirement
from .places import Places

if TYPE_CHECKING:
    from .operator import Declaration, Derivative, Operator
    from .rounds import Rounds


class Border(Enum):
    """The meaning of an index outside of a tensor, where that is no number."""

    NEAREST = "nearest"
    WRAP = "wrap"
    REFLECT = "reflect"
    SKIP = "skip"
    """A reduction leaves out what reads there."""
    ERROR = "error"


MAX_VARIABLES, MAX_UNIFORMS = 16, 48
"""OW_MAX_VARIABLES and OW_MAX_UNIFORMS of the core's compute.h."""
FURTHEST_BOUND, FURTHEST_INDEX = 2**40, 2**61
"""Bounds of ranges and indices that are data are refused beyond these, OW_FURTHEST_BOUND and OW_FURTHEST_INDEX."""
BATCH = "_batch"
"""The number of positions of the dimensions in front, among the integers of a call."""

Outside = Border | End | float
"""A rule for indices that are outside, or the value of elements there."""


def uniform_name(geometry: Geometry, uniforms: dict[str, Geometry]) -> str:
    """The name of an integer among those that are the same in the whole call, of which it becomes one."""
    for name, known in uniforms.items():
        if known == geometry:
            return name
    name = next(name for name in map("_u{}".format, count()) if name not in uniforms)
    uniforms[name] = geometry
    return name


def shape_argument(tensor: str) -> str:
    """The argument that is the shape of a tensor which is not given itself."""
    return f"{tensor}_shape"


def size_of(tensor: str, dim: int) -> Geometry:
    """The size of a dimension, counted from the last if it is negative."""
    item = Apply(ITEM, (Name(tensor + SHAPE), Literal(dim)))
    return lower_integers(item, {tensor + SHAPE: INT_LIST}, INT64, TARGET.native)


@dataclass(frozen=True)
class Size:
    """The number of positions of a variable of the results: an expression, or the size of a dimension, counted from the
    last, that it is the index of."""

    geometry: Geometry | None
    tensor: str = ""
    dim: int = 0

    @property
    def number(self) -> int | None:
        """The number of positions, if the entry tells it."""
        return int(self.geometry.value) if isinstance(self.geometry, Const) else None


@dataclass(frozen=True)
class Result(Expression):
    """The value of each element of one result."""

    name: str = ""
    dtype: DType | None = None
    """The dtype of the result, where the entry states it."""


@dataclass(frozen=True)
class Compute(Body):
    """A body that is an expression over indices."""

    family = Family.COMPUTE

    variables: tuple[tuple[str, Size], ...]
    """The index variables of the results in the order of their dimensions."""
    batched: bool
    """True if there are further dimensions in front, to which the tensors broadcast."""
    results: tuple[Result, ...]
    atoms: Mapping[str, Atom]
    uniforms: Mapping[str, Geometry]
    """Integers that are the same in the whole call, by the names that they have in expressions."""
    outside: Mapping[str, Outside]
    """The rules for indices outside, by tensor, where indices may be outside of it."""
    let: tuple[tuple[str, Geometry], ...]
    require: tuple[Requirement[Geometry, Geometry], ...]
    late: tuple[Requirement[Geometry, Geometry], ...]
    """Conditions that use names of `let`, which are computed before these are checked."""
    tensors: Mapping[str, int]
    """The number of dimensions of each tensor that indices are written for."""
    integers: frozenset[str]
    """Tensors of which indices are made."""
    optional: frozenset[str]
    span: Span = field(repr=False, compare=False)
    own: frozenset[str] = frozenset()
    """Results of which elements are read as well (recurrence.py)."""
    last: tuple[str, ...] = ()
    """The variables of a recurrence of which results have the last position alone."""
    flat: frozenset[str] = frozenset()
    """Tensors whose dimensions in front are one, of which there is an index."""
    over_batch: bool = False
    """True if this index is the first variable of the results."""
    small: tuple[int, ...] = ()
    """The sizes of further dimensions of the results, at the end, each position of which is a result of its own."""
    rolled: Compute | None = field(default=None, repr=False, compare=False)
    """The body before its small variables were told apart: what is shorter, and has the shorter gradients."""
    with_names: Compute | None = field(default=None, repr=False, compare=False)
    """The body as the entry has it, in which names of `let` stand for reductions."""
    sizes: Mapping[tuple[str, int], int] = field(default_factory=lambda: MappingProxyType({}))
    """Further entries of `exact`, where small variables are told apart or others read further elements."""
    tables: Mapping[str, Table] = field(default_factory=lambda: MappingProxyType({}))
    """The tables of `let`, which are read as tensors are."""
    given: Mapping[str, DType] = field(default_factory=lambda: MappingProxyType({}))
    """The dtypes that the entry tells of inputs."""
    bases: frozenset[str] = frozenset()
    """Integers that are the same in a stretch of a line (stretches.py), among `uniforms`."""
    places: tuple[Places, ...] = ()
    """The places of the terms that the results are then; empty: results stand where the variables are."""
    rounds: Rounds | None = None
    """The loop for each position, with which the results are computed from its terms and variables."""

    def settled(self) -> Compute:
        """The body with variables of ranges that are told apart by their names, and no other atoms than it uses."""
        found = self._expressions
        trees, atoms = settled([each.tree for each in found], self.atoms, (*self.names, *self.uniforms))
        made = iter([replace(each, tree=tree) for each, tree in zip(found, trees, strict=True)])
        results = tuple(next(made) for _ in self.results)
        places = tuple(
            replace(each, place=next(made), indices=tuple(next(made) for _ in each.indices)) for each in self.places
        )
        return replace(self, results=results, places=places, atoms=MappingProxyType(atoms))

    @property
    def _expressions(self) -> tuple[Result, ...]:
        """The expressions of results or of the terms of a loop, and of their places."""
        results = self.results if self.rounds is None else self.rounds.terms
        return (*results, *(part for each in self.places for part in (each.place, *each.indices)))

    @property
    def of_terms(self) -> Compute:
        """The body of what the loop uses; one without a loop as it is."""
        return self if self.rounds is None else replace(self, results=self.rounds.terms, rounds=None)

    @cached_property
    def fixed(self) -> Mapping[str, DType]:  # type: ignore[override]
        """The dtypes of tensors that take no part in promotion."""
        return {**dict.fromkeys(self.integers, INT64), **self.given}

    @cached_property
    def discrete(self) -> frozenset[str]:
        return frozenset(name for name, dtype in self.fixed.items() if not (dtype.is_floating or dtype.is_complex))

    @property
    def promotes(self) -> bool:
        """True if a tensor takes part in the dtype of computation."""
        return not self.tensors.keys() - self.tables.keys() - self.own <= self.fixed.keys()

    @property
    def told(self) -> Mapping[str, DType]:
        return self.given

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        env = self.env({each.name: dtype for each in operator.params}, dtype)
        for place, each in enumerate(self.results):
            yield each, env, computed_dtype(operator, self, place, dtype)
        source = self.results[0].source
        for read in self.reads.values():
            for tree in read.indices:
                yield Expression(tree, source), env, INT64
        for fold in self.folds.values():
            yield Expression(fold.value, source), env, self.value_dtype(fold, env)
            if fold.condition is not None:
                yield Expression(fold.condition, source), env, BOOL
            for bound in (bound for bounds in fold.ranges for bound in (bounds.first, bounds.stop)):
                yield Expression(bound, source), env, INT64

    @property
    def index_names(self) -> frozenset[str]:
        return (self.all_variables - self.ragged) | self.uniforms.keys()

    def may_fail(self, operator: Operator) -> bool:
        """Return True also if data says where an element is, or how far a reduction goes."""
        found = any(names(read.indices[dim]) & self.atoms.keys() for read, dim in self.checked())
        return found or bool(self.ragged) or super().may_fail(operator)

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        """All real ones; where no tensor promotes, those of numbers alone, if there are such."""
        return DTYPE_CLASSES["floating" if self.given and not self.promotes and not self.places else "all"]

    def rule(self, operator: Operator) -> str | None:
        return index_rule.rule(operator, self)

    @property
    def reason(self) -> str | None:
        return "its indices are those of all dimensions together"

    def dtype_text(self, operator: Operator) -> str | None:
        if self.places or len(operator.schema.returns) > 1:
            return None
        own = own_computed_dtype(operator, self, 0)
        return str(own or "the default dtype") if own is not None or (self.given and not self.promotes) else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.variables)

    @cached_property
    def used(self) -> Mapping[str, Atom]:
        """The atoms of the results, inner ones first."""
        return dict(within(self.atoms, *(each.tree for each in self._expressions)))

    @cached_property
    def reads(self) -> Mapping[str, Read]:
        return {name: atom for name, atom in self.used.items() if isinstance(atom, Read)}

    @cached_property
    def folds(self) -> Mapping[str, Fold]:
        return {name: atom for name, atom in self.used.items() if isinstance(atom, Fold)}

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """The variables of reductions."""
        return {each.name: each for fold in self.folds.values() for each in fold.ranges}

    @cached_property
    def ragged(self) -> frozenset[str]:
        return ragged(self.atoms, self.ranges.values())

    @cached_property
    def all_variables(self) -> frozenset[str]:
        return frozenset((*self.names, *self.ranges))

    def index(self, tree: Expr) -> Index:
        if tree not in self._indices:
            self._indices[tree] = index(tree, self.all_variables, frozenset(self.uniforms))
        return self._indices[tree]

    @cached_property
    def _indices(self) -> dict[Expr, Index]:
        """A cache of the indices that were analysed, as each is asked for several times."""
        return {}

    def depends(self, tree: Expr, variable: str) -> bool:
        return depends(self.atoms, tree, variable)

    # ---- types

    def env(self, parameters: Mapping[str, DType], dtype: DType) -> Env:
        """The dtypes of all names in an expression that is computed in `dtype`."""
        key = (frozenset(parameters.items()), dtype)
        if key not in self._envs:
            known: dict[str, DType] = {**parameters}
            known |= dict.fromkeys((*self.names, *self.ranges, *self.uniforms), INT64)
            for name, atom in self.used.items():
                known[name] = self._type(atom, known, dtype)
            self._envs[key] = known
        return self._envs[key]

    @cached_property
    def _envs(self) -> dict[object, Env]:
        """The dtypes that were asked for, as they are for each small call."""
        return {}

    def _type(self, atom: Atom, known: Env, dtype: DType) -> DType:
        if isinstance(atom, Read):
            return self.read_dtype(atom, dtype)
        if isinstance(atom, Named):
            return type_of(atom.value, known).dtype
        if isinstance(atom, Integer) or atom.reduction in POSITIONS:
            return INT64
        return self.value_dtype(atom, known)

    def read_dtype(self, read: Read, dtype: DType) -> DType:
        """The dtype of an element in an expression that is computed in `dtype`."""
        table = self.tables.get(read.tensor)
        if read.tensor in self.fixed:
            return self.fixed[read.tensor]
        if table is not None and table.is_integral:
            return INT64
        if read.tensor in self.own:
            return next((each.dtype for each in self.results if each.name == read.tensor), None) or dtype
        return FLOAT64 if table is not None and not (dtype.is_floating or dtype.is_complex) else dtype

    def value_dtype(self, fold: Fold, env: Env) -> DType:
        """The dtype in which the values of a reduction are combined."""
        if fold.reduction in ("any", "all"):
            return BOOL
        value = type_of(fold.value, env)
        counts = value.dtype.is_bool or (value.weak and value.dtype.is_integer and not self.promotes)
        return INT64 if counts and fold.reduction in ("sum", "prod") else value.dtype

    def most(self, fold: Fold, env: Env) -> int | None:
        """The greatest sum that a reduction may have, of integers that are not negative; None: it is not known."""
        value = fold.value
        each = int(value.value) if isinstance(value, Literal) and value.value == int(value.value) else None
        if fold.reduction != "sum" or (each is None and not type_of(value, env).dtype.is_bool):
            return None
        ends = [self._ends_of(bounds.name) for bounds in fold.ranges]
        if None in ends or (each is not None and each < 0):
            return None
        return prod(last - first + 1 for first, last in filter(None, ends)) * (1 if each is None else each)

    # ---- what lies inside

    def cannot_fail(self, fold: Fold) -> bool:
        """Return True if all elements of a reduction are sure to be inside, and no integers are divided."""
        found = [atom for _, atom in within(self.atoms, *fold.expressions)]
        inner = (tree for atom in (fold, *found) for each in atom.expressions for tree in applications(each))
        return not self.tested(fold) and not any(
            isinstance(each, Apply) and ROWS[each.function].may_fail for each in inner
        )

    def tested(self, fold: Fold) -> frozenset[str]:
        """The elements of which its values are made that may be outside."""
        reads = {name: each for name, each in within(self.atoms, fold.value) if isinstance(each, Read)}
        return frozenset(
            name for name, read in reads.items() if not all(self.is_sure(read, dim) for dim in range(len(read.indices)))
        )

    @cached_property
    def exact(self) -> Mapping[tuple[str, int], int]:
        """The sizes of dimensions whose indices are numbers alone, by tensor and dimension, counted from the last: they
        have as many positions as are read."""
        found: dict[tuple[str, int], list[Expr]] = {}
        for read in self.reads.values():
            for dim, tree in enumerate(read.indices):
                found.setdefault((read.tensor, dim - len(read.indices)), []).append(tree)
        return {
            place: 1 + max(int(each.value) for each in trees if isinstance(each, Literal))
            for place, trees in found.items()
            if place[0] not in {*self.outside, *self.tables, *self.own}
            and all(isinstance(each, Literal) and each.value >= 0 for each in trees)
        } | {**self.sizes}

    def is_inside(self, read: Read, dim: int) -> bool:
        """Return True if the index is sure to be inside the dimension, as a variable that runs over the dimension
        is."""
        place, tree = dim - len(read.indices), read.indices[dim]
        exact = self.exact.get((read.tensor, place))
        if exact is not None and self._within(tree, exact):
            return True
        if read.tensor in self.tables:
            return self._within(tree, self.tables[read.tensor].sizes[dim])
        if isinstance(tree, Apply) and tree.function == "remainder":
            return self._is_size(tree.args[1], read.tensor, place)
        plain = self.index(tree).plain
        if plain is None:
            return False
        if plain in self.ranges:
            first, stop = self.ranges[plain].first, self.ranges[plain].stop
            if not isinstance(first, Literal) or first.value < 0:
                return False
            return self._is_size(stop, read.tensor, place)
        size = dict(self.variables)[plain]
        if read.tensor in self.own:
            return size == self.variables[dim][1]
        if size.geometry == Arg(INT64, BATCH):
            return read.tensor in self.flat and dim == 0
        return self.dimension(size) == (read.tensor, place)

    def is_placed(self, read: Read) -> bool:
        """Return True if tables say where the element is."""
        inner = (each for _, each in within(self.atoms, *read.indices) if isinstance(each, Read))
        return read.tensor not in self.tables and any(each.tensor in self.tables for each in inner)

    def _within(self, tree: Expr, size: int) -> bool:
        """Return True if all values of an index are known to lie in a dimension of this size."""
        ends = self.ends(tree)
        return ends is not None and ends[0] >= 0 and ends[1] < size

    def ends(self, tree: Expr) -> tuple[int, int] | None:
        """The least and the greatest value of an index, as far as numbers tell them and there are any."""
        index = self.index(tree)
        if index.affine is None or not isinstance(index.divisor, Literal) or not isinstance(index.affine.rest, Literal):
            if isinstance(tree, Apply) and tree.function == "remainder" and isinstance(tree.args[1], Literal):
                return (0, int(tree.args[1].value) - 1) if tree.args[1].value > 0 else None
            return None
        least = greatest = int(index.affine.rest.value)
        for name, factor in index.affine.factors:
            ends = self._ends_of(name)
            if ends is None or not isinstance(factor, Literal):
                return None
            found = sorted(int(factor.value) * each for each in ends)
            least, greatest = least + found[0], greatest + found[1]
        divisor = int(index.divisor.value)
        return (least // divisor, greatest // divisor) if divisor > 0 else None

    def is_never_inside(self, read: Read, dim: int) -> bool:
        """Return True if every value of an index is known to lie outside, where that leads to no position."""
        affine = self.index(read.indices[dim]).affine
        leads = self.outside.get(read.tensor) in (Border.NEAREST, Border.WRAP, Border.REFLECT)
        if affine is None or leads or self.index(read.indices[dim]).divisor != ONE:
            return False
        signs = [factor.value for _, factor in affine.factors if isinstance(factor, Literal)]
        first = [self.ranges[name].first for name in affine.variables if name in self.ranges]
        if len(signs) < len(affine.factors) or any(each != ZERO for each in first):
            return False
        if isinstance(affine.rest, Literal):
            return affine.rest.value < 0 and all(each < 0 for each in signs) and bool(signs)
        return all(each > 0 for each in signs) and self._is_size(affine.rest, read.tensor, dim - len(read.indices))

    def _ends_of(self, variable: str) -> tuple[int, int] | None:
        if variable in self.ranges:
            bounds = [self.ranges[variable].first, self.ranges[variable].stop]
            numbers = [int(each.value) for each in bounds if isinstance(each, Literal)]
        else:
            number = dict(self.variables)[variable].number
            numbers = [] if number is None else [0, number]
        return (numbers[0], numbers[1] - 1) if len(numbers) == 2 and numbers[0] < numbers[1] else None

    def _is_size(self, tree: Expr, tensor: str, dim: int) -> bool:
        size = self.uniforms.get(tree.name) if isinstance(tree, Name) else None
        if tensor in self.own:
            own = self.variables[dim][1]
            given = own.geometry is None and size is not None and self.size_of(size) == (own.tensor, own.dim)
            return given or (size is not None and size == own.geometry) or _is_number(tree, own.number)
        if tensor in self.flat and dim == -self.tensors[tensor]:
            return size == Arg(INT64, BATCH)
        return size is not None and self.size_of(size) == (tensor, dim)

    def dimension(self, size: Size) -> tuple[str, int] | None:
        """The tensor and the dimension, counted from the last, that a variable runs over."""
        return (size.tensor, size.dim) if size.geometry is None else self.size_of(size.geometry)

    def size_of(self, geometry: Geometry) -> tuple[str, int] | None:
        """The tensor and the dimension, counted from the last, whose size the expression is."""
        if isinstance(geometry, Op) and geometry.function == ITEM:
            sizes, place = geometry.operands
            if isinstance(sizes, Arg) and isinstance(place, Const) and sizes.name.endswith(SHAPE):
                tensor, at = sizes.name.removesuffix(SHAPE), int(place.value)
                if at < 0:
                    return tensor, at
                if not self.is_batched(tensor):
                    return tensor, at - self.tensors.get(tensor, 0)
        return None

    def is_batched(self, tensor: str) -> bool:
        return any(read.batched for read in self.reads.values() if read.tensor == tensor)

    def checked(self) -> Iterator[tuple[Read, int]]:
        """The indices that may be outside."""
        for read in self.reads.values():
            for dim in range(len(read.indices)):
                if not self.is_inside(read, dim):
                    yield read, dim

    def is_checked_before(self, read: Read, dim: int) -> bool:
        """Return True if an index outside is an error that is found before anything is computed, as its bounds are
        known then."""
        affine = self.index(read.indices[dim]).affine
        if affine is None or self.outside.get(read.tensor, Border.ERROR) is not Border.ERROR:
            return False
        if names(affine.rest) & self.bases:
            return False
        ranges = (self.ranges[name] for name in affine.variables if name in self.ranges)
        return all(names(bound) <= self.uniforms.keys() for each in ranges for bound in (each.first, each.stop))

    def is_sure(self, read: Read, dim: int) -> bool:
        """Return True if a kernel finds the index inside."""
        return self.is_inside(read, dim) or self.is_checked_before(read, dim) or self.is_bound(read, dim)

    def is_bound(self, read: Read, dim: int) -> bool:
        """Return True if the index is a variable whose bounds are data, which are checked where its loop begins."""
        plain = self.index(read.indices[dim]).plain
        return plain in self.ragged and self.outside.get(read.tensor, Border.ERROR) is Border.ERROR


def _is_number(tree: Expr, number: int | None) -> bool:
    return isinstance(tree, Literal) and tree.value == number


def shapes_given(tree: Geometry, tensors: Iterable[str]) -> Geometry:
    """The expression with the shapes of these tensors, which are not given themselves, as arguments."""
    return replaced(tree, {Arg(INT_LIST, each + SHAPE): Arg(INT_LIST, shape_argument(each)) for each in tensors})


def _required(
    conditions: Iterable[Requirement[Geometry, Geometry]], missing: Iterable[str], absent: Iterable[str]
) -> tuple[Requirement[Geometry, Geometry], ...]:
    """The conditions of a call where these tensors are not given, the absent ones of which may have no shape."""
    shapeless = {name + SHAPE for name in absent}

    def known(each: Requirement[Geometry, Geometry]) -> Requirement[Geometry, Geometry]:
        message = tuple(part if isinstance(part, str) else shapes_given(part, missing) for part in each.message)
        return replace(each, check=shapes_given(each.check, missing), message=message)

    return tuple(known(each) for each in conditions if not any(shapeless & typed_names(tree) for tree in each.values))


def following(
    old: Compute,
    results: tuple[Result, ...],
    atoms: Atoms,
    variables: tuple[tuple[str, Size], ...],
    uniforms: Mapping[str, Geometry],
    grad: str | None = None,
) -> Compute:
    """A body that follows from another one: of its tensors and integers, those that it uses, and `grad`, which has the
    sizes of its result.

    What is required of a call of the one is required of calls of the other, as those are of bounds of loops.
    """
    used = dict(within(atoms.named, *(each.tree for each in results)))
    reads = [each for each in used.values() if isinstance(each, Read)]
    given = frozenset(each.tensor for each in reads)
    missing = sorted(old.tensors.keys() - given - old.tables.keys())
    trees = (*(each.tree for each in results), *(part for atom in used.values() for part in atom.expressions))
    names_used = frozenset[str]().union(*map(names, trees))
    sizes = {place: size for place, size in old.exact.items() if place[0] in given}
    for place, (_, size) in enumerate(old.variables):
        if grad in given and size.number is not None:
            sizes[str(grad), place - len(old.variables)] = size.number
    made = Compute(
        variables=tuple(
            (name, size if size.geometry is None else Size(shapes_given(size.geometry, missing)))
            for name, size in variables
        ),
        batched=any(each.batched for each in reads),
        results=results,
        atoms=MappingProxyType(used),
        uniforms=MappingProxyType(
            {name: shapes_given(each, missing) for name, each in uniforms.items() if name in names_used}
        ),
        outside=MappingProxyType({name: rule for name, rule in old.outside.items() if name in given}),
        let=tuple((name, shapes_given(each, missing)) for name, each in old.let),
        require=_required(old.require, missing, old.optional - given),
        late=_required(old.late, missing, old.optional - given),
        tensors=MappingProxyType({each.tensor: len(each.indices) for each in reads}),
        integers=old.integers & given,
        optional=old.optional & given,
        span=old.span,
        tables=MappingProxyType({name: table for name, table in old.tables.items() if name in given}),
        given=MappingProxyType({name: dtype for name, dtype in old.given.items() if name in given}),
        sizes=MappingProxyType(sizes),
    )
    return made.settled()
