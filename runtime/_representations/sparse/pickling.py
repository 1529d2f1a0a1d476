"""Pickling of sparse tensors, with the arguments of torch's function, and the tensors of what pickles say."""

from __future__ import annotations

from typing import Any

from ..._base.handles import integers, type_name
from ..._base.tensor_class import Tensor
from ..._base.types import layout as layout_class
from ..._base.types import sparse_coo
from ..._handle import alias
from .invariants import check_compressed, check_coordinate_shapes, check_coordinates, compressed_layout
from .payload import Compressed, Coordinates
from .tensor import made

__all__ = ["parts", "reduced"]


def parts(tensor: Any) -> tuple[layout_class, tuple[Any, ...]]:
    """The layout, and the tensors that the sparse one consists of, with its shape."""
    payload = tensor._sparse
    values = alias(payload.values)
    if tensor.requires_grad and tensor.is_leaf:
        values.requires_grad_()
    if isinstance(payload, Coordinates):
        return payload.layout, (payload.indices, values, tensor.shape, payload.is_coalesced)
    return payload.layout, (payload.starts, payload.places, values, tensor.shape)


def reduced(tensor: Any) -> tuple[Any, ...]:
    """`tensor.__reduce_ex__()`."""
    return _rebuild_sparse_tensor, parts(tensor)


def _rebuild_sparse_tensor(layout: layout_class, data: tuple[Any, ...]) -> Any:
    """The tensor, with all that it says checked: a pickle may say anything."""
    count = 2 if layout is sparse_coo else 3
    if not isinstance(data, tuple) or len(data) < count + 1:
        raise RuntimeError(f"a sparse tensor is made of {count} tensors and a shape, but got {type_name(data)}")
    for each in data[:count]:
        if type(each) is not Tensor:
            raise RuntimeError(f"a sparse tensor is made of dense tensors, but got {type_name(each)}")
    size = integers("_rebuild_sparse_tensor", "size", (tuple(data[count]),))
    if layout is sparse_coo:
        indices, values = data[:2]
        check_coordinate_shapes(indices, values, size)
        found = Coordinates(indices, values, size, len(data) > 3 and data[3] is True)
        check_coordinates(found)
        return made(found)
    starts, places, values = data[:3]
    matrices = Compressed(compressed_layout("_rebuild_sparse_tensor", layout), starts, places, values, size)
    check_compressed(matrices)
    return made(matrices)


_rebuild_sparse_tensor.__module__ = "opweave._rebuild"  # which pickles name, wherever the code moves
