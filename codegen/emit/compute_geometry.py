"""C of the integers of a call of an expression over indices: sizes, steps, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..expr import Apply, Expr, Literal, Name
from ..expr.affine import ONE, Affine, Index
from ..expr.atoms import Read
from ..expr.emit_c import print_c
from ..expr.geometry import TARGET, Geometry
from ..expr.indexed import SHAPE
from ..expr.kernel_text import variable
from ..expr.typed import names
from ..model.compute import Compute, Size
from ..model.margins import margins
from ..model.operator import Operator, Requirement
from ..model.recurrence import order
from ..schema import ListType
from ..schema.types import without_optional
from .requirements import error_kind, format_arguments


@dataclass(frozen=True)
class Extent:
    """The bound of an index, beyond which its computation might overflow, and the size that it must not reach if it is
    checked before."""

    magnitude: str
    greatest: str | None
    least: str | None
    size: str
    what: str
    given: str
    """The condition that an optional tensor is given."""


@dataclass(frozen=True)
class Exact:
    """The size that a dimension has, counted from the last."""

    tensor: str
    dim: int
    size: int
    given: str
    """The condition that an optional tensor is given."""


@dataclass(frozen=True)
class Margin:
    """The distance by which indices of a dimension run beyond its ends."""

    tensor: int
    dim: int
    size: str
    bounds: tuple[tuple[str, str], ...]
    """The least and the greatest of each index that may be outside."""


@dataclass(frozen=True)
class GeometryFunction:
    """Context of compute.c.j2: the function of the call's integers."""

    name: str
    line: int
    arguments: tuple[str, ...]
    early: tuple[str, ...]
    lets: tuple[str, ...]
    late: tuple[str, ...]
    uniforms: tuple[tuple[str, str], ...]
    exact: tuple[Exact, ...]
    ranges: tuple[tuple[str, str], ...]
    divisors: tuple[str, ...]
    """Integers by which indices are divided, which must be positive."""
    steps: tuple[str, ...]
    """Integers that say how far an element is from another one that it depends on, which must be positive."""
    extents: tuple[Extent, ...]
    margins: tuple[Margin, ...]
    work: tuple[str, ...]


def function(operator: Operator, body: Compute) -> GeometryFunction:
    """Return the C function that computes the sizes of results and the bounds of indices."""
    found = order(body)
    return GeometryFunction(
        name=f"{operator.name}_geometry",
        line=body.results[0].line,
        arguments=tuple(_arguments(operator)),
        early=tuple(map(_check, body.require)),
        lets=tuple(
            f"const {TARGET.variable_type(tree.dtype)} {variable(name)} = {_text(tree)};" for name, tree in body.let
        ),
        late=tuple(map(_check, body.late)),
        uniforms=tuple((name, _text(tree)) for name, tree in body.uniforms.items()),
        exact=tuple(
            Exact(tensor, dim, size, _given(body, tensor)) for (tensor, dim), size in sorted(body.exact.items())
        ),
        ranges=(
            *((variable(name), _size(operator, size)) for name, size in body.variables),
            *((f"small{dim}", str(size)) for dim, size in enumerate(body.small)),
        ),
        divisors=tuple(dict.fromkeys(map(integer, _divisors(body)))),
        steps=() if found is None else tuple(map(integer, found.steps)),
        extents=tuple(_extents(body)),
        margins=tuple(_margins(operator, body)),
        work=tuple(_work(body)),
    )


def _arguments(operator: Operator) -> list[str]:
    statements: list[str] = []
    ints = lists = 0
    for argument in operator.schema.arguments:
        if argument.is_tensor or argument in operator.params:
            continue
        name = variable(argument.name)
        if argument.is_list:
            kind = without_optional(argument.type)
            size = kind.size if isinstance(kind, ListType) else None
            if size is not None:
                statements.append(
                    f'if (!ow_view_fill_list(view, "{argument.name}", &lists[{lists}], {size})) return 0;'
                )
            statements.append(f"const ow_list {name} = &lists[{lists}];")
            lists += 1
        else:
            statements.append(f"const int64_t {name} = ints[{ints}];")
            ints += 1
        statements.append(f"(void){name};")
    return statements


def _text(tree: Geometry) -> str:
    texts = {}
    for name in names(tree):
        texts[name] = f"shape_{name.removesuffix(SHAPE)}" if name.endswith(SHAPE) else variable(name)
    return print_c(tree, TARGET, texts).value


def _check(requirement: Requirement[Geometry, Geometry]) -> str:
    arguments = ", ".join(["view", error_kind(requirement), *format_arguments(requirement, _placeholder)])
    return f"if (!({_text(requirement.check)})) return ow_view_fail({arguments});"


def _placeholder(tree: Geometry) -> tuple[str, str]:
    if tree.dtype.is_list:
        return "%s", f"ow_ints_text(&(ow_list_text_buffer){{{{0}}}}, {_text(tree)})"
    return "%lld", f"(long long)({_text(tree)})"


def _size(operator: Operator, size: Size) -> str:
    if size.geometry is not None:
        return _text(size.geometry)
    return f"ow_ints_at(view, shape_{size.tensor}, {size.dim})"


def _work(body: Compute) -> list[str]:
    """Return the number of steps of each reduction outside of others, as far as it is known before."""
    products = []
    for fold in body.folds.values():
        extents = [
            f"(double)({_number(each.stop)} - {_number(each.first)})"
            for each in fold.ranges
            if _is_uniform(body, each.first) and _is_uniform(body, each.stop)
        ]
        extents += [_mean_length(body, each.name) for each in fold.ranges if each.name in body.ragged]
        products.append(" * ".join(extents) or "4")
    return products


