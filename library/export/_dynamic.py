"""Graphs for several sizes: a module is recorded with other sizes of its dynamic dimensions, and the graphs compared.

What Python computes of sizes, and gives to operators, must be a sum of multiples of dynamic sizes or a product of them;
what it decides by them must be the same within all of their bounds. The graph then computes these numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any, NamedTuple

from .._base.tensor_class import Tensor
from .._operators import arange, index_select
from ..compiler._recording import Place, Unsupported
from ..fx.node import Node
from ._dims import Dim
from ._recorder import Recorded
from ._sizes import COMPARISONS, Read, noted, plain

__all__ = ["DynamicError", "with_dims"]

_STEPS = (1, 3, 2, -1, -2, -3)
"""Differences of sizes in further runs from those of the example: the first two that are within bounds."""


class DynamicError(Unsupported):
    """Error: a module cannot be exported for several sizes of a dimension.

    Attributes:
        dim (Dim): the dimension.
    """

    def __init__(self, dim: Dim, reason: str, place: Place | None = None) -> None:
        super().__init__(f"the dimension {str(dim)!r} cannot have several sizes: {reason}", place)
        self.dim = dim


class _Form(NamedTuple):
    """A number that follows from sizes: `constant + sum(factor * size)`, or `constant * product of sizes`."""

    constant: int
    factors: tuple[tuple[Dim, int], ...]
    is_product: bool = False

    def value(self, sizes: Mapping[Dim, int]) -> int:
        if self.is_product:
            return self.constant * prod(sizes[dim] for dim, _ in self.factors)
        return self.constant + sum(factor * sizes[dim] for dim, factor in self.factors)

    def __str__(self) -> str:
        if self.is_product:
            number = [] if self.constant == 1 else [str(self.constant)]
            return "*".join([*number, *(str(dim) for dim, _ in self.factors)])
        parts = [f"{factor}*{dim}" if factor != 1 else str(dim) for dim, factor in self.factors]
        return " + ".join([*parts, str(self.constant)] if self.constant or not parts else parts)

    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value."""
        if self.is_product:
            ends = [self.constant * prod(end(dim) for dim, _ in self.factors) for end in (_least, _greatest)]
            return min(ends), max(ends)
        low = high = float(self.constant)
        for dim, factor in self.factors:
            low += factor * (dim.min if factor > 0 else dim.max)
            high += factor * (dim.max if factor > 0 else dim.min)
        return low, high


def _least(dim: Dim) -> float:
    return dim.min


def _greatest(dim: Dim) -> float:
    return dim.max


class _Run(NamedTuple):
    """Graph of a module for some sizes."""

    sizes: Mapping[Dim, int]
    found: Recorded
    reads: list[Read]


def with_dims(
    record: Callable[[Sequence[Any]], Recorded], leaves: Sequence[Any], dims: Sequence[Mapping[int, Dim]]
) -> Recorded:
    """Return the graph of a module for all sizes of some dimensions of the leaves of its arguments.

    Args:
        record (Callable): returns the graph for other leaves of the same kinds.
        leaves (sequence): the example's leaves.
        dims (sequence): the dynamic dimensions of each leaf.

    Raises:
        DynamicError: the module does something else with another size. The error names the line that reads the size.
    """
    example: dict[Dim, int] = {}
    for leaf, of in zip(leaves, dims, strict=True):
        for place, dim in of.items():
            if example.setdefault(dim, leaf.shape[place]) != leaf.shape[place]:
                raise ValueError(f"the dimension {str(dim)!r} has the sizes {example[dim]} and {leaf.shape[place]}")
    if not example:
        return record(leaves)
    steps = {dim: _steps(dim, size) for dim, size in example.items()}
    varied = [{**example, dim: example[dim] + step} for dim in example for step in steps[dim]]
    for turn in (0, 1) if len(example) > 1 else ():
        turned = {dim: of[(turn + place) % len(of)] if of else 0 for place, (dim, of) in enumerate(steps.items())}
        varied.append({dim: size + turned[dim] for dim, size in example.items()})
    varied = [sizes for sizes in varied if sizes != example]
    runs = [_run(record, leaves, dims, example, None)]
    for sizes in varied:
        changed = next(dim for dim in example if sizes[dim] != example[dim])
        runs.append(_run(record, leaves, dims, sizes, changed))
    return _Merging(runs).merged(_inputs(runs[0].found, dims))


def _steps(dim: Dim, size: int) -> list[int]:
    return [step for step in _STEPS if dim.min <= size + step <= dim.max][:2]


