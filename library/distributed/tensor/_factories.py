"""Functions that make distributed tensors; their numbers are those that one process would make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _operators as ops
from ..device_mesh import DeviceMesh, current_mesh
from ._parts import made
from ._redistribute import redistributed
from ._spec import Part, extents
from ._tensor import DTensor, sizes_of
from .placement_types import Partial, Placement, Replicate, normalized

__all__ = ["empty", "full", "ones", "rand", "randn", "zeros"]


def _maker(name: str, doc: str) -> Callable[..., DTensor]:
    def function(
        *size: Any,
        requires_grad: bool = False,
        dtype: Any = None,
        layout: Any = None,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        return _make(getattr(ops, name), sizes_of(size), dtype, requires_grad, device_mesh, placements, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return a distributed tensor {doc}.

    Args:
        size (int...): sizes of the whole.
        requires_grad (bool): whether gradients are computed for it.
        dtype (dtype): dtype of its elements; None: the default one.
        layout (layout): `strided`.
        device_mesh (DeviceMesh): the processes; None: the current mesh.
        placements (sequence of Placement): one for each dimension of the mesh; None: `Replicate`.

    Raises:
        RuntimeError: a placement is partial.
        ValueError: placements do not fit the mesh.
    """
    return function


_RANDOM = ("rand", "randn")

empty = _maker("empty", "whose elements are not determined")
ones = _maker("ones", "of ones")
rand = _maker("rand", "of random numbers from 0 to 1")
randn = _maker("randn", "of normally distributed random numbers")
zeros = _maker("zeros", "of zeros")


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """Return a distributed tensor with one value in all elements. The arguments are those of `empty`."""

    def make(sizes: Any, dtype: Any) -> Any:
        return ops.full(sizes, fill_value, dtype=dtype)

    return _make(make, sizes_of([size]), dtype, requires_grad, device_mesh, placements, "full")


def _make(
    function: Callable[..., Any],
    sizes: Any,
    dtype: Any,
    requires_grad: bool,
    device_mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    name: str,
) -> DTensor:
    mesh = current_mesh() if device_mesh is None else device_mesh
    found = normalized(placements or [Replicate()] * mesh.ndim, mesh.ndim, len(sizes))
    if any(isinstance(each, Partial) for each in found):
        raise RuntimeError(f"{name}() expects placements Shard and Replicate, but got {list(found)}")
    if name in _RANDOM:  # each process draws all numbers, so that they are those of a single one
        whole = function(sizes, dtype=dtype)
        local = redistributed(whole, sizes, mesh, (Replicate(),) * mesh.ndim, found)
    else:
        local = function(extents(sizes, mesh, found)[0], dtype=dtype)
    result: DTensor = made(Part(local, mesh, found), sizes)
    result.requires_grad_(requires_grad)
    return result
