"""C kernels of expressions over indices, in each dtype of computation.

A kernel takes positions of all variables of the results but the last; that one runs along a *line*, so many elements
of which are computed at a time that their accumulators stay in registers: the *lanes*. Where all indices lie inside,
elements are read without tests; the ends of the lines, where they may not, are computed by the same text with tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..dtypes import BOOL, INT64, DType
from ..expr import Apply, Emitted, Expr, Literal, Name, names, parse, type_of
from ..expr.affine import ONE, Affine, Index
from ..expr.indexed import POSITIONS, Atom, Fold, Integer, Read
from ..expr.kernel_text import TARGET, emit_tree, variable
from ..expr.lower import lower
from ..expr.targets import c_number
from ..expr.typed import constant
from ..model.computation import computed_dtype
from ..model.compute import Border, Compute
from ..model.contraction import contraction
from ..model.operator import End, Operator
from . import compute_geometry, contraction_sizes
from .expressions import Variable, enum, identity, parameters

_JOINS = {"sum": "acc + item", "prod": "acc * item", "max": "maximum(acc, item)", "min": "minimum(acc, item)",
          "any": "acc or item", "all": "acc and item"}  # fmt: skip
_FUSED = ("float32", "float64")
"""The dtypes in which sums of products are computed with one rounding."""


# ---- what the template prints -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loop:
    """A loop over a range, within which positions are counted if there is a `counter`."""

    variable: str
    first: str
    stop: str
    body: tuple[Node, ...]
    kind: str = "loop"


@dataclass(frozen=True)
class Statement:
    text: str
    kind: str = "statement"


@dataclass(frozen=True)
class Lanes:
    """Statements for each lane, preceded by those that are the same for all.

    Where indices may be outside, `clips` reduce the lanes to those that read inside. If that is not enough there are
    other statements for this case.
    """

    before: tuple[str, ...]
    inside: tuple[str, ...]
    clips: tuple[str, ...] = ()
    checked_before: tuple[str, ...] | None = None
    checked: tuple[str, ...] = ()
    kind: str = "lanes"


@dataclass(frozen=True)
class Copy:
    """A line that is copied: `value` of the lanes that `clips` leave, and `outside` for the others."""

    clips: tuple[str, ...]
    before: tuple[str, ...]
    value: str
    outside: str
    times: str
    kind: str = "copy"


Node = Loop | Statement | Lanes | Copy


@dataclass(frozen=True)
class Cut:
    """The positions of a line at which an index lies inside: factor * position + [least, greatest] is in [0, size)."""

    factor: str
    least: str
    greatest: str
    size: str


@dataclass(frozen=True)
class Kernel:
    """Context of compute.c.j2 for one dtype."""

    name: str
    enum: str
    ctype: str
    line: int
    params: tuple[Variable, ...]
    body: tuple[Node, ...]
    bounds: tuple[str, ...]
    """Declarations of the first and last values of variables of reductions."""
    cuts: tuple[Cut, ...]
    step: str | None
    """The step in memory, a number of the call, for which the small values have loops of their own."""
    phases: str | None
    lanes: str
    outputs: tuple[str, ...]
    """The C types of the results."""

    @property
    def copies(self) -> bool:
        """Is a line as a whole one step? Nothing is kept for each lane."""
        return any(isinstance(each, Copy) for each in self.body)


@dataclass(frozen=True)
class Tensor:
    """A tensor as kernels see it."""

    name: str
    index: int
    indices: int
    is_integer: bool
    optional: bool
    batched: bool
    flat: bool


@dataclass(frozen=True)
class Shared:
    """What the kernels of all dtypes have in common."""

    tensors: tuple[Tensor, ...]
    outer: tuple[tuple[str, int], ...]
    """The variables besides that of the line, with their numbers; the last one runs fastest."""
    inner: str | None
    inner_index: int
    uniforms: tuple[str, ...]


def context(operator: Operator, body: Compute) -> dict[str, object]:
    """What compute.c.j2 needs besides the kernels."""
    computed = [
        [computed_dtype(operator, body, index, dtype) for dtype in operator.compute_dtypes]
        for index in range(len(body.results))
    ]
    groups = [_group(operator, body, operator.compute_dtypes)]
    made = contraction(body)
    continuous = [dtype for dtype in operator.compute_dtypes if dtype.is_floating or dtype.is_complex]
    if made is not None and continuous:
        parts = {"gather": made.gather, "rest": made.rest}
        if made.packed is not None:
            parts |= {"columns": made.packed[0], "rows": made.packed[1]}
        groups += [_group(operator, each, continuous, field) for field, each in parts.items() if each is not None]
    return {
        "groups": groups,
        "g": compute_geometry.function(operator, body),
        "m": None if made is None or not continuous else contraction_sizes.sizes(operator, body, made),
        "dtypes": ["OW_PROMOTED" if tuple(each) == operator.compute_dtypes else enum(each[0]) for each in computed],
    }


def shared(operator: Operator, body: Compute) -> Shared:
    inner = line_variable(body)
    outer = [(variable(name), index) for index, name in enumerate(body.names) if name != inner]
    return Shared(
        tensors=tuple(
            Tensor(
                each.name,
                index,
                body.tensors.get(each.name, 0),
                each.name in body.integers,
                each.is_optional,
                body.is_batched(each.name),
                each.name in body.flat,
            )
            for index, each in enumerate(operator.inputs)
        ),
        outer=tuple(outer),
        inner=None if inner is None else variable(inner),
        inner_index=len(body.names) - 1,
        uniforms=tuple(body.uniforms),
    )


def line_variable(body: Compute) -> str | None:
    """The last variable of the results, unless ranges depend on it, so that each position has loops of its own."""
    if not body.names:
        return None
    last = body.names[-1]
    bounds = (bound for each in body.ranges.values() for bound in (each.first, each.stop))
    return None if any(body.depends(bound, last) for bound in bounds) else last


@dataclass(frozen=True)
class Group:
    """The kernels of one body in all dtypes, and the field of the contraction that has them."""

    shared: Shared
    kernels: tuple[Kernel, ...]
    field: str | None = None


def _group(operator: Operator, body: Compute, dtypes: Sequence[DType], field: str | None = None) -> Group:
    name = operator.name if field is None else f"{operator.name}_{field}"
    made = tuple(_Kernel(operator, body, dtype, name).kernel() for dtype in dtypes)
    return Group(shared(operator, body), made, field)


# ---- one kernel ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lane:
    """The variable that runs along the lanes, and its value in the first of them."""

    name: str
    start: str
    step: str


class _Kernel:
    def __init__(self, operator: Operator, body: Compute, dtype: DType, name: str) -> None:
        self.operator = operator
        self.name = name
        self.body = body
        self.dtype = dtype
        self.env = dict(body.env({each.name: dtype for each in operator.params}, dtype))
        self.inner = line_variable(body)
        self.phases = self._phases()
        step = "phases" if self.phases else "1"
        self.lane = None if self.inner is None else _Lane(self.inner, "start", step)
        self.step = self._step()
        self.same: dict[str, str] = {}
        """Reductions whose values others find."""

    def kernel(self) -> Kernel:
        return Kernel(
            name=f"{self.name}_{self.dtype.suffix}",
            enum=enum(self.dtype),
            ctype=self.dtype.c_type,
            line=self.body.results[0].line,
            params=parameters(self.operator, self.dtype),
            body=tuple(self._body()),
            bounds=tuple(self._bounds()),
            cuts=tuple(self._cuts()),
            step=None if self.step is None else self._integer(self.step),
            phases=None if self.phases is None else self._integer(self.phases),
            lanes="1" if self.lane is None else f"OW_LANES({self.dtype.c_type})",
            outputs=tuple(
                computed_dtype(self.operator, self.body, index, self.dtype).c_type
                for index in range(len(self.body.results))
            ),
        )

    def _phases(self) -> Expr | None:
        """The divisor of indices along the line: positions that leave the same remainder are a line of their own, along
        which these indices have step 1."""
        for read in self.body.reads.values():
            for each in map(self.body.index, read.indices):
                if self.inner is not None and each.divisor != ONE and each.uses(self.inner):
                    return each.divisor
        return None

    def _step(self) -> Expr | None:
        """The factor of the line's variable in an index of a last dimension, where it is a number of the call."""
        for read in self.body.reads.values():
            if read.indices and self.inner is not None and self.phases is None:
                last = self.body.index(read.indices[-1])
                if last.affine is not None and last.divisor == ONE and isinstance(last.affine.factor(self.inner), Name):
                    return last.affine.factor(self.inner)
        return None

    # ---- loops

    def _body(self) -> Iterator[Node]:
        trees = [each.tree for each in self.body.results]
        copy = self._copy()
        if copy is not None:
            yield copy
            return
        yield from self._reductions(trees)

        def finish(inside: bool) -> _Part:
            part = self._elements(trees, inside)
            for index, each in enumerate(self.body.results):
                dtype = computed_dtype(self.operator, self.body, index, self.dtype)
                emitted = self._emit(each.tree, dtype, f"r{index}_")
                part.statements += emitted.statements
                part.statements.append(f"to{index}[lane{self._times_phases}] = {emitted.value};")
            return part

        yield _lanes(finish(True), finish(False))

    def _copy(self) -> Copy | None:
        """The one element that the result is, where it is outside in some lanes."""
        tree = self.body.results[0].tree
        read = self.body.atoms.get(tree.name) if isinstance(tree, Name) and len(self.body.results) == 1 else None
        if not isinstance(read, Read) or self.lane is None or read.tensor in self.body.integers | self.body.optional:
            return None
        indices = [self.body.index(each) for each in read.indices]
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        sure = [self.body.is_sure(read, dim) for dim in range(len(indices))]
        if any(each.affine is None for each in indices) or isinstance(rule, Border) or all(sure):
            return None
        offset, step = self._offset(read, indices)
        before = f"const {self.dtype.c_type} *const from_here = in_{read.tensor} + ({offset});"
        value = f"from_here[{_at(step or '0')}]"
        return Copy(tuple(self._clips(read, indices, sure)), (before,), value, self._outside(rule), self._times_phases)

    @property
    def _times_phases(self) -> str:
        return " * phases" if self.phases else ""

    def _reductions(self, trees: Sequence[Expr]) -> Iterator[Node]:
        """The reductions that expressions use, but those within other reductions. Those of the same values share their
        loops."""
        groups: dict[Fold, dict[str, Fold]] = {}
        for name, fold in self._direct(trees):
            groups.setdefault(replace(fold, reduction="", span=Name("").span), {})[name] = fold
        for group in groups.values():
            yield from self._fold(group)

    def _direct(self, trees: Sequence[Expr]) -> Iterator[tuple[str, Fold]]:
        for tree in trees:
            for name in sorted(names(tree) & self.body.atoms.keys()):
                atom = self.body.atoms[name]
                if isinstance(atom, Fold):
                    yield name, atom
                else:
                    yield from self._direct(atom.expressions)

    def _fold(self, group: Mapping[str, Fold]) -> Iterator[Node]:
        fold = next(iter(group.values()))
        # The search for a position finds the value as well.
        searches = {each.reduction: name for name, each in group.items() if each.reduction in POSITIONS}
        for name, each in group.items():
            if f"arg{each.reduction}" in searches:
                self.same[name] = searches[f"arg{each.reduction}"]
        group = {name: each for name, each in group.items() if name not in self.same}
        for name, each in group.items():
            yield from self._start(name, each)
        if searches:
            yield Statement("int64_t counted = -1;")
        inner: list[Node] = list(self._term(group, bool(searches)))
        for bounds in reversed(fold.ranges):
            first, stop = self._integer(bounds.first), self._integer(bounds.stop)
            inner = [Loop(variable(bounds.name), first, stop, tuple(inner))]
        yield from inner

    def _start(self, name: str, fold: Fold) -> Iterator[Node]:
        ctype, start = self.body.value_dtype(fold, self.env).c_type, self._identity(fold)
        yield Statement(f"{ctype} {name}[LANES];")
        yield Statement(f"OW_FOR_LANES {name}[lane] = {start};")
        if fold.reduction in POSITIONS:
            yield Statement(f"int64_t {name}_at[LANES];")
            yield Statement(f"OW_FOR_LANES {name}_at[lane] = -1;")

    def _term(self, group: Mapping[str, Fold], counts: bool) -> Iterator[Node]:
        """One step of reductions."""
        fold = next(iter(group.values()))
        if counts:
            yield Statement("counted++;")
        masks: list[str] = []
        for condition in _conjuncts(fold.condition):
            text, uniform = self._condition(condition)
            if uniform:
                yield Statement(f"if (!({text})) continue;")
            else:
                masks.append(text)
        yield from self._reductions([fold.value])

        def step(inside: bool) -> _Part:
            part = self._elements([fold.value], inside, group)
            kept = [f"({each})" for each in (*masks, *part.tests)]
            for name, each in group.items():
                part.statements += self._combine(name, each, " & ".join(kept))
            return part

        yield _lanes(step(True), step(False))

    def _combine(self, name: str, fold: Fold, kept: str) -> Iterator[str]:
        dtype, target = self.body.value_dtype(fold, self.env), f"{name}[lane]"
        if fold.reduction in POSITIONS:
            emitted = self._emit(fold.value, dtype, f"{name}_")
            yield from emitted.statements
            yield f"const {dtype.c_type} {name}_item = {emitted.value};"
            order = ">" if fold.reduction == "argmax" else "<"
            nan = f" | (({name}_item != {name}_item) & ({target} == {target}))" if dtype.is_floating else ""
            taken = f"({name}_at[lane] < 0) | ({name}_item {order} {target}){nan}"
            yield f"const int {name}_takes = {f'({kept}) & ({taken})' if kept else taken};"
            yield f"{target} = {name}_takes ? {name}_item : {target};"
            yield f"{name}_at[lane] = {name}_takes ? counted : {name}_at[lane];"
            return
        factors = self._product(fold, dtype)
        if factors is not None:
            parts = [self._emit(each, dtype, f"{name}{letter}_") for letter, each in zip("ab", factors, strict=True)]
            for part in parts:
                yield from part.statements
            value = f"OW_FMA_{dtype.suffix}({parts[0].value}, {parts[1].value}, {target})"
        else:
            emitted = self._emit(fold.value, dtype, f"{name}_")
            yield from emitted.statements
            yield f"const {dtype.c_type} {name}_item = {emitted.value};"
            joined = lower(parse(_JOINS[fold.reduction]), {"acc": dtype, "item": dtype}, dtype, TARGET.native)
            value = emit_tree(joined, {"acc": target, "item": f"{name}_item"}).value
        yield f"{target} = {f'{kept} ? {value} : {target}' if kept else value};"

    def _product(self, fold: Fold, dtype: DType) -> tuple[Expr, ...] | None:
        tree = fold.value
        if fold.reduction == "sum" and dtype.name in _FUSED and isinstance(tree, Apply) and tree.function == "mul":
            return tree.args
        return None

    def _identity(self, fold: Fold) -> str:
        dtype = self.body.value_dtype(fold, self.env)
        if fold.reduction in ("max", "argmax", "min", "argmin"):
            return identity(End.LOWEST if "max" in fold.reduction else End.HIGHEST, dtype)
        return c_number(int(fold.reduction in ("prod", "all")), dtype)

    # ---- elements

    def _elements(self, trees: Sequence[Expr], inside: bool, group: Mapping[str, Fold] = {}) -> _Part:
        """What gives the elements that expressions use, which may be a term of reductions."""
        part = _Part([], [], [], [])
        for name, atom in self._atoms_of(trees):
            if isinstance(atom, Integer):
                emitted = self._emit(atom.value, type_of(atom.value, self.env).dtype, f"{name}_")
                part.statements += emitted.statements
                part.statements.append(f"const int64_t {name} = ow_index_of((double)({emitted.value}));")
            elif isinstance(atom, Read):
                self._element(name, atom, inside, part, group)
        if self.lane is not None and self._uses_position(trees):
            part.statements.insert(0, f"const int64_t {variable(self.lane.name)} = {self._position};")
        return part

    def _atoms_of(self, trees: Sequence[Expr]) -> Iterator[tuple[str, Atom]]:
        """The elements and integers in expressions, but those within reductions."""
        seen: dict[str, Atom] = {}

        def visit(tree: Expr) -> None:
            for name in sorted(names(tree) & self.body.atoms.keys()):
                atom = self.body.atoms[name]
                if not isinstance(atom, Fold) and name not in seen:
                    for each in atom.expressions:
                        visit(each)
                    seen[name] = atom

        for tree in trees:
            visit(tree)
        return iter(seen.items())

    def _uses_position(self, trees: Sequence[Expr]) -> bool:
        """Is the value of the line's variable itself part of an expression, besides indices?"""
        assert self.lane is not None
        integers = [atom for _, atom in self._atoms_of(trees) if isinstance(atom, Integer)]
        return any(self.lane.name in names(each) for each in (*trees, *(atom.value for atom in integers)))

    @property
    def _position(self) -> str:
        assert self.lane is not None
        return f"{self.lane.start} + lane{'' if self.lane.step == '1' else f' * {self.lane.step}'}"

    def _element(self, name: str, read: Read, inside: bool, part: _Part, group: Mapping[str, Fold]) -> None:
        indices = [self.body.index(each) for each in read.indices]
        sure = [self.body.is_sure(read, dim) for dim in range(len(indices))]
        if self._is_row(read, indices, sure):
            self._row(name, read, indices, part)
        elif any(each.affine is None for each in indices):
            self._computed(name, read, sure, part, bool(group))
        elif inside or all(sure):
            self._plain(name, read, indices, part)
        elif self._is_left_out(name, read, group):
            part.clips += self._clips(read, indices, sure)
            self._plain(name, read, indices, part)
        elif isinstance(self.body.outside.get(read.tensor, Border.ERROR), Border):
            self._computed(name, read, sure, part, bool(group))
        else:
            self._staged(name, read, indices, sure, part)

    def _ctype(self, read: Read) -> str:
        return (INT64 if read.tensor in self.body.integers else self.dtype).c_type

    def _is_left_out(self, name: str, read: Read, group: Mapping[str, Fold]) -> bool:
        """Does a term of reductions count for nothing where the element is outside?"""
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        if rule is Border.SKIP and group:
            return True
        return (
            rule == 0.0
            and bool(group)
            and all(each.reduction == "sum" and _vanishes(each.value, name) for each in group.values())
        )

    def _is_row(self, read: Read, indices: Sequence[Index], sure: Sequence[bool]) -> bool:
        """Are the indices that are made of data the same for all lanes, and all others sure to be inside?"""
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        if self.lane is None or rule not in (Border.ERROR, Border.NEAREST, Border.WRAP, Border.REFLECT):
            return False
        computed = [tree for tree, each in zip(read.indices, indices, strict=True) if each.affine is None]
        known = all(is_sure or each.affine is None for each, is_sure in zip(indices, sure, strict=True))
        return bool(computed) and known and not any(self.body.depends(each, self.lane.name) for each in computed)

    def _row(self, name: str, read: Read, indices: Sequence[Index], part: _Part) -> None:
        """Elements of a row that is found by data."""
        own = self._elements(
            [tree for tree, each in zip(read.indices, indices, strict=True) if each.affine is None], True
        )
        part.before += [each for each in (*own.before, *own.statements) if each not in part.before]
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        places: dict[int, str] = {}
        for dim, (tree, each) in enumerate(zip(read.indices, indices, strict=True)):
            if each.affine is None:
                place, size = f"{name}_{dim}", f"size_{read.tensor}_{dim}"
                value = f"({self._index_text(tree)})"
                if rule is Border.ERROR:
                    part.before.append(f"const int64_t {place} = ow_checked_index({value}, {size}, &status);")
                else:
                    assert isinstance(rule, Border)
                    part.before.append(f"const int64_t {place} = ow_at_{rule.value}({value}, {size});")
                places[dim] = place
        self._plain(name, read, indices, part, places)

    def _plain(
        self, name: str, read: Read, indices: Sequence[Index], part: _Part, places: Mapping[int, str] = {}
    ) -> None:
        """An element that is inside in every lane that is computed. Some of the indices may be computed already."""
        ctype = self._ctype(read)
        offset, step = self._offset(read, indices, places)
        if step is None:
            part.before.append(self._fetch(ctype, name, read, f"in_{read.tensor}[{offset}]"))
        else:
            part.before.append(f"const {ctype} *const {name}_from = in_{read.tensor} + ({offset});")
            part.statements.append(f"const {ctype} {name} = {name}_from[{_at(step)}];")

    def _clips(
        self, read: Read, indices: Sequence[Index], sure: Sequence[bool], limits: tuple[str, str] = ("from", "to")
    ) -> Iterator[str]:
        """Statements that reduce the lanes to those in which the indices are inside."""
        for dim, (each, is_sure) in enumerate(zip(indices, sure, strict=True)):
            if not is_sure:
                factor = self._factor(each) if self.lane is not None and each.uses(self.lane.name) else "0"
                at = self._affine(each)
                yield f"ow_cut(&{limits[0]}, &{limits[1]}, {factor}, {at}, {at}, size_{read.tensor}_{dim});"

    def _staged(self, name: str, read: Read, indices: Sequence[Index], sure: Sequence[bool], part: _Part) -> None:
        """A row of elements, with the value of those that are outside."""
        ctype = self._ctype(read)
        offset, step = self._offset(read, indices)
        part.before += [
            f"{ctype} {name}_row[LANES];",
            f"OW_FOR_LANES {name}_row[lane] = {self._outside(self.body.outside[read.tensor])};",
            f"int64_t {name}_first = 0, {name}_end = n;",
            *self._clips(read, indices, sure, (f"{name}_first", f"{name}_end")),
            f"for (int64_t lane = {name}_first; lane < {name}_end; lane++)",
            f"    {name}_row[lane] = in_{read.tensor}[{offset} + {_at(step or '0')}];",
        ]
        part.statements.append(f"const {ctype} {name} = {name}_row[lane];")

    def _computed(self, name: str, read: Read, sure: Sequence[bool], part: _Part, is_term: bool) -> None:
        """An element whose place is computed and tested in each lane."""
        places, test = [], []
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        for dim, (tree, is_sure) in enumerate(zip(read.indices, sure, strict=True)):
            place, size = f"{name}_{dim}", f"size_{read.tensor}_{dim}"
            part.statements.append(f"const int64_t {place} = {self._index_text(tree)};")
            if not is_sure and rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
                assert isinstance(rule, Border)
                places.append(f"ow_at_{rule.value}({place}, {size})")
            else:
                places.append(place)
                test += [] if is_sure else [f"((uint64_t){place} < (uint64_t){size})"]
        value = f"in_{read.tensor}[{_sum(f'{place} * stride_{read.tensor}_{dim}' for dim, place in enumerate(places))}]"
        if test:
            part.statements.append(f"const int {name}_in = {' & '.join(test)};")
            value = f"{name}_in ? {value} : {self._outside(rule)}"
            if rule is Border.SKIP and is_term:
                part.tests.append(f"{name}_in")
            elif rule in (Border.ERROR, Border.SKIP):
                part.statements.append(f"status |= !{name}_in;")
        part.statements.append(self._fetch(self._ctype(read), name, read, value))

    def _fetch(self, ctype: str, name: str, read: Read, value: str) -> str:
        absent = f"!in_{read.tensor} ? 0 : " if read.tensor in self.body.optional else ""
        return f"const {ctype} {name} = {absent}{value};"

    def _outside(self, rule: object) -> str:
        if isinstance(rule, End):
            return identity(rule, self.dtype)
        return "0" if isinstance(rule, Border) else c_number(constant(float(str(rule)), self.dtype).value, self.dtype)

    def _index_text(self, tree: Expr) -> str:
        """An index in one lane."""
        assert self.lane is None or self.lane.name
        return self._emit(tree, INT64, "", position=True).text

    def _offset(self, read: Read, indices: Sequence[Index], places: Mapping[int, str] = {}) -> tuple[str, str | None]:
        """Where the element of the first lane stands, and the step from lane to lane; None: all read the same."""
        offsets, steps = [], []
        for dim, each in enumerate(indices):
            if dim in places:
                offsets.append(f"{places[dim]} * stride_{read.tensor}_{dim}")
                continue
            assert each.affine is not None
            stride = "" if dim == len(indices) - 1 else f" * stride_{read.tensor}_{dim}"
            offsets.append(f"{self._affine(each)}{stride}")
            if self.lane is not None and each.uses(self.lane.name):
                factor = self._factor(each)
                steps.append(stride.removeprefix(" * ") or factor if factor == "1" else factor + stride)
        return _sum(offsets), _sum(steps) if steps else None

    def _factor(self, index: Index) -> str:
        """The step of an index from lane to lane."""
        assert self.lane is not None
        assert index.affine is not None
        factor = index.affine.factor(self.lane.name)
        if index.divisor != ONE:
            return "1"  # a line has one remainder
        text = "step" if factor == self.step and self.step is not None else self._integer(factor)
        return text if self.lane.step == "1" else f"{text} * {self.lane.step}" if text != "1" else self.lane.step

    def _affine(self, index: Index) -> str:
        """The index in the first lane."""
        assert index.affine is not None
        text = self._affine_sum(index.affine)
        return f"({text})" if index.divisor == ONE else f"ow_div_down({text}, {self._integer(index.divisor)})"

    def _affine_sum(self, affine: Affine, lane: _Lane | None = None) -> str:
        parts = []
        lane = lane or self.lane
        for name, factor in affine.factors:
            place = lane.start if lane is not None and name == lane.name else variable(name)
            if lane is not None and name == lane.name and self.step is not None and factor == self.step:
                parts.append(f"{place} * step")
            else:
                parts.append(place if factor == ONE else f"{place} * {self._integer(factor)}")
        if affine.rest != Literal(0):
            parts.append(self._integer(affine.rest))
        return _sum(parts)

    # ---- what lies inside

    def _bounds(self) -> Iterator[str]:
        for each in self.body.ranges.values():
            name = variable(each.name)
            first, stop = self._integer(each.first), self._integer(each.stop)
            yield f"const int64_t first_{name} = {first}, last_{name} = {stop} - 1;"
            yield f"(void)first_{name}, (void)last_{name};"

    def _cuts(self) -> Iterator[Cut]:
        seen: set[tuple[str, Expr, int]] = set()
        for read, dim in self.body.checked():
            tree = read.indices[dim]
            index = self.body.index(tree)
            if index.affine is None or self.body.is_sure(read, dim) or (read.tensor, tree, dim) in seen:
                continue
            seen.add((read.tensor, tree, dim))
            least, greatest = (self._extreme(index.affine, word) for word in ("least", "greatest"))
            factor = self._integer(index.affine.factor(self.inner)) if self.inner is not None else "0"
            if self.phases is not None and self.inner is not None and index.uses(self.inner):
                least, greatest = f"phase * {factor} + {least}", f"phase * {factor} + {greatest}"
                factor = "1" if index.divisor != ONE else f"{factor} * phases"
            if index.divisor != ONE:
                divisor = self._integer(index.divisor)
                least, greatest = (f"ow_div_down({each}, {divisor})" for each in (least, greatest))
            yield Cut(factor, least, greatest, f"size_{read.tensor}_{dim}")

    def _extreme(self, affine: Affine, word: str) -> str:
        parts = []
        for name, factor in affine.factors:
            text = self._integer(factor)
            if name in self.body.ranges:
                parts.append(f"ow_{word}({text}, first_{variable(name)}, last_{variable(name)})")
            elif name != self.inner:
                parts.append(variable(name) if factor == ONE else f"{variable(name)} * {text}")
        if affine.rest != Literal(0):
            parts.append(self._integer(affine.rest))
        return _sum(parts)

    # ---- texts

    def _condition(self, tree: Expr) -> tuple[str, bool]:
        """A condition and whether it is the same for all lanes."""
        divided = self._divided(tree)
        if divided is not None:
            return divided, True
        if self.lane is None or not self.body.depends(tree, self.lane.name):
            return self._emit(tree, BOOL, "").text, True
        if self.phases is not None and _is_remainder(tree, self.phases, self.lane.name):
            names_ = {self.lane.name: "phase"}
            return self._emit(tree, BOOL, "", names_).text, True
        return self._emit(tree, BOOL, "", position=True).text, False

    def _divided(self, tree: Expr) -> str | None:
        """The condition that a division leaves no remainder, where it is the same for all lanes."""
        if not isinstance(tree, Apply) or tree.function != "eq" or tree.args[1] != Literal(0):
            return None
        left = tree.args[0]
        if not isinstance(left, Apply) or left.function != "remainder":
            return None
        affine, divisor = self.body.index(left.args[0]).affine, left.args[1]
        if affine is None or not names(divisor) <= self.body.uniforms.keys():
            return None
        lane = self.lane
        if lane is not None and lane.name in affine.variables:
            if divisor != self.phases:
                return None
            lane = _Lane(lane.name, "phase", lane.step)
        text = self._affine_sum(affine, lane)
        return f"ow_divides({text}, {self._integer(divisor)})"

    def _integer(self, tree: Expr) -> str:
        """C of an integer that is no value of a lane; what may overflow is checked before."""
        if isinstance(tree, Literal):
            return str(int(tree.value))
        if isinstance(tree, Name):
            return tree.name if tree.name in self.body.uniforms else variable(tree.name)
        assert isinstance(tree, Apply)
        symbols = {"add": "+", "sub": "-", "mul": "*"}
        if tree.function in symbols:
            left, right = map(self._integer, tree.args)
            return f"({left} {symbols[tree.function]} {right})"
        if tree.function == "neg":
            return f"(-{self._integer(tree.args[0])})"
        return f"({self._emit(tree, INT64, '').text})"

    def _emit(
        self, tree: Expr, dtype: DType, prefix: str, own: Mapping[str, str] = {}, position: bool = False
    ) -> Emitted:
        """The C of an expression; reductions are read where their arrays have them."""
        texts = {name: name for name in self.body.uniforms}
        for name, atom in self.body.atoms.items():
            texts[name] = name
            if isinstance(atom, Fold):
                array = f"{name}_at" if atom.reduction in POSITIONS else self.same.get(name, name)
                texts[name] = f"{array}[lane]"
        if position and self.lane is not None:
            texts[self.lane.name] = f"({self._position})"
        emitted = emit_tree(lower(tree, self.env, dtype, TARGET.native), texts | dict(own))
        if not prefix:
            return emitted
        return Emitted(
            tuple(_renamed(each, prefix, len(emitted.statements)) for each in emitted.statements),
            (_renamed(emitted.value, prefix, len(emitted.statements)),),
            emitted.uses_err,
            emitted.root,
        )


