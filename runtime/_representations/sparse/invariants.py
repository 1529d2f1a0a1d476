"""Invariants of the tensors that a sparse tensor is made of, and errors where they are broken: torch's, with the
values.

Everything is checked when a tensor is made, unless `check_invariants=False` says otherwise. Functions in kernels.py do
not rely on it: who passes tensors to a constructor may write to them later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.devices import has_values
from ..._base.dtypes import EXPORTS
from ..._base.types import layout as layout_class
from .kernels import linear
from .payload import COMPRESSED, Compressed, Coordinates, scalar_name
from .tensor import check_size

__all__ = ["check_compressed", "check_coordinates", "is_enabled", "set_enabled"]

_INDEX_DTYPES = (EXPORTS["int32"], EXPORTS["int64"])

_enabled = True


def is_enabled() -> bool:
    """True if constructors check what they are given where they are not told."""
    return _enabled


def set_enabled(enabled: bool) -> None:
    """Set whether constructors check invariants unless they are told otherwise."""
    global _enabled
    _enabled = enabled


def _fail(text: str) -> None:
    raise RuntimeError(text)


# ---- coordinates --------------------------------------------------------------------------------------------


def check_coordinate_shapes(indices: Any, values: Any, size: Sequence[int] | None) -> None:
    """Check the shapes and dtypes of coordinates and values, which do not depend on elements."""
    if indices.is_floating_point() or indices.is_complex():
        _fail(f"indices must be an int64 tensor type, but got {indices.dtype}")
    if indices.ndim != 2:
        _fail(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.ndim < 1:
        _fail("values must have a dimension of nnz elements, but got a tensor without dimensions")
    if indices.size(1) != values.size(0):
        _fail(
            f"indices and values must have same nnz, but got nnz from indices: {indices.size(1)}, nnz from values: "
            f"{values.size(0)}"
        )
    if size is None:
        return
    sparse_dim, dense_dim = indices.size(0), values.ndim - 1
    if len(size) != sparse_dim + dense_dim:
        _fail(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    expected = [values.size(0), *size[sparse_dim:]]
    if list(values.shape) != expected:
        _fail(f"values has incorrect size, expected {expected}, got {list(values.shape)}")


def check_coordinates(found: Coordinates) -> None:
    """Check that all indices are inside, and sorted where the tensor is to be coalesced."""
    check_size(found.size)
    if not has_values(found.indices) or not found.nnz:
        return
    lows, highs = found.indices.amin(1).tolist(), found.indices.amax(1).tolist()
    for dim, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low < 0:
            _fail(f"found negative index {low} for dim {dim}")
        if high >= found.size[dim]:
            _fail(f"size is inconsistent with indices: for dim {dim}, size is {found.size[dim]} but found index {high}")
    if found.is_coalesced:
        places = linear(found.indices, found.size[: found.sparse_dim])
        if not bool((places.diff() > 0).all()):
            _fail("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


# ---- compressed ---------------------------------------------------------------------------------------------


def check_compressed_shapes(found: Compressed) -> None:
    """Check the shapes and dtypes of compressed indices and values, which do not depend on elements."""
    (starts_name, places_name), blocks = found.names, 2 if found.is_blocked else 0
    starts, places, values, size = found.starts, found.places, found.values, found.size
    if starts.ndim < 1:
        _fail(f"{starts_name} must have dimensionality >= 1 but got {starts.ndim}")
    if starts.ndim != places.ndim:
        _fail(
            f"{starts_name} and {places_name} dimensionalities must be equal but got {starts.ndim} and {places.ndim}, "
            "respectively"
        )
    batch = starts.ndim - 1
    if values.ndim <= batch + blocks:
        _fail(
            "values must have dimensionality > sum of batch and block dimensionalities "
            f"(={batch} + {blocks}) but got {values.ndim}"
        )
    dense = values.ndim - batch - blocks - 1
    if len(size) != batch + 2 + dense:
        _fail(
            f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (={batch} + 2 + {dense}) "
            f"but got {len(size)}"
        )
    if starts.dtype is not places.dtype:
        _fail(
            f"{starts_name} and {places_name} must have the same dtype, bot got {starts.dtype.scalar_name} and "
            f"{places.dtype.scalar_name}, respectively"
        )
    if starts.dtype not in _INDEX_DTYPES:
        _fail(f"{starts_name} and {places_name} dtype must be Int or Long, but got {starts.dtype.scalar_name}")
    batches = [list(each.shape[:batch]) for each in (starts, places, values)]
    if any(each != list(size[:batch]) for each in batches):
        _fail(
            f"all batch dimensions of {starts_name} (={batches[0]}), {places_name} (={batches[1]}), and values "
            f"(={batches[2]}) must be equal to tensor batch dimensions (={list(size[:batch])})"
        )
    check_size(size)
    _check_blocks(found, batch)
    if list(values.shape[values.ndim - dense :]) != list(size[batch + 2 :]) and dense:
        _fail(
            f"values must have the dense dimensions of the tensor (={list(size[batch + 2 :])}), but got "
            f"{list(values.shape[values.ndim - dense :])}"
        )
    if places.size(-1) != values.size(batch):
        _fail(
            f"{places_name}.shape[-1] must be equal to nnz (={values.size(batch)}) as defined by "
            f"values.shape[{batch}], but got {places.size(-1)}"
        )


def _check_blocks(found: Compressed, batch: int) -> None:
    height, width = found.blocksize
    rows, columns = found.size[batch : batch + 2]
    for dim, (extent, block) in enumerate(((rows, height), (columns, width))):
        if block < 1 or extent % block:
            _fail(
                f"tensor shape[{batch + dim}] (={extent}) must be divisible with blocksize[{dim}] (={block}) as "
                "defined by values shape"
            )
    lines = rows // height if found.is_by_rows else columns // width
    what = ("row" if found.is_by_rows else "column") + (" block" if found.is_blocked else "")
    if found.starts.size(-1) != lines + 1:
        _fail(
            f"{found.names[0]}.shape[-1] must be equal to the number of {what}s + 1 (={lines + 1}), but got "
            f"{found.starts.size(-1)}"
        )


def check_compressed(found: Compressed) -> None:
    """Check that the starts count up from 0 to nnz, and that the places of each row are sorted, distinct and inside."""
    check_compressed_shapes(found)
    if not has_values(found.starts):
        return
    starts_name, places_name = found.names
    starts, places, nnz = found.starts, found.places, found.nnz
    height, width = found.blocksize
    rows, columns = found.size[found.batch_dim : found.batch_dim + 2]
    limit = columns // width if found.is_by_rows else rows // height
    limit_name = "ncols" if found.is_by_rows else "nrows"
    if not starts.numel():
        return
    if (first := starts[..., 0]).numel() and int(first.abs().max()):
        _fail(f"`{starts_name}[..., 0] == 0` is not satisfied: got {_shown(first)}")
    if not bool((starts[..., -1] == nnz).all()):
        _fail(f"`{starts_name}[..., -1] == nnz` is not satisfied: got {_shown(starts[..., -1])}, and nnz is {nnz}")
    steps = starts.diff()
    if steps.numel() and (int(steps.min()) < 0 or int(steps.max()) > limit):
        wrong = int(steps.min()) if int(steps.min()) < 0 else int(steps.max())
        _fail(
            f"`0 <= {starts_name}[..., 1:] - {starts_name}[..., :-1] <= {limit_name}` is not satisfied: got {wrong}, "
            f"and {limit_name} is {limit}"
        )
    if not places.numel():
        return
    low, high = int(places.min()), int(places.max())
    if low < 0 or high >= limit:
        _fail(
            f"`0 <= {places_name} < {limit_name}` is not satisfied: got {low if low < 0 else high}, and {limit_name} "
            f"is {limit}"
        )
    _check_sorted(found)


def _check_sorted(found: Compressed) -> None:
    """An element whose place is not greater than the one before it must be the first of a row."""
    starts_name, places_name = found.names
    flat = found.places.reshape(-1, found.nnz)
    for start, row in zip(found.starts.reshape(flat.size(0), -1).unbind(0), flat.unbind(0), strict=True):
        falls = (row.diff() <= 0).nonzero().reshape(-1) + 1
        firsts = start.to(EXPORTS["int64"])
        is_first = firsts.new_zeros(found.nnz + 1, dtype=EXPORTS["bool"]).index_fill(0, firsts, True)
        wrong = falls[~is_first.index_select(0, falls)]
        if wrong.numel():
            at = int(wrong[0])
            lines = "nrows" if found.is_by_rows else "ncols"
            _fail(
                f"`{places_name}[..., {starts_name}[..., i - 1]:{starts_name}[..., i]] for all i = 1, ..., {lines} are "
                f"sorted and distinct along the last dimension values` is not satisfied: {int(row[at])} follows "
                f"{int(row[at - 1])} at position {at}"
            )


def _shown(values: Any) -> str:
    return str(values.reshape(-1)[0].item() if values.numel() == 1 else values.tolist())


def compressed_layout(function: str, layout: Any) -> layout_class:
    """A layout that must be a compressed one."""
    if layout not in COMPRESSED:
        got = "none" if layout is None else scalar_name(layout) if isinstance(layout, layout_class) else repr(layout)
        _fail(f"{function} expected sparse compressed tensor layout but got {got}")
    return layout  # type: ignore[no-any-return]
