"""The handler of the dispatch key `distributed`: each process computes the parts of results from the parts of tensors.

A distributed tensor is described: it has the dtype, sizes and strides of the whole, and `Part` as its payload. A call
is computed at the placements that need the fewest bytes from other processes; what has no rule is computed by each
process from all elements, with a warning that names it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from ..._autograd.engine import current_pass
from ..._base.handles import shape_of, strides_of, tensors_in
from ..._base.pytree import tree_map
from ..._base.tensor_class import Tensor
from ..._C import lib
from ..._dispatch.dispatcher import redispatch, register
from ..._dispatch.infer import infer
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from ..._dispatch.strided_views import view_inplace
from ..device_mesh import DeviceMesh
from ._call import REPLICATE, Call, Strategy
from ._parts import KEY, full, is_distributed, made, moved, part_of, spread, store, view_of, written_to
from ._rules import has_rule, strategies
from ._spec import Part, extents
from .placement_types import Partial, Placement, Shard

_ABOVE = "python"
"""The key below which the parts of processes are computed: they may be conjugates, or on devices."""
_SIZES = ("size", "shape")
"""Names of arguments that are the sizes of the result."""


# ---- calls ---------------------------------------------------------------------------------------------------


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The handler of the key."""
    if op.is_decomposable and not op.random and "device" not in op.names:
        return _decomposed(op, args, out, mode)
    if out is not None:
        return written(out, handle(op, args, None, NEW))
    mesh = mesh_of(op, args)
    args = all_distributed(op, args, mesh)
    if op.random:
        return _drawn(op, args, mesh, mode)
    if op.view and mode == INPLACE:
        return view_inplace(op, args)
    if op.data_dependent or op.dynamic_shape:
        return _by_each(op, args, mesh, mode)
    try:
        described = infer(op, args, None, mode)
    except NotImplementedError:  # a shape depends on elements, as those of masks
        return _by_each(op, args, mesh, mode)
    call = Call(op, args, described, mesh.size())
    is_inplace = mode == INPLACE or op.is_inplace
    candidates = list(strategies(call))
    chosen = [_cheapest(call, candidates, mesh, mesh_dim, is_inplace) for mesh_dim in range(mesh.ndim)]
    if None in chosen:
        return _overwritten(op, args, mesh, mode)
    return _computed(call, mesh, [each for each in chosen if each is not None], described, mode)


