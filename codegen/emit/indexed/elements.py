"""C that reads the elements of one step, where their indices lie inside and where they may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...expr import Expr, names, type_of
from ...expr.affine import Index
from ...expr.atoms import Atom, Fold, Integer, Read, within
from ...expr.indexed import vanishes
from ...expr.kernel_text import variable
from ...expr.targets import c_number
from ...expr.typed import constant
from ...model.compute import Border
from ...model.operator import End
from ...nest.of import identity
from .nodes import Lanes
from .texts import Texts, joined

_PICKED = ("float32", "float64")
"""The dtypes of which every second element is taken by shuffles of vectors."""


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

    def _elements(self, trees: Sequence[Expr], inside: bool, group: Mapping[str, Fold] = {}) -> Part:
        """Return the code for the elements that expressions use; they may be a term of reductions."""
        part = Part([], [], [], [])
        self._add_elements(part, trees, inside, group)
        return part

    def _add_elements(self, part: Part, trees: Sequence[Expr], inside: bool, group: Mapping[str, Fold] = {}) -> None:
        """Adds the elements that are not there already."""
        for name, atom in self._atoms_of(trees):
            if name in part.known:
                continue
            part.known.add(name)
            if isinstance(atom, Integer):
                emitted = self._emit(atom.value, type_of(atom.value, self.env).dtype, f"{name}_")
                part.statements += emitted.statements
                part.statements.append(f"const int64_t {name} = ow_index_of((double)({emitted.value}));")
            elif isinstance(atom, Read):
                self._element(name, atom, inside, part, group)
        if self.lane is not None and self.lane.name not in part.known and self._uses_position(trees):
            part.known.add(self.lane.name)
            part.statements.insert(0, f"const int64_t {variable(self.lane.name)} = {self._position};")

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
        """Return True if the line's variable itself is part of an expression, besides indices."""
        assert self.lane is not None
        integers = [atom for _, atom in self._atoms_of(trees) if isinstance(atom, Integer)]
        return any(self.lane.name in names(each) for each in (*trees, *(atom.value for atom in integers)))

    def _element(self, name: str, read: Read, inside: bool, part: Part, group: Mapping[str, Fold]) -> None:
        indices = [self.body.index(each) for each in read.indices]
        sure = [self.body.is_sure(read, dim) for dim in range(len(indices))]
        if self._is_row(read, indices, sure):
            self._row(name, read, indices, part)
        elif any(each.affine is None or self._is_uneven(each) for each in indices) or self._is_ragged(indices, sure):
            self._computed(name, read, sure, part, bool(group))
        elif not all(sure) and self._is_left_out(name, read, group):
            part.clips += [] if inside else self._clips(read, indices, sure)
            self._plain(name, read, indices, part)
        elif inside or all(sure):
            self._plain(name, read, indices, part)
        elif isinstance(self.body.outside.get(read.tensor, Border.ERROR), Border):
            self._computed(name, read, sure, part, bool(group))
        else:
            self._staged(name, read, indices, sure, part)

    def _is_ragged(self, indices: Sequence[Index], sure: Sequence[bool]) -> bool:
        """Return True if it depends on data which of the indices are inside."""
        return any(self.body.is_ragged(each) for each, is_sure in zip(indices, sure, strict=True) if not is_sure)

    def _ctype(self, read: Read) -> str:
        return self.body.read_dtype(read, self.dtype).c_type

    def _is_left_out(self, name: str, read: Read, group: Mapping[str, Fold]) -> bool:
        """Return True if a term of reductions is left out where the element is outside."""
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        if rule is Border.SKIP and group:
            return True
        sums = [each.value for each in group.values() if each.reduction == "sum"]
        counted = bool(group) and len(sums) == len(group)
        return rule == 0.0 and counted and all(vanishes(each, lambda zero: zero == name) for each in sums)

    def _is_row(self, read: Read, indices: Sequence[Index], sure: Sequence[bool]) -> bool:
        """Return True if the indices that are made of data are the same for all lanes, and all others are sure to be
        inside."""
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        if self.lane is None or rule not in (Border.ERROR, Border.NEAREST, Border.WRAP, Border.REFLECT):
            return False
        if any(map(self._is_uneven, indices)):
            return False
        computed = [tree for tree, each in zip(read.indices, indices, strict=True) if each.affine is None]
        known = all(is_sure or each.affine is None for each, is_sure in zip(indices, sure, strict=True))
        return bool(computed) and known and not any(self.body.depends(each, self.lane.name) for each in computed)

    def _row(self, name: str, read: Read, indices: Sequence[Index], part: Part) -> None:
        """Elements of a row that is found by data."""
        computed = [tree for tree, each in zip(read.indices, indices, strict=True) if each.affine is None]
        own = self._elements(computed, True)
        part.before += [each for each in (*own.before, *own.statements) if each not in part.before]
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        places: dict[int, str] = {}
        for dim, (tree, each) in enumerate(zip(read.indices, indices, strict=True)):
            if each.affine is None:
                place, size = f"{name}_{dim}", f"size_{read.tensor}_{dim}"
                reduces = any(isinstance(atom, Fold) for _, atom in within(self.body.atoms, tree))
                part.before += self._found(tree, place, rule, reduces)
                part.before += [f"if ({place}_far) return OW_INDEX_ERROR;"]
                if rule is Border.ERROR:
                    part.before.append(f"if ((uint64_t){place} >= (uint64_t){size}) return OW_INDEX_ERROR;")
                else:
                    assert isinstance(rule, Border)
                    part.before.append(_needs_elements(size))
                    place, found = f"{place}_led", place
                    part.before.append(f"const int64_t {place} = ow_at_{rule.value}({found}, {size});")
                places[dim] = place
        self._plain(name, read, indices, part, places)

    def _plain(
        self, name: str, read: Read, indices: Sequence[Index], part: Part, places: Mapping[int, str] = {}
    ) -> None:
        """An element that is inside in every lane that is computed. Some of the indices may be computed already."""
        ctype = self._ctype(read)
        offset, step = self._offset(read, indices, places)
        if step is None:
            part.before.append(self._fetch(ctype, name, read, f"in_{read.tensor}[{offset}]"))
        elif read.tensor in self.body.optional:
            value = f"in_{read.tensor}[{offset} + {at(step)}]"
            part.before += [
                f"{ctype} {name}_row[LANES];",
                f"if (in_{read.tensor}) {{ OW_FOR_LANES_IN(from, to) {name}_row[lane] = {value}; }}",
                f"else {{ OW_FOR_LANES {name}_row[lane] = 0; }}",
            ]
            part.statements.append(f"const {ctype} {name} = {name}_row[lane];")
        else:
            part.before.append(f"const {ctype} *const {name}_from = in_{read.tensor} + ({offset});")
            value = f"{name}_from[{at(step)}]"
            dtype = self.body.read_dtype(read, self.dtype)
            if step == "step" and dtype.name in _PICKED:
                part.before += [
                    f"{ctype} {name}_picked[LANES];",
                    f"if (OW_IS_SECOND(step)) ow_pick_{dtype.suffix}({name}_picked, {name}_from, from, to);",
                ]
                value = f"OW_IS_SECOND(step) ? {name}_picked[lane] : {value}"
            part.statements.append(f"const {ctype} {name} = {value};")

    def _clips(
        self, read: Read, indices: Sequence[Index], sure: Sequence[bool], limits: tuple[str, str] = ("from", "to")
    ) -> Iterator[str]:
        """Statements that reduce the lanes to those in which the indices are inside."""
        for dim, (each, is_sure) in enumerate(zip(indices, sure, strict=True)):
            if not is_sure:
                factor = self._factor(each) if self.lane is not None and each.uses(self.lane.name) else "0"
                place = self._affine(each)
                yield f"ow_cut(&{limits[0]}, &{limits[1]}, {factor}, {place}, {place}, size_{read.tensor}_{dim});"

    def _staged(self, name: str, read: Read, indices: Sequence[Index], sure: Sequence[bool], part: Part) -> None:
        """A row of elements, with the value of those that are outside."""
        ctype = self._ctype(read)
        offset, step = self._offset(read, indices)
        part.before += [
            f"{ctype} {name}_row[LANES];",
            f"OW_FOR_LANES {name}_row[lane] = {self._outside(read, self.body.outside[read.tensor])};",
            f"int64_t {name}_first = 0, {name}_end = n;",
            *self._clips(read, indices, sure, (f"{name}_first", f"{name}_end")),
            f"for (int64_t lane = {name}_first; lane < {name}_end; lane++)",
            f"    {name}_row[lane] = in_{read.tensor}[{offset} + {at(step or '0')}];",
        ]
        part.statements.append(f"const {ctype} {name} = {name}_row[lane];")

    def _computed(self, name: str, read: Read, sure: Sequence[bool], part: Part, is_term: bool) -> None:
        """An element whose place is computed and tested in each lane."""
        places, test = [], []
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        for dim, (tree, is_sure) in enumerate(zip(read.indices, sure, strict=True)):
            place, size = f"{name}_{dim}", f"size_{read.tensor}_{dim}"
            part.statements += self._found(tree, place, rule)
            part.statements.append(f"status |= {part.taken(f'{place}_far')};")
            if not is_sure and rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
                assert isinstance(rule, Border)
                part.before.append(_needs_elements(size))
                places.append(f"ow_at_{rule.value}({place}, {size})")
            else:
                places.append(place)
                test += [] if is_sure else [f"((uint64_t){place} < (uint64_t){size})"]
        value = (
            f"in_{read.tensor}[{joined(f'{place} * stride_{read.tensor}_{dim}' for dim, place in enumerate(places))}]"
        )
        if test:
            tested = "inside || " if self.ahead is not None else ""
            part.statements.append(f"const int {name}_in = {tested}{' & '.join(test)};")
            value = f"{name}_in ? {value} : {self._outside(read, rule)}"
            if rule is Border.SKIP and is_term:
                part.tests.append(f"{name}_in")
            elif rule in (Border.ERROR, Border.SKIP):
                part.statements.append(f"status |= {part.taken(f'!{name}_in')};")
        part.statements.append(self._fetch(self._ctype(read), name, read, value))

    def _found(self, tree: Expr, place: str, rule: object, of_any_lane: bool = False) -> Iterator[str]:
        """Statements that compute an index, and whether it is one that no element stands for. Before a loop over lanes,
        reductions have the same result in each of them."""
        emitted = self._index_value(tree, place)
        leads = rule in (Border.NEAREST, Border.WRAP, Border.REFLECT)
        is_far = f"far | ow_is_far({place})" if leads else "far"
        yield f"int64_t {place}; int {place}_far;"
        computed = f"{' '.join(emitted.statements)} {place} = {emitted.value}; {place}_far = {is_far};"
        yield f"{{ {'const int64_t lane = 0; ' * of_any_lane}int far = 0; {computed} }}"

    def _fetch(self, ctype: str, name: str, read: Read, value: str) -> str:
        absent = f"!in_{read.tensor} ? 0 : " if read.tensor in self.body.optional else ""
        return f"const {ctype} {name} = {absent}{value};"

    def _outside(self, read: Read, rule: object) -> str:
        dtype = self.body.read_dtype(read, self.dtype)
        if isinstance(rule, End):
            return identity(rule, dtype)
        return "0" if isinstance(rule, Border) else c_number(constant(float(str(rule)), dtype).value, dtype)


def _needs_elements(size: str) -> str:
    """Return the statement that refuses a dimension of size 0, to which no index leads."""
    return f"if (!{size}) return OW_INDEX_ERROR;"


def lanes(inside: Part, checked: Part) -> Lanes:
    """Return the statements of all lanes: one text where lanes inside and others are computed alike."""
    before, statements, clips = tuple(inside.before), tuple(inside.statements), tuple(checked.clips)
    if (before, statements) == (tuple(checked.before), tuple(checked.statements)):
        return Lanes(before, statements, clips)
    return Lanes(before, statements, clips, tuple(checked.before), tuple(checked.statements))


def at(step: str) -> str:
    """Return the offset of a lane as a C expression."""
    return "lane" if step == "1" else f"lane * ({step})"
