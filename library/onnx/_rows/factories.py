"""Tensors that are made of numbers, where sizes are those of others or dynamic."""

from __future__ import annotations

from typing import Any

from .._builder import Builder, Value
from .._calls import Call, row

_FILLING = {"zeros": 0, "new_zeros": 0, "zeros_like": 0, "ones": 1, "new_ones": 1, "ones_like": 1, "empty_like": 0,
            "new_empty": 0, "empty": 0}  # fmt: skip


@row(*_FILLING, "full", "new_full", "full_like")
def _filled(b: Builder, call: Call) -> Any:
    fill = _FILLING.get(call.op.name)
    number = b.number(call["fill_value"] if fill is None else fill, call.dtype)
    if call.op.name.endswith("_like"):
        return b.node("Expand", number, b.node("Shape", call.input.name))
    size = call.numbers("size")
    return b.node("Expand", number, b.integers(size)) if size else number


@row("arange")
def _range(b: Builder, call: Call) -> Any:
    start, end, step = call["start"], call["end"], call["step"]
    if end is None:
        start, end = 0, start
    given = [b.cast(each, call.dtype).name if isinstance(each, Value) else b.number(each or 0, call.dtype)
             for each in (start, end, step)]  # fmt: skip
    return b.node("Range", *given)


@row("nn_dropout", "dropout", "nn_alpha_dropout", "nn_feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
def _dropout(b: Builder, call: Call) -> Any:
    call.require(False, "it draws random numbers: call eval() before")


@row("interpolate")
def _interpolate(b: Builder, call: Call) -> Any:
    mode = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear"}.get(call["mode"])
    call.require(mode is not None and not call["antialias"], f"the mode {call['mode']} is not mapped")
    dims = len(call.input.sizes) - 2
    scales = [call.sizes[place] / call.input.size(place) for place in range(2, 2 + dims)]
    factor = call["scale_factor"]
    if factor is not None and not call["recompute_scale_factor"]:
        factors = [factor] * dims if isinstance(factor, (int, float)) else list(factor)
        call.require(factors == scales, "factors that do not give whole sizes are not mapped")
    kind = "asymmetric" if mode == "nearest" else "align_corners" if call["align_corners"] else "half_pixel"
    sizes = b.integers(call.shape)
    nearest = "floor" if mode == "nearest" else None
    return b.node(
        "Resize", call.input.name, "", "", sizes, mode=mode, coordinate_transformation_mode=kind, nearest_mode=nearest
    )