def _run(
    record: Callable[[Sequence[Any]], Recorded],
    leaves: Sequence[Any],
    dims: Sequence[Mapping[int, Dim]],
    sizes: Mapping[Dim, int],
    changed: Dim | None,
) -> _Run:
    wanted = ({place: sizes[dim] for place, dim in of.items()} for of in dims)
    given = [*map(_resized, leaves, wanted)]
    reads: list[Read] = []
    try:
        with noted(reads):
            return _Run(sizes, record(given), reads)
    except Exception as error:
        if changed is None or isinstance(error, Unsupported):
            raise
        raise DynamicError(changed, f"with {sizes[changed]} it raises {type(error).__name__}: {error}") from error


def _resized(leaf: Any, sizes: Mapping[int, int]) -> Any:
    """A tensor with other sizes, whose elements are those of the example."""
    if not isinstance(leaf, Tensor):
        return leaf
    made = leaf.detach()
    for place, size in sizes.items():
        if size != leaf.shape[place]:
            made = index_select(made, place, arange(size) % leaf.shape[place])
    return made.requires_grad_(leaf.requires_grad)


def _inputs(found: Recorded, dims: Sequence[Mapping[int, Dim]]) -> dict[Dim, tuple[str, int]]:
    """The name and the dimension of an input that has each size."""
    names = [each.arg.name for each in found.signature.input_specs][-len(dims) :]
    return {dim: (name, place) for name, of in zip(names, dims, strict=True) for place, dim in of.items()}


