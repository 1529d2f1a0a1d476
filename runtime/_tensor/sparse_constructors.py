"""Sparse tensors from the indices and the values of their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._base.devices import has_values
from .._base.dtypes import EXPORTS, dtype
from .._base.handles import integers, type_name
from .._base.pinning import pinned_result
from .._base.tensor_class import Tensor
from .._base.types import check_placement, layout, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from .._dispatch.ops import ops
from .._handle import alias
from .._representations.sparse.factories import zeros
from .._representations.sparse.history import seen_as
from .._representations.sparse.invariants import (
    check_compressed,
    check_coordinate_shapes,
    check_coordinates,
    compressed_layout,
    is_enabled,
)
from .._representations.sparse.payload import BLOCKED, BY_ROWS, Compressed, Coordinates, Payload
from .._representations.sparse.tensor import made
from .construct import as_tensor

if TYPE_CHECKING:
    from .tensor import Tensor as TensorType

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
]
_PACKAGE_NAMES = __all__

_INT64 = EXPORTS["int64"]


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> TensorType:
    """Return a tensor of layout `sparse_coo`: `values[k]` stands at the coordinates `indices[:, k]`, all others are 0.

    Indices of int64 and values share their memory with the tensor. The shape is `size`, else the smallest one. With a
    size alone no element is in memory.

    Args:
        indices: the coordinates, one row for each sparse dimension and one column for each element.
        values: the elements; their further dimensions are dense ones of the tensor, which is then hybrid.
        size (tuple of ints): the shape.
        check_invariants (bool): whether the indices are checked to be inside. By default they are.
        is_coalesced (bool): whether the places are sorted, and each occurs once.

    Raises RuntimeError for indices outside and shapes that disagree, TypeError for other objects.

    Example:
        >>> opweave.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 0.]])
    """
    if values is None:
        return _empty(indices if size is None else size, dtype, device, pin_memory, requires_grad)
    where = check_placement("sparse_coo_tensor", device=device, pin_memory=pin_memory)
    places = as_tensor(indices, device=where)
    elements = as_tensor(values, dtype=dtype, device=where)
    _check_dense("sparse_coo_tensor", places, elements)
    if pin_memory:
        places, elements = pinned_result(places), pinned_result(elements)
    if not elements.ndim:
        elements = elements.reshape(1)
    if not places.is_complex() and (places.dtype.is_integer or places.dtype.is_floating_point):
        places = places.to(_INT64)
    sizes = None if size is None else integers("sparse_coo_tensor", "size", (size,), 3)
    check_coordinate_shapes(places, elements, sizes)
    if sizes is None:
        sizes = (*_extents(places), *elements.shape[1:])
    found = Coordinates(alias(places), elements, sizes, bool(is_coalesced))
    if is_enabled() if check_invariants is None else check_invariants:
        check_coordinates(found)
    return _tensor(found, "SparseCooTensorWithDimsAndTensorsBackward0", requires_grad)


def _empty(size: Any, dtype: Any, device: Any, pin_memory: bool, requires_grad: bool) -> TensorType:
    if size is None:
        raise TypeError(
            "sparse_coo_tensor() received an invalid combination of arguments - got (), but expected indices, "
            "values and a size, or a size alone"
        )
    where = check_placement("sparse_coo_tensor", device=device, pin_memory=pin_memory)
    sizes = integers("sparse_coo_tensor", "size", (size,))
    result: TensorType = made(zeros(sizes, sparse_coo, dtype or ops.empty(0).dtype, where))
    if pin_memory:
        result = pinned_result(result)
    return result.requires_grad_() if requires_grad else result


def _check_dense(name: str, *parts: Any) -> None:
    for each in parts:
        if each.layout is not strided:
            raise RuntimeError(
                f"{name}(): expected dense tensors of indices and values, but got layout {each.layout!r}"
            )


def _extents(places: Any) -> tuple[int, ...]:
    """The smallest sizes of sparse dimensions that coordinates lie in."""
    if not has_values(places) or not places.numel():
        return (0,) * int(places.size(0))
    for dim, low in enumerate(places.amin(1).tolist()):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
    return tuple(high + 1 for high in places.amax(1).tolist())


def _tensor(payload: Payload, node: str, requires_grad: bool) -> TensorType:
    values = payload.values
    if requires_grad:
        values = alias(values).requires_grad_()
    else:
        values = seen_as(node, values)
    tensor: TensorType = made(payload.with_values(values))
    return tensor


# ---- compressed layouts ---------------------------------------------------------------------------------------


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> TensorType:
    """Return a tensor of one of the compressed layouts. See `sparse_csr_tensor`.

    Args:
        layout (layout): `sparse_csr`, `sparse_csc`, `sparse_bsr` or `sparse_bsc`.

    Example:
        >>> opweave.sparse_compressed_tensor([0, 1], [1], [2.0], (1, 3), layout=opweave.sparse_csr).to_dense()
        tensor([[0., 2., 0.]])
    """
    wanted = compressed_layout("sparse_compressed_tensor", layout)
    options = {"dtype": dtype, "device": device, "pin_memory": pin_memory}
    return _compressed(
        "sparse_compressed_tensor", wanted, (compressed_indices, plain_indices, values), size, options, requires_grad,
        check_invariants,
    )  # fmt: skip


def _compressed(
    name: str,
    layout: layout,
    parts: tuple[Any, Any, Any],
    size: Any,
    options: dict[str, Any],
    requires_grad: bool,
    check_invariants: bool | None,
) -> TensorType:
    where = check_placement(name, device=options["device"], pin_memory=options["pin_memory"])
    starts, places = (_indices(each, where) for each in parts[:2])
    values = as_tensor(parts[2], dtype=options["dtype"], device=where)
    _check_dense(name, starts, places, values)
    if options["pin_memory"]:
        starts, places, values = map(pinned_result, (starts, places, values))
    if size is not None and not isinstance(size, (tuple, list)):
        raise TypeError(f"{name}(): argument 'size' (position 4) must be tuple of ints, not {type_name(size)}")
    sizes = _inferred(layout, starts, places, values) if size is None else integers(name, "size", (size,), 4)
    found = Compressed(layout, alias(starts), alias(places), values, sizes)
    if is_enabled() if check_invariants is None else check_invariants:
        check_compressed(found)
    return _tensor(found, "SparseCompressedTensorBackward0", requires_grad)


def _indices(given: Any, where: Any) -> Any:
    indices = as_tensor(given, device=where)
    return indices.to(_INT64) if not indices.numel() and not isinstance(given, Tensor) else indices


def _inferred(layout: layout, starts: Any, places: Any, values: Any) -> tuple[int, ...]:
    """The smallest shape that the elements lie in."""
    batch = max(starts.ndim - 1, 0)
    blocks = values.shape[batch + 1 : batch + 3] if layout in BLOCKED else (1, 1)
    if starts.ndim < 1 or len(blocks) < 2:
        check_compressed(Compressed(layout, starts, places, values, ()))
    lines = starts.size(-1) - 1
    extent = int(places.max()) + 1 if places.numel() and has_values(places) else 0
    rows, columns = (lines, extent) if layout in BY_ROWS else (extent, lines)
    dense = values.shape[batch + (3 if layout in BLOCKED else 1) :]
    return (*starts.shape[:batch], rows * blocks[0], columns * blocks[1], *dense)


def _constructor(kind: layout, by_rows: bool) -> Callable[..., TensorType]:
    name = f"{kind!r}_tensor".rpartition(".")[2]
    starts_name, places_name = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    lines, others = ("row", "column") if by_rows else ("column", "row")
    blocks = kind in BLOCKED

    def construct(
        compressed_indices: Any,
        plain_indices: Any,
        values: Any,
        size: Any = None,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        check_invariants: bool | None = None,
    ) -> TensorType:
        if layout is not None and layout is not kind:
            raise RuntimeError(f"{name}() makes tensors of layout {kind!r}, but got layout {layout!r}")
        options = {"dtype": dtype, "device": device, "pin_memory": pin_memory}
        parts = (compressed_indices, plain_indices, values)
        return _compressed(name, kind, parts, size, options, requires_grad, check_invariants)

    def named(*args: Any, **kwargs: Any) -> TensorType:
        for own, common in ((starts_name, "compressed_indices"), (places_name, "plain_indices")):
            if own in kwargs:
                kwargs[common] = kwargs.pop(own)
        return construct(*args, **kwargs)

    construct.__qualname__ = name
    named.__name__ = named.__qualname__ = name
    named.__module__ = "opweave"
    what = "block" if blocks else "element"
    named.__doc__ = f"""Return a tensor of layout `{str(kind).rpartition(".")[2]}`: the {what}s of {lines} i are \
`values[{starts_name}[i] : {starts_name}[i + 1]]`.

    All tensors share their memory with the result. Dimensions in front are batches, further dimensions of the values
    dense ones.

    Args:
        {starts_name}: where each {lines} of {what}s starts, and the number of {what}s; int32 or int64.
        {places_name}: the {others} of each {what}, sorted within a {lines}; of the same dtype.
        values: the {what}s.
        size (tuple of ints): the shape; else the smallest one.
        check_invariants (bool): whether the indices are checked. By default they are.

    Raises RuntimeError for indices outside, not sorted or of other numbers than the values.

    Example:
        >>> opweave.{name}([0, 1, 1], [0], [{"[[3.0]]" if blocks else 3.0}], (2, 2)).to_dense()
        tensor([[3., 0.],
                [0., 0.]])
    """
    return named


sparse_csr_tensor = _constructor(sparse_csr, True)
sparse_csc_tensor = _constructor(sparse_csc, False)
sparse_bsr_tensor = _constructor(sparse_bsr, True)
sparse_bsc_tensor = _constructor(sparse_bsc, False)