@dataclass
class _Part:
    """Statements of one step: before the lanes, for each lane, tests under which a lane counts, and what reduces the
    lanes."""

    before: list[str]
    statements: list[str]
    tests: list[str]
    clips: list[str]


def _lanes(inside: _Part, checked: _Part) -> Lanes:
    before, statements, clips = tuple(inside.before), tuple(inside.statements), tuple(checked.clips)
    if (before, statements) == (tuple(checked.before), tuple(checked.statements)):
        return Lanes(before, statements, clips)
    return Lanes(before, statements, clips, tuple(checked.before), tuple(checked.statements))


def _at(step: str) -> str:
    return "lane" if step == "1" else f"lane * ({step})"


def _vanishes(tree: Expr, name: str) -> bool:
    """Is the value zero where an element of this name is?"""
    if isinstance(tree, Name):
        return tree.name == name
    if isinstance(tree, Apply) and tree.function in ("add", "sub", "mul", "div", "neg"):
        parts = [_vanishes(each, name) for each in tree.args]
        return parts[0] if tree.function == "div" else any(parts) if tree.function == "mul" else all(parts)
    return False


def _renamed(text: str, prefix: str, count: int) -> str:
    """Temporaries with a prefix, so that several expressions may stand in one block."""
    import re

    return re.sub(r"\bt(\d+)\b", lambda match: f"{prefix}t{match[1]}", text) if count else text


def _conjuncts(condition: Expr | None) -> Iterator[Expr]:
    if isinstance(condition, Apply) and condition.function == "logical_and":
        for each in condition.args:
            yield from _conjuncts(each)
    elif condition is not None:
        yield condition


def _is_remainder(tree: Expr, divisor: Expr, name: str) -> bool:
    """Does a condition depend on a variable through its remainder alone?"""
    if not isinstance(tree, Apply) or name not in names(tree):
        return True
    if tree.function == "remainder" and tree.args[1] == divisor:
        return True
    parts = [each for each in tree.children if name in names(each)]
    return all(isinstance(each, Apply) and _is_remainder(each, divisor, name) for each in parts)


def _sum(parts: Iterator[str] | Sequence[str]) -> str:
    return " + ".join(parts) or "0"