def _decomposed(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The result of a composite, whose body makes tensors that are the same in all processes."""
    all_distributed(op, args, mesh_of(op, [args, out]))
    before, implicit.replicates = implicit.replicates, True
    try:
        return redispatch(op, args, out, mode, below=KEY)
    finally:
        implicit.replicates = before


def mesh_of(op: Op, args: Sequence[Any]) -> DeviceMesh:
    meshes = [part_of(each).mesh for each in tensors_in(args) if is_distributed(each)]
    for other in meshes[1:]:
        if other is not meshes[0] and other != meshes[0]:
            raise RuntimeError(
                f"{op.name}(): tensors are distributed over different meshes, {meshes[0]} and {other}. Bring them "
                "to one by full_tensor() and distribute_tensor()"
            )
    return meshes[0]


def all_distributed(op: Op, args: Sequence[Any], mesh: DeviceMesh) -> list[Any]:
    """The arguments with other tensors as distributed ones: those of one element, and those that bodies of composites
    and formulas of gradients make, are the same in all processes."""

    def each(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [each(item) for item in value]
        if not isinstance(value, Tensor) or is_distributed(value):
            return value
        if value.ndim and value.numel() != 1 and not implicit.replicates and current_pass() is None:
            raise RuntimeError(
                f"{op.name}(): got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
                "calling distributed operators! Please see https://docs.pytorch.org/docs/main/distributed.tensor.html"
                "#mixed-tensor-and-dtensor-operations for more details. Convert them by distribute_tensor(), or call"
                " within distributed.tensor.experimental.implicit_replication()"
            )
        return _replicated(value, mesh)

    return [each(value) for value in args]


class _Implicit(threading.local):
    replicates = False


implicit = _Implicit()
"""Whether tensors that are not distributed count as replicated (`experimental.implicit_replication`)."""


def _computed(call: Call, mesh: DeviceMesh, chosen: Sequence[Strategy], described: Any, mode: int) -> Any:
    """The result of a call at the chosen placements."""
    op = call.op
    wanted = iter(zip(*[strategy.inputs for strategy in chosen], strict=True))
    results = [tuple(each) for each in zip(*[strategy.results for strategy in chosen], strict=True)]
    is_inplace = mode == INPLACE or op.is_inplace
    values = [_local(value, wanted) for value in call.args]
    if results and not is_inplace:
        _localize_sizes(call, values, mesh, results[0])
    computed = redispatch(op, values, None, mode, below=_ABOVE)
    if is_inplace:
        written_to(call.target)
        return call.target
    placements = iter(results)
    is_view = op.view and _is_view(call)

    def whole(pair: tuple[Any, Any]) -> Any:
        like, local = pair
        return _result(call, like, Part(local, mesh, next(placements)), values[op.target] if is_view else None)

    return _paired(op, described, computed, whole)


def _is_view(call: Call) -> bool:
    """Whether a view of the whole is one, and not a copy that its strides ask for."""
    found = redispatch(call.op, call.args, None, NEW, below=KEY)
    first = found[0] if isinstance(found, (list, tuple)) else found
    return bool(lib.storage_of(first._h) == lib.storage_of(call.target._h))


def _result(call: Call, like: Any, part: Part, viewed: Any) -> Any:
    """A result of a call, with the part that was computed: a view of the target, if `viewed` is the part that it was
    computed of."""
    expected, found = extents(like.shape, part.mesh, part.placements)[0], tuple(part.local.shape)
    if call.op.view and found != expected and prod(found) == prod(expected):  # a part of size 1 that was squeezed
        part, found = part._replace(local=part.local.view(expected)), expected
    if found != expected and part.mesh.get_coordinate() is not None:
        raise RuntimeError(
            f"{call.op.name}(): the part of this process should have the sizes {expected} at the placements "
            f"{part.placements} of a tensor with the sizes {tuple(like.shape)}, but it has {found}"
        )
    if viewed is None or part.local.is_conj() != viewed.is_conj():
        part = part._replace(local=part.local.clone()) if call.op.view and viewed is None else part
        return made(part, like.shape, like.stride())
    base = part_of(call.target)
    shares = viewed is base.local and lib.storage_of(part.local._h) == lib.storage_of(viewed._h)
    if not shares or base.view is not None:
        part = part._replace(view=partial(_viewed, call, base.view, like), version=lib.version(call.target._h))
    return view_of(call.target, like, part)


def _viewed(call: Call, view: Callable[[Any], Any] | None, like: Any, whole: Any) -> Any:
    """The view that a call has made, of all elements."""
    target = whole if view is None else view(whole)
    args = [target if value is call.target else value for value in call.args]
    found = redispatch(call.op, args, None, NEW, below=_ABOVE)
    if isinstance(found, (list, tuple)):
        return next(each for each, other in zip(found, call.results, strict=True) if other is like)
    return found


def _paired(op: Op, described: Any, computed: Any, whole: Any) -> Any:
    """The nested results of a call, made of pairs of what describes them and what was computed."""
    if isinstance(described, Tensor):
        return whole((described, computed))
    if not isinstance(described, (list, tuple)):
        return computed
    found = [_paired(op, *pair, whole) for pair in zip(described, computed, strict=True)]
    if isinstance(described, list):
        return found
    return tuple(found) if op.results is None else op.results(tuple(found))


def _local(value: Any, wanted: Any) -> Any:
    """An argument with the parts of this process at the wanted placements in place of tensors."""
    if isinstance(value, (list, tuple)):
        return [_local(each, wanted) for each in value]
    return moved(value, next(wanted)) if isinstance(value, Tensor) else value


def _localize_sizes(call: Call, values: list[Any], mesh: DeviceMesh, placements: Sequence[Placement]) -> None:
    """Put the sizes of this process's part in place of those of the whole result."""
    shape = tuple(call.results[0].shape)
    for place, name in enumerate(call.op.names):
        is_result = name in _SIZES and (call.op.view or "device" in call.op.names)
        is_same = name.endswith("_shape") and tuple(values[place] or ()) == shape
        if isinstance(values[place], (list, tuple)) and (is_result or is_same):
            values[place] = list(extents(shape, mesh, placements)[0])


# ---- the choice of placements --------------------------------------------------------------------------------

_warned: set[str] = set()


def _cheapest(
    call: Call, candidates: Sequence[Strategy], mesh: DeviceMesh, mesh_dim: int, is_inplace: bool
) -> Strategy | None:
    """The candidate along a dimension of a mesh that moves the fewest bytes; None: the target of a call in place would
    have to change its placement."""
    parts = [part_of(each) for each in call.tensors]
    now = [each.placements[mesh_dim] for each in parts]
    size = mesh.size(mesh_dim)
    best: tuple[float, Strategy] | None = None
    target = next((place for place, each in enumerate(call.tensors) if each is call.target), 0) if is_inplace else -1
    for strategy in candidates:
        if is_inplace and (strategy.inputs[target] != now[target] or strategy.results[:1] != (now[target],)):
            continue
        pairs = zip(call.tensors, now, strategy.inputs, strict=True)
        cost = sum(_cost(each, before, after, size) for each, before, after in pairs)
        if best is None or cost < best[0]:
            best = cost, strategy
    if best is not None and best[0] >= 1 and not has_rule(call):
        _warn_of_gathering(call.op)
    return None if best is None else best[1]


def _cost(tensor: Any, before: Placement, after: Placement, processes: int) -> float:
    """The bytes that a process receives when a tensor changes its placement, and less than one where it only copies."""
    if before == after:
        return 0
    nbytes = max(int(tensor.numel() * tensor.dtype.itemsize), 1)
    if isinstance(before, Shard):
        return 1 + nbytes / (processes if isinstance(after, Shard) else 1)
    if isinstance(before, Partial):
        return 1 + 2 * nbytes
    return 0.5 if isinstance(after, Shard) else 0.75


def _warn_of_gathering(op: Op) -> None:
    if op.name not in _warned:
        _warned.add(op.name)
        warnings.warn(
            f"{op.name}() has no rule of sharding: every process gathers its tensors and computes all of its result",
            UserWarning,
            stacklevel=2,
        )


# ---- calls that no part can make -----------------------------------------------------------------------------


def _full_each(args: Sequence[Any]) -> list[Any]:
    def each(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [each(item) for item in value]
        return full(value) if is_distributed(value) else value

    return [each(value) for value in args]


def _by_each(op: Op, args: Sequence[Any], mesh: DeviceMesh, mode: int) -> Any:
    """The result of a call that each process computes from all elements."""
    if mode == INPLACE or op.is_inplace:
        return _overwritten(op, args, mesh, mode)
    result = redispatch(op, _full_each(args), None, mode, below=_ABOVE)
    return tree_map(lambda each: _replicated(each, mesh) if isinstance(each, Tensor) else each, result)


def _replicated(local: Any, mesh: DeviceMesh) -> Any:
    return made(Part(local, mesh, (REPLICATE,) * mesh.ndim), local.shape, local.stride())


def _overwritten(op: Op, args: Sequence[Any], mesh: DeviceMesh, mode: int) -> Any:
    """The target of a call in place, which each process computes from all elements; each keeps its part."""
    target = args[op.target]
    values = _full_each(args)
    if values[op.target] is part_of(target).local:
        values[op.target] = values[op.target].clone()
    redispatch(op, values, None, mode, below=_ABOVE)
    store(target, values[op.target])
    return target


def written(out: Any, result: Any) -> Any:
    """Write a result to tensors that the caller gave."""
    if isinstance(out, (list, tuple)):
        for each, value in zip(out, result, strict=True):
            written(each, value)
        return out
    if not is_distributed(out):
        raise RuntimeError("out= of a call with distributed tensors must be a distributed tensor as well")
    if tuple(out.shape) != tuple(result.shape):
        raise RuntimeError(
            f"out= of a call with distributed tensors must have the sizes {tuple(result.shape)} of the result, but it "
            f"has {tuple(out.shape)}"
        )
    ops.copy_(out, result)
    return out


# ---- random numbers ------------------------------------------------------------------------------------------


def _drawn(op: Op, args: Sequence[Any], mesh: DeviceMesh, mode: int) -> Any:
    """The result of a call that draws random numbers: each process draws those of the whole, and keeps its part, so
    that they are the ones that a single process would draw."""
    is_inplace = mode == INPLACE or op.is_inplace
    target = args[op.target]
    values = [
        _unread(value) if place == op.target and is_distributed(value) and (is_inplace or op.rule == "make") else value
        for place, value in enumerate(args)
    ]
    result = redispatch(op, _full_each(values), None, mode, below=_ABOVE)
    if is_inplace:
        store(target, result)
        return target
    placements = part_of(target).placements if is_distributed(target) else (REPLICATE,) * mesh.ndim
    kept = tuple([REPLICATE if isinstance(each, Partial) else each for each in placements])

    def part(whole: Any) -> Any:
        if not isinstance(whole, Tensor):
            return whole
        if not is_distributed(target) or whole.shape != target.shape:
            return _replicated(whole, mesh)
        part = Part(None, mesh, kept)
        return made(part._replace(local=spread(whole, part)), whole.shape, whole.stride())

    return tree_map(part, result)


def _unread(tensor: Any) -> Any:
    """A tensor with memory for all elements, which are not determined: the call overwrites them."""
    return ops.empty_strided(tuple(shape_of(tensor._h)), tuple(strides_of(tensor._h)), dtype=tensor.dtype)


def _asserted(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The check of values: each process looks at those of all."""
    condition, *rest = args
    return ops.assert_values(full(condition.all()), *rest)


register(KEY, handle)
register(KEY, _asserted, ops.assert_values.op)
