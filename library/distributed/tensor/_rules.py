"""Rules of sharding: at which placements an operator can be computed part by part.

They follow from the rule of dimensions that each operator has (_dispatch/rules.py) and from the arguments of which it
is a linear function: a dimension that an element of the result is of alone may be sharded; the terms of a sum may be on
several processes, if what is done with them is linear. A rule yields strategies for one dimension of a mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from ... import _operators as ops
from ..._base.dtypes import EXPORTS
from ..._base.pytree import flatten
from ..._base.tensor_class import Tensor
from ..._dispatch.infer import infer
from ..._dispatch.op import NEW, Op
from ..._dispatch.rules import BATCH, Letters, Signature, dimensions, signature
from ..._dispatch.rules import tensors as places_of_tensors
from ..._representations.named.dimensions import reduced
from ._call import REPLICATE, SUM, Call, Strategy, replicated, sharded
from ._views import moves
from .placement_types import Partial, Placement, Shard

__all__ = ["has_rule", "strategies"]

_LEADING = "batch"
"""The letters of dimensions before a tensor's own, with a number that counts them from the last."""
_PART = frozenset({"length", "start", "step", "index"})
"""Names of arguments that say which part of a dimension a view has."""
_MASKS = (EXPORTS["bool"], EXPORTS["uint8"])

Rule: TypeAlias = Callable[[Call], Iterator[Strategy]]


def strategies(call: Call) -> Iterator[Strategy]:
    """Yield the strategies of a call along one dimension of a mesh; in the first one each process computes all."""
    yield replicated(call)
    rule = _rule(call.op)
    if rule is not None:
        yield from rule(call)
        yield from linear(call)


def has_rule(call: Call) -> bool:
    """Return whether an operator has strategies besides that in which each process computes all."""
    return _rule(call.op) is not None


def _rule(op: Op) -> Rule | None:
    if op.is_composite and "device" in op.names:
        return make
    found = signature(op.rule)
    return partial(by_letters, found) if found is not None else _WORDS.get(op.rule or "")


def linear(call: Call) -> Iterator[Strategy]:
    """Sums of terms, of which a linear function is the sum of those of the terms."""
    for group in call.groups:
        if call.is_linear_group(group):
            inputs = [SUM if place in group else REPLICATE for place in call.argument_places]
            yield Strategy(tuple(inputs), (SUM,) * len(call.results))


# ---- tensors that are broadcast together ---------------------------------------------------------------------


def unify(call: Call) -> Iterator[Strategy]:
    """Elementwise operators, and others of tensors that are broadcast."""
    shape = call.results[0].shape if call.results else ()
    if any(result.shape != shape for result in call.results):
        return
    for dim, size in enumerate(shape):
        if size > 1:
            dims = [_aligned(tensor, dim - len(shape), size) for tensor in call.tensors]
            yield sharded(call, dims, [Shard(dim)] * len(call.results))


def _aligned(tensor: Any, from_end: int, size: int) -> int | None:
    """The dimension of a tensor that is broadcast to one of the result; None: the tensor is the same along it."""
    dim = tensor.ndim + from_end
    return dim if dim >= 0 and tensor.shape[dim] == size else None


def keep(call: Call) -> Iterator[Strategy]:
    """Operators along dimensions that they name, or of no other than all alike."""
    target = call.target
    named = _named(call, target.ndim)
    if any(tensor.shape != target.shape for tensor in call.tensors):
        return
    for dim, size in enumerate(target.shape):
        if dim not in named and _all_have(call.results, target.ndim, dim, size):
            yield call.alike(Shard(dim))


def _all_have(tensors: Iterable[Any], ndim: int, dim: int, size: int) -> bool:
    return all(tensor.ndim == ndim and tensor.shape[dim] == size for tensor in tensors)


def _named(call: Call, ndim: int) -> set[int]:
    """The dimensions that arguments name."""
    found: set[int] = set()
    for place in dimensions(call.op):
        value = call.args[place]
        if value is None:
            return set(range(ndim))
        found.update(each % max(ndim, 1) for each in (value if isinstance(value, (list, tuple)) else [value]))
    return found


# ---- reductions and rows -------------------------------------------------------------------------------------


