"""Views, which are copies in a model, and what copies in another order."""

from __future__ import annotations

from typing import Any

from .._builder import Builder, Value
from .._calls import Call, row

_END = 2**63 - 1


@row("view", "reshape")
def _reshape(b: Builder, call: Call) -> str:
    given = call.numbers("size" if call.op.name == "view" else "shape")
    if not all(isinstance(each, int) for each in given):
        return str(b.node("Reshape", call.input.name, b.integers(given)))
    return b.reshape(call.input, call.sizes)


@row("flatten", "unflatten", "squeeze", "unsqueeze")
def _resized(b: Builder, call: Call) -> str:
    if call.op.name == "unsqueeze":
        return str(b.node("Unsqueeze", call.input.name, b.integers([call["dim"] % len(call.sizes)])))
    if call.op.name == "squeeze":
        dims = [dim for dim in call.dims() if call.input.sizes[dim] == 1]
        return str(b.node("Squeeze", call.input.name, b.integers(dims))) if dims else call.input.name
    return b.reshape(call.input, call.sizes)


@row("expand")
def _expand(b: Builder, call: Call) -> Any:
    given = [1 if each == -1 else each for each in call.numbers("size")]
    return b.node("Expand", call.input.name, b.integers(given))


@row("permute", "transpose", "swapaxes", "t")
def _permute(b: Builder, call: Call) -> Any:
    rank = len(call.input.sizes)
    order = [*range(rank)]
    if call.op.name == "permute":
        order = [each % rank for each in call["dims"]]
    elif rank > 1:
        one, other = (0, 1) if call.op.name == "t" else (call.dim(call.op.names[1]), call.dim(call.op.names[2]))
        order[one], order[other] = order[other], order[one]
    return b.node("Transpose", call.input.name, perm=order) if rank > 1 else call.input.name


@row("select")
def _select(b: Builder, call: Call) -> Any:
    return b.node("Gather", call.input.name, b.tensor_of_integer(call["index"]), axis=call.dim())


def _sliced(b: Builder, value: Value, dim: int, start: Any, end: Any, step: int = 1) -> Any:
    starts, ends = b.integers([start]), b.integers([end])
    return b.node("Slice", value.name, starts, ends, b.integers([dim]), b.integers([step]))


@row("slice")
def _slice(b: Builder, call: Call) -> Any:
    end = _END if call["end"] is None else call["end"]
    return _sliced(b, call.input, call.dim(), call["start"] or 0, end, call["step"])


@row("narrow")
def _narrow(b: Builder, call: Call) -> Any:
    start, length = call["start"], call["length"]
    start += call.input.size(call.dim()) if start < 0 else 0
    return _sliced(b, call.input, call.dim(), start, start + length)


@row("unbind")
def _unbind(b: Builder, call: Call) -> list[Any]:
    places = range(call.input.size(call.dim()))
    return [b.node("Gather", call.input.name, b.tensor_of_integer(each), axis=call.dim()) for each in places]


@row("chunk", "split", "split_with_sizes", "tensor_split", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes")
def _split(b: Builder, call: Call) -> list[Any]:
    dim = call.dim()
    lengths = [Value("", each.dtype, each.sizes).size(dim) for each in call.results]
    made = b.node("Split", call.input.name, b.integers(lengths), axis=dim, results=len(lengths))
    return [made] if isinstance(made, str) else list(made)


@row("diagonal")
def _diagonal(b: Builder, call: Call) -> Any:
    rank, shape = len(call.input.sizes), call.input.shape
    one, other, offset = call.dim("dim1"), call.dim("dim2"), call["offset"]
    order = [*(dim for dim in range(rank) if dim not in (one, other)), one, other]
    length = call.shape[-1]
    rows = [place - min(offset, 0) for place in range(length)]
    flat = [row * shape[other] + row + offset for row in rows]
    moved = Value(b.node("Transpose", call.input.name, perm=order), call.dtype, tuple(shape[dim] for dim in order))
    last = b.reshape(moved, (*moved.sizes[:-2], shape[one] * shape[other]))
    return b.node("Gather", last, b.integers(flat), axis=rank - 2)


@row("unfold")
def _unfold(b: Builder, call: Call) -> Any:
    dim, size, step = call.dim("dimension"), call["size"], call["step"]
    places = [start * step + inner for start in range(call.shape[dim]) for inner in range(size)]
    taken = b.node("Gather", call.input.name, b.integers(places), axis=dim)
    shape = list(call.input.shape)
    whole = Value(taken, call.dtype, (*shape[:dim], len(places), *shape[dim + 1 :]))
    parted = b.reshape(whole, (*shape[:dim], call.shape[dim], size, *shape[dim + 1 :]))
    rank = len(shape) + 1
    return b.node("Transpose", parted, perm=[*(each for each in range(rank) if each != dim + 1), dim + 1])


@row("flip")
def _flip(b: Builder, call: Call) -> Any:
    dims = [each % len(call.input.sizes) for each in call["dims"]]
    if not dims:
        return call.input.name
    ones = [-1] * len(dims)
    return b.node(
        "Slice", call.input.name, b.integers(ones), b.integers([-_END] * len(dims)), b.integers(dims), b.integers(ones)
    )


@row("roll")
def _roll(b: Builder, call: Call) -> Any:
    shifts, dims = (
        () if each is None else (each,) if isinstance(each, int) else tuple(each)
        for each in (call["shifts"], call["dims"])
    )
    value, dims = (call.input, dims) if dims else (b.flat(call.input), (0,))
    for shift, dim in zip(shifts, dims, strict=True):
        size = value.size(dim)
        places = [(place - shift) % size for place in range(size)]
        value = value._replace(name=b.node("Gather", value.name, b.integers(places), axis=dim % len(value.sizes)))
    return b.reshape(value, call.sizes)


@row("repeat")
def _repeat(b: Builder, call: Call) -> Any:
    repeats = call.numbers("repeats")
    added = len(repeats) - len(call.input.sizes)
    value = b.reshape(call.input, (*(1,) * added, *call.input.sizes))
    return b.node("Tile", value, b.integers(repeats))


@row("tril", "triu")
def _triangle(b: Builder, call: Call) -> Any:
    diagonal = b.tensor_of_integer(call["diagonal"])
    return b.node("Trilu", call.input.name, diagonal, upper=int(call.op.name == "triu"))


@row("constant_pad_nd", "pad")
def _pad(b: Builder, call: Call) -> Any:
    amounts, rank = call["pad"], len(call.input.sizes)
    mode = call.arguments.get("mode", "constant")
    pairs = [(0, 0)] * (rank - len(amounts) // 2) + [*zip(amounts[::2], amounts[1::2], strict=True)][::-1]
    value = call.input.name
    if any(min(each) < 0 for each in pairs):  # what is cut off
        starts, ends = ([max(-amount, 0) for amount in side] for side in zip(*pairs, strict=True))
        stops = [-each if each else _END for each in ends]
        value = b.node("Slice", value, b.integers(starts), b.integers(stops), b.integers([*range(rank)]))
    pads = [max(amount, 0) for side in zip(*pairs, strict=True) for amount in side]
    filled = [b.number(call["value"] or 0, call.dtype)] if mode == "constant" else []
    return b.node("Pad", value, b.integers(pads), *filled, mode=_PADDING[mode])


_PADDING = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