class _Merging:
    """Compares runs, and makes of the first one's graph that of all."""

    def __init__(self, runs: Sequence[_Run]) -> None:
        self._runs = runs
        self._dims = [*runs[0].sizes]
        self._sizes: dict[Any, Node] = {}

    def merged(self, inputs: Mapping[Dim, tuple[str, int]]) -> Recorded:
        """The graph of the first run, with numbers computed of the sizes of inputs."""
        for reads in zip_longest(*(run.reads for run in self._runs)):
            self._check_read(reads)
        self._check_constants()
        found = self._runs[0].found
        graph = found.graph
        names = {node.name: node for node in graph.nodes}
        self._of = {dim: (names[name], place) for dim, (name, place) in inputs.items()}
        first = next(node for node in graph.nodes if node.op != "placeholder")
        original = [*zip_longest(*(run.found.graph.nodes for run in self._runs))]
        for nodes in original:
            self._check_node(nodes)
            node = nodes[0]
            if node.op == "placeholder":
                continue
            with graph.inserting_before(first):
                values = [(each.args, dict(each.kwargs)) for each in nodes]
                node.args, node.kwargs = self._argument(values, node)
        for nodes in original:
            if "val" in nodes[0].meta:
                self._describe(nodes)
        return found

    # ---- comparing ----

    def _changed(self, values: Sequence[Any]) -> Dim:
        """The dimension in whose runs values are not those of the first one."""
        first = self._runs[0]
        for run, value in zip(self._runs, values, strict=True):
            if value != values[0]:
                return next(dim for dim in self._dims if run.sizes[dim] != first.sizes[dim])
        return self._dims[0]

    def _check_read(self, reads: Sequence[Read | None]) -> None:
        first = reads[0] or next(each for each in reads if each is not None)
        if all(each == first for each in reads):
            return
        if any(each is None or each.place != first.place or each.what != first.what for each in reads):
            raise DynamicError(self._changed(reads), "what Python does depends on it", first.place)
        operands = [each.operands for each in reads if each is not None]
        forms = [self._form(values) for values in zip(*operands, strict=True)]
        known = [each for each in forms if each is not None]
        if first.what not in COMPARISONS or len(known) != 2 or not _is_decided(first.what, *known):
            raise DynamicError(self._changed(reads), "its size is read", first.place)

    def _check_constants(self) -> None:
        for name, tensor in self._runs[0].found.constants.items():
            others = [run.found.constants.get(name) for run in self._runs]
            if not all(each is not None and each.shape == tensor.shape and each.equal(tensor) for each in others):
                raise DynamicError(self._dims[0], "a tensor that is made of numbers depends on it")

    def _check_node(self, nodes: Sequence[Node | None]) -> None:
        first = nodes[0] or next(each for each in nodes if each is not None)
        if any(each is None or (each.op, each.target) != (first.op, first.target) for each in nodes):
            kinds = [None if each is None else str(each.target) for each in nodes]
            place = next((each.meta["place"] for each in nodes if each is not None and "place" in each.meta), None)
            raise DynamicError(self._changed(kinds), "which operators are called depends on it", place)

    def _describe(self, nodes: Sequence[Node]) -> None:
        """Give a node the sizes of its results, with forms for those that are dynamic."""
        first, *_ = nodes
        is_single = isinstance(first.meta["val"], Tensor)
        parts = [(each.meta["val"],) if is_single else each.meta["val"] for each in nodes]
        first.meta["sizes"] = [
            [self._size_of(each) for each in zip(*(tensor.shape for tensor in tensors), strict=True)]
            for tensors in zip(*parts, strict=True)
        ]
        if is_single:
            sizes = ", ".join(map(str, first.meta["sizes"][0]))
            first.type = f"{first.type.partition('[')[0]}[{sizes}]"

    def _size_of(self, sizes: Sequence[int]) -> Any:
        form = self._form(sizes)
        return "?" if form is None else form if form.factors else form.constant

    # ---- numbers ----

    def _argument(self, values: Sequence[Any], node: Node) -> Any:
        """An argument of the merged graph, which stands for those of all runs."""
        first = values[0]
        if isinstance(first, Node):
            if all(isinstance(each, Node) and each.name == first.name for each in values):
                return first
        elif isinstance(first, (tuple, list)) and all(len(each) == len(first) for each in values):
            parts = [self._argument(each, node) for each in zip(*values, strict=True)]
            return parts if isinstance(first, list) else tuple(parts)
        elif isinstance(first, dict) and all(each.keys() == first.keys() for each in values):
            return {key: self._argument([each[key] for each in values], node) for key in first}
        elif all(each == first or (each != each and first != first) for each in values):
            return plain(first)
        elif all(isinstance(each, int) and not isinstance(each, bool) for each in values):
            form = self._form(values)
            if form is not None:
                return self._node(form)
        reason = f"{node.target} has an argument that depends on it"
        raise DynamicError(self._changed([str(each) for each in values]), reason, node.meta.get("place"))

    def _form(self, values: Sequence[int]) -> _Form | None:
        """The form of a number that follows from sizes; None where none fits all runs."""
        first = self._runs[0]
        alone: dict[Dim, list[tuple[int, int]]] = {dim: [] for dim in self._dims}
        for run, value in zip(self._runs, values, strict=True):
            other = [dim for dim in self._dims if run.sizes[dim] != first.sizes[dim]]
            if len(other) == 1:
                alone[other[0]].append((run.sizes[other[0]] - first.sizes[other[0]], value - values[0]))
        factors: dict[Dim, int] = {}
        for dim, pairs in alone.items():
            for step, change in pairs[:1]:
                if change % step:
                    return None
                factors[dim] = change // step
        used = tuple((dim, factor) for dim, factor in factors.items() if factor)
        constant = values[0] - sum(factor * first.sizes[dim] for dim, factor in used)
        whole = prod(first.sizes[dim] for dim, _ in used)
        forms = [_Form(constant, used)]
        if whole and not values[0] % whole:
            forms.append(_Form(values[0] // whole, used, True))
        fitting = (each for each in forms if self._fits(each, values))
        return next(fitting, None)

    def _fits(self, form: _Form, values: Iterable[int]) -> bool:
        return all(form.value(run.sizes) == value for run, value in zip(self._runs, values, strict=True))

    def _node(self, form: _Form) -> Node:
        """The node that has a number."""
        if form not in self._sizes:
            graph = self._runs[0].found.graph
            parts: list[Any] = [form.constant] if form.is_product or form.constant else []
            for dim, factor in form.factors:
                size = self._size(dim)
                scaled = form.is_product or factor == 1
                parts.append(size if scaled else graph.call_function(operator.mul, (size, factor)))
            if form.is_product and form.constant == 1:
                parts = parts[1:]
            result = parts[0]
            for each in parts[1:]:
                result = graph.call_function(operator.mul if form.is_product else operator.add, (result, each))
            self._sizes[form] = result
        return self._sizes[form]

    def _size(self, dim: Dim) -> Node:
        if dim not in self._sizes:
            node, place = self._of[dim]
            self._sizes[dim] = self._runs[0].found.graph.call_method("size", (node, place))
        return self._sizes[dim]


def _is_decided(comparison: str, left: _Form, right: _Form) -> bool:
    """Return whether a comparison has the same result for all sizes."""
    if left == right:
        return True
    if left.is_product or right.is_product:
        (low, high), (least, greatest) = left.bounds(), right.bounds()
        low, high = low - greatest, high - least
    else:
        factors = dict(left.factors)
        for dim, factor in right.factors:
            factors[dim] = factors.get(dim, 0) - factor
        used = tuple((dim, factor) for dim, factor in factors.items() if factor)
        low, high = _Form(left.constant - right.constant, used).bounds()
    if comparison in ("__eq__", "__ne__"):
        return low > 0 or high < 0
    compare = COMPARISONS[comparison]
    return compare(low, 0) == compare(high, 0)
