"""Work for compilers of functions: chains of operators, functions of rows and layers, written for any library.

A chain takes the library and tensors. What it calls of the library has these names and this order of arguments in
opweave, torch and the table that `compile.py` makes for jax.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def gelu(m: Any, x: Any) -> Any:
    return 0.5 * x * (1 + m.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def plain(m: Any, x: Any, y: Any, z: Any) -> Any:
    return 2 * x + y * z - 3


def gated(m: Any, x: Any, y: Any) -> Any:
    return 1 / (1 + m.exp(-x)) * m.tanh(y)


def black_scholes(m: Any, s: Any, k: Any, t: Any, v: Any) -> Any:
    root = v * m.sqrt(t)
    first = (m.log(s / k) + (0.02 + 0.5 * v * v) * t) / root
    second = first - root
    price = s * 0.5 * (1 + m.erf(first * 0.70710678))
    return price - k * m.exp(-0.02 * t) * 0.5 * (1 + m.erf(second * 0.70710678))


def haversine(m: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
    a = m.sin((z - x) / 2) ** 2 + m.cos(x) * m.cos(z) * m.sin((w - y) / 2) ** 2
    return 2 * m.asin(m.sqrt(a))


def rope(m: Any, x: Any, cos: Any, sin: Any) -> Any:
    half = x.shape[-1] // 2
    return x * cos + m.cat((-x[..., half:], x[..., :half]), -1) * sin


def swiglu(m: Any, x: Any, y: Any) -> Any:
    return x * m.sigmoid(x) * y


def squared_error(m: Any, x: Any, y: Any) -> Any:
    return m.mean((x - y) * (x - y))


def softmax(m: Any, x: Any) -> Any:
    powers = m.exp(x - m.amax(x, -1, True))
    return powers / m.sum(powers, -1, True)


def layer_norm(m: Any, x: Any, weight: Any, bias: Any) -> Any:
    centred = x - m.mean(x, -1, True)
    return centred * m.rsqrt(m.mean(centred * centred, -1, True) + 1e-5) * weight + bias


def norm_of_sum(m: Any, x: Any, rest: Any, weight: Any) -> Any:
    total = x + rest
    return total, total * m.rsqrt(m.mean(total * total, -1, True) + 1e-6) * weight


@dataclass(frozen=True)
class Work:
    """A function, and the shapes of its arguments, whose gradients by the first ones are asked for."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    differentiated: int
    formula: str | None = None
    """The function as numexpr reads it, with names of arguments in the order of the alphabet."""

    def arrays(self) -> list[Any]:
        """Random arguments from 0.1 to 1."""
        random = np.random.default_rng(0)
        return [(random.random(shape) * 0.9 + 0.1).astype(np.float32) for shape in self.shapes]


def _chains(count: int) -> list[Work]:
    heads = (16, count // 1024, 64)
    shaped: list[tuple[str, Callable[..., Any], int, str | None]] = [
        ("gelu-tanh", gelu, 1, "0.5 * a * (1 + tanh(0.7978845608 * (a + 0.044715 * a * a * a)))"),
        ("2x+yz-3", plain, 3, "2 * a + b * c - 3"),
        ("sigmoid*tanh", gated, 2, "1 / (1 + exp(-a)) * tanh(b)"),
        ("Black-Scholes", black_scholes, 4, None),
        ("haversine", haversine, 4, None),
        ("swiglu", swiglu, 2, None),
    ]
    ending = f" {count:.0e}"
    return [
        *(Work(name + ending, function, ((count,),) * number, number, text) for name, function, number, text in shaped),
        Work(f"rope{ending}", rope, (heads, heads[1:], heads[1:]), 1),
        Work(f"squared error{ending}", squared_error, ((count,),) * 2, 2),
    ]


WORK = (
    *_chains(1_000_000),
    *_chains(10_000_000),
    Work("softmax 1000x1000", softmax, ((1000, 1000),), 1),
    Work("layer norm 4096x1024", layer_norm, ((4096, 1024), (1024,), (1024,)), 3),
    Work("RMS norm of x+r 4096x1024", norm_of_sum, ((4096, 1024), (4096, 1024), (1024,)), 3),
)


# ---- layers and steps, of opweave and torch --------------------------------------------------------------------


def encoder_layer(m: Any) -> tuple[Any, Any, Any]:
    """Return a layer of a transformer, its input, and no labels."""
    layer = m.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    return layer, numbers(m, 8, 128, 256), None


def perceptron(m: Any) -> tuple[Any, Any, Any]:
    """Return layers with activations between them, their input, and labels."""
    nn = m.nn
    layers = nn.Sequential(
        nn.Linear(784, 512), nn.GELU(), nn.Linear(512, 256), nn.GELU(), nn.Linear(256, 10)
    )  # fmt: skip
    return layers, numbers(m, 128, 784), m.arange(128) % 10


def convolutions(m: Any) -> tuple[Any, Any, Any]:
    """Return convolutions with norms and activations between them, their input, and labels."""
    nn = m.nn
    layers = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 8 * 8, 10),
    )  # fmt: skip
    return layers, numbers(m, 32, 3, 32, 32), m.arange(32) % 10


MODULES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "transformer encoder layer": encoder_layer,
    "MLP": perceptron,
    "ConvNet": convolutions,
}


def numbers(m: Any, *shape: int) -> Any:
    """Return a tensor of numbers between -1 and 1."""
    return m.linspace(-1, 1, int(np.prod(shape))).mul(1000).sin().reshape(shape)
