"""Images and volumes in all memory orders that matter, the calls that keep the order of channels, and their strides."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

CALLS = """
F.conv2d(x, w(6, c, 3, 3), padding=1)
F.conv2d(x, w(6, c, 2, 2), w(6), stride=2)
F.conv2d(x, w(6, c, 2, 2), padding="same", dilation=2)
F.conv2d(x, w(c, 1, 2, 2), groups=c)
F.conv_transpose2d(x, w(c, 6, 2, 2), w(6), stride=2)
F.conv_transpose2d(x, w(c, 2, 2, 2), groups=c)
F.max_pool2d(x, 2, 1, 1)
F.max_pool2d(x, 2, 1, 1, return_indices=True)
F.avg_pool2d(x, 2, 1, 1)
F.avg_pool2d(x, 2, 1, 1, count_include_pad=False)
F.adaptive_avg_pool2d(x, (3, 2))
F.adaptive_max_pool2d(x, (3, 2), return_indices=True)
F.group_norm(x, 1, w(c), w(c))
F.group_norm(x, c)
F.pad(x, (1, 0, 0, 1), mode="reflect")
F.pad(x, (1, 0, 0, 1), mode="replicate")
F.interpolate(x, (3, 2), mode="area")
"""
"""Of images; the gradients have the order of the result, whatever the order of its gradient."""
WEIGHTS = """
F.conv2d(x, w(6, c, 2, 2).to(memory_format=L.channels_last))
F.conv_transpose2d(x, w(c, 6, 2, 2).to(memory_format=L.channels_last))
"""
"""The same of weights whose channels are last."""
RESULTS = """
F.conv2d(x, w(6, c, 1, 1), w(6))
F.conv2d(x, w(1, c, 1, 1))
F.adaptive_avg_pool2d(x, 1)
F.max_unpool2d(x, L.arange(x.shape[2] * x.shape[3]).reshape(x.shape[2:]).expand(x.shape), 1)
F.lp_pool2d(x, 2, 1)
F.instance_norm(x, weight=w(c), bias=w(c))
F.layer_norm(x, x.shape[2:])
F.local_response_norm(x, 2)
F.interpolate(x, (7, 8))
F.interpolate(x, (7, 8), mode="nearest-exact")
F.interpolate(x, (7, 8), mode="bilinear")
F.interpolate(x, (7, 3), mode="bilinear", align_corners=True)
F.interpolate(x, (2, 3), mode="bilinear", antialias=True)
F.interpolate(x, (7, 8), mode="bicubic")
F.interpolate(x, x.shape[2:])
F.pad(x, (1, 2, 0, 1))
F.pad(x, (-1, 2, 0, 1))
F.pad(x, (0, 0, 0, 0, 1, 1))
F.pad(x, (0, 0))
F.pixel_shuffle(L.cat([x] * 4, 1), 2)
F.pixel_shuffle(x, 1)
F.pixel_unshuffle(x, 1)
F.channel_shuffle(x, c)
F.channel_shuffle(x, 1)
F.unfold(x, 1)
F.grid_sample(x, L.zeros(x.shape[0], 3, 2, 2))
F.prelu(x, w(c))
F.glu(L.cat([x, x], 1), 1)
F.softmax(x, 1)
F.dropout2d(x, 0.5)
x.clone()
L.empty_like(x)
L.zeros_like(x, memory_format=L.channels_last)
x.contiguous(memory_format=L.channels_last)
x.to(memory_format=L.channels_last)
x.double()
"""
"""The order of their gradients may be another one."""
DENSE = """
F.batch_norm(x, None, None, w(c), w(c), True)
F.batch_norm(x, None, None, None, None, True)
F.batch_norm(x, L.zeros(c), L.ones(c), w(c), w(c))
F.rms_norm(x, x.shape[2:])
F.pad(x, (1, 0, 0, 1), mode="circular")
"""
"""Results of what could be in either order are in C order."""
VOLUMES = """
F.conv3d(x, w(3, c, 2, 2, 2), w(3), padding=1)
F.conv_transpose3d(x, w(c, 3, 2, 2, 2), w(3), stride=2)
F.max_pool3d(x, 2, 1, 1, return_indices=True)
F.avg_pool3d(x, 2, 1, 1)
F.adaptive_avg_pool3d(x, (3, 2, 1))
F.adaptive_avg_pool3d(x, 1)
F.adaptive_max_pool3d(x, (3, 2, 1), return_indices=True)
F.max_unpool3d(x, L.arange(18).reshape(3, 2, 3).expand(x.shape), 1)
F.group_norm(x, 1, w(c), w(c))
F.batch_norm(x, None, None, w(c), w(c), True)
F.instance_norm(x, weight=w(c), bias=w(c))
F.interpolate(x, (3, 4, 5))
F.interpolate(x, (3, 4, 5), mode="trilinear")
F.interpolate(x, (3, 4, 5), mode="area")
F.pad(x, (1, 2, 0, 1, 1, 1))
F.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate")
F.channel_shuffle(x, c)
x.roll(1, 2)
F.dropout3d(x, 0.5)
"""
"""Of volumes."""


KEPT = """
F.conv2d(x, w(6, c, 1, 1), w(6))
F.lp_pool2d(x, 2, 1)
F.instance_norm(x, weight=w(c), bias=w(c))
F.batch_norm(x, None, None, w(c), w(c), True)
F.batch_norm(x, L.zeros(c), L.ones(c), w(c), w(c))
F.local_response_norm(x, 2)
F.interpolate(x, (7, 8))
F.interpolate(x, (7, 8), mode="nearest-exact")
F.interpolate(x, (7, 8), mode="bilinear")
F.interpolate(x, (2, 3), mode="bilinear", antialias=True)
F.interpolate(x, x.shape[2:])
F.pad(x, (1, 2, 0, 1))
F.pad(x, (-1, 2, 0, 1))
F.pixel_shuffle(x, 2)
F.pixel_unshuffle(x, 2)
F.channel_shuffle(x, c)
F.grid_sample(x, L.zeros(x.shape[0], 3, 2, 2))
F.prelu(x, w(c))
F.glu(x, 1)
F.gelu(x)
F.silu(x)
F.hardswish(x)
F.softmax(x, 1)
L.cat([x, x], 1)
x.flip(2)
x.amax(1, True)
x * w(1, c, 1, 1)
"""
"""Of images; the gradients have the order of the result where the gradient that arrives has it."""
KEPT_VOLUMES = """
F.max_pool3d(x, 2, 1, 1)
F.avg_pool3d(x, 2, 1, 1)
F.batch_norm(x, None, None, w(c), w(c), True)
F.instance_norm(x, weight=w(c), bias=w(c))
F.group_norm(x, 1, w(c), w(c))
F.interpolate(x, (3, 4, 5), mode="trilinear")
F.interpolate(x, (3, 4, 5), mode="area")
F.pad(x, (1, 2, 0, 1, 1, 1))
F.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate")
F.channel_shuffle(x, c)
F.relu(x)
F.prelu(x, w(c))
x.roll(1, 2)
"""
"""The same of volumes. By which library torch computes convolutions of these depends on the processor."""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def numbers(library: Any, *sizes: int, dtype: str = "float32") -> Any:
    """Some of them are equal, none are in order."""
    values = library.arange(prod(sizes), dtype=library.float32).reshape(sizes) * 5 % 7 / 8
    return values.to(getattr(library, dtype))


def images(library: Any, dense: bool = False) -> Iterator[tuple[str, Any]]:
    """Those that have one memory order, and unless `dense` those that could have either, or have no batch."""
    last = library.channels_last
    yield "contiguous", numbers(library, 2, 4, 6, 4)
    yield "channels last", numbers(library, 2, 4, 6, 4).to(memory_format=last)
    yield "one image", numbers(library, 1, 4, 6, 4).to(memory_format=last)
    yield "one row", numbers(library, 2, 4, 1, 4).to(memory_format=last)
    yield "one column", numbers(library, 2, 4, 6, 1).to(memory_format=last)
    yield "permuted", numbers(library, 2, 6, 4, 4).permute(0, 3, 1, 2)
    yield "some columns", numbers(library, 2, 6, 8, 4).permute(0, 3, 1, 2)[..., ::2]
    yield "some channels", numbers(library, 2, 8, 6, 4).to(memory_format=last)[:, ::2]
    yield "columns first", numbers(library, 2, 4, 4, 6).transpose(2, 3)
    yield "channels first", numbers(library, 4, 2, 6, 4).transpose(0, 1)
    if dense:
        return
    yield "one channel", numbers(library, 2, 1, 6, 4).to(memory_format=last)
    yield "one pixel", numbers(library, 2, 4, 1, 1).to(memory_format=last)
    yield "one pixel in C order", numbers(library, 2, 4, 1, 1)
    yield "expanded", numbers(library, 1, 4, 6, 4).to(memory_format=last).expand(2, -1, -1, -1)
    yield "without a batch", numbers(library, 4, 6, 4)
    yield "without a batch, channels last", numbers(library, 6, 4, 4).permute(2, 0, 1)


def volumes(library: Any) -> Iterator[tuple[str, Any]]:
    last = library.channels_last_3d
    yield "contiguous", numbers(library, 2, 4, 3, 2, 3)
    yield "channels last", numbers(library, 2, 4, 3, 2, 3).to(memory_format=last)
    yield "some columns", numbers(library, 2, 4, 3, 2, 6).to(memory_format=last)[..., ::2]
    yield "channels first", numbers(library, 4, 2, 3, 2, 3).transpose(0, 1)


def called(library: Any, call: str, x: Any, dims: int) -> tuple[tuple[Any, ...], list[Any]]:
    """The results, and the weights that the call made."""
    weights: list[Any] = []

    def weight(*sizes: int) -> Any:
        weights.append(numbers(library, *sizes).to(x.dtype).to(x.device).requires_grad_())
        return weights[-1]

    names = {"L": library, "F": library.nn.functional, "x": x, "c": x.shape[1 if x.ndim == dims else 0], "w": weight}
    result = eval(call, names)
    return (result if isinstance(result, tuple) else (result,)), weights


def strides(tensors: Any) -> list[list[int]]:
    return [list(each.stride()) for each in tensors]
