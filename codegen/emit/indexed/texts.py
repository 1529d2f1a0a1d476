"""C of indices and of expressions whose elements and reductions are C variables already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...dtypes import BOOL, INT16, INT32, INT64, UINT8, DType
from ...expr import Apply, Emitted, Expr, Literal, Name, applications, names
from ...expr.affine import ONE, Affine, Index
from ...expr.kernel_text import TARGET, emit_index, emit_tree, variable
from ...expr.lower import lower
from ...expr.typed import Cast, Node
from ...expr.typed_expression import TypedExpression
from ...model.operator import Operator
from ...nest.by_name import ByName
from ...nest.nodes import Place, Reduction
from .lines import division, lane_range, line_variable, range_ahead, row_step, rows_at_a_time
from .quotients import hoisted

_WHOLE = {1: UINT8, 2: INT16, 4: INT32}
"""Integers by their number of bytes."""


@dataclass(frozen=True)
class Lane:
    """The variable that runs along the lanes, and its value in the first of them."""

    name: str
    start: str
    step: str


class Texts:
    """One kernel's view of its nest: the dtype of computation and the variable that runs along the lanes."""

    def __init__(
        self, operator: Operator, nest: ByName, dtype: DType, name: str, is_product: bool, sums_batch: bool
    ) -> None:
        self.operator = operator
        self.is_product = is_product
        """True if the result is computed by products of matrices where that is faster."""
        self.small = len(nest.stores) // len(operator.labels)
        """The number of elements of each result that stand side by side."""
        self.outputs = [each.value.root.dtype for each in nest.stores[:: self.small]]
        self.name = name
        self.nest = nest
        self.dtype = dtype
        self.env = self.nest.env({each.name: dtype for each in operator.params})
        self.inner = line_variable(self.nest)
        self.in_order = self.inner is not None and self.nest.in_order
        self.phases = self._phases()
        step = "phases" if self.phases else "1"
        self.lane = None if self.inner is None else Lane(self.inner, "start", step)
        self.lane_range = lane_range(self.nest)
        if self.lane_range is not None:
            self.lane = Lane(self.lane_range.name, f"from_{variable(self.lane_range.name)}", step)
        self.ahead = range_ahead(self.nest)
        self.step = self._step()
        self.rows = rows_at_a_time(self.nest, dtype, sums_batch)
        self.row_step = row_step(self.nest) if self.rows > 1 else ONE
        self.place = "row][lane" if self.rows > 1 else "half][lane" if self.ahead is not None else "lane"
        """The subscripts of variables of lanes."""
        self.same: dict[str, str] = {}
        """Reductions whose values others find."""

    def _fold_dtype(self, fold: Reduction) -> DType:
        """The dtype in which lanes combine the values of a reduction: where these are known to be few and small, as
        counts of neighbours are, integers as wide as the elements."""
        dtype = fold.element.dtype
        narrow = _WHOLE.get(min(self.dtype.itemsize, dtype.itemsize), dtype)
        fits = fold.most is not None and fold.most <= narrow.highest
        return narrow if fits and dtype.is_integer and narrow.itemsize < dtype.itemsize else dtype

    def _value(self, fold: Reduction) -> Expr:
        """The element that lanes combine: in a narrow dtype, truth values as they are before they are integers."""
        root, dtype = fold.element, self._fold_dtype(fold)
        return TypedExpression(root.operand if isinstance(root, Cast) and dtype != root.dtype else root)

    def _fold_text(self, name: str, fold: Reduction) -> str:
        """The value of a reduction in a lane, which is there already."""
        if fold.finds:
            return f"{name}_at[{self.place}]"
        text, dtype = f"{self.same.get(name, name)}[{self.place}]", fold.dtype
        return text if self._fold_dtype(fold) == dtype else f"(({dtype.c_type}){text})"

    def _phases(self) -> Expr | None:
        """The divisor of indices along the line: positions that leave the same remainder are a line of their own, along
        which these indices have the step that is divided."""
        for place in self.nest.places:
            for each in place.indices:
                if self.inner is not None and each.divisor != ONE and each.uses(self.inner) and not self.in_order:
                    return each.divisor
        return None

    def _step(self) -> Expr | None:
        """The factor of the line's variable in an index of a last dimension, where it is a number of the call."""
        for place in self.nest.places:
            if place.indices and self.inner is not None and self.phases is None and not self.in_order:
                last = place.indices[-1]
                if last.affine is not None and last.divisor == ONE and isinstance(last.affine.factor(self.inner), Name):
                    return last.affine.factor(self.inner)
        return None

    @property
    def _position(self) -> str:
        assert self.lane is not None
        return f"{self.lane.start} + lane{'' if self.lane.step == '1' else f' * {self.lane.step}'}"

    def _index_value(self, tree: Expr, name: str) -> Emitted:
        """An index made of data in one lane, which is to be called by this name; `far` is set where it leaves 64
        bits."""
        return self._emit(tree, INT64, f"{name}_", position=True, print_tree=emit_index)

    def _offset(self, place: Place, known: Mapping[int, str] = {}) -> tuple[str, str | None]:
        """Return the offset of the first lane's element, and the step from lane to lane; None: all lanes read the same
        element. Some of the indices may be computed already."""
        offsets, steps = [], []
        for dim, each in enumerate(place.indices):
            if dim in known:
                offsets.append(f"{known[dim]} * stride_{place.tensor}_{dim}")
                continue
            assert each.affine is not None
            stride = "" if dim == len(place.indices) - 1 else f" * stride_{place.tensor}_{dim}"
            offsets.append(f"{self._affine(each)}{stride}")
            if self.lane is not None and each.uses(self.lane.name):
                factor = self._factor(each)
                steps.append(stride.removeprefix(" * ") or factor if factor == "1" else factor + stride)
        return joined(offsets), joined(steps) if steps else None

    def _factor(self, index: Index) -> str:
        """The step of an index from lane to lane."""
        assert self.lane is not None
        assert index.affine is not None
        factor = index.affine.factor(self.lane.name)
        if index.divisor != ONE:
            return self._integer(factor)  # a line has one remainder
        text = "step" if factor == self.step and self.step is not None else self._integer(factor)
        return text if self.lane.step == "1" else f"{text} * {self.lane.step}" if text != "1" else self.lane.step

    def _is_uneven(self, index: Index) -> bool:
        """Return True if the index has no constant step from lane to lane, as it is divided by another number than the
        phases."""
        return self.lane is not None and index.divisor not in (ONE, self.phases) and index.uses(self.lane.name)

    def _affine(self, index: Index) -> str:
        """The index in the first lane."""
        assert index.affine is not None
        if index.divisor == ONE:
            return f"({self._affine_sum(index.affine)})"
        row = self.nest.names[-2] if self.rows > 1 else ""
        own = {row: "first_row"}
        divided = f"ow_div_down({self._affine_sum(index.affine, own=own)}, {self._divisor(index.divisor)})"
        return f"({divided} + row)" if index.uses(row) else divided

    def _affine_sum(self, affine: Affine, lane: Lane | None = None, own: Mapping[str, str] = {}) -> str:
        """The sum in the first lane; `own` has the texts of variables with other values."""
        parts = []
        lane = lane or self.lane
        for name, factor in affine.factors:
            place = lane.start if lane is not None and name == lane.name else own.get(name, variable(name))
            if lane is not None and name == lane.name and self.step is not None and factor == self.step:
                parts.append(f"{place} * step")
            else:
                parts.append(place if factor == ONE else f"{place} * {self._integer(factor)}")
        if affine.rest != Literal(0):
            parts.append(self._integer(affine.rest))
        return joined(parts)

    # ---- texts

    def _condition(self, tree: Expr) -> str | None:
        """A condition that is the same for all lanes; None: it is not, or it needs elements."""
        divided = self._divided(tree)
        if divided is not None:
            return divided
        if names(tree) & self.nest.atoms.keys():
            return None
        if self.lane is None or self.lane.name not in names(tree):
            return self._emit(tree, BOOL, "").text
        if self.phases is not None and _is_remainder(tree, self.phases, self.lane.name):
            return self._emit(tree, BOOL, "", {self.lane.name: "phase"}).text
        return None

    def _divided(self, tree: Expr) -> str | None:
        """The condition that a division leaves no remainder, where it is the same for all lanes."""
        found = division(self.nest, tree)
        if found is None or found.affine is None:
            return None
        lane = self.lane
        if lane is not None and found.uses(lane.name):
            if found.divisor != self.phases:
                return None
            lane = Lane(lane.name, "phase", lane.step)
        return f"ow_divides({self._affine_sum(found.affine, lane)}, {self._divisor(found.divisor)})"

    def _divisor(self, tree: Expr) -> str:
        """C of a divisor, which is known when compiling where it is small and the line falls into so many phases."""
        return "phases" if tree == self.phases else self._integer(tree)

    def _integer(self, tree: Expr) -> str:
        """C of an integer that is no value of a lane; what may overflow is checked before."""
        if isinstance(tree, Literal):
            return str(int(tree.value))
        if isinstance(tree, Name):
            return tree.name if tree.name in self.nest.uniforms | self.nest.atoms.keys() else variable(tree.name)
        assert isinstance(tree, Apply)
        symbols = {"add": "+", "sub": "-", "mul": "*"}
        if tree.function in symbols:
            left, right = map(self._integer, tree.args)
            return f"({left} {symbols[tree.function]} {right})"
        if tree.function == "neg":
            return f"(-{self._integer(tree.args[0])})"
        return f"({self._emit(tree, INT64, '').text})"

    def _emit(
        self,
        tree: Expr,
        dtype: DType,
        prefix: str,
        own: Mapping[str, str] = {},
        position: bool = False,
        print_tree: Callable[[Node, Mapping[str, str]], Emitted] = emit_tree,
        before: list[str] | None = None,
    ) -> Emitted:
        """The C of an expression; reductions are read where their arrays have them. What all lanes have in common may
        be computed `before` them."""
        texts = {name: name for name in self.nest.uniforms}
        for name in names(tree) & self.nest.atoms.keys():
            atom = self.nest.atoms[name]
            texts[name] = self._fold_text(name, atom) if isinstance(atom, Reduction) else name
        if position and self.lane is not None:
            texts[self.lane.name] = f"({self._position})"
        texts |= own
        root = lower(tree, self.env, dtype, TARGET.native)
        if before is not None and self.lane is not None:
            positions = [name for name, each in self.nest.reductions.items() if each.finds]
            varying = {self.lane.name, *self.nest.atoms}
            root, divided, statements = hoisted(root, texts, varying, positions, prefix, print_tree)
            texts |= divided
            before += (each for each in statements if each not in before)
        emitted = print_tree(root, texts)
        if not prefix:
            return emitted
        return Emitted(
            tuple(_renamed(each, prefix, len(emitted.statements)) for each in emitted.statements),
            (_renamed(emitted.value, prefix, len(emitted.statements)),),
            emitted.uses_err,
            emitted.root,
        )


def _renamed(text: str, prefix: str, count: int) -> str:
    """Temporaries with a prefix, so that several expressions may stand in one block."""

    return re.sub(r"\bt(\d+)\b", lambda match: f"{prefix}t{match[1]}", text) if count else text


def _is_remainder(tree: Expr, divisor: Expr, name: str) -> bool:
    """Return True if a condition depends on a variable through its remainder alone."""
    if not isinstance(tree, Apply) or name not in names(tree):
        return True
    if tree.function == "remainder" and tree.args[1] == divisor:
        inner = applications(tree.args[0])
        return all(isinstance(each, Apply) and each.function in ("add", "sub", "mul", "neg") for each in inner)
    parts = [each for each in tree.children if name in names(each)]
    return all(isinstance(each, Apply) and _is_remainder(each, divisor, name) for each in parts)


def joined(parts: Iterator[str] | Sequence[str]) -> str:
    """Return the sum of the parts as a C expression."""
    return " + ".join(parts) or "0"
