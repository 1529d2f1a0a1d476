"""Distributed tensors as handles: described tensors of the whole, whose payload has the part of this process.

A view shares the payload as it shares memory, and its part is found by its sizes, strides and position. Where a view
has elements that other processes hold, its part is a copy: it is made again when the memory has been written to, and
what is written to it is brought back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _operators as ops
from ..._base.handles import shape_of, strides_of
from ..._base.tensor_class import Tensor
from ..._C import lib
from ..._dispatch.dispatcher import bit_of, new_key
from ..._handle import adopt, as_view, describe, payload
from ._call import REPLICATE
from ._redistribute import redistributed
from ._spec import Part, Parts
from .placement_types import Placement

KEY = "distributed"

new_key(KEY, after="conj")
BIT = bit_of(KEY)


def is_distributed(value: Any) -> bool:
    """Return whether a value is a distributed tensor; also one that the graph has saved, which is of class Tensor."""
    return isinstance(value, Tensor) and bool(lib.keys(value._h) & BIT)


def tensor_class() -> type:
    """The class of distributed tensors."""
    from ._tensor import DTensor

    return DTensor


def made(part: Part, shape: Sequence[int], strides: Sequence[int] | None = None) -> Any:
    """Return a distributed tensor with the sizes and strides of the whole."""
    handle = part.local._h
    steps = None if strides is None else tuple(strides)
    parts = Parts(part, tuple(shape))
    result = describe(tensor_class(), lib.dtype(handle), tuple(shape), steps, 0, lib.device(handle), BIT, parts)
    parts.geometry = _geometry(result)
    return result


def view_of(tensor: Any, like: Any, part: Part) -> Any:
    """Return a view of a distributed tensor with the dtype, sizes, strides and position of another one."""
    sizes, strides, start = tuple(like.shape), tuple(like.stride()), like.storage_offset()
    handle = lib.as_strided(tensor._h, sizes, strides, len(sizes), start, lib.dtype(like._h))
    result = as_view(adopt(handle, tensor_class()), tensor)
    parts: Parts = payload(result)
    if _geometry(result) != parts.geometry:
        parts.views[_geometry(result)] = part
    return result


def _geometry(tensor: Any) -> tuple[Any, ...]:
    handle = tensor._h
    return lib.dtype(handle), lib.storage_offset(handle), tuple(shape_of(handle)), tuple(strides_of(handle))


# ---- parts ---------------------------------------------------------------------------------------------------


def part_of(tensor: Any) -> Part:
    """Return the part of a distributed tensor, with the elements that its memory has now."""
    parts: Parts = payload(tensor)
    key = _geometry(tensor)
    part = parts.base if key == parts.geometry else parts.views.get(key)
    if part is None:
        part = _unknown_view(parts, key)
    elif part.view is None or part.version == lib.version(tensor._h):
        return part
    part = _copied(parts, part, lib.version(tensor._h))
    parts.views[key] = part
    return part


def _unknown_view(parts: Parts, geometry: tuple[Any, ...]) -> Part:
    """A view that the core has made by sizes and strides, as it does for gradients of writes to views."""
    _, start, sizes, steps = geometry
    _, first, shape, strides = parts.geometry

    def view(whole: Any) -> Any:
        if tuple(whole.stride()) != strides:
            whole = ops.empty_strided(shape, strides, dtype=whole.dtype).copy_(whole)
        return whole.as_strided(sizes, steps, start - first)

    return Part(None, parts.base.mesh, (REPLICATE,) * parts.base.mesh.ndim, view)


def _copied(parts: Parts, part: Part, version: int) -> Part:
    """The part with a copy of the elements that are now in the memory of the tensor that it is a view of."""
    assert part.view is not None
    whole = part.view(gathered(parts.base, parts.shape))
    local = spread(whole, part)
    return part._replace(local=local.clone() if local is whole else local, version=version)


def common_parts(tensors: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the parts of this process of tensors, if all are distributed and have their elements at the same places,
    and each element once or in all processes."""
    if not all(map(is_distributed, tensors)):
        return None
    first, *others = map(part_of, tensors)
    if first.view is not None or any(each.is_partial() for each in first.placements):
        return None
    if any(each.view is not None or each[1:3] != first[1:3] for each in others):
        return None
    return first.local, *[each.local for each in others]


def gathered(part: Part, shape: Sequence[int]) -> Any:
    """Return all elements of a tensor of these sizes, in the memory of this process."""
    return redistributed(part.local, shape, part.mesh, part.placements, (REPLICATE,) * part.mesh.ndim)


def spread(whole: Any, like: Part) -> Any:
    """Return the part of this process of a tensor that each has, at the placements of another part."""
    return redistributed(whole, whole.shape, like.mesh, (REPLICATE,) * like.mesh.ndim, like.placements)


def full(tensor: Any) -> Any:
    """Return all elements of a distributed tensor, in the memory of this process."""
    return gathered(part_of(tensor), tuple(shape_of(tensor._h)))


def moved(tensor: Any, placements: Sequence[Placement]) -> Any:
    """Return the part of this process of a distributed tensor at other placements."""
    part = part_of(tensor)
    return redistributed(part.local, tuple(shape_of(tensor._h)), part.mesh, part.placements, placements)


# ---- writes --------------------------------------------------------------------------------------------------


def store(target: Any, whole: Any) -> None:
    """Overwrite the part of this process by that of a tensor with all elements."""
    part = part_of(target)
    part.local.copy_(spread(whole, part))
    written_to(target)


def written_to(target: Any) -> None:
    """Count that a tensor was written to. Where its part is a copy, bring the elements to where they came from."""
    lib.count_write(target._h)
    parts: Parts = payload(target)
    key = _geometry(target)
    part = parts.base if key == parts.geometry else parts.views[key]
    if part.view is not None:
        whole = gathered(parts.base, parts.shape)
        whole = whole.clone() if whole is parts.base.local else whole
        part.view(whole).copy_(gathered(part, tuple(shape_of(target._h))))
        parts.base.local.copy_(spread(whole, parts.base))
        parts.views[key] = part._replace(version=lib.version(target._h))