def _mean_length(body: Compute, name: str) -> str:
    """Return the mean number of steps of a range whose bounds are data, if all its values run once over the dimension
    that it indexes."""
    bounds = body.ranges[name]
    sizes = [
        f"(double){_size_text(body, read, dim)}"
        for read in body.reads.values()
        for dim, tree in enumerate(read.indices)
        if tree == Name(name) and not (body.optional | body.own) & {read.tensor}
    ]
    counts = [each for each in body.names if body.depends(bounds.first, each) or body.depends(bounds.stop, each)]
    positions = " * ".join(f"(double)range_{variable(each)}" for each in counts) or "1"
    return f"{sizes[0]} / fmax(1, {positions})" if sizes else "4"


def _is_uniform(body: Compute, tree: Expr) -> bool:
    return isinstance(tree, Literal) or (isinstance(tree, Name) and tree.name in body.uniforms)


def _number(tree: Expr) -> str:
    return str(int(tree.value)) if isinstance(tree, Literal) else str(tree)


def _divisors(body: Compute) -> Iterator[Expr]:
    for read in body.reads.values():
        yield from (each.divisor for each in map(body.index, read.indices) if each.divisor != ONE)
    for fold in body.folds.values():
        waiting = [] if fold.condition is None else [fold.condition]
        while waiting:
            tree = waiting.pop()
            waiting += tree.children
            if isinstance(tree, Apply) and tree.function == "remainder" and _is_uniform(body, tree.args[1]):
                yield tree.args[1]


def _extents(body: Compute) -> list[Extent]:
    found: dict[tuple[str, str], Extent] = {}
    for read, dim in body.checked():
        index = body.index(read.indices[dim])
        if index.affine is None:
            continue
        checks = body.is_checked_before(read, dim)
        what = f"index {index.plain or dim}"
        key = (read.tensor, f"{read.indices[dim]}|{dim}")
        bounds = _bounds(body, index) if checks else None
        found[key] = Extent(
            " + ".join([f"fabs((double){integer(index.affine.rest)})", *_magnitudes(body, index.affine)]),
            None if bounds is None else bounds[1],
            None if bounds is None else bounds[0],
            _size_text(body, read, dim),
            f"{what} of '{read.tensor}'",
            _given(body, read.tensor),
        )
    return list(found.values())


def _size_text(body: Compute, read: Read, dim: int) -> str:
    """The size of the dimension that an index belongs to."""
    if read.tensor in body.tables:
        return str(body.tables[read.tensor].sizes[dim])
    if read.tensor in body.own:
        return f"range_{variable(body.names[dim])}"
    return f"ow_ints_at(view, shape_{read.tensor}, {dim - len(read.indices)})"


def _ends(body: Compute, name: str) -> tuple[str, str] | None:
    """The first and the last value of a variable, if they are known before."""
    if name not in body.ranges:
        return "0", f"(range_{variable(name)} - 1)"
    first, stop = body.ranges[name].first, body.ranges[name].stop
    known = _is_uniform(body, first) and _is_uniform(body, stop)
    return (_number(first), f"({_number(stop)} - 1)") if known else None


def _magnitudes(body: Compute, affine: Affine) -> Iterator[str]:
    for name, factor in affine.factors:
        ends = _ends(body, name)
        if ends is not None:
            yield f"fabs((double){integer(factor)}) * fmax(fabs((double){ends[0]}), fabs((double){ends[1]}))"


def _bounds(body: Compute, index: Index) -> tuple[str, str]:
    """The least and the greatest value of an index whose variables' ends are known."""
    assert index.affine is not None
    found = []
    for word in ("least", "greatest"):
        parts = []
        for name, factor in index.affine.factors:
            ends = _ends(body, name)
            assert ends is not None
            parts.append(f"ow_{word}({integer(factor)}, {ends[0]}, {ends[1]})")
        text = " + ".join([*parts, integer(index.affine.rest)])
        found.append(text if index.divisor == ONE else f"ow_div_down({text}, {integer(index.divisor)})")
    return found[0], found[1]


def _margins(operator: Operator, body: Compute) -> Iterator[Margin]:
    rules = margins(body)
    for place, argument in enumerate(operator.inputs):
        if argument.name in rules:
            for dim in range(body.tensors[argument.name]):
                reads = [each for each in body.reads.values() if each.tensor == argument.name]
                unsure = [each.indices[dim] for each in reads if not body.is_sure(each, dim)]
                bounds = tuple(dict.fromkeys(_bounds(body, body.index(each)) for each in unsure))
                size = f"ow_ints_at(view, shape_{argument.name}, {dim - body.tensors[argument.name]})"
                yield Margin(place, dim, size, bounds)


def _given(body: Compute, tensor: str) -> str:
    return f"shape_{tensor}->n && " if tensor in body.optional else ""


def integer(tree: Expr) -> str:
    """C of what is the same in the whole call, of which affine indices are made."""
    if isinstance(tree, (Literal, Name)):
        return _number(tree)
    symbols = {"add": "+", "sub": "-", "mul": "*"}
    children = [integer(each) for each in tree.children]
    function = getattr(tree, "function", "")
    return f"(-{children[0]})" if function == "neg" else f"({f' {symbols[function]} '.join(children)})"
