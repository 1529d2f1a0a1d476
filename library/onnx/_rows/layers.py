"""Convolutions, pooling, norms, embeddings."""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import EXPORTS
from ..._operators import ones, zeros
from .._builder import Builder, Value
from .._calls import Call, row


def _spread(value: Any, count: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _batched(b: Builder, value: Value, dims: int) -> Value:
    """A tensor with a first dimension of samples."""
    if len(value.sizes) == dims + 2:
        return value
    return Value(b.node("Unsqueeze", value.name, b.integers([0])), value.dtype, (1, *value.sizes))


def _as_given(b: Builder, call: Call, result: str, dims: int) -> str:
    return result if len(call.input.sizes) == dims + 2 else str(b.node("Squeeze", result, b.integers([0])))


@row("conv1d", "conv2d", "conv3d")
def _conv(b: Builder, call: Call) -> Any:
    dims = len(call["weight"].sizes) - 2
    strides, dilations = _spread(call["stride"], dims), _spread(call["dilation"], dims)
    kernel = call["weight"].shape[2:]
    if call["padding"] == "valid":
        pads = [0] * (2 * dims)
    elif call["padding"] == "same":
        whole = [dilation * (size - 1) for dilation, size in zip(dilations, kernel, strict=True)]
        pads = [each // 2 for each in whole] + [each - each // 2 for each in whole]
    else:
        pads = _spread(call["padding"], dims) * 2
    rest = [] if call["bias"] is None else [call["bias"].name]
    result = b.node(
        "Conv", _batched(b, call.input, dims).name, call["weight"].name, *rest, kernel_shape=list(kernel),
        strides=strides, pads=pads, dilations=dilations, group=call["groups"],
    )  # fmt: skip
    return _as_given(b, call, result, dims)


@row("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv_transpose(b: Builder, call: Call) -> Any:
    dims = len(call["weight"].sizes) - 2
    rest = [] if call["bias"] is None else [call["bias"].name]
    result = b.node(
        "ConvTranspose", _batched(b, call.input, dims).name, call["weight"].name, *rest,
        kernel_shape=list(call["weight"].shape[2:]), strides=_spread(call["stride"], dims),
        pads=_spread(call["padding"], dims) * 2, dilations=_spread(call["dilation"], dims), group=call["groups"],
        output_padding=_spread(call["output_padding"], dims),
    )  # fmt: skip
    return _as_given(b, call, result, dims)


def _windows(call: Call, dims: int) -> dict[str, Any]:
    kernel = _spread(call["kernel_size"], dims)
    stride = call["stride"]
    is_given = stride is not None and (isinstance(stride, int) or len(stride))
    return {
        "kernel_shape": kernel,
        "strides": _spread(stride, dims) if is_given else kernel,
        "pads": _spread(call["padding"], dims) * 2,
        "ceil_mode": int(call["ceil_mode"]),
    }


@row(*(f"{prefix}max_pool{dims}d" for prefix in ("", "nn_") for dims in (1, 2, 3)))
def _max_pool(b: Builder, call: Call) -> Any:
    dims = int(call.op.name[-2])
    call.require(len(call.results) == 1, "places of the largest elements are not mapped")
    value = _batched(b, call.input, dims)
    result = b.node("MaxPool", value.name, dilations=_spread(call["dilation"], dims), **_windows(call, dims))
    return _as_given(b, call, result, dims)


@row("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _average_pool(b: Builder, call: Call) -> Any:
    dims = int(call.op.name[-2])
    call.require(call.arguments.get("divisor_override") is None, "a divisor of its own is not mapped")
    value = _batched(b, call.input, dims)
    counts = int(call["count_include_pad"])
    result = b.node("AveragePool", value.name, count_include_pad=counts, **_windows(call, dims))
    return _as_given(b, call, result, dims)


@row("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _adaptive(b: Builder, call: Call) -> Any:
    dims = int(call.op.name[-2])
    value = call.input
    wanted, given = call.sizes[-dims:], value.sizes[-dims:]
    axes = [len(value.sizes) - dims + place for place in range(dims)]
    if all(size == 1 for size in wanted):
        return b.node("ReduceMean", value.name, b.integers(axes), keepdims=1)
    sizes = [(value.size(axis), size) for axis, size in zip(axes, wanted, strict=True)]
    call.require(all(size % parts == 0 for size, parts in sizes), f"sizes {given} are no multiples of {wanted}")
    kernel = [size // parts for size, parts in sizes]
    result = b.node("AveragePool", _batched(b, value, dims).name, kernel_shape=kernel, strides=kernel)
    return _as_given(b, call, result, dims)


@row("lstm", "gru", "rnn_tanh", "rnn_relu")
def _recurrent(b: Builder, call: Call) -> Any:
    kind = "LSTM" if call.op.name == "lstm" else "GRU" if call.op.name == "gru" else "RNN"
    call.require(call.arguments.get("has_biases") is not None, "packed sequences are not mapped")
    directions = 2 if call["bidirectional"] else 1
    call.require(not (call["dropout"] and call["train"]), "it draws random numbers: call eval() before")
    value = call.input
    rank = len(value.sizes)
    call.require(rank == 3, "sequences without a dimension of samples are not mapped")
    name = b.node("Transpose", value.name, perm=[1, 0, 2]) if call["batch_first"] else value.name
    states = list(call["hx"]) if kind == "LSTM" else [call["hx"]]
    finals: list[list[str]] = [[] for _ in states]
    params = list(call["params"])
    each = len(params) // (call["num_layers"] * directions)
    call.require(each == (4 if call["has_biases"] else 2), "projections are not mapped")
    size = params[1].size(1)
    for layer in range(call["num_layers"]):
        taken, params = params[: each * directions], params[each * directions :]
        w, r = (_gates(b, taken[place::each], kind, size) for place in (0, 1))
        bias = ""
        if call["has_biases"]:
            both = [_gates(b, taken[place::each], kind, size) for place in (2, 3)]
            bias = b.node("Concat", *both, axis=1)
        places = b.integers([*range(layer * directions, (layer + 1) * directions)])
        before = [b.node("Gather", state.name, places, axis=0) for state in states]
        words = {1: "forward", 2: "bidirectional"}
        more: dict[str, Any] = {"linear_before_reset": 1} if kind == "GRU" else {}
        if kind == "RNN":
            more = {"activations": ["Tanh" if call.op.name == "rnn_tanh" else "Relu"] * directions}
        made = b.node(kind, name, w, r, bias, "", *before, hidden_size=size, direction=words[directions],
                      results=1 + len(states), **more)  # fmt: skip
        side_by_side = b.node("Transpose", made[0], perm=[0, 2, 1, 3])
        name = b.node("Reshape", side_by_side, b.integers([0, 0, -1]))
        for final, result in zip(finals, made[1:], strict=True):
            final.append(result)
    name = b.node("Transpose", name, perm=[1, 0, 2]) if call["batch_first"] else name
    return [name, *(b.node("Concat", *final, axis=0) for final in finals)]


def _gates(b: Builder, given: Any, kind: str, size: int) -> str:
    """Weights or biases of all directions, whose gates are in the order of ONNX."""
    order = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}[kind]
    rows = b.integers([gate * size + place for gate in order for place in range(size)])
    parts = [b.node("Unsqueeze", b.node("Gather", each.name, rows, axis=0), b.integers([0])) for each in given]
    return str(b.node("Concat", *parts, axis=0))


@row("grid_sampler", "grid_sample", "grid_sampler_2d", "grid_sampler_3d")
def _grid(b: Builder, call: Call) -> Any:
    named = call.op.name == "grid_sample"
    mode, pad = (call["mode"], call["padding_mode"]) if named else (call["interpolation_mode"], call["padding_mode"])
    modes = {0: "linear", 1: "nearest", 2: "cubic", "bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
    pads = {0: "zeros", 1: "border", 2: "reflection"}
    return b.node(
        "GridSample", call.input.name, call["grid"].name, mode=modes[mode], padding_mode=pads.get(pad, pad),
        align_corners=int(bool(call["align_corners"])),
    )  # fmt: skip


@row("conv_tbc")
def _conv_tbc(b: Builder, call: Call) -> Any:
    value = b.node("Transpose", call.input.name, perm=[1, 2, 0])
    weight = b.node("Transpose", call["weight"].name, perm=[2, 1, 0])
    result = b.node("Conv", value, weight, call["bias"].name, pads=[call["pad"]] * 2)
    return b.node("Transpose", result, perm=[2, 0, 1])


# ---- norms --------------------------------------------------------------------------------------------------


def _filled(b: Builder, given: Any, size: int, dtype: str, make: Any) -> str:
    return str(given.name) if given is not None else b.tensor(make(size, dtype=EXPORTS[dtype]))


@row("batch_norm", "nn_batch_norm")
def _batch_norm(b: Builder, call: Call) -> Any:
    call.require(not call["training"], "statistics of the batch are not mapped: call eval() before")
    size, dtype = call.input.size(1), call.dtype
    weight, bias = _filled(b, call["weight"], size, dtype, ones), _filled(b, call["bias"], size, dtype, zeros)
    mean, variance = call["running_mean"].name, call["running_var"].name
    return b.node("BatchNormalization", call.input.name, weight, bias, mean, variance, epsilon=call["eps"])


@row("instance_norm", "nn_instance_norm")
def _instance_norm(b: Builder, call: Call) -> Any:
    size, dtype = call.input.size(1), call.dtype
    weight, bias = _filled(b, call["weight"], size, dtype, ones), _filled(b, call["bias"], size, dtype, zeros)
    if not call["use_input_stats"]:
        mean, variance = call["running_mean"].name, call["running_var"].name
        return b.node("BatchNormalization", call.input.name, weight, bias, mean, variance, epsilon=call["eps"])
    call.require(call["running_mean"] is None, "statistics that are kept are not mapped")
    return b.node("InstanceNormalization", call.input.name, weight, bias, epsilon=call["eps"])


@row("layer_norm")
def _layer_norm(b: Builder, call: Call) -> Any:
    axis = len(call.input.sizes) - len(call["normalized_shape"])
    shape = call["normalized_shape"]
    weight = _filled(b, call["weight"], shape, call.dtype, ones)
    rest = [] if call["bias"] is None else [call["bias"].name]
    return b.node("LayerNormalization", call.input.name, weight, *rest, axis=axis, epsilon=call["eps"])


@row("rms_norm")
def _rms_norm(b: Builder, call: Call) -> Any:
    eps = {"float64": 2.0**-52, "float32": 2.0**-23}.get(call.dtype) if call["eps"] is None else call["eps"]
    call.require(eps is not None, f"the least difference of {call.dtype} is not mapped")
    rank = len(call.input.sizes)
    dims = b.integers([*range(rank - len(call["normalized_shape"]), rank)])
    mean = b.node("ReduceMean", b.node("Mul", call.input.name, call.input.name), dims, keepdims=1)
    root = b.node("Sqrt", b.node("Add", mean, b.number(eps, call.dtype)))
    result = b.node("Div", call.input.name, root)
    return result if call["weight"] is None else b.node("Mul", result, call["weight"].name)


@row("group_norm")
def _group_norm(b: Builder, call: Call) -> Any:
    value, groups = call.input, call["num_groups"]
    size = value.size(1)
    parted = b.node("Reshape", value.name, b.integers([0, groups, -1]))
    one, zero = (b.tensor(make(groups, dtype=EXPORTS[call.dtype])) for make in (ones, zeros))
    normalized = b.node("InstanceNormalization", parted, one, zero, epsilon=call["eps"])
    whole = b.node("Reshape", normalized, b.node("Shape", value.name))
    beside = (size, *(1,) * (len(value.sizes) - 2))
    for kind, name in (("Mul", "weight"), ("Add", "bias")):
        if call[name] is not None:
            whole = b.node(kind, whole, b.reshape(call[name], beside))
    return whole


@row("nn_embedding", "embedding")
def _embedding(b: Builder, call: Call) -> Any:
    name = "input" if call.op.name.startswith("nn_") else "indices"
    call.require(call.arguments.get("max_norm") is None, "rows are scaled to a norm")
    return b.node("Gather", call["weight"].name, call[name].name, axis=0)