def reduce(call: Call) -> Iterator[Strategy]:
    """Reductions, whose results lack some dimensions, and operators of rows, whose results have all of them."""
    shape = call.tensors[0].shape
    over = set(reduced(call.op, call.args, len(shape)))
    shared = {call.place(name) for name in call.op.shared if call.argument(name) is not None}
    for dim, size in enumerate(shape):
        if dim in over:
            yield from _combined(call, dim, size)
            continue
        dims = [None if place in shared else _same(tensor, dim, shape) for place, tensor in enumerate(call.tensors)]
        if all(place in shared or each is not None for place, each in enumerate(dims)):
            results = [_result(call, each, dim, shape, over) for each in call.results]
            if None not in results:
                yield sharded(call, dims, [each for each in results if each is not None])


def _same(tensor: Any, dim: int, shape: Sequence[int]) -> int | None:
    return dim if tensor.ndim == len(shape) and tensor.shape[dim] == shape[dim] else None


def _result(call: Call, result: Any, dim: int, shape: Sequence[int], over: set[int]) -> Placement | None:
    """The placement of a result where a dimension that is not reduced is sharded; None: there is none."""
    if result.ndim == len(shape) and result.shape[dim] == shape[dim]:
        return Shard(dim)
    if call.op.sums_rows and result.ndim <= len(over):
        return SUM  # of all rows
    if result.ndim == len(shape) - len(over):
        return Shard(dim - sum(each < dim for each in over))
    return None


