"""Operators of examples/cookbook.yaml beside numba's loops and jax.jit, forward, and with gradients beside jax.

    python benchmarks/recipes.py [PATTERN]

PATTERN selects operators by a part of their name. All have one thread and allocate their results; numba and jax have
compiled before. jax computes with arrays, as its users write it. Needs numba and jax.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import exp, log, sqrt, tanh
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import measure
import numba
import numpy as np
import opweave
from figures import show
from jax import lax
from jax import numpy as jnp
from opweave._weave.weave import weave

COOKBOOK = Path(__file__).parent.parent / "examples" / "cookbook.yaml"
Array = Any
jit = numba.njit(fastmath=True)


@dataclass(frozen=True)
class Work:
    """The same operator as loops for numba and as arrays for jax, with operands and further arguments by name."""

    loops: Callable[..., Array]
    arrays: Callable[..., Array]
    operands: tuple[Array, ...]
    given: dict[str, Any] = field(default_factory=dict)
    differentiated: bool = True

    @property
    def name(self) -> str:
        return self.loops.__name__


# ---- loops, as users of numba write them -----------------------------------------------------------------------------


@jit
def edges(x: Array) -> Array:
    height, width = x.shape
    result = np.empty_like(x)
    for j in range(height):
        above, below = max(j - 1, 0), min(j + 1, height - 1)
        for i in range(width):
            left, right = max(i - 1, 0), min(i + 1, width - 1)
            across = (
                x[above, right] - x[above, left] + 2 * (x[j, right] - x[j, left]) + x[below, right] - x[below, left]
            )
            down = x[below, left] - x[above, left] + 2 * (x[below, i] - x[above, i]) + x[below, right] - x[above, right]
            result[j, i] = sqrt(across * across + down * down + np.float32(1e-12))
    return result


@jit
def dilated(x: Array, radius: int) -> Array:
    height, width = x.shape
    result = np.empty_like(x)
    for j in range(height):
        for i in range(width):
            best = x[j, i]
            for q in range(max(j - radius, 0), min(j + radius + 1, height)):
                for p in range(max(i - radius, 0), min(i + radius + 1, width)):
                    best = max(best, x[q, p])
            result[j, i] = best
    return result


@jit
def luma_and_chroma(x: Array) -> Array:
    result = np.empty_like(x)
    for n in range(len(x)):
        r, g, b = x[n, 0], x[n, 1], x[n, 2]
        result[n, 0] = np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b
        result[n, 1] = np.float32(-0.168736) * r - np.float32(0.331264) * g + np.float32(0.5) * b
        result[n, 2] = np.float32(0.5) * r - np.float32(0.418688) * g - np.float32(0.081312) * b
    return result


@jit
def tone_mapped(x: Array) -> Array:
    result = np.empty_like(x)
    a, b, c, d, e = np.float32(2.51), np.float32(0.03), np.float32(2.43), np.float32(0.59), np.float32(0.14)
    for n in range(len(x)):
        v = x[n] * (a * x[n] + b) / (x[n] * (c * x[n] + d) + e)
        result[n] = min(max(v, np.float32(0)), np.float32(1))
    return result


@jit
def autocorrelation(x: Array, lags: int) -> Array:
    result = np.zeros(lags, x.dtype)
    for k in range(lags):
        for t in range(len(x) - k):
            result[k] += x[t] * x[t + k]
    return result


@jit
def overdriven(x: Array) -> Array:
    result = np.empty_like(x)
    for n in range(len(x)):
        result[n] = tanh(np.float32(4) * x[n]) / np.float32(0.9993293)
    return result


@jit
def bands(x: Array, width: int) -> tuple[Array, ...]:
    count = len(x) - width + 1
    middle, lower, upper = (np.empty(count, x.dtype), np.empty(count, x.dtype), np.empty(count, x.dtype))
    for t in range(count):
        mean = square = np.float32(0)
        for i in range(width):
            mean += x[t + i]
        mean /= np.float32(width)
        for i in range(width):
            square += (x[t + i] - mean) ** 2
        deviation = np.float32(2) * sqrt(square / np.float32(width))
        middle[t], lower[t], upper[t] = mean, mean - deviation, mean + deviation
    return middle, lower, upper


@jit
def heat_step(x: Array, conductivity: Array) -> Array:
    height, width = x.shape
    result = np.empty_like(x)
    for j in range(height):
        for i in range(width):
            around = (
                x[max(j - 1, 0), i] + x[min(j + 1, height - 1), i] + x[j, max(i - 1, 0)] + x[j, min(i + 1, width - 1)]
            )
            result[j, i] = x[j, i] + np.float32(0.1) * conductivity[j, i] * (around - np.float32(4) * x[j, i])
    return result


@jit
def string(start: Array, steps: int) -> Array:
    count = len(start)
    result = np.empty((steps, count), start.dtype)
    result[0] = start
    for t in range(1, steps):
        for x in range(count):
            left = result[t - 1, x - 1] if x > 0 else np.float32(0)
            right = result[t - 1, x + 1] if x + 1 < count else np.float32(0)
            before = result[t - 1, x] if t < 2 else result[t - 2, x]
            bend = left - np.float32(2) * result[t - 1, x] + right
            result[t, x] = np.float32(2) * result[t - 1, x] - before + np.float32(0.25) * bend
    return result


@jit
def potential(places: Array, mass: Array) -> Array:
    result = np.zeros(len(places), places.dtype)
    for i in range(len(places)):
        for j in range(len(places)):
            if i != j:
                x, y, z = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1], places[i, 2] - places[j, 2]
                result[i] -= mass[j] / sqrt(x * x + y * y + z * z + np.float32(0.01))
    return result


@jit
def local_alignment(score: Array) -> Array:
    rows, columns = score.shape
    result = np.empty_like(score)
    for i in range(rows):
        for j in range(columns):
            up = result[i - 1, j] if i > 0 else np.float32(0)
            left = result[i, j - 1] if j > 0 else np.float32(0)
            both = result[i - 1, j - 1] if i > 0 and j > 0 else np.float32(0)
            result[i, j] = max(np.float32(0), both + score[i, j], max(up, left) - np.float32(1))
    return result


@jit
def best_paths(emissions: Array, transitions: Array) -> Array:
    times, labels = emissions.shape
    result = np.empty_like(emissions)
    result[0] = emissions[0]
    for t in range(1, times):
        for k in range(labels):
            best = result[t - 1, 0] + transitions[0, k]
            for i in range(1, labels):
                best = max(best, result[t - 1, i] + transitions[i, k])
            result[t, k] = emissions[t, k] + best
    return result


@jit
def pairs_counted(symbols: Array, count: int) -> Array:
    result = np.zeros((count, count), np.int64)
    for n in range(len(symbols) - 1):
        result[symbols[n], symbols[n + 1]] += 1
    return result


@jit
def bezier(points: Array, t: Array) -> Array:
    result = np.empty((len(t), points.shape[1]), points.dtype)
    for n in range(len(t)):
        u, s = t[n], np.float32(1) - t[n]
        a, b, c, d = s * s * s, np.float32(3) * s * s * u, np.float32(3) * s * u * u, u * u * u
        for k in range(points.shape[1]):
            result[n, k] = a * points[0, k] + b * points[1, k] + c * points[2, k] + d * points[3, k]
    return result


@jit
def rms_scaled(x: Array, weight: Array) -> Array:
    result = np.empty_like(x)
    for n in range(len(x)):
        squares = np.float32(0)
        for k in range(x.shape[1]):
            squares += x[n, k] * x[n, k]
        scale = np.float32(1) / sqrt(squares / np.float32(x.shape[1]) + np.float32(1e-6))
        for k in range(x.shape[1]):
            result[n, k] = x[n, k] * scale * weight[k]
    return result


@jit
def focal(x: Array, target: Array) -> Array:
    result = np.empty_like(x)
    for n in range(len(x)):
        signed = x[n] if target[n] > np.float32(0.5) else -x[n]
        e = np.exp(-abs(signed))
        chance = np.float32(1) / (np.float32(1) + e) if signed > 0 else e / (np.float32(1) + e)
        result[n] = (np.float32(1) - chance) ** 2 * (max(-signed, np.float32(0)) + np.log1p(e))
    return result


@jit
def gaussian_kernel(a: Array, b: Array) -> Array:
    result = np.empty((len(a), len(b)), a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            square = np.float32(0)
            for k in range(a.shape[1]):
                square += (a[i, k] - b[j, k]) ** 2
            result[i, j] = np.exp(np.float32(-0.5) * square)
    return result


# ---- arrays, as users of jax write them ------------------------------------------------------------------------------


def _edges(x: Array) -> Array:
    p = jnp.pad(x, 1, mode="edge")
    across = (p[:-2, 2:] - p[:-2, :-2]) + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + (p[2:, 2:] - p[2:, :-2])
    down = (p[2:, :-2] - p[:-2, :-2]) + 2 * (p[2:, 1:-1] - p[:-2, 1:-1]) + (p[2:, 2:] - p[:-2, 2:])
    return jnp.sqrt(across**2 + down**2 + 1e-12)


def _dilated(x: Array, radius: int) -> Array:
    size = 2 * radius + 1
    return lax.reduce_window(x, -jnp.inf, lax.max, (size, size), (1, 1), "SAME")


def _luma_and_chroma(x: Array) -> Array:
    rows = [[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]]
    return x @ jnp.array(rows, x.dtype).T


def _tone_mapped(x: Array) -> Array:
    return jnp.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)


def _autocorrelation(x: Array, lags: int) -> Array:
    return jnp.stack([jnp.dot(x[: len(x) - k], x[k:]) for k in range(lags)])


def _overdriven(x: Array) -> Array:
    return jnp.tanh(4 * x) / jnp.tanh(4.0)


def _bands(x: Array, width: int) -> tuple[Array, ...]:
    windows = x[jnp.arange(len(x) - width + 1)[:, None] + jnp.arange(width)]
    middle, deviation = windows.mean(1), 2 * windows.std(1)
    return middle, middle - deviation, middle + deviation


def _heat_step(x: Array, conductivity: Array) -> Array:
    p = jnp.pad(x, 1, mode="edge")
    return x + 0.1 * conductivity * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x)


def _string(start: Array, steps: int) -> Array:
    def step(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Array]:
        before, now = state
        p = jnp.pad(now, 1)
        following = 2 * now - before + 0.25 * (p[:-2] - 2 * now + p[2:])
        return (now, following), following

    _, rest = lax.scan(step, (start, start), None, length=steps - 1)
    return jnp.concatenate([start[None], rest])


def _potential(places: Array, mass: Array) -> Array:
    square = ((places[:, None] - places[None]) ** 2).sum(2) + 0.01
    return -(jnp.where(jnp.eye(len(places), dtype=bool), 0, mass / jnp.sqrt(square))).sum(1)


def _local_alignment(score: Array) -> Array:
    def row(above: Array, scores: Array) -> tuple[Array, Array]:
        def place(left: Array, given: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            corner, up, own = given
            best = jnp.maximum(0, jnp.maximum(corner + own, jnp.maximum(up, left) - 1))
            return best, best

        corners = jnp.concatenate([jnp.zeros(1, score.dtype), above[:-1]])
        _, values = lax.scan(place, jnp.zeros((), score.dtype), (corners, above, scores))
        return values, values

    return lax.scan(row, jnp.zeros(score.shape[1], score.dtype), score)[1]


def _best_paths(emissions: Array, transitions: Array) -> Array:
    def step(before: Array, own: Array) -> tuple[Array, Array]:
        following = own + (before[:, None] + transitions).max(0)
        return following, following

    rest = lax.scan(step, emissions[0], emissions[1:])[1]
    return jnp.concatenate([emissions[:1], rest])


def _pairs_counted(symbols: Array, count: int) -> Array:
    return jnp.zeros((count, count), symbols.dtype).at[symbols[:-1], symbols[1:]].add(1)


def _bezier(points: Array, t: Array) -> Array:
    u, s = t[:, None], 1 - t[:, None]
    return s**3 * points[0] + 3 * s**2 * u * points[1] + 3 * s * u**2 * points[2] + u**3 * points[3]


def _rms_scaled(x: Array, weight: Array) -> Array:
    return x * lax.rsqrt((x * x).mean(1, keepdims=True) + 1e-6) * weight


def _focal(x: Array, target: Array) -> Array:
    signed = jnp.where(target > 0.5, x, -x)
    return (1 - jax.nn.sigmoid(signed)) ** 2 * jnp.logaddexp(0, -signed)


def _gaussian_kernel(a: Array, b: Array) -> Array:
    return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(2))


# ---- the table -------------------------------------------------------------------------------------------------------


def _random(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def works() -> Iterator[Work]:
    symbols = np.random.default_rng(1).integers(0, 64, 10**6)
    yield Work(edges, _edges, (_random(1000, 1000),))
    yield Work(dilated, _dilated, (_random(500, 500),), {"radius": 2})
    yield Work(luma_and_chroma, _luma_and_chroma, (_random(10**6, 3),))
    yield Work(tone_mapped, _tone_mapped, (abs(_random(10**6)),))
    yield Work(autocorrelation, _autocorrelation, (_random(20_000),), {"lags": 50})
    yield Work(overdriven, _overdriven, (_random(10**6),))
    yield Work(bands, _bands, (_random(20_000),), {"width": 20})
    yield Work(heat_step, _heat_step, (_random(1000, 1000), abs(_random(1000, 1000))))
    yield Work(string, _string, (_random(2000),), {"steps": 500})
    yield Work(potential, _potential, (_random(1000, 3), abs(_random(1000))))
    yield Work(local_alignment, _local_alignment, (_random(500, 500),))
    yield Work(best_paths, _best_paths, (_random(1000, 64), _random(64, 64)), differentiated=False)
    yield Work(pairs_counted, _pairs_counted, (symbols,), {"count": 64}, differentiated=False)
    yield Work(bezier, _bezier, (_random(4, 3), abs(_random(10**6)) % 1))
    yield Work(rms_scaled, _rms_scaled, (_random(1000, 1024), _random(1024)))
    yield Work(focal, _focal, (_random(10**6), (_random(10**6) > 0).astype(np.float32)))
    yield Work(gaussian_kernel, _gaussian_kernel, (_random(500, 8), _random(600, 8)))


def forward(work: Work, operator: Callable[..., Any]) -> measure.Figure:
    tensors = [opweave.from_numpy(each) for each in work.operands]
    compiled = jax.jit(work.arrays, static_argnames=[*work.given])
    arrays = [jnp.asarray(each) for each in work.operands]
    calls: dict[str, Callable[[], Any]] = {
        "opweave": lambda: operator(*tensors, **work.given),
        "numba": lambda: work.loops(*work.operands, *work.given.values()),
        "jax": lambda: jax.block_until_ready(compiled(*arrays, **work.given)),
    }
    _check(work.name, *(call() for call in calls.values()))
    return measure.Figure(work.name, measure.best(calls), 0.6, "numba")


def backward(work: Work, operator: Callable[..., Any]) -> measure.Figure:
    """Forward, and gradients by all operands."""
    leaves = [opweave.from_numpy(each).requires_grad_() for each in work.operands]
    arrays = [jnp.asarray(each) for each in work.operands]

    def total(*given: Array) -> Array:
        return sum(each.sum() for each in _several(work.arrays(*given, **work.given)))

    compiled = jax.jit(jax.value_and_grad(total, argnums=tuple(range(len(arrays)))))

    def own() -> Any:
        results = sum(each.sum() for each in _several(operator(*leaves, **work.given)))
        return opweave.autograd.grad(results, leaves, allow_unused=True, materialize_grads=True)

    calls: dict[str, Callable[[], Any]] = {"opweave": own, "jax": lambda: jax.block_until_ready(compiled(*arrays))}
    _check(work.name, own(), calls["jax"]()[1])
    return measure.Figure(f"{work.name}, with gradients", measure.best(calls), 0.6, "jax")


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _check(name: str, *results: Any) -> None:
    """All compute the same."""
    first, *others = ([np.asarray(part) for part in _several(each)] for each in results)
    for other in others:
        for left, right in zip(first, other, strict=True):
            scale = float(abs(left).max())
            assert np.mean(~np.isclose(left, right, rtol=2e-3, atol=2e-4 * scale)) < 1e-3, name


def mean(found: list[measure.Figure], other: str) -> float:
    ratios = [ratio for each in found if (ratio := each.ratio(other))]
    return exp(sum(map(log, ratios)) / len(ratios))


def main() -> None:
    pattern = " ".join(sys.argv[1:])
    opweave.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        weave(COOKBOOK, out=Path(folder))
        module = importlib.import_module(COOKBOOK.stem)
        chosen = [work for work in works() if pattern in work.name]
        ahead = [forward(work, getattr(module, work.name)) for work in chosen]
        back = [backward(work, getattr(module, work.name)) for work in chosen if work.differentiated]
        show([*ahead, *back])
        print(f"geometric mean: {mean(ahead, 'numba'):.2f} x numba (to reach: 0.60), ", end="")
        print(f"{mean(ahead, 'jax'):.2f} x jax (to reach: 0.50); with gradients {mean(back, 'jax'):.2f} x jax (0.60)")


if __name__ == "__main__":
    main()
