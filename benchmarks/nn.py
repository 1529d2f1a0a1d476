"""Layers of networks beside torch's, forward, and forward and backward.

    python benchmarks/nn.py [PATTERN]

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import measure
from figures import Libraries, show

CONVOLUTIONS = (
    ("7x7/2, 3 to 64, 224", 3, 224, 64, 7, 2, 3, 1),
    ("3x3, 64 to 64, 56", 64, 56, 64, 3, 1, 1, 1),
    ("3x3/2, 64 to 128, 56", 64, 56, 128, 3, 2, 1, 1),
    ("3x3, 256 to 256, 14", 256, 14, 256, 3, 1, 1, 1),
    ("3x3, 512 to 512, 7", 512, 7, 512, 3, 1, 1, 1),
    ("1x1, 64 to 256, 56", 64, 56, 256, 1, 1, 0, 1),
    ("1x1, 1024 to 256, 14", 1024, 14, 256, 1, 1, 0, 1),
    ("depthwise 3x3, 144, 56", 144, 56, 144, 3, 1, 1, 144),
    ("depthwise 5x5/2, 240, 28", 240, 28, 240, 5, 2, 2, 240),
)
"""Name, channels, size, channels of the result, kernel, stride, padding, groups: of ResNet-18, ResNet-50, MobileNet."""


def _numbers(library: Any, *shape: int, recorded: bool = False) -> Any:
    return library.linspace(-1, 1, int(library.ones(shape).sum())).reshape(shape).sin().requires_grad_(recorded)


def _call(function: Callable[..., Any], tensors: list[Any], recorded: bool) -> Callable[[], Any]:
    """The call, or with `recorded` the call and the backward pass."""
    if not recorded:
        return lambda: function(*tensors)
    first = function(*tensors)
    gradient = (first[0] if isinstance(first, tuple) else first).detach() * 0 + 1

    def run() -> None:
        result = function(*tensors)
        (result[0] if isinstance(result, tuple) else result).backward(gradient)
        for each in tensors:
            each.grad = None

    return run


def convolution(library: Any, row: tuple[Any, ...], batch: int, recorded: bool, order: str) -> Callable[[], Any]:
    _, channels, size, results, kernel, stride, padding, groups = row
    shapes = (batch, channels, size, size), (results, channels // groups, kernel, kernel)
    format = getattr(library, order)
    tensors = [_numbers(library, *shape).to(memory_format=format).requires_grad_(recorded) for shape in shapes]
    return _call(partial(library.conv2d, stride=stride, padding=padding, groups=groups), tensors, recorded)


LAYERS: tuple[tuple[str, tuple[int, ...], Callable[[Any], Callable[..., Any]]], ...] = (
    ("max_pool2d 3x3/2", (8, 64, 56, 56), lambda f: lambda x: f.max_pool2d(x, 3, 2, 1)),
    ("avg_pool2d 2x2", (8, 64, 56, 56), lambda f: lambda x: f.avg_pool2d(x, 2)),
    ("adaptive_avg_pool2d 7", (8, 64, 56, 56), lambda f: lambda x: f.adaptive_avg_pool2d(x, 7)),
    ("adaptive_avg_pool2d 7 to 3", (8, 512, 7, 7), lambda f: lambda x: f.adaptive_avg_pool2d(x, 3)),
    ("interpolate bilinear 2", (8, 16, 56, 56), lambda f: lambda x: f.interpolate(x, scale_factor=2, mode="bilinear")),
    ("layer_norm 768", (512, 768), lambda f: lambda x: f.layer_norm(x, (768,), x[0], x[0])),
    ("group_norm 8", (8, 64, 28, 28), lambda f: lambda x: f.group_norm(x, 8)),
    ("batch_norm", (32, 64, 28, 28), lambda f: lambda x: f.batch_norm(x, None, None, training=True)),
    ("attention 8 x 512 x 64, causal", (8, 512, 64),
     lambda f: lambda x: f.scaled_dot_product_attention(x, x, x, is_causal=True)),
)  # fmt: skip


def layer(
    library: Any, shape: tuple[int, ...], make: Callable[[Any], Any], recorded: bool, order: str
) -> Callable[[], Any]:
    tensor = _numbers(library, *shape).to(memory_format=getattr(library, order)).requires_grad_(recorded)
    return _call(make(library.nn.functional), [tensor], recorded)


def recurrent(library: Any, kind: str, recorded: bool) -> Callable[[], Any]:
    module = getattr(library.nn, kind)(128, 256).requires_grad_(recorded)
    return _call(module, [_numbers(library, 50, 32, 128, recorded=recorded)], recorded)


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    for recorded, ending in ((False, ""), (True, ", and back")):
        for batch in (1, 8):
            for row in CONVOLUTIONS:
                make = partial(convolution, row=row, batch=batch, recorded=recorded, order="contiguous_format")
                yield from lib.run(f"{row[0]}, batch {batch}{ending}", make, None, 2.0)
        for row in CONVOLUTIONS:
            make = partial(convolution, row=row, batch=8, recorded=recorded, order="channels_last")
            yield from lib.run(f"{row[0]}, batch 8, channels last{ending}", make, None, 2.0)
        for name, shape, function in LAYERS:
            make = partial(layer, shape=shape, make=function, recorded=recorded, order="contiguous_format")
            yield from lib.run(f"{name}{ending}", make, None, 1.0)
            if len(shape) == 4:
                make = partial(layer, shape=shape, make=function, recorded=recorded, order="channels_last")
                yield from lib.run(f"{name}, channels last{ending}", make, None, 1.0)
        for kind in ("LSTM", "GRU", "RNN"):
            make = partial(recurrent, kind=kind, recorded=recorded)
            yield from lib.run(f"{kind} 128 to 256, 50 steps, batch 32{ending}", make, None, 1.2)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
