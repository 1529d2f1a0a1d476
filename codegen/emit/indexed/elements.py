"""C that reads the elements of one step, where their indices lie inside and where they may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ...expr import Expr, Literal, names
from ...expr.atoms import Range
from ...expr.kernel_text import variable
from ...expr.targets import c_number
from ...expr.typed import constant
from ...model.compute import Border
from ...model.operator import End
from ...nest.by_name import Atom
from ...nest.nodes import Join, Load, Place, Reduction, Truncated
from ...nest.of import identity
from .nodes import Step
from .texts import Texts, joined

_PICKED = ("float32", "float64")
"""The dtypes of which every second element is taken by shuffles of vectors."""
_LEADING = (Border.NEAREST, Border.WRAP, Border.REFLECT)
"""The rules by which indices that are outside lead to an element."""


@dataclass
class Part:
    """Statements of one step: before the lanes, for each lane, tests under which a lane counts, and what reduces the
    lanes."""

    before: list[str]
    statements: list[str]
    tests: list[str]
    clips: list[str]
    mask: str | None = None
    """The variable that says whether a lane takes part, where not all do."""
    known: set[str] = field(default_factory=set)
    """The atoms and variables that are there."""

    def taken(self, condition: str) -> str:
        """A condition where the lane takes part."""
        return condition if self.mask is None else f"{self.mask} & {condition}"


class Elements(Texts):
    """Code that reads elements: plainly, by lanes that are cut, from a row, or with a test in each lane."""

    def _elements(self, trees: Sequence[Expr], inside: bool, group: Mapping[str, Reduction] = {}) -> Part:
        """Return the code for the elements that expressions use; they may be a term of reductions."""
        part = Part([], [], [], [])
        self._add_elements(part, trees, inside, group)
        return part

    def _add_elements(
        self, part: Part, trees: Sequence[Expr], inside: bool, group: Mapping[str, Reduction] = {}
    ) -> None:
        """Adds the elements that are not there already."""
        for name, atom in self._atoms_of(trees):
            if name in part.known:
                continue
            part.known.add(name)
            if isinstance(atom, Truncated):
                emitted = self._emit(atom.expression, atom.value.root.dtype, f"{name}_")
                part.statements += emitted.statements
                part.statements.append(f"const int64_t {name} = ow_index_of((double)({emitted.value}));")
            elif isinstance(atom, Load) and atom.place is not None:
                self._element(name, atom.place, inside, part, group)
        if self.lane is not None and self.lane.name not in part.known and self._uses_position(trees):
            part.known.add(self.lane.name)
            part.statements.insert(0, f"const int64_t {variable(self.lane.name)} = {self._position};")

    def _atoms_of(self, trees: Sequence[Expr]) -> Iterator[tuple[str, Atom]]:
        """The elements and integers in expressions, but those within reductions."""
        seen: dict[str, Atom] = {}

        def visit(tree: Expr) -> None:
            for name in sorted(names(tree) & self.nest.atoms.keys()):
                atom = self.nest.atoms[name]
                if not isinstance(atom, Reduction) and name not in seen:
                    for each in atom.expressions:
                        visit(each)
                    seen[name] = atom

        for tree in trees:
            visit(tree)
        return iter(seen.items())

    def _uses_position(self, trees: Sequence[Expr]) -> bool:
        """Return True if the line's variable itself is part of an expression, besides indices."""
        assert self.lane is not None
        integers = [atom.expression for _, atom in self._atoms_of(trees) if isinstance(atom, Truncated)]
        return any(self.lane.name in names(each) for each in (*trees, *integers))

    def _element(self, name: str, place: Place, inside: bool, part: Part, group: Mapping[str, Reduction]) -> None:
        if self._is_row(place):
            self._row(name, place, part)
        elif place.computed or any(map(self._is_uneven, place.indices)) or self._is_ragged(place):
            self._computed(name, place, part, bool(group))
        elif place.unsure and self._is_left_out(name, place, group):
            cut = {dim for dim, _ in self._cut_by_ranges(place, group)}
            part.clips += [] if inside else self._clips(place, leaving=cut)
            self._plain(name, place, part)
        elif inside or not place.unsure:
            self._plain(name, place, part)
        elif isinstance(place.border, Border):
            self._computed(name, place, part, bool(group))
        else:
            self._staged(name, place, part)

    def _is_ragged(self, place: Place) -> bool:
        """Return True if it depends on data which of the indices are inside."""
        return any(self.nest.is_ragged(place.indices[dim]) for dim in place.unsure)

    @staticmethod
    def _is_left_out(name: str, place: Place, group: Mapping[str, Reduction]) -> bool:
        """Return True if a term of reductions is left out where the element is outside."""
        if place.border is Border.SKIP and group:
            return True
        vanishing = [isinstance(each.term, Join) and name in each.term.vanishing for each in group.values()]
        return place.border == 0.0 and bool(vanishing) and all(vanishing)

    def _is_row(self, place: Place) -> bool:
        """Return True if the indices that are made of data are the same for all lanes, and all others are sure to be
        inside."""
        if self.lane is None or place.border not in (Border.ERROR, *_LEADING):
            return False
        if any(map(self._is_uneven, place.indices)):
            return False
        known = all(place.indices[dim].affine is None for dim in place.unsure)
        varies = any(self.nest.depends(each, self.lane.name) for each in place.computed)
        return bool(place.computed) and known and not varies

    def _row(self, name: str, place: Place, part: Part) -> None:
        """Elements of a row that is found by data."""
        own = self._elements(place.computed, True)
        part.before += [each for each in (*own.before, *own.statements) if each not in part.before]
        known: dict[int, str] = {}
        for dim, (tree, each) in enumerate(zip(place.trees, place.indices, strict=True)):
            if each.affine is None:
                index, size = f"{name}_{dim}", f"size_{place.tensor}_{dim}"
                reduces = any(isinstance(atom, Reduction) for _, atom in self.nest.within(tree))
                part.before += self._found(tree, index, place.border, reduces)
                part.before += [f"if ({index}_far) return OW_INDEX_ERROR;"]
                if place.border is Border.ERROR:
                    part.before.append(f"if ((uint64_t){index} >= (uint64_t){size}) return OW_INDEX_ERROR;")
                else:
                    part.before.append(_needs_elements(size))
                    index, found = f"{index}_led", index
                    part.before.append(f"const int64_t {index} = {_led(place, found, size)};")
                known[dim] = index
        self._plain(name, place, part, known)

    def _plain(self, name: str, place: Place, part: Part, known: Mapping[int, str] = {}) -> None:
        """An element that is inside in every lane that is computed. Some of the indices may be computed already."""
        ctype = place.dtype.c_type
        offset, step = self._offset(place, known)
        if step is None:
            part.before.append(_fetch(name, place, f"in_{place.tensor}[{offset}]"))
        elif place.is_optional:
            value = f"in_{place.tensor}[{offset} + {at(step)}]"
            part.before += [
                f"{ctype} {name}_row[LANES];",
                f"if (in_{place.tensor}) {{ OW_FOR_LANES_IN(from, to) {name}_row[lane] = {value}; }}",
                f"else {{ OW_FOR_LANES {name}_row[lane] = 0; }}",
            ]
            part.statements.append(f"const {ctype} {name} = {name}_row[lane];")
        else:
            part.before.append(f"const {ctype} *const {name}_from = in_{place.tensor} + ({offset});")
            value = f"{name}_from[{at(step)}]"
            if step == "step" and place.dtype.name in _PICKED:
                picked = f"ow_pick_{place.dtype.suffix}({name}_picked, {name}_from, from, to);"
                part.before += [f"{ctype} {name}_picked[LANES];", f"if (OW_IS_SECOND(step)) {picked}"]
                value = f"OW_IS_SECOND(step) ? {name}_picked[lane] : {value}"
            part.statements.append(f"const {ctype} {name} = {value};")

    def _cut_by_ranges(self, place: Place, group: Mapping[str, Reduction]) -> Iterator[tuple[int, str]]:
        """Yield the dimensions of a left-out element whose indices are the same in all lanes, each with the innermost
        variable of its index: the range of this one is cut to what is inside, so that no lane is tested."""
        if not group or self.is_product or self.lane is None or any(each.finds for each in group.values()):
            return  # searches count the steps
        ranges = next(iter(group.values())).ranges
        for dim in place.unsure:
            each = place.indices[dim]
            along = [bounds for bounds in ranges if each.uses(bounds.name)]
            if along and self._has_cut(along[-1]) and not each.uses(self.lane.name) and not self.nest.is_ragged(each):
                yield dim, along[-1].name

    def _has_cut(self, bounds: Range) -> bool:
        """Return True if a range may be cut: its bounds are no data, and not known when compiling."""
        is_known = isinstance(bounds.first, Literal) and isinstance(bounds.stop, Literal)
        return not is_known and bounds.name not in self.nest.ragged and bounds != self.lane_range

    def _clips(
        self, place: Place, limits: tuple[str, str] = ("from", "to"), leaving: Set[int] = frozenset()
    ) -> Iterator[str]:
        """Statements that reduce the lanes to those in which the indices are inside, but those of some dimensions."""
        for dim in (dim for dim in place.unsure if dim not in leaving):
            each = place.indices[dim]
            factor = self._factor(each) if self.lane is not None and each.uses(self.lane.name) else "0"
            first = self._affine(each)
            yield f"ow_cut(&{limits[0]}, &{limits[1]}, {factor}, {first}, {first}, size_{place.tensor}_{dim});"

    def _staged(self, name: str, place: Place, part: Part) -> None:
        """A row of elements, with the value of those that are outside."""
        ctype = place.dtype.c_type
        offset, step = self._offset(place)
        part.before += [
            f"{ctype} {name}_row[LANES];",
            f"OW_FOR_LANES {name}_row[lane] = {outside(place)};",
            f"int64_t {name}_first = 0, {name}_end = n;",
            *self._clips(place, (f"{name}_first", f"{name}_end")),
            f"for (int64_t lane = {name}_first; lane < {name}_end; lane++)",
            f"    {name}_row[lane] = in_{place.tensor}[{offset} + {at(step or '0')}];",
        ]
        part.statements.append(f"const {ctype} {name} = {name}_row[lane];")

    def _computed(self, name: str, place: Place, part: Part, is_term: bool) -> None:
        """An element whose indices are computed and tested in each lane."""
        indices, test = [], []
        for dim, (tree, is_sure) in enumerate(zip(place.trees, place.sure, strict=True)):
            index, size = f"{name}_{dim}", f"size_{place.tensor}_{dim}"
            part.statements += self._found(tree, index, place.border)
            part.statements.append(f"status |= {part.taken(f'{index}_far')};")
            if not is_sure and place.border in _LEADING:
                part.before.append(_needs_elements(size))
                indices.append(_led(place, index, size))
            else:
                indices.append(index)
                test += [] if is_sure else [f"((uint64_t){index} < (uint64_t){size})"]
        offset = joined(f"{each} * stride_{place.tensor}_{dim}" for dim, each in enumerate(indices))
        value = f"in_{place.tensor}[{offset}]"
        if test:
            tested = "inside || " if self.ahead is not None else ""
            part.statements.append(f"const int {name}_in = {tested}{' & '.join(test)};")
            value = f"{name}_in ? {value} : {outside(place)}"
            if place.border is Border.SKIP and is_term:
                part.tests.append(f"{name}_in")
            elif place.border in (Border.ERROR, Border.SKIP):
                part.statements.append(f"status |= {part.taken(f'!{name}_in')};")
        part.statements.append(_fetch(name, place, value))

    def _found(self, tree: Expr, place: str, rule: object, of_any_lane: bool = False) -> Iterator[str]:
        """Statements that compute an index, and whether it is one that no element stands for. Before a loop over lanes,
        reductions have the same result in each of them."""
        emitted = self._index_value(tree, place)
        is_far = f"far | ow_is_far({place})" if rule in _LEADING else "far"
        yield f"int64_t {place}; int {place}_far;"
        computed = f"{' '.join(emitted.statements)} {place} = {emitted.value}; {place}_far = {is_far};"
        yield f"{{ {'const int64_t lane = 0; ' * of_any_lane}int far = 0; {computed} }}"


