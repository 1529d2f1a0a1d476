"""Kernels of expressions over indices in one dtype: loops of reductions, and the lanes within them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...dtypes import BOOL, DType
from ...expr import Expr, Name, names, parse
from ...expr.affine import ONE, Affine
from ...expr.atoms import Range
from ...expr.kernel_text import TARGET, emit_tree, variable
from ...expr.lower import lower
from ...expr.targets import c_number
from ...expr.typed import Arg, Op
from ...expr.typed_expression import TypedExpression
from ...model.compute import Border
from ...model.operator import End
from ...nest.forms import Line
from ...nest.nodes import Join, Load, Place, Reduction
from ...nest.of import identity
from ..expressions import enum, parameters
from .elements import Part, at, lanes, outside
from .inside import Inside
from .nodes import Ahead, Copy, Kernel, Loop, Node, Numbers, Strips

_JOINS = {"sum": "acc + item", "prod": "acc * item", "max": "maximum(acc, item)", "min": "minimum(acc, item)",
          "any": "acc or item", "all": "acc and item"}  # fmt: skip
_FUSED = ("float32", "float64")
"""The dtypes in which sums of products are computed with one rounding."""

_STEPS = (1, 2)
"""The steps in memory that have loops of their own; of complex numbers the first one."""


class Loops(Inside):
    """The loops of reductions, one within the other, and what else makes the kernel."""

    def kernel(self) -> Kernel:
        """Return the kernel of the loops."""
        step = self.phases or self.step
        return Kernel(
            name=f"{self.name}_{self.dtype.suffix}",
            enums=(enum(self.dtype),),
            ctype=self.dtype.c_type,
            line=self.nest.stores[0].line,
            params=parameters(self.operator, self.dtype),
            body=tuple(self._body()),
            bounds=tuple(self._bounds()),
            cuts=tuple(self._cuts()),
            cuts_ranges=self._cuts_ranges(),
            step=None if step is None else self._integer(step),
            steps=_STEPS[: 1 if self.dtype.is_complex else None],
            phases=self.phases is not None,
            rows=self.rows,
            row=variable(self.nest.names[-2]) if self.rows > 1 else "",
            row_step=self._integer(self.row_step),
            lanes=self._lanes(),
            outputs=tuple(each.c_type for each in self.outputs),
            tables=tuple(self._tables()),
            in_order=self.in_order,
            seldom=self.operator.order > 1,
            ahead=None if self.ahead is None else self._tests_ahead(self.ahead),
        )

    def _tests_ahead(self, bounds: Range) -> Ahead:
        (fold,) = self.nest.reductions.values()
        places = [
            (tree, f"size_{place.tensor}_{dim}")
            for _, place in self._places_of([fold.value])
            for dim, tree in enumerate(place.trees)
            if place.indices[dim].affine is None
        ]
        data = self._elements([tree for tree, _ in places], True)
        return Ahead(
            variable=variable(bounds.name),
            bounds=tuple(self._found_bounds(bounds)),
            sizes=tuple(self._bound_sizes(bounds)),
            places=(*data.before, *data.statements),
            outside=tuple(f"(uint64_t){self._integer(tree)} >= (uint64_t){size}" for tree, size in places),
        )

    def _tables(self) -> Iterator[Numbers]:
        for each in self.nest.tables.values():
            texts = tuple(c_number(number, each.dtype) for number in each.numbers)
            yield Numbers(each.name, each.dtype.c_type, texts, each.sizes)

    def _lanes(self) -> str:
        """The number of lanes: as many as a vector holds; for partial sums the same number at every instruction-set
        level."""
        if self.lane is None or self.in_order:
            return "1"
        return f"OW_LANES({self.dtype.c_type})" if self.lane_range is None else f"(64 / sizeof({self.dtype.c_type}))"

    def integer(self, tree: Expr) -> str:
        """C of a number of the call."""
        return self._integer(tree)

    def along(self, affine: Affine) -> str:
        """C of a sum that is the same along a line."""
        return self._extreme(affine, "least")

    # ---- loops

    def _body(self) -> Iterator[Node]:
        trees = [each.expression for each in self.nest.stores]
        self.computed: frozenset[str] = frozenset()
        """The reductions whose values are there where the next statements stand."""
        copy = self._copy()
        if copy is not None:
            yield copy
            return
        yield from self._reductions(trees)

        def finish(inside: bool) -> Part:
            part = self._elements(trees, inside)
            if self.rows > 1:
                line = f"row * c->range[{len(self.nest.names) - 1}] * {self.small}"
                line = line if self.row_step == ONE else f"{line} * {self._integer(self.row_step)}"
                for index, dtype in enumerate(self.outputs):
                    part.before.append(f"{dtype.c_type} *const to{index} = first_to{index} + {line};")
            for index, tree in enumerate(trees):
                emitted = self._emit(tree, self.outputs[index // self.small], f"r{index}_", before=part.before)
                beside = f" * {self.small} + {index % self.small}" if self.small > 1 else ""
                place = f"lane{self._times_phases}{beside}"
                part.statements += emitted.statements
                part.statements.append(f"to{index // self.small}[{place}] = {emitted.value};")
            return part

        yield lanes(finish(True), finish(False))

    def _copy(self) -> Copy | None:
        """The one element that the result is, where it is outside in some lanes."""
        store, *others = self.nest.stores
        root = store.value.root
        place = self.nest.place(Name(root.name)) if isinstance(root, Arg) and not others else None
        if place is None or self.lane is None or place.is_optional:
            return None
        if place.computed or any(map(self._is_uneven, place.indices)):
            return None
        if isinstance(place.border, Border) or not place.unsure:
            return None
        offset, step = self._offset(place)
        before = f"const {self.dtype.c_type} *const from_here = in_{place.tensor} + ({offset});"
        value = f"from_here[{at(step or '0')}]"
        return Copy(tuple(self._clips(place)), (before,), value, outside(place), self._times_phases)

    @property
    def _times_phases(self) -> str:
        return " * phases" if self.phases else ""

    def _reductions(self, trees: Sequence[Expr]) -> Iterator[Node]:
        """The reductions that expressions use, but those within other reductions and those that are there already.
        Those that read the same elements with tests share their loops, in which what their terms share is computed
        once."""
        groups: dict[object, dict[str, Reduction]] = {}
        for name, fold in self._direct(trees):
            if name in self.computed:
                continue
            groups.setdefault((fold.ranges, fold.tests, fold.tested), {})[name] = fold
        for group in groups.values():
            yield from self._fold(group)

    def _direct(self, trees: Sequence[Expr]) -> Iterator[tuple[str, Reduction]]:
        for tree in trees:
            for name in sorted(names(tree) & self.nest.atoms.keys()):
                atom = self.nest.atoms[name]
                if isinstance(atom, Reduction):
                    yield name, atom
                else:
                    yield from self._direct(atom.expressions)

    def _fold(self, group: Mapping[str, Reduction]) -> Iterator[Node]:
        fold = next(iter(group.values()))
        # The search for a position finds the value as well.
        searches = {(each.term.how, each.element): name for name, each in group.items() if each.finds}
        for name, each in group.items():
            if not each.finds and (each.term.how, each.element) in searches:
                self.same[name] = searches[each.term.how, each.element]
        group = {name: each for name, each in group.items() if name not in self.same}
        for name, each in group.items():
            yield from self._start(name, each)
        yield from self._reductions(list(self._constant(group)))
        for name in searches.values():
            yield Line(f"int64_t {name}_counted = -1;")
        around = self.computed, dict(self.same)
        inner: list[Node] = list(self._term(group, tuple(searches.values())))
        self.computed, self.same = around  # what is computed within the loops is not there behind them
        self.computed |= {*group, *self.same}
        for place in reversed(range(len(fold.ranges))):
            if not searches:  # which count the steps
                inner = [*self._tests(fold, place), *inner]
            inner = [self._loop(fold.ranges[place], inner, tuple(self._narrowing(group, fold.ranges, place)))]
        yield from inner
        if self.lane_range is not None:
            for name, each in group.items():
                dtype = self._fold_dtype(each)
                value = self._joined(each, dtype, f"{name}[lane]", f"{name}[lane + half]")
                yield Line(f"OW_FOR_HALVES OW_FOR_LANES_IN(0, half) {name}[lane] = {value};")
        if self.ahead is not None:
            for name, each in group.items():
                value = self._joined(each, self._fold_dtype(each), f"{name}[0][lane]", f"{name}[1][lane]")
                yield Line(f"OW_FOR_LANES {name}[0][lane] = {value};")
            yield Line("const int64_t half = 0;")

    def _tests(self, fold: Reduction, place: int) -> Iterator[Line]:
        """The conditions that are the same for all lanes, and known in the loop of this range but not around it."""
        for condition in fold.tests:
            text = self._condition(condition)
            depends = [self.nest.depends(condition, each.name) for each in fold.ranges]
            if text is not None and not any(depends[place + 1 :]) and (depends[place] or not place):
                yield Line(f"if (!({text})) continue;")

    def _constant(self, group: Mapping[str, Reduction]) -> Iterator[Name]:
        """The reductions within others that are the same in each of their steps, and cannot fail where there are no
        steps."""
        variables = {bounds.name for fold in group.values() for bounds in fold.ranges}
        trees = [each for fold in group.values() for each in (fold.value, *fold.tests)]
        for name, fold in self._direct(trees):
            varies = any(self.nest.depends(Name(name), each) for each in variables)
            if not varies and fold.is_safe:
                yield Name(name)

    def _narrowing(
        self, group: Mapping[str, Reduction], ranges: Sequence[Range], place: int
    ) -> Iterator[tuple[str, ...]]:
        """Yield what cuts a range along a dimension of one tensor to the integers at which elements of another are
        inside in some lane, where all others count for nothing: the factor, the least and the greatest of what is added
        in all lanes, and the size. Of ranges that are as short as a window only those are cut that leave no lane to
        test; products of matrices have no such loops."""
        bounds, unknown = ranges[place], {each.name for each in ranges[place + 1 :]}
        unknown |= {self.nest.names[-2]} if self.rows > 1 else set()
        if not self._has_cut(bounds) or self.is_product or any(each.finds for each in group.values()):
            return  # searches count the steps
        is_short = not self._runs_along(bounds.name, group)
        trees = [tree for each in group.values() for tree in (*each.tests, each.value)]
        for name, read in self._places_of(trees):
            if read.computed or not self._is_left_out(name, read, group):
                continue
            cut = dict(self._cut_by_ranges(read, group))
            for dim in read.unsure:
                each = read.indices[dim]
                is_cut = cut.get(dim) == bounds.name
                if not each.uses(bounds.name) or not (is_cut or (each.divisor == ONE and not is_short)):
                    continue
                assert each.affine is not None
                if not is_cut and (unknown & {*each.affine.variables} or self.nest.is_ragged(each)):
                    continue
                rest = Affine(tuple(pair for pair in each.affine.factors if pair[0] != bounds.name), each.affine.rest)
                least = greatest = self._affine_sum(rest)
                if self.lane is not None and each.uses(self.lane.name):
                    step = self._factor(each)
                    least = f"{least} + ow_least({step}, 0, n - 1)"
                    greatest = f"{greatest} + ow_greatest({step}, 0, n - 1)"
                factor, size = self._integer(each.affine.factor(bounds.name)), f"size_{read.tensor}_{dim}"
                size = size if each.divisor == ONE else f"ow_dividends({size}, {self._divisor(each.divisor)})"
                yield factor, least, greatest, size

    def _cuts_ranges(self) -> bool:
        """Return True if ranges are cut for all indices that may be outside."""
        loads = ((name, atom.place) for name, atom in self.nest.atoms.items() if isinstance(atom, Load))
        unsure = {(name, dim) for name, place in loads if place is not None for dim in place.unsure}
        left = set(unsure)
        for key, fold in self.nest.reductions.items():
            for name, place in self._places_of((*fold.tests, fold.value)):
                if self._is_left_out(name, place, {key: fold}):
                    left -= {(name, dim) for dim, _ in self._cut_by_ranges(place, {key: fold})}
        return bool(unsure) and not left

    def _runs_along(self, name: str, group: Mapping[str, Reduction]) -> bool:
        """Return True if a variable itself is the index of a dimension of an element that is read."""
        places = (place for _, place in self._places_of([each.value for each in group.values()]))
        return any(index.plain == name for place in places for index in place.indices)

    def _places_of(self, trees: Sequence[Expr]) -> Iterator[tuple[str, Place]]:
        """The places of the elements in expressions, but those within reductions."""
        for name, atom in self._atoms_of(trees):
            if isinstance(atom, Load) and atom.place is not None:
                yield name, atom.place

    def _loop(self, bounds: Range, inner: Sequence[Node], narrowing: Sequence[tuple[str, ...]] = ()) -> Loop | Strips:
        name, first, stop = variable(bounds.name), self._integer(bounds.first), self._integer(bounds.stop)
        if bounds == self.lane_range:
            assert self.lane is not None
            return Strips(self.lane.start, first, stop, tuple(inner))
        own_first, own_stop = f"first_{name}", f"end_{name}"
        if narrowing:
            # An index is inside in some lane where its greatest value is not below 0 and its least one below the size.
            cuts = [
                f"ow_cut(&{own_first}, &{own_stop}, {factor}, {greatest}, {least}, {size});"
                for factor, least, greatest, size in dict.fromkeys(narrowing)
            ]
            before = [f"int64_t {own_first} = {first}, {own_stop} = {stop};", f"if (!inside) {{ {' '.join(cuts)} }}"]
            return Loop(name, own_first, own_stop, tuple(inner), tuple(before))
        if bounds.name not in self.nest.ragged:
            return Loop(name, first, stop, tuple(inner))
        before = list(self._found_bounds(bounds))
        # A range whose end no integer holds is not empty because of that.
        far = " | ".join(f"{each}_far | ow_is_far({each})" for each in (own_first, own_stop))
        tests = [f"ow_keep_near(&{own_first}, &{own_stop}, {far}, &status);"]
        tests += [f"ow_keep_inside(&{own_first}, &{own_stop}, {size}, &status);" for size in self._bound_sizes(bounds)]
        before += tests if self.ahead is None else [f"if (!inside) {{ {' '.join(tests)} }}"]
        return Loop(name, own_first, own_stop, tuple(inner), tuple(before), in_halves=self.ahead is not None)

    def _found_bounds(self, bounds: Range) -> Iterator[str]:
        """Statements that find the bounds of a range, which are data."""
        data = self._elements([bounds.first, bounds.stop], False)
        yield from (*data.before, *data.statements)
        for word, bound in (("first", bounds.first), ("end", bounds.stop)):
            yield from self._found(bound, f"{word}_{variable(bounds.name)}", None)

    def _bound_sizes(self, bounds: Range) -> Iterator[str]:
        """The sizes of dimensions of which the variable of a range whose bounds are data is the index."""
        sizes = (
            f"size_{place.tensor}_{dim}"
            for place in self.nest.places
            for dim, index in enumerate(place.indices)
            if place.border is Border.ERROR and index.plain == bounds.name
        )
        yield from dict.fromkeys(sizes)

    def _start(self, name: str, fold: Reduction) -> Iterator[Node]:
        ctype, start = self._fold_dtype(fold).c_type, self._identity(fold)
        yield self._array(ctype, name, start)
        if fold.finds:
            yield self._array("int64_t", f"{name}_at", "-1")

    def _array(self, ctype: str, name: str, start: str) -> Line:
        """A variable of each lane, and of each line that is computed at a time."""
        sizes, rows = ("[ROWS][LANES]", "OW_FOR_ROWS ") if self.rows > 1 else ("[LANES]", "")
        if self.ahead is not None:
            sizes, rows = "[2][LANES]", "for (int64_t half = 0; half < 2; half++) "
        lanes = "OW_FOR_LANES" if self.lane_range is None else "OW_FOR_LANES_IN(0, LANES)"
        return Line(f"{ctype} {name}{sizes}; {rows}{lanes} {name}[{self.place}] = {start};")

    def _term(self, group: Mapping[str, Reduction], counts: Sequence[str]) -> Iterator[Node]:
        """One step of reductions."""
        fold = next(iter(group.values()))
        if counts:
            yield Line(" ".join(f"{name}_counted++;" for name in counts))
        masks: list[Expr] = []
        for condition in fold.tests:
            text = self._condition(condition)
            if text is None:
                masks.append(condition)
            elif counts:
                yield Line(f"if (!({text})) continue;")
        values = list(dict.fromkeys(each.value for each in group.values()))
        yield from self._reductions([*masks, *values])

        def step(inside: bool) -> Part:
            part = self._masked(masks, inside, group)
            self._add_elements(part, values, inside, group)
            kept = [*([] if part.mask is None else [part.mask]), *part.tests]
            for name, each in group.items():
                part.statements += self._combine(name, each, " & ".join(kept), part.before)
            return part

        yield lanes(step(True), step(False))

    def _masked(self, masks: Sequence[Expr], inside: bool, group: Mapping[str, Reduction]) -> Part:
        """The beginning of a step, in which lanes take part where conditions hold."""
        part, name = self._elements(masks, inside, group), next(iter(group))
        for place, each in enumerate(masks):
            emitted = self._emit(each, BOOL, f"{name}_if{place}_", position=True)
            before = "" if part.mask is None else f"{part.mask} & "
            part.mask = f"{name}_if{place}"
            part.statements += [*emitted.statements, f"const int {part.mask} = {before}({emitted.value});"]
        return part

    def _combine(self, name: str, fold: Reduction, kept: str, before: list[str]) -> Iterator[str]:
        dtype, target = self._fold_dtype(fold), f"{name}[{self.place}]"
        if fold.finds:
            emitted = self._emit(self._value(fold), dtype, f"{name}_", before=before)
            yield from emitted.statements
            yield f"const {dtype.c_type} {name}_item = {emitted.value};"
            order = ">" if fold.term.how == "max" else "<"
            nan = f" | (({name}_item != {name}_item) & ({target} == {target}))" if dtype.is_floating else ""
            place = f"{name}_at[{self.place}]"
            taken = f"({place} < 0) | ({name}_item {order} {target}){nan}"
            yield f"const int {name}_takes = {f'({kept}) & ({taken})' if kept else taken};"
            yield f"{target} = {name}_takes ? {name}_item : {target};"
            yield f"{place} = {name}_takes ? {name}_counted : {place};"
            return
        factors = self._product(fold, dtype)
        if factors is not None:
            parts = [self._emit(each, dtype, f"{name}{letter}_") for letter, each in zip("ab", factors, strict=True)]
            for part in parts:
                yield from part.statements
            value = f"OW_FMA_{dtype.suffix}({parts[0].value}, {parts[1].value}, {target})"
        else:
            emitted = self._emit(self._value(fold), dtype, f"{name}_", before=before)
            yield from emitted.statements
            yield f"const {dtype.c_type} {name}_item = {emitted.value};"
            value = self._joined(fold, dtype, target, f"{name}_item")
        yield f"{target} = {f'{kept} ? {value} : {target}' if kept else value};"

    def _joined(self, fold: Reduction, dtype: DType, value: str, item: str) -> str:
        joined = lower(parse(_JOINS[fold.term.how]), {"acc": dtype, "item": dtype}, dtype, TARGET.native)
        return emit_tree(joined, {"acc": value, "item": item}).value

    @staticmethod
    def _product(fold: Reduction, dtype: DType) -> tuple[Expr, ...] | None:
        term, root = fold.term, fold.element
        if isinstance(term, Join) and term.how == "sum" and term.is_product and dtype.name in _FUSED:
            assert isinstance(root, Op)
            return tuple(map(TypedExpression, root.operands))
        return None

    def _identity(self, fold: Reduction) -> str:
        dtype = self._fold_dtype(fold)
        if fold.term.how in ("max", "min"):
            return identity(End.LOWEST if fold.term.how == "max" else End.HIGHEST, dtype)
        return c_number(int(fold.term.how in ("prod", "all")), dtype)
