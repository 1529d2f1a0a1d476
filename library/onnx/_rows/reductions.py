"""Reductions, sums of parts of lines, and what is sorted."""

from __future__ import annotations

from typing import Any

from .._builder import Builder, Value
from .._calls import Call, row

_FLOATING = ("float16", "float32", "float64", "bfloat16")


def _reduced(b: Builder, kind: str, value: Value, dims: list[int], keepdim: bool) -> str:
    if not value.sizes:
        return value.name
    return str(b.node(kind, value.name, b.integers(dims), keepdims=int(keepdim)))


def _simple(kind: str) -> Any:
    def reduce(b: Builder, call: Call) -> str:
        return _reduced(b, kind, b.cast(call.input, call.dtype), call.dims(), call["keepdim"])

    return reduce


for _name, _kind in {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd"}.items():
    row(_name)(_simple(_kind))


@row("sum_of_magnitudes", "euclidean_norm")
def _norm(b: Builder, call: Call) -> str:
    call.require(call.input.dtype in _FLOATING, f"ONNX has no norm of {call.input.dtype}")
    value = call.input
    if not value.sizes:
        return str(b.node("Abs", value.name))
    return _reduced(b, "ReduceL1" if "magnitudes" in call.op.name else "ReduceL2", value, call.dims(), call["keepdim"])


@row("amax", "amin")
def _extreme(b: Builder, call: Call) -> str:
    value = b.cast(call.input, "int32") if call.dtype == "bool" else call.input
    kind = "ReduceMax" if call.op.name == "amax" else "ReduceMin"
    found = _reduced(b, kind, value, call.dims(), call["keepdim"])
    return b.cast(Value(found, value.dtype, call.sizes), call.dtype).name


@row("any", "all")
def _truth(b: Builder, call: Call) -> str:
    value = call.input
    if value.dtype != "bool":
        value = Value(b.node("Not", b.node("Equal", value.name, b.number(0, value.dtype))), "bool", value.sizes)
    kind = "ReduceMax" if call.op.name == "any" else "ReduceMin"
    found = _reduced(b, kind, b.cast(value, "int32"), call.dims(), call["keepdim"])
    return b.cast(Value(found, "int32", call.sizes), call.dtype).name


def _place(b: Builder, call: Call, largest: bool, keepdim: bool) -> str:
    kind = "ArgMax" if largest else "ArgMin"
    value = call.input
    if value.dtype == "bool":
        value = b.cast(value, "int32")
    if call["dim"] is None or not value.sizes:
        flat = b.flat(value)
        found = Value(b.node(kind, flat.name, axis=0, keepdims=0), "int64", ())
        return b.reshape(found, call.results[-1].sizes)
    return str(b.node(kind, value.name, axis=call.dim(), keepdims=int(keepdim)))


@row("argmax", "argmin")
def _argument(b: Builder, call: Call) -> str:
    return _place(b, call, call.op.name == "argmax", call["keepdim"])


@row("max", "min")
def _extreme_and_place(b: Builder, call: Call) -> Any:
    is_max = call.op.name == "max"
    value = b.cast(call.input, "int32") if call.dtype == "bool" else call.input
    found = _reduced(b, "ReduceMax" if is_max else "ReduceMin", value, call.dims(), call["keepdim"])
    found = b.cast(Value(found, value.dtype, call.sizes), call.dtype).name
    return found if len(call.results) == 1 else [found, _place(b, call, is_max, call["keepdim"])]


@row("logsumexp", "real_logsumexp")
def _logsumexp(b: Builder, call: Call) -> str:
    return _reduced(b, "ReduceLogSumExp", b.cast(call.input, call.dtype), call.dims(), call["keepdim"])


@row("var", "std", "var_mean", "std_mean", "moments")
def _variance(b: Builder, call: Call) -> Any:
    correction = call["correction"]
    if correction is None:
        correction = 0 if call.arguments.get("unbiased") is False else 1
    call.require(not isinstance(call["dim"], bool), "its argument dim is no dimension")
    value, dims, keepdim = b.cast(call.input, call.dtype), call.dims(), call["keepdim"]
    count = 1
    for dim in dims:
        count *= value.size(dim)
    mean = _reduced(b, "ReduceMean", value, dims, True)
    square = b.node("Sub", value.name, mean)
    square = value._replace(name=b.node("Mul", square, square))
    total = _reduced(b, "ReduceSum", square, dims, keepdim)
    found = b.node("Div", total, b.number(max(count - correction, 0), call.dtype))
    if call.op.name.startswith("std"):
        found = b.node("Sqrt", found)
    if len(call.results) == 1:
        return found
    kept = Value(mean, call.dtype, tuple(1 if dim in dims else size for dim, size in enumerate(value.sizes)))
    return [found, b.reshape(kept, call.results[1].sizes)]


@row("nansum")
def _sum_without(b: Builder, call: Call) -> str:
    value = b.cast(call.input, call.dtype)
    if value.dtype in _FLOATING:
        kept = b.node("Where", b.node("IsNaN", value.name), b.number(0, value.dtype), value.name)
        value = value._replace(name=kept)
    return _reduced(b, "ReduceSum", value, call.dims(), call["keepdim"])


@row("aminmax")
def _ends(b: Builder, call: Call) -> list[str]:
    value = b.cast(call.input, "int32") if call.dtype == "bool" else call.input
    found = (_reduced(b, kind, value, call.dims(), call["keepdim"]) for kind in ("ReduceMin", "ReduceMax"))
    return [b.cast(Value(each, value.dtype, call.sizes), call.dtype).name for each in found]


@row("cumsum")
def _sums(b: Builder, call: Call) -> Any:
    value = b.cast(call.input, call.dtype)
    return b.node("CumSum", value.name, b.number(call.dim(), "int64")) if value.sizes else value.name


@row("topk")
def _largest(b: Builder, call: Call) -> Any:
    count = b.integers([call["k"]])
    largest, is_sorted = int(call["largest"]), int(call["sorted"])
    return b.node("TopK", call.input.name, count, axis=call.dim(), largest=largest, sorted=is_sorted, results=2)


@row("sort", "argsort")
def _sorted(b: Builder, call: Call) -> Any:
    call.require(bool(call.input.sizes), "a number is not sorted")
    value = b.cast(call.input, "int32") if call.input.dtype == "bool" else call.input
    count = b.integers([value.size(call.dim())])
    made = b.node(
        "TopK", value.name, count, axis=call.dim(), largest=int(call["descending"]), sorted=1, results=2
    )  # which gives equal elements in their order
    if call.op.name == "argsort":
        return made[1]
    return [b.cast(Value(made[0], value.dtype, call.sizes), call.dtype).name, made[1]]


@row("softmax", "nn_softmax", "log_softmax", "nn_log_softmax")
def _softmax(b: Builder, call: Call) -> Any:
    value = b.cast(call.input, call.dtype)
    dim = call["dim"]
    if dim is None:  # torch's rule of old
        dim = 0 if len(value.sizes) in (0, 1, 3) else 1
    kind = "LogSoftmax" if "log" in call.op.name else "Softmax"
    if not value.sizes:
        single = b.node("Reshape", value.name, b.integers([1]))
        return b.node("Squeeze", b.node(kind, single, axis=0), b.integers([0]))
    return b.node(kind, value.name, axis=dim % len(value.sizes))


@row("one_hot")
def _one_hot(b: Builder, call: Call) -> Any:
    depth = b.number(call.shape[-1], "int64")
    values = b.integers([0, 1])
    return b.node("OneHot", call.input.name, depth, values, axis=-1)