def _combined(call: Call, dim: int, size: int) -> Iterator[Strategy]:
    """The reduction of parts along a dimension that it is over."""
    word = call.op.combine
    each = -(-size // call.processes)
    is_full = each * (call.processes - 1) < size
    if word in ("sum", "product") or (word == "avg" and call.is_even(size)) or (word in ("max", "min") and is_full):
        yield Strategy((Shard(dim),), (Partial(word),))


# ---- signatures ----------------------------------------------------------------------------------------------


def by_letters(rule: Signature, call: Call) -> Iterator[Strategy]:
    """Operators with a signature. A dimension of the results that is one of tensors may be sharded; one of several
    tensors that no result has is that of a sum, whose terms may be sharded, as one before a tensor's own is."""
    tensors = _letters_of(rule.inputs, call)
    results = [_dims(letters, result.ndim) for letters, result in zip(rule.results, call.results, strict=False)]
    if tensors is None or None in results or len(results) != len(call.results):
        return
    found = [each for each in results if each is not None]
    for letter in dict.fromkeys(letter for letters in (*tensors, *found) for letter in letters):
        if letter.isupper():
            continue
        dims = [letters.index(letter) if letters.count(letter) == 1 else None for letters in tensors]
        dims = [None if dim is not None and tensor.shape[dim] == 1 else dim
                for dim, tensor in zip(dims, call.tensors, strict=True)]  # fmt: skip
        if all(dim is None for dim in dims):
            continue  # of a result alone: its elements depend on where it begins
        if all(letters.count(letter) == 1 for letters in found):
            yield sharded(call, dims, [Shard(letters.index(letter)) for letters in found])
        elif any(letter in letters for letters in found):
            continue
        elif letter.startswith(_LEADING) or sum(dim is not None for dim in dims) > 1:
            yield from _terms(call, dims)


def _terms(call: Call, dims: Sequence[int | None]) -> Iterator[Strategy]:
    """Sums over a dimension that is sharded."""
    having = {place for place, dim in zip(call.argument_places, dims, strict=True) if dim is not None}
    for group in call.groups:
        if group & having and call.is_linear_group(group):
            inputs = [
                Shard(dim) if dim is not None else SUM if place in group else REPLICATE
                for place, dim in zip(call.argument_places, dims, strict=True)
            ]
            yield Strategy(tuple(inputs), (SUM,) * len(call.results))


def _letters_of(inputs: Sequence[Letters], call: Call) -> list[Letters] | None:
    """The letters of the dimensions of each tensor; None: they do not fit."""
    given = [
        (letters, call.args[place])
        for letters, place in zip(inputs, places_of_tensors(call.op), strict=False)
        if call.args[place] is not None
    ]
    found = [_dims(letters, tensor.ndim) for letters, tensor in given]
    if None in found or len(found) != len(call.tensors):
        return None
    return [each for each in found if each is not None]


def _dims(letters: Letters, ndim: int) -> Letters | None:
    """A letter for each dimension: those before a tensor's own are counted from the last of them."""
    own = tuple([each for each in letters if each != BATCH])
    if len(own) > ndim:
        own = tuple([each for each in own if not each.endswith("?")])
    own = tuple([each.rstrip("?") for each in own])[-ndim:] if ndim else ()  # fewer where a tensor is broadcast
    leading = ndim - len(own)
    if leading < 0 or (leading and BATCH not in letters):
        return None
    return (*(f"{_LEADING}{index}" for index in range(leading, 0, -1)), *own)


# ---- views, lists, indices -----------------------------------------------------------------------------------


def view(call: Call) -> Iterator[Strategy]:
    """Views: a dimension that is one of the view, the first of those that are merged to one, or the one of which the
    first of several is made."""
    if len(call.tensors) != 1 or not call.results or "stride" in call.op.names:
        return
    source = call.target
    probe = ops.empty(source.shape, device="meta")
    described = infer(call.op, [probe if value is source else value for value in call.args], None, NEW)
    seen = [each for each in flatten(described)[0] if isinstance(each, Tensor)]
    if [each.shape for each in seen] != [each.shape for each in call.results]:
        return
    named = _named(call, source.ndim) if _PART.intersection(call.op.names) else set()
    found = [list(moves(probe.shape, probe.stride(), each.shape, each.stride())) for each in seen]
    for dim, place, needs_even in found[0]:
        is_even = call.is_even(source.shape[dim]) and call.is_even(seen[0].shape[place])
        if dim not in named and (not needs_even or is_even) and all((dim, place, needs_even) in each for each in found):
            yield Strategy((Shard(dim),), (Shard(place),) * len(seen))


def join(call: Call) -> Iterator[Strategy]:
    """Tensors of a list along a dimension: they may be sharded along others."""
    ndim = call.results[0].ndim if call.results else 0
    first = call.tensors[0]
    stacks = ndim - first.ndim
    if not stacks and any(tensor.ndim != ndim for tensor in call.tensors):
        return
    named = _named(call, ndim)
    for dim in range(ndim):
        if dim not in named:
            own = dim - (1 if stacks and min(named) < dim else 0)
            yield Strategy((Shard(own),) * len(call.tensors), (Shard(dim),) * len(call.results))


def gather(call: Call) -> Iterator[Strategy]:
    """Operators of a dimension and an index of as many dimensions as the tensor."""
    target = call.target
    named = _named(call, target.ndim)
    for dim, size in enumerate(target.shape):
        if dim not in named and _all_have((*call.tensors, *call.results), target.ndim, dim, size):
            yield call.alike(Shard(dim))


def at(call: Call) -> Iterator[Strategy]:
    """Operators of a dimension and an index of one dimension: the tensors may be sharded along others."""
    target = call.target
    named = _named(call, target.ndim)
    for dim, size in enumerate(target.shape):
        dims = [
            dim if tensor.ndim == target.ndim and tensor.shape[dim] == size and not _is_index(tensor, target) else None
            for tensor in call.tensors
        ]
        if dim not in named and _all_have(call.results, target.ndim, dim, size):
            yield sharded(call, dims, [Shard(dim)] * len(call.results))


def _is_index(tensor: Any, target: Any) -> bool:
    return tensor is not target and tensor.ndim == 1


def make(call: Call) -> Iterator[Strategy]:
    """Operators that make a tensor like another one, of which they read no element."""
    if len(call.tensors) != 1:
        return
    is_alike = all(result.shape == call.target.shape for result in call.results)
    yield Strategy((SUM,), (REPLICATE,) * len(call.results))
    for dim in range(call.target.ndim):
        yield call.alike(Shard(dim)) if is_alike else Strategy((Shard(dim),), (REPLICATE,) * len(call.results))


def index(call: Call) -> Iterator[Strategy]:
    """A tensor at the positions that tensors say: it may be sharded along dimensions that none of them is for."""
    target, given = call.target, call.argument("indices")
    indices = [each for each in given if each is not None]
    if not indices or len(call.tensors) > len(indices) + 1 or any(each.dtype in _MASKS for each in indices):
        return
    used = [dim for dim, each in enumerate(given) if each is not None]
    broadcast = max(each.ndim for each in indices)
    is_together = used == list(range(used[0], used[-1] + 1))
    first = used[0] if is_together else 0
    for dim in range(target.ndim):
        if dim not in used:
            place = dim if dim < first else dim - sum(each < dim for each in used) + broadcast
            dims = [dim if tensor is target else None for tensor in call.tensors]
            yield sharded(call, dims, [Shard(place)])


_WORDS: Mapping[str, Rule] = {
    "at": at,
    "gather": gather,
    "index": index,
    "join": join,
    "keep": keep,
    "make": make,
    "reduce": reduce,
    "roll": keep,
    "unify": unify,
    "view": view,
}
