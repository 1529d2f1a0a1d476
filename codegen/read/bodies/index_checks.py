"""Checks of a body `compute` that could be read: its indices, bounds and earlier elements."""

from __future__ import annotations

from collections.abc import Mapping

from ...dtypes import FLOAT64, INT64, DType
from ...errors import Span
from ...expr import Apply, Expr, ExpressionError, Literal, applications, random
from ...expr import Span as ExprSpan
from ...expr.atoms import Fold, Read, within
from ...expr.indexed import outside_of
from ...expr.lower import Env, type_of
from ...expr.tree import NOWHERE
from ...model.compute import Border, Compute
from ...model.proof import is_proven
from ...model.recurrence import OrderError, order, own_reads
from ...model.skipping import read_for
from ...source import Mapping as MappingNode
from ..fields import Entry


def check_reads(entry: Entry, body: Compute) -> None:
    """Check that every index lies inside or has a rule, that what is left out is a term, and that bounds are known
    where loops begin."""
    _check_inside(entry, body)
    _check_skipping(entry, body)
    _check_bounds(entry, body)


def check_types(entry: Entry, node: MappingNode, body: Compute, dtypes: Mapping[str, DType]) -> None:
    """Bounds and positions are integers, and tensors of positions are read as such."""
    _check_ranges(entry, body)
    _check_positions(entry, body)
    _check_random(entry, body)
    _check_dtypes(entry, node, body, dtypes)


def has_order(entry: Entry, node: MappingNode, body: Compute) -> bool:
    """Return True if all elements that are read can be computed before, in the dtype of computation."""
    found = len(entry.diagnostics)
    if body.places:
        entry.report(node.span, "results whose places are data have no earlier elements", "two operators")
        return False
    types = body.env({each.name: FLOAT64 for each in entry.scalars}, FLOAT64)
    for each in body.results:
        if each.name in body.own and each.dtype is None and not type_of(each.tree, types).dtype.is_floating:
            message = f"'{each.name}' is read, and has the dtype {type_of(each.tree, types).dtype.name}"
            entry.report(each.source.span, message, "a result that is read has the dtype of the tensors")
    for name in sorted(body.own & body.integers):
        entry.report(node.span, f"'{name}' is a position", f"int({name}[...])")
    for read in own_reads(body):
        rule = body.outside.get(read.tensor)
        if rule in (Border.NEAREST, Border.WRAP, Border.REFLECT):
            message = f"'{read.tensor}' is read outside, where '{rule.value}' means elements that are not computed yet"
            entry.report(_place(body, read.span), message, f"outside: {{{read.tensor}: 0}}")
    try:
        order(body)
    except OrderError as error:
        entry.report(_place(body, error.read.span), error.message, error.help)
    return len(entry.diagnostics) == found


def _check_positions(entry: Entry, body: Compute) -> None:
    """Positions are integers, and may lie inside."""
    env = body.env({each.name: FLOAT64 for each in entry.scalars}, FLOAT64)
    reported: set[Span] = set()
    for read in body.reads.values():
        for dim, tree in enumerate(read.indices):
            span = _place(body, tree.span if tree.span != NOWHERE else read.span)
            if span in reported:
                continue
            dtype = _dtype(tree, env)
            if dtype is None:
                continue
            if dtype.is_floating:
                message = f"index {dim} of '{read.tensor}' is {dtype}, and a position is an integer"
                help = "'//' divides integers; int(x) drops the fraction, int(floor(x)) rounds down"
            elif any(_divides_by_zero(each) for each in applications(tree)):
                message, help = f"index {dim} of '{read.tensor}' is divided by zero", "a positive number"
            elif body.is_never_inside(read, dim):
                message, help = f"index {dim} of '{read.tensor}' never lies inside", "indices count from 0"
            else:
                continue
            reported.add(span)
            entry.report(span, message, help)


def _check_random(entry: Entry, body: Compute) -> None:
    """Keys and positions of random numbers are integers."""
    env = body.env({each.name: FLOAT64 for each in entry.scalars}, FLOAT64)
    trees = (*(each.tree for each in body.results), *(x for each in body.used.values() for x in each.expressions))
    reported: set[Span] = set()
    steps = (step for tree in trees for step in applications(tree))
    for each in dict.fromkeys(each for step in steps for each in random.integers(step)):
        dtype, span = _dtype(each, env), _place(body, each.span)
        if dtype is not None and dtype.is_floating and span not in reported:
            reported.add(span)
            message = f"a random number of {dtype}: its key and its positions are integers"
            entry.report(span, message, "int(x) drops the fraction, int(floor(x)) rounds down")


