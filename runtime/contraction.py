"""Sums of products over shared dimensions, for the composites `einsum` and `tensordot`.

Two operands at a time are arranged as batches of matrices, without a copy where their memory order allows it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

from ._C import lib
from .dispatch import OUT
from .errors import raise_pending
from .handles import operator_index
from .shapes import wrap_dim
from .subscripts import Labels, labels_of

__all__ = ["contracted", "contracted_dims"]

_MV, _MUL = operator_index("mv"), operator_index("mul")
_MOST_COLUMNS = 8
_MOST_VECTOR_PRODUCTS = 256
"""So many products of matrices with a vector are made one by one rather than copying an operand into another order."""


def contracted(equation: Any, operands: Sequence[Any]) -> Any:
    """What the subscripts say; the pairs are contracted in the order that `opt_einsum` finds, if it is installed."""
    tensors, labels, output = labels_of(equation, operands)
    sizes = _sizes(tensors, labels)
    terms = [_prepared(tensor, each, sizes) for tensor, each in zip(tensors, labels, strict=True)]
    for first, second in _path(terms, output):
        right, left = terms.pop(second), terms.pop(first)
        kept = {*output, *(label for _, each in terms for label in each)}
        terms.append(_pair(left, right, kept, output))
    tensor, have = _summed(terms[0], set(output))
    tensor = tensor.permute([have.index(label) for label in output if label in have])
    for place, label in enumerate(output):
        if label not in have:
            tensor = tensor.unsqueeze(place)
    shape = [sizes[label] for label in output]
    return tensor if list(tensor.shape) == shape else tensor.expand(shape)


def _sizes(tensors: Sequence[Any], labels: Sequence[Labels]) -> dict[Any, int]:
    """The extent of each label; dimensions of size one broadcast."""
    sizes: dict[Any, int] = {}
    for place, (tensor, each) in enumerate(zip(tensors, labels, strict=True)):
        own: dict[Any, int] = {}
        for label, size in zip(each, tensor.shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {place} but the sizes don't match, "
                    f"{size} != {own[label]}"
                )
            known = sizes.get(label, 1)
            if size != known and 1 not in (size, known):
                what = f"subscript {label}" if isinstance(label, str) else "the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {size} for operand {place} which does not broadcast with previously "
                    f"seen size {known}"
                )
            sizes[label] = known if size == 1 else size
    return sizes


def _prepared(tensor: Any, labels: Labels, sizes: dict[Any, int]) -> tuple[Any, Labels]:
    """With every label once, and none for a dimension that broadcasts."""
    labels = list(labels)
    place = 0
    while place < len(labels):
        label = labels[place]
        if label in labels[:place]:
            first = labels.index(label)
            tensor = tensor.diagonal(0, first, place)
            labels = [*labels[:first], *labels[first + 1 : place], *labels[place + 1 :], label]
            place = 0
        elif tensor.size(place) == 1 and sizes[label] != 1:
            tensor = tensor.squeeze(place)
            del labels[place]
        else:
            place += 1
    return tensor, labels


def _path(terms: Sequence[tuple[Any, Labels]], output: Labels) -> list[tuple[int, int]]:
    """Pairs of places, lower first; a result goes to the end."""
    count = len(terms)
    if count > 2:
        try:
            opt_einsum = importlib.import_module("opt_einsum")
        except ImportError:
            pass
        else:
            every = list(dict.fromkeys(label for _, labels in terms for label in labels))
            symbol = {label: opt_einsum.get_symbol(place) for place, label in enumerate(every)}
            texts = ["".join(symbol[label] for label in labels) for _, labels in terms]
            result = "".join(symbol[label] for label in output if label in symbol)
            shapes = [tuple(tensor.shape) for tensor, _ in terms]
            found = opt_einsum.contract_path(f"{','.join(texts)}->{result}", *shapes, shapes=True)[0]
            if all(len(pair) == 2 for pair in found):
                return [(min(pair), max(pair)) for pair in found]
    # From left to right: the result so far is last, the next operand first.
    return [(0, 1 if place == 0 else count - 1 - place) for place in range(count - 1)]


def _summed(term: tuple[Any, Labels], kept: set[Any]) -> tuple[Any, Labels]:
    """Without the dimensions that nothing else refers to."""
    tensor, labels = term
    dims = [place for place, label in enumerate(labels) if label not in kept]
    if dims:
        tensor = tensor.sum(dims, dtype=tensor.dtype)
    return tensor, [label for label in labels if label in kept]


def _pair(left: tuple[Any, Labels], right: tuple[Any, Labels], kept: set[Any], output: Labels) -> tuple[Any, Labels]:
    # Rows come before columns in the result: the operand whose dimensions it has first gives the rows.
    order = [label for label in output if (label in left[1]) != (label in right[1])]
    if order and order[0] in right[1]:
        left, right = right, left
    a, a_labels = _summed(left, kept | set(right[1]))
    b, b_labels = _summed(right, kept | set(left[1]))
    common = [label for label in a_labels if label in b_labels]
    inner = [label for label in common if label not in kept]
    if not inner:
        return _product(a, a_labels, b, b_labels)
    batch = [label for label in common if label in kept]
    rows = [label for label in a_labels if label not in common]
    columns = [label for label in b_labels if label not in common]
    if not batch and not columns and len(b_labels) == len(inner):
        found = _by_vector(a, a_labels, b, b_labels, inner)
        if found is not None:
            return found, rows
    if not batch and not rows:
        found = _by_vector(b, b_labels, a, a_labels, inner)
        if found is not None:
            return found, columns
    shapes = [[t.size(labels.index(label)) for label in group]
              for t, labels, group in ((a, a_labels, batch), (a, a_labels, rows), (b, b_labels, columns))]  # fmt: skip
    many, width = math.prod(shapes[0]), math.prod([a.size(a_labels.index(label)) for label in inner])
    matrices = a.permute([a_labels.index(label) for label in (*batch, *rows, *inner)])
    others = b.permute([b_labels.index(label) for label in (*batch, *inner, *columns)])
    if batch:
        matrices = matrices.reshape(many, math.prod(shapes[1]), width)
        result = matrices.bmm(others.reshape(many, width, math.prod(shapes[2])))
    else:
        result = matrices.reshape(math.prod(shapes[1]), width).mm(others.reshape(width, math.prod(shapes[2])))
    return result.view([*shapes[0], *shapes[1], *shapes[2]]), [*batch, *rows, *columns]


def _product(a: Any, a_labels: Labels, b: Any, b_labels: Labels) -> tuple[Any, Labels]:
    """Nothing is summed: a product with broadcasting."""
    labels = [*a_labels, *(label for label in b_labels if label not in a_labels)]
    for _ in range(len(labels) - len(a_labels)):
        a = a.unsqueeze(-1)
    b = b.permute([b_labels.index(label) for label in labels if label in b_labels])
    for place, label in enumerate(labels):
        if label not in b_labels:
            b = b.unsqueeze(place)
    return a * b, labels


def _by_vector(a: Any, labels: Labels, b: Any, b_labels: Labels, inner: Labels) -> Any:
    """All of `b` is summed over: products of matrices with one vector, where the memory of `a` holds such matrices.

    None where it does not: then the general way is no slower.
    """
    places = [labels.index(label) for label in inner]
    first, last = min(places), max(places)
    if last - first != len(inner) - 1 or not a.is_contiguous():
        return None
    vector = b.permute([b_labels.index(label) for label in labels[first : last + 1]]).reshape(-1)
    shape = a.shape
    outer, behind = math.prod(shape[:first]), math.prod(shape[last + 1 :])
    if behind == 1:
        return a.reshape(outer, len(vector)).mv(vector).view([*shape[:first], *shape[last + 1 :]])
    if outer > _MOST_VECTOR_PRODUCTS or a.dtype is not b.dtype or not a.dtype.is_floating_point or a.itemsize < 4:
        return None
    result = a.new_empty((outer, behind))
    matrices = a.view(outer, len(vector), behind).transpose(1, 2)
    for place in range(outer):
        _product_with_vector(matrices.select(0, place), vector, result.select(0, place))
    return result.view([*shape[:first], *shape[last + 1 :]])


def _product_with_vector(matrix: Any, vector: Any, out: Any) -> None:
    """Few long columns are added up one after the other, while the sums are in the cache; BLAS packs them first."""
    width = len(vector)
    if not 0 < width <= _MOST_COLUMNS:
        _call_out(_MV, matrix, vector, out)
        return
    columns, factors = matrix.unbind(1), vector.unbind(0)
    _call_out(_MUL, columns[0], factors[0], out)
    for column, factor in zip(columns[1:], factors[1:], strict=True):
        out.addcmul_(column, factor)


def _call_out(op: int, a: Any, b: Any, out: Any) -> None:
    if not lib.call(op, a._h, b._h, 0.0, 0.0, 0.0, 0.0, out._h, OUT):
        raise_pending()


def contracted_dims(a: Any, b: Any, dims: Any) -> Any:
    """The sum of products over pairs of dimensions: the last ones of `a` and the first ones of `b`, or two lists."""
    if hasattr(dims, "_h"):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        pairs: Sequence[Any] = (list(range(-dims, 0)), list(range(dims)))
    elif not isinstance(dims, (list, tuple)) or len(dims) != 2:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims}"
        )
    else:
        pairs = [[each] if isinstance(each, int) else list(each) for each in dims]
    if len(pairs[0]) != len(pairs[1]):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    left, right = ([wrap_dim(dim, t.ndim) for dim in each] for t, each in zip((a, b), pairs, strict=True))
    for first, second, shown in zip(left, right, zip(*pairs, strict=True), strict=True):
        if a.size(first) != b.size(second) and 1 not in (a.size(first), b.size(second)):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.size(first)} in dim {shown[0]} and second "
                f"has size {b.size(second)} in dim {shown[1]}"
            )
    labels = [chr(256 + dim) for dim in range(a.ndim)]
    others = [chr(512 + dim) for dim in range(b.ndim)]
    for first, second in zip(left, right, strict=True):
        others[second] = labels[first]
    output = [label for label in (*labels, *others) if (label in labels) != (label in others)]
    sizes = _sizes((a, b), (labels, others))
    found, have = _pair(_prepared(a, labels, sizes), _prepared(b, others, sizes), set(output), output)
    return found.permute([have.index(label) for label in output])
