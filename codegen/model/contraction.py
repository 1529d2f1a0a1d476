"""Sums of products as products of matrices, whose elements are read where they lie.

In  sum(weight[o, c, i, j] * self[n, c, y + i, x + j] for c … for i … for j …)  the weights are a matrix of rows o and
columns (c, i, j), and the elements of `self` that belong to one n one of rows (c, i, j) and columns (y, x). Indices are
affine, so each variable leads from element to element by the same step, and matrices need not be made.

Where indices are divided or elements left out, as in the gradient by `self`,

    sum(weight[o, c, i, j] * grad[n, o, y - i, x - j] for o … for i … for j …)

the product comes first, over o, and the sum over i and j gathers from its rows (c, i, j) afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from types import MappingProxyType

from ..expr import Apply, Expr, Name, names
from ..expr.affine import ONE, ZERO
from ..expr.atoms import Atoms, Carrier, Fold, Range, Read
from .compute import MAX_VARIABLES, Border, Compute
from .margins import margins


@dataclass(frozen=True)
class Contraction:
    """The product of two matrices, for each position of the outer variables. Columns are the last variables of the
    product, and rows those before them."""

    left: Read
    right: Read
    outer: tuple[str, ...]
    rows: tuple[str, ...]
    """Variables of the left matrix alone."""
    columns: tuple[str, ...]
    """Variables of the right matrix alone."""
    inner: tuple[str, ...]
    rest: Compute | None = None
    """The computation whose result is added to the sum."""
    gather: Compute | None = None
    """The computation that gathers the result from the product."""
    source: str = ""
    """The tensor in the place of which it reads the product."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Variables of the product, by the dimensions of the source that they run over."""


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
    for a, b in ((left, right), (right, left)):
        made = _direct(body, fold, rest, a, b)
        if made is not None:
            return made
    for rows_last in (False, True):
        for a, b in ((left, right), (right, left)):
            made = _after(body, fold, rest, a, b, rows_last)
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


def _direct(body: Compute, fold: Fold, rest: Expr | None, left: Read, right: Read) -> Contraction | None:
    """The product is the sum."""
    last = tuple(takewhile(lambda name: _is_of(body, name, right, left), reversed(body.names)))[::-1]
    before = body.names[: len(body.names) - len(last)]
    rows = tuple(takewhile(lambda name: _is_of(body, name, left, right), reversed(before)))[::-1]
    reads = all(_is_affine(body, each) for each in (left, right))
    if not (last and rows and reads) or fold.condition is not None:
        return None
    return Contraction(
        left=left,
        right=right,
        outer=before[: len(before) - len(rows)],
        rows=rows,
        columns=last,
        inner=tuple(each.name for each in fold.ranges),
        rest=None if rest is None else replace(body, results=(replace(body.results[0], tree=rest),)),
    )


def _is_of(body: Compute, variable: str, one: Read, other: Read) -> bool:
    return _uses(body, one, variable) and not _uses(body, other, variable)


def _uses(body: Compute, read: Read, variable: str) -> bool:
    return any(body.depends(each, variable) for each in read.indices)


def _is_affine(body: Compute, read: Read) -> bool:
    """Return True if steps of variables are steps in memory, of the tensor or of a copy with margins. What is left out
    outside of a tensor is no zero, which makes infinity undefined: that is so only in calls in which all is inside."""
    found = [body.index(each) for each in read.indices]
    leaves_out = body.outside.get(read.tensor) is Border.SKIP
    has_margins = read.tensor in margins(body) and not leaves_out
    inside = (
        has_margins or body.is_sure(read, dim) or (leaves_out and each.plain is not None)
        for dim, each in enumerate(found)
    )
    return (
        all(each.affine is not None and each.divisor == ONE for each in found)
        and all(inside)
        and not (body.optional & {read.tensor})
    )


def _plain(body: Compute, read: Read) -> list[str] | None:
    """The variables that the indices are, if each is another one and inside: that is sure, or what is computed by a
    product in the calls in which it is so."""
    found = [body.index(each).plain for each in read.indices]
    known = [each for each in found if each is not None]
    rule = body.outside.get(read.tensor, Border.ERROR)
    sure = rule in (Border.ERROR, Border.SKIP) or all(body.is_inside(read, dim) for dim in range(len(found)))
    return known if len(known) == len(found) == len(set(known)) and sure and not body.optional & {read.tensor} else None


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
    first = 0 if rows_last else len(batch) + count
    dims = {f"_at{dim}": dim for dim in range(first, first + len(places))}
    if len(plain) + len(dims) > MAX_VARIABLES:
        return None
    at = tuple(map(Name, dims))
    product = replace(b, indices=(*at, *b.indices[-count:]) if rows_last else (*b.indices[:first], *at))
    return Contraction(
        left=product if rows_last else a,
        right=a if rows_last else product,
        outer=batch,
        rows=tuple(dims) if rows_last else rows,
        columns=rows if rows_last else tuple(dims),
        inner=inner,
        gather=_gather(body, fold, b, rows, places, [each for each in fold.ranges if each.name in kept], rows_last),
        source=b.tensor,
        places=dims,
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
    read = Read(b.tensor, (*places, *of_rows) if rows_last else (*of_rows, *places), b.batched)
    tree = Name(atoms.name(Fold("sum", Name(atoms.name(read)), tuple(ranges), condition)))
    return replace(
        body,
        results=(replace(body.results[0], tree=tree),),
        atoms=MappingProxyType(atoms.named),
        tensors=MappingProxyType({b.tensor: len(read.indices)}),
        outside=MappingProxyType({b.tensor: body.outside.get(b.tensor, Border.SKIP)}),
    )
