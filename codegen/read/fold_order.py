"""Scans, and reductions from element to element, along lines in an order, as Python: elements are put in order and
taken at positions as those of rows are, and the fold is an operator of its own.

    running(self, weight) -> sort(self), gather, running_steps(self, weight), scatter
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import INT64, DType, Promotion
from ..errors import Diagnostics
from ..expr import names
from ..model.folding import Folding
from ..model.operator import Derivative, Expression, Extent, Operator
from ..model.ordered_rows import OrderedFolding
from .adjoints import AUTO
from .bodies.shared import only_conditions
from .internal import internal, returned, unused
from .row_order import Parts, dtypes_of_parts, made_of


def follow(operator: Operator, body: Folding, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The operator as Python, and those that it calls; None where it has no order."""
    return made_of(_FoldParts(operator, body), diagnostics) if isinstance(body, OrderedFolding) else None


class _FoldParts(Parts):
    kind = "lines"
    whole = True

    def __init__(self, operator: Operator, body: OrderedFolding) -> None:
        super().__init__(operator, body, body.names)
        self.fold = body

    def _results(self, outputs: Sequence[tuple[str, Extent, Expression, DType | None]]) -> list[str]:
        made = self._steps_of([own for *_, own in outputs])
        targets = [unused(f"{label or 'value'}_steps", self.taken) for label, *_ in outputs]
        self.lines.append(f"{', '.join(targets)} = {self._call(made)}")
        return targets

    def _steps_of(self, own: Sequence[DType | None]) -> Operator:
        """The operator that runs along lines as they lie then."""
        fold = self.fold
        body = Folding(
            is_scan=fold.is_scan,
            state=fold.state,
            element=(),
            following=fold.following,
            results=fold.results,
            fixed=MappingProxyType({}),
            own=tuple(own),
            local=fold.local,
        )
        trees = [each.tree for each in body.expressions]
        used = frozenset[str]().union(*map(names, trees))
        tensors = [each for each in self.extents if each in used]
        if not any(self.extents[each] is Extent.ELEMENT for each in tensors):
            tensors.append(next(each for each in self.numbers if self.extents[each] is Extent.ELEMENT))
        positions = {each: INT64 for each in tensors if each in self.positions}
        body = replace(body, fixed=MappingProxyType({**positions, **only_conditions(tensors, trees)}))
        arguments = [f"Tensor {each}" for each in tensors]
        arguments += ["int dim"] if fold.is_scan else ["int[1]? dim", "bool keepdim"]
        arguments += [f"{each.type} {each.name}" for each in self.operator.params if each.name in used]
        made = internal(
            self.operator,
            f"{self._name('steps')}({', '.join(arguments)}) -> {returned(f'value_{k}' for k in range(len(own)))}",
            body,
            f"The steps of `{self.operator.name}`.",
            dtypes=dtypes_of_parts(self.operator),
            promotion=Promotion.DEFAULT,
            derivatives=MappingProxyType(dict(self._gradients(tensors, body))),
        )
        self.others.append(made)
        return made

    def _gradients(self, tensors: Sequence[str], body: Folding) -> Iterator[tuple[str, Derivative]]:
        """`auto` of what has a gradient."""
        given = self.operator.derivatives
        source = next((each.source for each in given.values()), self.source)
        automatic = any(each.text == AUTO for each in given.values())
        for name in tensors:
            if name in body.fixed or not given:
                continue
            if not automatic or given.get(name, Derivative(AUTO, source)).text != AUTO:
                yield name, Derivative("none", source)
            else:
                yield name, Derivative(AUTO if name in self.moving else "None", source)
