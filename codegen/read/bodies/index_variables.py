"""The variables of the body `compute`: the keys of results, how many positions there are, and what lies outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product, takewhile
from types import MappingProxyType

from ...dtypes import INT64
from ...expr import Expr, Name, names
from ...expr.affine import shifted
from ...expr.atoms import Read
from ...expr.indexed import chosen
from ...expr.typed import Const
from ...model.compute import Border, Outside, Size
from ...model.operator import End
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..reserved import argument_reason
from .index_names import INDEXED, Names

EXAMPLE = "compute: {'value[y, x]': 'self[y, x] - self[y, x - 1]', outside: 0}"
KEYS = ("require", "let", "size", "outside", "iterate", "last", "dtype")
_FOREIGN_RULES = {
    **dict.fromkeys(("mirror", "reflect_101", "reflect101"), "reflect"),
    **dict.fromkeys(("edge", "replicate", "clamp", "border", "clip"), "nearest"),
    **dict.fromkeys(("circular", "periodic", "torus", "cyclic", "grid-wrap"), "wrap"),
    **dict.fromkeys(("zeros", "zero", "constant", "zero-padding", "zero_padding"), "0"),
    **dict.fromkeys(("ignore", "drop", "none"), "skip"),
    "raise": "error",
}
"""Names of borders in other libraries."""
_MEANT_RULES = {
    "symmetric": "'reflect' leaves the border itself out; with it an index i is i if i >= 0 else -1 - i",
    "same": "0, nearest or another rule; how many positions there are says 'size'",
    "valid": "no rule: 'size' has as many positions as lie inside",
}
"""Texts to write in place of words for borders that have no rule of their own."""
_Numbered = Mapping[tuple[int, ...], Scalar]
"""The keys of a result by the numbers that stand behind its variables."""
_PLACE = "_k{}"
"""The variable of a dimension whose positions are written as numbers."""


class Variables(Names):
    """Reads the variables of results with their sizes, and the rules of what lies outside."""

    def _result_keys(self) -> list[tuple[str, _Numbered]]:
        entry = self.entry
        expected = self.labels
        found: dict[str, dict[tuple[int, ...], Scalar]] = {}
        before = len(entry.diagnostics)
        for key in self.node.keys:
            match = INDEXED.fullmatch(key.value)
            if match is None:
                if key.value not in KEYS:
                    known = ", ".join((f"{expected[0]}[y, x]", *KEYS))
                    entry.report(key.span, f"unknown key '{key.value}' of 'compute'", f"known keys: {known}")
                continue
            if match[1] not in expected:
                entry.report(key.span, f"the schema has no result '{match[1]}'", ", ".join(expected))
                continue
            place = self._indices(key, match[2], match.start(2))
            if place is not None:
                found.setdefault(match[1], {})[place] = key
        for name in expected:
            if name not in found and len(entry.diagnostics) == before:
                entry.report(self.node.span, f"'compute' needs '{name}[...]'", EXAMPLE)
        complete = all(self._check_places(name, places) for name, places in found.items())
        return [(name, found[name]) for name in expected if name in found and complete]

    def _indices(self, key: Scalar, text: str, start: int) -> tuple[int, ...] | None:
        """Reads the variables of a result, which are the same for all results, and the numbers behind them."""
        words = [word.strip() for word in text.split(",")] if text else []
        batched = words[:1] == ["..."]
        numbers = list(takewhile(str.isdecimal, reversed(words)))[::-1]
        variables = tuple(words[batched : len(words) - len(numbers)])
        for word in variables:
            reason = argument_reason(word, self.entry.family)
            taken = word in (*self.scope, *self.tensors) or any(word == each.name for each in self.entry.scalars)
            if not word.isidentifier() or reason or taken or variables.count(word) > 1:
                twice = variables.count(word) > 1 and not taken
                reason = reason or ("stands twice" if twice else "is the name of something else")
                reason = reason if word.isidentifier() else "is no variable"
                self.entry.report(key.span_at(start, len(text)), f"'{word}' {reason}", "value[..., y, x]")
                return None
        own = (*variables, *(_PLACE.format(dim) for dim in range(len(numbers))))
        if self.variables and (own, batched) != (self.variables, self.batched):
            self.entry.report(key.span, "all results have the same index variables")
            return None
        self.variables, self.batched = own, batched
        return tuple(map(int, numbers))

    def _check_places(self, name: str, places: _Numbered) -> bool:
        """Check that every position of the dimensions whose positions are numbers has an expression, in every
        result."""
        sizes = tuple(1 + max(each) for each in zip(*places, strict=True))
        first = next(iter(places.values()))
        missing = next((each for each in product(*map(range, sizes)) if each not in places), None)
        if missing is not None:
            text = ", ".join(map(str, missing))
            self.entry.report(first.span, f"'{name}' has no expression at position {text}", f"{name}[..., {text}]: ...")
        elif self.places is not None and self.places != sizes:
            self.entry.report(first.span, "all results have the same number of positions")
            return False
        self.places = sizes
        return missing is None

    def _result(self, places: _Numbered) -> Expr | None:
        """The expression of a result, which depends on the position if there are several."""
        trees = {
            place: self.expression(text)
            for place, key in places.items()
            if (text := self.entry.text(self.node, key.value))
        }
        known = {place: tree for place, tree in trees.items() if tree is not None}
        return _at(known, ()) if len(known) == len(places) else None

    def _ranks(self, reads: list[Read]) -> dict[str, int] | None:
        ranks: dict[str, int] = {}
        shapes: dict[str, tuple[int, bool]] = {}
        for each in reads:
            ranks[each.tensor] = len(each.indices)
            if shapes.setdefault(each.tensor, (len(each.indices), each.batched)) != (len(each.indices), each.batched):
                self.entry.report(self.node.span, f"'{each.tensor}' is read with different numbers of indices")
                return None
            if each.tensor in self.own and (len(each.indices), each.batched) != (len(self.variables), self.batched):
                wanted = ", ".join([*(["..."] if self.batched else []), *self.variables])
                message = f"'{each.tensor}' has the positions [{wanted}]"
                self.entry.report(self.node.span, message, "as many indices where elements of it are read")
                return None
            if each.batched and not self.batched:
                self.entry.report(self.node.span, f"'{each.tensor}' has dimensions '...', which no result has")
                return None
        return ranks

    def _sizes(self, reads: list[Read]) -> tuple[tuple[str, Size], ...] | None:
        node = self.entry.mapping(self.node, "size", "variable to its number of positions")
        if node is not None:
            self.entry.known_keys(node, (*self.variables, *self.computed), "variable", "size")
        optional = {each.name for each in self.entry.tensors if each.is_optional}
        given = [each for each in reads if each.tensor not in optional | self.own]
        sizes: list[tuple[str, Size]] = []
        numbered = dict(
            zip(self.variables[len(self.variables) - len(self.places or ()) :], self.places or (), strict=True)
        )
        for name in self.variables:
            if name in numbered:
                sizes.append((name, Size(Const(INT64, numbered[name]))))
                continue
            if node is not None and name in node:
                text = self.entry.text(node, name)
                geometry = None if text is None else self.geometry(text, INT64)
                if geometry is None:
                    return None
                if isinstance(geometry, Const) and geometry.value < 0:
                    assert text is not None
                    self.entry.report(text.span, f"'{name}' has {geometry.value} positions", "a size is not negative")
                    return None
                sizes.append((name, Size(geometry)))
                continue
            place = next(
                (
                    (each.tensor, dim - len(each.indices))
                    for each in given
                    for dim, index in enumerate(each.indices)
                    if index == Name(name)
                ),
                None,
            ) or self._period(name, given)
            if place is None:
                message = f"the number of positions of '{name}' is not known"
                self.entry.report(self.node.span, message, f"size: {{{name}: {_likely_size(name, given)}}}")
                return None
            tensor, dim = place
            table = self.tables.get(tensor)  # an operator that follows from this one may not have it
            sizes.append((name, Size(None, *place) if table is None else Size(Const(INT64, table.sizes[dim]))))
        return tuple(sizes)

    def _period(self, name: str, reads: Iterable[Read]) -> tuple[str, int] | None:
        """The dimension in whose index something is added to the variable, where what is outside wraps around: what
        lies on a torus has its size."""
        for each in reads:
            for dim, index in enumerate(each.indices):
                if self._outside().get(each.tensor) is Border.WRAP and shifted(index, frozenset((name,))):
                    return each.tensor, dim - len(each.indices)
        return None

    def _outside(self) -> Mapping[str, Outside]:
        node = self.node.get("outside")
        if isinstance(node, MappingNode):
            known = (*self.tensors, *self.tables)
            self.entry.known_keys(node, (*known, *self.placed), "tensor", "outside")
            texts = {key.value: self.entry.text(node, key.value) for key in node.keys if key.value in known}
        else:
            text = self.entry.text(self.node, "outside")
            texts = dict.fromkeys(self.tensors, text) if text is not None else {}
        rules = {name: self._rule(text) for name, text in texts.items() if text is not None}
        return MappingProxyType(rules)

    def _rule(self, text: Scalar) -> Outside:
        words: dict[str, Outside] = {each.value: each for each in (*Border, *End)}
        if text.value in words:
            return words[text.value]
        try:
            return float(text.value)
        except ValueError:
            if text.value.lower() in _FOREIGN_RULES:
                help = f"it is called '{_FOREIGN_RULES[text.value.lower()]}' here"
                self.entry.report(text.span, f"unknown rule '{text.value}'", help)
            elif text.value.lower() in _MEANT_RULES:
                self.entry.report(text.span, f"unknown rule '{text.value}'", _MEANT_RULES[text.value.lower()])
            else:
                self.entry.known("rule", text, words)
            return Border.ERROR  # so that indices outside are no further mistake


def _at(trees: Mapping[tuple[int, ...], Expr], known: tuple[int, ...]) -> Expr:
    """The expression for all positions that begin with the known numbers."""
    if known in trees:
        return trees[known]
    size = 1 + max(place[len(known)] for place in trees if place[: len(known)] == known)
    return chosen(_PLACE.format(len(known)), [_at(trees, (*known, place)) for place in range(size)])


def _likely_size(variable: str, reads: Iterable[Read]) -> str:
    """The size of the first dimension whose index the variable is part of."""
    for each in reads:
        for dim, index in enumerate(each.indices):
            if variable in names(index):
                return f"{each.tensor}.size({dim - len(each.indices)})"
    return "..."
