"""Compiled functions beside others: `python benchmarks/compile.py [elements]`.

Chains of operators are called in turn by opweave without and with `compile`, and where torch is installed by it without
and with its compiler. Printed is the least time of many turns, and the ratio to that of the function itself.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave

TURNS = 40
SECONDS = 3.0
"""The longest time for all turns of a chain."""


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


def softmax(m: Any, x: Any) -> Any:
    powers = m.exp(x - x.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def layer_norm(m: Any, x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdim=True)
    return centred * m.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5) * weight + bias


def norm_of_sum(m: Any, x: Any, rest: Any, weight: Any) -> Any:
    total = x + rest
    return total, total * m.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6) * weight


CHAINS: dict[str, tuple[Callable[..., Any], int]] = {
    "gelu-tanh": (gelu, 1),
    "2x+yz-3": (plain, 3),
    "sigmoid*tanh": (gated, 2),
    "Black-Scholes": (black_scholes, 4),
    "haversine": (haversine, 4),
}

ROWS: dict[str, tuple[Callable[..., Any], tuple[int, int], int, int]] = {
    # the shape, the number of tensors that have it, and of those with an element for each place in a row
    "softmax": (softmax, (1000, 1000), 1, 0),
    "layer norm": (layer_norm, (4096, 1024), 1, 2),
    "RMS norm of x+r": (norm_of_sum, (4096, 1024), 2, 1),
}


def optional(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def ways(chain: Callable[..., Any], arrays: list[Any], torch: Any) -> dict[str, Callable[[], Any]]:
    """Calls of a chain, by who computes it."""
    tensors = [opweave.from_numpy(each) for each in arrays]
    compiled = opweave.compile(lambda *given: chain(opweave, *given), fullgraph=True)
    calls: dict[str, Callable[[], Any]] = {
        "opweave": lambda: chain(opweave, *tensors),
        "compiled": lambda: compiled(*tensors),
    }
    if torch is not None:
        torch.compiler.reset()  # it knows functions by their code, which the lambdas share
        others = [torch.from_numpy(each) for each in arrays]
        theirs = torch.compile(lambda *given: chain(torch, *given))
        calls |= {"torch": lambda: chain(torch, *others), "torch.compile": lambda: theirs(*others)}
    return calls


def least(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least time of each call in microseconds; they take turns."""
    for call in calls.values():
        call(), call()
    best = dict.fromkeys(calls, math.inf)
    end = time.perf_counter() + SECONDS
    for _ in range(TURNS):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            best[name] = min(best[name], 1e6 * (time.perf_counter() - began))
        if time.perf_counter() > end:
            break
    return best


def main(count: int) -> None:
    """Print a line for each chain, and for functions of rows."""
    random, torch = np.random.default_rng(0), optional("torch")

    def array(*shape: int) -> Any:
        return (random.random(shape) * 0.9 + 0.1).astype(np.float32)

    for name, (chain, number) in CHAINS.items():
        arrays = [array(count) for _ in range(number)]
        show(f"{name:16} {count:9}", ways(chain, arrays, torch))
    for name, (function, shape, full, places) in ROWS.items():
        arrays = [*(array(*shape) for _ in range(full)), *(array(shape[-1]) for _ in range(places))]
        show(f"{name:16} {shape[0]:4}x{shape[1]:4}", ways(function, arrays, torch))


def show(name: str, calls: dict[str, Callable[[], Any]]) -> None:
    """Print the times of some calls."""
    best = least(calls)
    shown = ", ".join(f"{way} {took:.0f} us ({took / best['opweave']:.2f})" for way, took in best.items())
    print(f"{name}  {shown}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
