"""Code for the parts of a line that are inside: bounds of variables of reductions, and the stretches with indices
inside."""

from __future__ import annotations

from collections.abc import Iterator

from ...expr import Expr, Literal, names
from ...expr.affine import ONE, Affine
from ...expr.kernel_text import variable
from .elements import Elements
from .nodes import Cut
from .texts import joined


class Inside(Elements):
    """Bounds of variables and cuts of lines."""

    def _bounds(self) -> Iterator[str]:
        """The least and the greatest value of each variable of a reduction, after those on which it depends."""
        waiting = [each for each in self.nest.ranges.values() if each.name not in self.nest.ragged]
        while waiting:
            unknown = {each.name for each in waiting}
            each = next(each for each in waiting if not unknown & (names(each.first) | names(each.stop)))
            waiting.remove(each)
            name = variable(each.name)
            first, stop = self._end(each.first, "least"), self._end(each.stop, "greatest")
            yield f"const int64_t first_{name} = {first}, last_{name} = {stop} - 1;"
            yield f"(void)first_{name}, (void)last_{name};"

    def _end(self, bound: Expr, word: str) -> str:
        """The least or the greatest value of a bound, or one that is further than any index."""
        if not names(bound) & self.nest.ranges.keys():
            return self._integer(bound)
        index = self.nest.index(bound)
        if index.affine is None or index.divisor != ONE or self.nest.is_ragged(index):
            return "-OW_FURTHEST_BOUND" if word == "least" else "OW_FURTHEST_BOUND"
        return self._extreme(index.affine, word)

    def _cuts(self) -> Iterator[Cut]:
        seen: set[tuple[str, Expr, int]] = set()
        unsure = ((place, dim) for place in self.nest.places for dim in place.unsure)
        for place, dim in unsure:
            tree, index = place.trees[dim], place.indices[dim]
            if index.affine is None or (place.tensor, tree, dim) in seen:
                continue
            if self.nest.is_ragged(index) or self._is_uneven(index):
                continue  # which is tested in each lane
            seen.add((place.tensor, tree, dim))
            least, greatest = (self._extreme(index.affine, word) for word in ("least", "greatest"))
            factor = self._integer(index.affine.factor(self.inner)) if self.inner is not None else "0"
            if self.phases is not None and self.inner is not None and index.uses(self.inner):
                least, greatest = f"phase * {factor} + {least}", f"phase * {factor} + {greatest}"
                factor = f"{factor} * phases" if index.divisor == ONE else factor
            if index.divisor != ONE:
                divisor = self._divisor(index.divisor)
                least, greatest = (f"ow_div_down({each}, {divisor})" for each in (least, greatest))
            yield Cut(factor, least, greatest, f"size_{place.tensor}_{dim}")

    def _extreme(self, affine: Affine, word: str) -> str:
        parts = []
        for name, factor in affine.factors:
            text = self._integer(factor)
            if name in self.nest.ranges:
                parts.append(f"ow_{word}({text}, first_{variable(name)}, last_{variable(name)})")
            elif name != self.inner:
                parts.append(variable(name) if factor == ONE else f"{variable(name)} * {text}")
        if affine.rest != Literal(0):
            parts.append(self._integer(affine.rest))
        return joined(parts)
