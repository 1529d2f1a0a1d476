"""C of the integers of a call of an expression over indices: sizes, steps, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

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
from ..nest.forms import Case, Declared, Form, Function, Line
from ..schema import ListType
from ..schema.types import without_optional
from .requirements import error_kind, format_arguments
from .schedules.rows import call, unused

if TYPE_CHECKING:
    from .indexed.nodes import Shared, Tensor

_PARAMETERS = (
    "ow_view *view, const ow_ints *shapes, const int64_t *ints, ow_ints *lists, ow_compute_context *c, "
    "int64_t (*margins)[OW_MAX_VARIABLES][2], double *work"
)
_FAILED = Line("if (view->error) return 0;")
_DIVIDED = "an index is divided by %lld, which is not positive"
_DEPENDS = "an element depends on one that is %lld steps away, but must on an earlier one"


def function(operator: Operator, body: Compute, shared: Shared) -> Function:
    """Return the C function that computes the sizes of results and the bounds of indices."""
    line, found = body.results[0].line, order(body)
    tensors = [each for each in shared.tensors if each.result is None]
    lets = [f"const {TARGET.variable_type(tree.dtype)} {variable(name)} = {_text(tree)};" for name, tree in body.let]
    late = [*lets, _FAILED.text, *map(_check, body.late)]
    forms: list[Form] = [
        Line("const int64_t v__batch = c->positions;"),
        Line("(void)shapes, (void)ints, (void)lists, (void)v__batch;"),
    ]
    for each in tensors:
        forms += unused("const ow_list", f"shape_{each.name}", f"&shapes[{each.index}]")
    forms += _arguments(operator)
    if body.require:
        forms.append(Declared(line, " ".join(map(_check, body.require))))
    forms += (_has_rank(each) for each in tensors if each.indices)
    forms += (_is_exact(operator, body, *each) for each in sorted(body.exact.items()))
    forms.append(Declared(line, " ".join(late)))
    for index, (name, tree) in enumerate(body.uniforms.items()):
        forms += (*unused("const int64_t", name, f"c->uniform[{index}] = {_text(tree)}"), Line("view->used = 0;"))
    forms += (*_ranges(operator, body), _FAILED)
    forms += _positive(operator, _divisors(body), _DIVIDED)
    forms += _positive(operator, () if found is None else found.steps, _DEPENDS)
    forms += _extents(operator, body)
    forms += (Line("(void)margins;"), *_margins(operator, body))
    forms += (Line(f"*work = {' + '.join(('1', *_work(body)))};"), Line("return 1;"))
    return Function(f"static int {operator.name}_geometry({_PARAMETERS})", tuple(forms))


def _refused(operator: Operator, condition: str, kind: str, message: str, *values: str) -> Case:
    """Return the end of a call for which a condition holds."""
    failed = call("ow_view_fail", "view", kind, f'"{operator.name}(): {message}"', *values)
    return Case(condition, (Line(f"return {failed};"),))


def _arguments(operator: Operator) -> Iterator[Form]:
    ints = lists = 0
    for argument in operator.schema.arguments:
        if argument.is_tensor or argument in operator.params:
            continue
        name = variable(argument.name)
        if argument.is_list:
            kind = without_optional(argument.type)
            size = kind.size if isinstance(kind, ListType) else None
            if size is not None:
                filled = call("ow_view_fill_list", "view", f'"{argument.name}"', f"&lists[{lists}]", str(size))
                yield Line(f"if (!{filled}) return 0;")
            yield from unused("const ow_list", name, f"&lists[{lists}]")
            lists += 1
        else:
            yield from unused("const int64_t", name, f"ints[{ints}]")
            ints += 1


def _has_rank(tensor: Tensor) -> Case:
    """Return the test that a tensor has the dimensions that indices are written for."""
    given = f"shapes[{tensor.index}].n && " if tensor.optional else ""
    more = int(tensor.batched or tensor.flat)
    rank = f'"{tensor.name}", shape_{tensor.name}, {tensor.indices - tensor.flat}, {more}'
    return Case(f"{given}!ow_view_last(view, {rank})", (Line("return 0;"),))


def _is_exact(operator: Operator, body: Compute, place: tuple[str, int], size: int) -> Case:
    """Return the test of a size that a dimension has, counted from the last."""
    tensor, dim = place
    condition = f"{_given(body, tensor)}ow_ints_at(view, shape_{tensor}, {dim}) != {size}"
    shape = f"ow_ints_text(&(ow_list_text_buffer){{ {{0}} }}, shape_{tensor})"
    message = f"{tensor} must have size {size} in dimension {dim}, but has shape %s"
    return _refused(operator, condition, "OW_RUNTIME_ERROR", message, shape)


def _ranges(operator: Operator, body: Compute) -> Iterator[Form]:
    """Yield the positions of each variable of the results."""
    small = ((f"small{dim}", str(size)) for dim, size in enumerate(body.small))
    ranges = [*((variable(name), _size(operator, size)) for name, size in body.variables), *small]
    for index, (variable_, size) in enumerate(ranges):
        name = f"range_{variable_}"
        message = f"the size of dimension {index - len(ranges)} of the result would be %lld"
        yield Line(f"const int64_t {name} = c->range[{index}] = {size};")
        yield _FAILED
        yield _refused(operator, f"{name} < 0", "OW_RUNTIME_ERROR", message, f"(long long){name}")


def _positive(operator: Operator, trees: Iterable[Expr], message: str) -> Iterator[Form]:
    """Yield the tests of integers that must be positive."""
    for each in dict.fromkeys(map(integer, trees)):
        yield _refused(operator, f"{each} <= 0", "OW_RUNTIME_ERROR", message, f"(long long){each}")


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


def _extents(operator: Operator, body: Compute) -> Iterator[Form]:
    """Yield the tests of indices: that their computation does not overflow, and, where that is known before, that they
    are inside."""
    found: dict[tuple[str, str], tuple[Form, ...]] = {}
    for read, dim in body.checked():
        if body.index(read.indices[dim]).affine is not None:
            found[read.tensor, f"{read.indices[dim]}|{dim}"] = tuple(_extent(operator, body, read, dim))
    return (form for forms in found.values() for form in forms)


def _extent(operator: Operator, body: Compute, read: Read, dim: int) -> Iterator[Form]:
    index = body.index(read.indices[dim])
    assert index.affine is not None
    what = f"index {index.plain or dim} of '{read.tensor}'"
    magnitude = " + ".join([f"fabs((double){integer(index.affine.rest)})", *_magnitudes(body, index.affine)])
    yield _refused(operator, f"{magnitude} > 0x1p60", "OW_RUNTIME_ERROR", f"{what} is more than 64 bits hold")
    if body.is_checked_before(read, dim):
        (least, greatest), size = _bounds(body, index), _size_text(body, read, dim)
        names = [*(variable(name) for name, _ in body.variables), *(f"small{each}" for each in range(len(body.small)))]
        given = _given(body, read.tensor) + "".join(f"range_{name} && " for name in names)
        values = (f"(long long)({least})", f"(long long)({greatest})", f"(long long){size}")
        message = f"{what} runs from %lld to %lld, but the size of the dimension is %lld"
        outside = f"{given}({least} < 0 || {greatest} >= {size})"
        yield _refused(operator, outside, "OW_INDEX_ERROR", message, *values)


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


def _margins(operator: Operator, body: Compute) -> Iterator[Form]:
    """Yield the distances by which indices run beyond the ends of tensors that may have margins."""
    rules = margins(body)
    for place, argument in enumerate(operator.inputs):
        if argument.name in rules:
            for dim in range(body.tensors[argument.name]):
                reads = [each for each in body.reads.values() if each.tensor == argument.name]
                unsure = [each.indices[dim] for each in reads if not body.is_sure(each, dim)]
                margin = f"margins[{place}][{dim}]"
                size = f"ow_ints_at(view, shape_{argument.name}, {dim - body.tensors[argument.name]})"
                yield Line(f"{margin}[0] = {margin}[1] = 0;")
                for least, greatest in dict.fromkeys(_bounds(body, body.index(each)) for each in unsure):
                    yield Line(f"{call('ow_widen', margin, least, greatest, size)};")


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