def _check_bounds(entry: Entry, body: Compute) -> None:
    """Check that the values in bounds are known where their loop begins."""
    for bounds in body.ranges.values():
        for _, atom in within(body.atoms, bounds.first, bounds.stop):
            what = f"a bound of the range of '{bounds.name}'"
            if isinstance(atom, Fold):
                entry.report(_place(body, atom.span), f"{what} uses a reduction")
            elif isinstance(atom, Read) and not isinstance(body.outside.get(atom.tensor, Border.ERROR), Border):
                message = f"{what} may be read outside of '{atom.tensor}'"
                entry.report(_place(body, atom.span), message, "outside: error, nearest, wrap or reflect")


def _check_ranges(entry: Entry, body: Compute) -> None:
    """Bounds are integers."""
    env = body.env({each.name: FLOAT64 for each in entry.scalars}, FLOAT64)
    for bounds in body.ranges.values():
        for each in (bounds.first, bounds.stop):
            dtype = _dtype(each, env)
            if dtype is not None and dtype.is_floating:
                message = f"a bound of the range of '{bounds.name}' is {dtype}, and bounds are integers"
                entry.report(_place(body, each.span), message, "'//' divides integers")


def _check_inside(entry: Entry, body: Compute) -> None:
    """An index that is no variable must be sure to be inside, or `outside` says what it means."""
    reported: set[Span] = set()
    for read, dim in body.checked():
        index = body.index(read.indices[dim])
        if read.tensor in body.tables:
            _check_table(entry, body, read, dim, reported)
            continue
        if read.tensor in body.outside or index.affine is None or len(index.affine.factors) == 0:
            continue
        if index.plain is not None:
            continue  # sizes that differ are an error of the call
        span = _place(body, read.span)
        if span not in reported and not is_proven(body, read, dim):
            reported.add(span)
            message = f"index {dim} of '{read.tensor}' cannot be proven to lie inside"
            help = "outside: 0, nearest, wrap, reflect or error"
            entry.report(span, message, f"outside: {{{read.tensor}: 0}}" if read.tensor in body.own else help)


def _check_skipping(entry: Entry, body: Compute) -> None:
    """Check that elements which are left out are terms of a reduction."""
    for read in read_for(body.atoms, *(each.tree for each in body.results)):
        is_inside = all(body.is_inside(read, dim) for dim in range(len(read.indices)))
        if body.outside.get(read.tensor) is Border.SKIP and not is_inside:
            message = f"'skip' leaves out terms of a reduction, and '{read.tensor}' is read beside reductions"
            help = f"outside: {{{read.tensor}: 0}}, or another number, nearest, wrap, reflect or error"
            entry.report(_place(body, read.span), message, help)


def _check_table(entry: Entry, body: Compute, read: Read, dim: int, reported: set[Span]) -> None:
    """Check that an index of a table is not outside of it, as far as its values are known."""
    table, ends, span = body.tables[read.tensor], body.ends(read.indices[dim]), _place(body, read.span)
    known = ends is not None and read.tensor not in body.outside
    if known and span not in reported:
        assert ends is not None
        reported.add(span)
        runs = f"index {dim} runs from {ends[0]} to {ends[1]}" if ends[0] < ends[1] else f"index {dim} is {ends[0]}"
        entry.report(span, f"{runs}, {outside_of(read.tensor, table)}", "outside: nearest, wrap or reflect")


def _check_dtypes(entry: Entry, node: MappingNode, body: Compute, dtypes: Mapping[str, DType]) -> None:
    """Indices are read as int64, and as nothing else."""
    told = node.get("dtype")
    for name in sorted(body.integers):
        if told is not None and dtypes.get(name, INT64) is not INT64:
            message = f"'{name}' is a position, and positions are int64"
            entry.report(told.span, message, f"int({name}[...]) makes a position of an element")


def _place(body: Compute, span: ExprSpan) -> Span:
    return (span.origin or body.results[0].source).span_at(span.offset, span.length)


def _dtype(tree: Expr, env: Env) -> DType | None:
    """The dtype of an index or a bound; None where it has none, which is reported where the expression is checked."""
    try:
        return type_of(tree, env).dtype
    except ExpressionError:
        return None


def _divides_by_zero(tree: Expr) -> bool:
    return isinstance(tree, Apply) and tree.function in ("floor_divide", "remainder") and tree.args[1] == Literal(0)
