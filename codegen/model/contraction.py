"""Sums of products as products of matrices: which tensor is one as it lies in memory, and what is packed for the other.

In  sum(weight[o, c, i, j] * self[n, c, y + i, x + j] for c … for i … for j …)  the weights are a matrix of rows o and
columns (c, i, j), and the elements of `self` that belong to one n are packed as a matrix of rows (c, i, j) and columns
(y, x).
Where the plain matrix has other rows and columns, as in the gradient by `self`,

    sum(weight[o, c, i, j] * grad[n, o, y - i, x - j] for o … for i … for j …)

the product comes first, over o, and the sum over i and j gathers from its rows (c, i, j) afterwards.

Rows of a product come before its columns in the result, or behind them: of images whose channels are last,

    sum(weight[o, i, j, c] * self[n, y + i, x + j, c] for i … for j … for c …)  by n, y, x, o,

the other matrix is packed the other way round, and its lines are channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..expr import Apply, Expr, Name, names
from ..expr.affine import ONE, ZERO
from ..expr.atoms import Atoms, Carrier, Fold, Range, Read
from ..expr.geometry import Geometry
from .compute import MAX_VARIABLES, Border, Compute, Size


@dataclass(frozen=True)
class Contraction:
    """The product of a plain matrix of `a` and a matrix of elements of `b`, for each position of `batch`, summed over
    `steps`."""

    a: str
    b: str
    batch: tuple[str, ...]
    steps: tuple[str, ...]
    rows: tuple[str, ...]
    """Variables of the rows of the product, with those that are summed afterwards."""
    inner: tuple[str, ...]
    columns: tuple[str, ...]
    transposed: bool
    """True if the rows of `a` in memory are the inner variables."""
    rows_last: bool
    """True if the rows are behind the columns in the result, and the inner variables behind the columns in `b`."""
    packed: tuple[Compute, Compute] | None
    """The computations that pack the other matrix, with its rows or its columns in lines."""
    gather: Compute | None
    """The computation that gathers the result from the product."""
    rest: Compute | None
    """The computation whose result is added to the sum."""
    dense: tuple[tuple[int, str, Expr], ...] | None
    """The indices, by dimension, with the variable that each then is, if the other matrix may be in memory already."""
    b_rank: int
    """The dimensions of `b` besides the inner ones."""


def contraction(body: Compute) -> Contraction | None:
    """Return how the result is computed by matrix products, or None if it is not."""
    found = _sum_of_products(body)
    if found is None:
        return None
    fold, rest = found
    left, right = (body.atoms[each.name] for each in fold.value.children if isinstance(each, Name))
    assert isinstance(left, Read)
    assert isinstance(right, Read)
    if len(body.names) + len(fold.ranges) > MAX_VARIABLES:
        return None
    for rows_last in (False, True):
        for a, b in ((left, right), (right, left)):
            made = _before(body, fold, rest, a, b, rows_last) or _after(body, fold, rest, a, b, rows_last)
            if made is not None:
                return made
    return None


def _sum_of_products(body: Compute) -> tuple[Fold, Expr | None] | None:
    if len(body.results) != 1 or body.own or body.given or body.results[0].dtype is not None:
        return None
    tree = body.results[0].tree
    rest: Expr | None = None
    if isinstance(tree, Apply) and tree.function == "add":
        tree, rest = tree.args if isinstance(body.atoms.get(str(tree.args[0])), Fold) else reversed(tree.args)
    fold = body.atoms.get(tree.name) if isinstance(tree, Name) else None
    if not isinstance(fold, Fold) or fold.reduction != "sum" or (rest is not None and _has_fold(body, rest)):
        return None
    value = fold.value
    factors = [body.atoms.get(str(each)) for each in value.children]
    if not isinstance(value, Apply) or value.function != "mul" or not all(isinstance(each, Read) for each in factors):
        return None
    if any(names(each) & body.atoms.keys() for factor in factors if factor is not None for each in factor.expressions):
        return None
    plain = all(each.first == ZERO and str(each.stop) in body.uniforms for each in fold.ranges)
    tensors = {each.tensor for each in factors if isinstance(each, Read)}
    return (fold, rest) if plain and len(tensors) == 2 and not tensors & (body.integers | body.tables.keys()) else None


def _has_fold(body: Compute, tree: Expr) -> bool:
    return any(isinstance(body.atoms.get(name), Fold) for name in names(tree))


def _plain(body: Compute, read: Read) -> list[str] | None:
    """The variables that the indices are, if each is another one and inside: that is sure, or what is computed by a
    product in the calls in which it is so."""
    found = [body.index(each).plain for each in read.indices]
    known = [each for each in found if each is not None]
    rule = body.outside.get(read.tensor, Border.ERROR)
    sure = rule in (Border.ERROR, Border.SKIP) or all(body.is_inside(read, dim) for dim in range(len(found)))
    return known if len(known) == len(found) == len(set(known)) and sure and not body.optional & {read.tensor} else None


def _uses(body: Compute, read: Read, variable: str) -> bool:
    return any(body.depends(each, variable) for each in read.indices)


def _before(body: Compute, fold: Fold, rest: Expr | None, a: Read, b: Read, rows_last: bool) -> Contraction | None:
    """The other matrix is packed before."""
    plain = _plain(body, a)
    if plain is None:
        return None
    ranges = [each.name for each in fold.ranges]
    batch = tuple(name for name in plain if name in body.names and _uses(body, b, name))
    rows = tuple(name for name in plain if name in body.names and name not in batch)
    columns = tuple(name for name in body.names if name not in plain)
    tail = plain
    while tail and (tail[0] in batch or (tail[0] in ranges and any(each in batch for each in tail))):
        tail = tail[1:]
    if plain and plain[0] in ranges and not batch and body.flat:
        tail = plain[1:]
    steps = tuple(name for name in plain[: len(plain) - len(tail)] if name in ranges)
    inner = tuple(name for name in tail if name in ranges)
    complete = set(steps) | set(inner) == set(ranges) and rows and inner and columns
    conditions = fold.condition is None or not any(body.depends(fold.condition, name) for name in rows)
    if not complete or not conditions or (rows_last and batch):
        return None
    if body.names != ((*columns, *rows) if rows_last else (*batch, *rows, *columns)):
        return None
    if tuple(tail) not in ((*rows, *inner), (*inner, *rows)):
        return None
    if not all(_uses(body, b, name) for name in columns):
        return None
    prefix = (*batch, *steps)
    return Contraction(
        a=a.tensor,
        b=b.tensor,
        batch=batch,
        steps=steps,
        rows=rows,
        inner=inner,
        columns=columns,
        transposed=tuple(tail) != (*rows, *inner),
        rows_last=rows_last,
        packed=(_pack(body, fold, b, (*prefix, *inner, *columns)), _pack(body, fold, b, (*prefix, *columns, *inner))),
        gather=None,
        rest=None if rest is None else _rest(body, rest),
        dense=_dense(body, fold, b, prefix, inner, columns, rows_last),
        b_rank=0,
    )


def _pack(body: Compute, fold: Fold, read: Read, variables: Sequence[str]) -> Compute:
    """The elements of a tensor by all variables that there are, zero where the sum leaves them out."""
    atoms = Atoms()
    name = Name(atoms.name(read))
    rule = body.outside.get(read.tensor)
    if fold.condition is not None or rule is Border.SKIP:
        name = Name(atoms.name(Fold("sum", name, (Range("_one", ZERO, ONE),), fold.condition)))
    sizes = dict(body.variables)
    ranges = {each.name: each.stop for each in fold.ranges}
    return replace(
        body,
        variables=tuple(
            (each, sizes[each] if each in sizes else Size(_geometry(body, ranges[each]))) for each in variables
        ),
        results=(replace(body.results[0], tree=name),),
        atoms=MappingProxyType(atoms.named),
    )


def _geometry(body: Compute, stop: Expr) -> Geometry:
    assert isinstance(stop, Name)
    return body.uniforms[stop.name]


def _rest(body: Compute, rest: Expr) -> Compute:
    return replace(body, results=(replace(body.results[0], tree=rest),))


def _dense(
    body: Compute,
    fold: Fold,
    read: Read,
    prefix: Sequence[str],
    inner: Sequence[str],
    columns: Sequence[str],
    rows_last: bool,
) -> tuple[tuple[int, str, Expr], ...] | None:
    """The dimensions of a tensor and the variables that they are, if it may be the other matrix itself."""
    if fold.condition is not None:
        return None
    found: list[tuple[int, str, Expr]] = []
    for dim, tree in enumerate(read.indices):
        index = body.index(tree)
        if index.affine is None or index.divisor != ONE:
            return None
        used = index.affine.variables
        main = next((name for name in used if name in (*prefix, *columns)), used[0] if used else None)
        if main is None:
            return None
        found.append((dim, main, tree))
    mains = [main for _, main, _ in found]
    rows = [name for name in inner if name in mains]
    wanted = [*prefix, *columns, *rows] if rows_last else [*prefix, *rows, *columns]
    return tuple(found) if mains == wanted else None


def _after(body: Compute, fold: Fold, rest: Expr | None, a: Read, b: Read, rows_last: bool) -> Contraction | None:
    """The result is gathered from the product afterwards."""
    plain = _plain(body, a)
    if plain is None or rest is not None or body.flat:
        return None
    ranges = [each.name for each in fold.ranges]
    batch = tuple(name for name in plain if name in body.names and _uses(body, b, name))
    if tuple(plain[: len(batch)]) != batch or body.names[: len(batch)] != batch:
        return None
    tail = plain[len(batch) :]
    others = [body.index(each).plain for each in b.indices]
    if tuple(others[: len(batch)]) != batch:
        return None
    beside = others[len(batch) :]
    count = 0
    for n in range(1, 1 + min(len(tail), len(beside))):
        if set(tail[:n]) <= set(ranges) and (beside[-n:] if rows_last else beside[:n]) == tail[:n]:
            count = n
    inner, rows = tuple(tail[:count]), tuple(tail[count:])
    kept = [name for name in rows if name in ranges]
    summed = set(ranges) == {*inner, *kept}
    clean = fold.condition is None or not any(body.depends(fold.condition, name) for name in inner)
    places = b.indices[:-count] if rows_last else b.indices[len(batch) + count :]
    if not inner or not kept or not summed or not clean or not places or (rows_last and batch):
        return None
    if any(body.depends(each, name) for each in places for name in inner):
        return None
    return Contraction(
        a=a.tensor,
        b=b.tensor,
        batch=batch,
        steps=(),
        rows=rows,
        inner=inner,
        columns=(),
        transposed=True,
        rows_last=rows_last,
        packed=None,
        gather=_gather(body, fold, b, rows, places, [each for each in fold.ranges if each.name in kept], rows_last),
        rest=None,
        dense=None,
        b_rank=len(places),
    )


def _gather(
    body: Compute,
    fold: Fold,
    b: Read,
    rows: Sequence[str],
    places: Sequence[Expr],
    ranges: Sequence[Range],
    rows_last: bool,
) -> Compute:
    """The sum over rows of the product, which stands in the place of `b`."""
    atoms = Atoms()
    condition = None if fold.condition is None else Carrier(body.atoms, atoms)(fold.condition, {})
    of_rows = tuple(map(Name, rows))
    read = Read(b.tensor, (*places, *of_rows) if rows_last else (*of_rows, *places), False)
    tree = Name(atoms.name(Fold("sum", Name(atoms.name(read)), tuple(ranges), condition)))
    return replace(
        body,
        results=(replace(body.results[0], tree=tree),),
        atoms=MappingProxyType(atoms.named),
        tensors=MappingProxyType({b.tensor: len(read.indices)}),
        outside=MappingProxyType({b.tensor: body.outside.get(b.tensor, Border.SKIP)}),
    )
