"""Elements by their places."""

from __future__ import annotations

from typing import Any

from .._builder import Builder, Value
from .._calls import Call, row


@row("gather")
def _gather(b: Builder, call: Call) -> Any:
    call.require(bool(call.input.sizes), "a number has no places")
    return b.node("GatherElements", call.input.name, call["index"].name, axis=call.dim())


@row("index_select")
def _select(b: Builder, call: Call) -> Any:
    call.require(bool(call.input.sizes), "a number has no places")
    index = call["index"]
    places = index.name if index.sizes else b.node("Reshape", index.name, b.integers([1]))
    return b.node("Gather", call.input.name, places, axis=call.dim())


@row("take")
def _take(b: Builder, call: Call) -> Any:
    return b.node("Gather", b.flat(call.input).name, call["index"].name, axis=0)


@row("masked_fill")
def _masked(b: Builder, call: Call) -> Any:
    return b.node("Where", call["mask"].name, call.tensor("value"), call.tensor("input"))


def _reduction(call: Call) -> str:
    if call.op.name == "scatter_add":
        return "add"
    names = {None: "none", "add": "add", "multiply": "mul", "sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    call.require(call["reduce"] in names, f"the reduction {call['reduce']} is not mapped")
    return names[call["reduce"]]


@row("scatter", "scatter_add", "scatter_reduce")
def _scatter(b: Builder, call: Call) -> Any:
    call.require(bool(call.input.sizes), "a number has no places")
    call.require(call.arguments.get("include_self", True), "a result without the tensor itself is not mapped")
    index, source = call["index"], call["src"]
    if isinstance(source, Value):
        shape = index.shape
        if source.sizes != index.sizes:
            rank = [*range(len(shape))]
            zeros = b.integers([0] * len(rank))
            source = source._replace(name=b.node("Slice", source.name, zeros, b.integers(shape), b.integers(rank)))
        updates = b.cast(source, call.dtype).name
    else:
        updates = b.node("Expand", b.number(source, call.dtype), b.node("Shape", index.name))
    return b.node(
        "ScatterElements", call.input.name, index.name, updates, axis=call.dim(), reduction=_reduction(call)
    )  # fmt: skip


@row("index")
def _index(b: Builder, call: Call) -> Any:
    """Dimensions with tensors of places, side by side, become one."""
    indices = list(call["indices"])
    used = [dim for dim, each in enumerate(indices) if each is not None]
    is_known = all(indices[dim].dtype in ("int32", "int64") for dim in used)
    call.require(is_known, "the number of its results depends on elements")
    if not used:
        return call.input.name
    value = call.input
    if len(used) == 1:
        return b.node("Gather", value.name, indices[used[0]].name, axis=used[0])
    call.require(used == [*range(used[0], used[-1] + 1)], "tensors of places that are not side by side are not mapped")
    flat = ""
    for dim in used:  # the place in the dimensions as one
        size = b.number(value.size(dim), "int64")
        place = b.cast(indices[dim], "int64").name
        place = b.node("Where", b.node("Less", place, b.number(0, "int64")), b.node("Add", place, size), place)
        flat = place if not flat else b.node("Add", b.node("Mul", flat, size), place)
    whole = 1
    for dim in used:
        whole *= value.size(dim)
    sizes = (*value.sizes[: used[0]], whole, *value.sizes[used[-1] + 1 :])
    return b.node("Gather", b.reshape(value, sizes), flat, axis=used[0])


def _in_dim(b: Builder, call: Call, name: str, count: int) -> str:
    """Places in a dimension, spread over the others, as nodes for elements need them."""
    rank, dim = len(call.input.sizes), call.dim()
    beside = b.reshape(call[name], tuple(count if each == dim else 1 for each in range(rank)))
    shape = tuple(count if each == dim else size for each, size in enumerate(call.input.shape))
    return str(b.node("Expand", beside, b.integers(shape)))


@row("index_add", "index_copy", "index_fill")
def _index_write(b: Builder, call: Call) -> Any:
    call.require(bool(call.input.sizes), "a number has no places")
    kind = call.op.name
    count = call["index"].size(0) if call["index"].sizes else 1
    places = _in_dim(b, call, "index", count)
    if kind == "index_fill":
        updates = b.node("Expand", call.tensor("value"), b.node("Shape", places))
    else:
        updates = call.tensor("source")
        if kind == "index_add" and call["alpha"] != 1:
            updates = b.node("Mul", updates, b.number(call["alpha"], call.dtype))
    reduction = "add" if kind == "index_add" else "none"
    return b.node("ScatterElements", call.input.name, places, updates, axis=call.dim(), reduction=reduction)


@row("put")
def _put(b: Builder, call: Call) -> Any:
    reduction = "add" if call["accumulate"] else "none"
    places, source = b.flat(call["index"]).name, b.flat(call["source"]).name
    flat = b.node("ScatterElements", b.flat(call.input).name, places, source, axis=0, reduction=reduction)
    return b.node("Reshape", flat, b.node("Shape", call.input.name))


@row("index_put", "index_put_")
def _index_put(b: Builder, call: Call) -> Any:
    indices = list(call["indices"])
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == "bool":
        mask, values = indices[0], call["values"]
        call.require(not values.sizes and not call["accumulate"], "values by elements of a mask are not mapped")
        beside = b.reshape(mask, (*mask.sizes, *(1,) * (len(call.input.sizes) - len(mask.sizes))))
        return b.node("Where", beside, b.cast(values, call.dtype).name, call.input.name)
    is_known = all(each is not None and each.dtype in ("int32", "int64") for each in indices)
    call.require(is_known, "places of some dimensions alone are not mapped")
    shape: tuple[int, ...] = ()
    for each in indices:  # the sizes that they have together
        longer, shorter = sorted((shape, each.shape), key=len, reverse=True)
        padded = (*(1,) * (len(longer) - len(shorter)), *shorter)
        shape = tuple(max(pair) if 0 not in pair else 0 for pair in zip(longer, padded, strict=True))
    parts = [b.node("Unsqueeze", b.node("Expand", b.cast(each, "int64").name, b.integers(shape)), b.integers([-1]))
             for each in indices]  # fmt: skip
    places = b.node("Concat", *parts, axis=-1)
    wanted = (*shape, *call.input.shape[len(indices) :])
    updates = b.node("Expand", b.cast(call["values"], call.dtype).name, b.integers(wanted))
    reduction = "add" if call["accumulate"] else "none"
    return b.node("ScatterND", call.input.name, places, updates, reduction=reduction)
