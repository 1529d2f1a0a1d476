"""Margins around tensors, for the composite `pad`; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._dispatch.ops import ops
from .memory_formats import channels_back, channels_moved, keeps_memory_format

__all__ = ["padded"]

_DIMENSIONS = {2: (2, 3), 4: (3, 4), 6: (4, 5)}
"""The numbers of dimensions of the tensors by the length of the list of margins, for modes other than constant."""


def padded(tensor: Any, pad: Sequence[int], mode: str, value: complex | None) -> Any:
    """Add margins: (before, after) of the last dimension, then of the one before it, and so on."""
    ndim = tensor.ndim
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {ndim}"
        )
    margins = [(ndim - 1 - index, *pad[2 * index : 2 * index + 2]) for index in range(len(pad) // 2)]
    if mode == "constant" and not any(pad):
        return tensor.clone()
    if mode == "constant":
        return _constant(tensor, margins, 0 if value is None else _number(value))
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _MARGINS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if ndim not in _DIMENSIONS.get(len(pad), ()):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    # As in torch, what goes on at the other end is in C order in any case.
    return _copied(tensor.contiguous(), margins, mode) if mode == "circular" else _laid_out(tensor, margins, mode)


def _copied(tensor: Any, margins: Sequence[tuple[int, int, int]], mode: str) -> Any:
    """Add margins that are copies of elements."""
    for dim, before, after in margins:
        _check(mode, tensor, dim, before, after)
        tensor = _with_margins(tensor, dim, before, after, _MARGINS[mode])
    return tensor


_laid_out = keeps_memory_format(1)(_copied)


def _number(value: complex) -> complex:
    """Return integers beyond 64 bits as floating point numbers, as torch converts all values."""
    return value if not isinstance(value, int) or -(2**63) <= value < 2**64 else float(value)


def _trimmed(tensor: Any, dim: int, before: int, after: int) -> Any:
    """Remove what negative margins cut off."""
    start, end = max(-before, 0), max(-after, 0)
    return tensor.narrow(dim, start, tensor.size(dim) - start - end) if start or end else tensor


@keeps_memory_format(1)
def _constant(tensor: Any, margins: Sequence[tuple[int, int, int]], value: complex) -> Any:
    shape = list(tensor.shape)
    for dim, before, after in margins:
        shape[dim] += before + after
        if shape[dim] >= 2**63:
            raise RuntimeError(
                f"The input size {tensor.size(dim)} and padding ({before}, {after}) give a size of {shape[dim]} at "
                f"dimension {dim}, which is more than 64 bits hold"
            )
        tensor = _trimmed(tensor, dim, before, after)
    last = channels_moved(tensor)[1]
    result = channels_back(tensor.new_full([shape[0], *shape[2:], shape[1]] if last else shape, value), last)
    inner = result
    for dim, before, _ in margins:
        inner = inner.narrow(dim, max(before, 0), tensor.size(dim))
    inner.copy_(tensor)
    return result


def _check(mode: str, tensor: Any, dim: int, before: int, after: int) -> None:
    size = tensor.size(dim)
    if not size:
        raise RuntimeError(
            f"Expected input with possibly 0 batch size and other non-zero dimensions, but got: {list(tensor.shape)}"
        )
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {dim} of input {list(tensor.shape)}"
        )
    if mode == "circular" and (before > size or after > size):
        raise RuntimeError("Padding value causes wrapping around more than once.")


def _with_margins(tensor: Any, dim: int, before: int, after: int, margin: Any) -> Any:
    inner = _trimmed(tensor, dim, before, after)
    source = inner if margin is _wrapped else tensor  # as in torch
    parts = [inner]
    if before > 0:
        parts.insert(0, margin(source, dim, before, True))
    if after > 0:
        parts.append(margin(source, dim, after, False))
    return ops.cat(parts, dim)


def _reflected(tensor: Any, dim: int, count: int, before: bool) -> Any:
    start = 1 if before else tensor.size(dim) - 1 - count
    return tensor.narrow(dim, start, count).flip((dim,))


def _replicated(tensor: Any, dim: int, count: int, before: bool) -> Any:
    shape = list(tensor.shape)
    shape[dim] = count
    return tensor.narrow(dim, 0 if before else tensor.size(dim) - 1, 1).expand(shape)


def _wrapped(tensor: Any, dim: int, count: int, before: bool) -> Any:
    size = tensor.size(dim)
    if count > size:  # of the elements that a negative margin on the other side leaves
        whole = [tensor] * (count // size)
        rest = _wrapped(tensor, dim, count % size, before)
        return ops.cat([rest, *whole] if before else [*whole, rest], dim)
    return tensor.narrow(dim, size - count if before else 0, count)


_MARGINS = {"reflect": _reflected, "replicate": _replicated, "circular": _wrapped}