def _fetch(name: str, place: Place, value: str) -> str:
    absent = f"!in_{place.tensor} ? 0 : " if place.is_optional else ""
    return f"const {place.dtype.c_type} {name} = {absent}{value};"


def outside(place: Place) -> str:
    """Return the value of an element that is outside as a C expression."""
    if isinstance(place.border, End):
        return identity(place.border, place.dtype)
    if isinstance(place.border, Border):
        return "0"
    return c_number(constant(place.border, place.dtype).value, place.dtype)


def _led(place: Place, index: str, size: str) -> str:
    """Return the index of the element to which an index leads."""
    assert isinstance(place.border, Border)
    return f"ow_at_{place.border.value}({index}, {size})"


def _needs_elements(size: str) -> str:
    """Return the statement that refuses a dimension of size 0, to which no index leads."""
    return f"if (!{size}) return OW_INDEX_ERROR;"


def lanes(inside: Part, checked: Part) -> Step:
    """Return the statements of all lanes: one text where lanes inside and others are computed alike."""
    before, statements, clips = tuple(inside.before), tuple(inside.statements), tuple(checked.clips)
    if (before, statements) == (tuple(checked.before), tuple(checked.statements)):
        return Step(before, statements, clips)
    return Step(before, statements, clips, tuple(checked.before), tuple(checked.statements))


def at(step: str) -> str:
    """Return the offset of a lane as a C expression."""
    return "lane" if step == "1" else f"lane * ({step})"
