"""Operators that are woven from the files in examples/, beside what numba makes of the same loops.

    python benchmarks/woven.py [PATTERN]

PATTERN selects rows by a part of their name. Both have two threads and allocate their results; numba's loops are
compiled before, with `parallel` and `fastmath`. Needs numba.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from math import cos, erfc, exp, floor, log, pi, sin, sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import measure
import numba
import numpy as np
import opweave
from figures import THREADS, show
from numba import prange
from opweave._weave.weave import weave

EXAMPLES = Path(__file__).parent.parent / "examples"
jit = numba.njit(parallel=True, fastmath=True)
Array = Any


@jit
def life(board: Array) -> Array:
    height, width = board.shape
    result = np.empty((height, width), np.bool_)
    for y in prange(height):
        up, down = (y - 1) % height, (y + 1) % height
        for x in range(width):
            left, right = x - 1 if x > 0 else width - 1, x + 1 if x + 1 < width else 0
            count = (
                board[up, left] + board[up, x] + board[up, right] + board[y, left] + board[y, right]
                + board[down, left] + board[down, x] + board[down, right]
            )  # fmt: skip
            result[y, x] = count == 3 or (board[y, x] == 1 and count == 2)
    return result


@jit
def sample_bilinear(image: Array, places: Array) -> Array:
    height, width = image.shape
    result = np.empty(places.shape[:2], image.dtype)
    for p in prange(places.shape[0]):
        for q in range(places.shape[1]):
            row, column = floor(places[p, q, 0]), floor(places[p, q, 1])
            down, right = places[p, q, 0] - row, places[p, q, 1] - column
            y0, y1 = min(max(int(row), 0), height - 1), min(max(int(row) + 1, 0), height - 1)
            x0, x1 = min(max(int(column), 0), width - 1), min(max(int(column) + 1, 0), width - 1)
            above = (1 - right) * image[y0, x0] + right * image[y0, x1]
            result[p, q] = (1 - down) * above + down * ((1 - right) * image[y1, x0] + right * image[y1, x1])
    return result


@jit
def mandelbrot(x: Array, y: Array) -> Array:
    result = np.empty(x.shape, np.int32)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            re, im, rounds = np.float32(0), np.float32(0), 0
            while re * re + im * im < np.float32(4) and rounds < 50:
                re, im, rounds = re * re - im * im + x[i, j], np.float32(2) * re * im + y[i, j], rounds + 1
            result[i, j] = rounds
    return result


@jit
def quaternion_product(a: Array, b: Array) -> Array:
    result = np.empty_like(a)
    for n in prange(len(a)):
        p, q, r, s = a[n, 0], a[n, 1], a[n, 2], a[n, 3]
        w, x, y, z = b[n, 0], b[n, 1], b[n, 2], b[n, 3]
        result[n, 0] = p * w - q * x - r * y - s * z
        result[n, 1] = p * x + q * w + r * z - s * y
        result[n, 2] = p * y - q * z + r * w + s * x
        result[n, 3] = p * z + q * y - r * x + s * w
    return result


@jit
def inverse2(a: Array) -> Array:
    result = np.empty_like(a)
    for n in prange(len(a)):
        determinant = a[n, 0, 0] * a[n, 1, 1] - a[n, 0, 1] * a[n, 1, 0]
        result[n, 0, 0], result[n, 0, 1] = a[n, 1, 1] / determinant, -a[n, 0, 1] / determinant
        result[n, 1, 0], result[n, 1, 1] = -a[n, 1, 0] / determinant, a[n, 0, 0] / determinant
    return result


@jit
def cross_product(a: Array, b: Array) -> Array:
    result = np.empty_like(a)
    for n in prange(len(a)):
        result[n, 0] = a[n, 1] * b[n, 2] - a[n, 2] * b[n, 1]
        result[n, 1] = a[n, 2] * b[n, 0] - a[n, 0] * b[n, 2]
        result[n, 2] = a[n, 0] * b[n, 1] - a[n, 1] * b[n, 0]
    return result


@jit
def rotary(x: Array, angles: Array) -> Array:
    result = np.empty_like(x)
    heads, times, pairs = x.shape[:3]
    for place in prange(heads * times):
        h, t = place // times, place % times
        for i in range(pairs):
            c, s = cos(angles[t, i]), sin(angles[t, i])
            result[h, t, i, 0] = x[h, t, i, 0] * c - x[h, t, i, 1] * s
            result[h, t, i, 1] = x[h, t, i, 0] * s + x[h, t, i, 1] * c
    return result


@jit
def adam_step(parameter: Array, gradient: Array, mean: Array, square: Array, steps: float) -> tuple[Array, ...]:
    to, m, v = np.empty_like(parameter), np.empty_like(parameter), np.empty_like(parameter)
    size = np.float32(0.001 / (1 - 0.9**steps))
    correction = np.float32(1 - 0.999**steps)
    for n in prange(len(parameter)):
        m[n] = np.float32(0.9) * mean[n] + np.float32(0.1) * gradient[n]
        v[n] = np.float32(0.999) * square[n] + np.float32(0.001) * gradient[n] * gradient[n]
        to[n] = parameter[n] - size * m[n] / (sqrt(v[n] / correction) + np.float32(1e-8))
    return to, m, v


@jit
def black_scholes(spot: Array, strike: Array, rate: Array, volatility: Array, time: Array) -> tuple[Array, ...]:
    price, delta, gamma, vega = np.empty_like(spot), np.empty_like(spot), np.empty_like(spot), np.empty_like(spot)
    half, both = np.float32(0.5), np.float32(sqrt(0.5))
    for n in prange(len(spot)):
        root = sqrt(time[n])
        spread = volatility[n] * root
        d1 = (log(spot[n] / strike[n]) + (rate[n] + half * volatility[n] * volatility[n]) * time[n]) / spread
        density = exp(-half * d1 * d1) / np.float32(sqrt(2 * pi))
        chance, paid = half * erfc(-d1 * both), half * erfc((spread - d1) * both)
        price[n] = spot[n] * chance - strike[n] * exp(-rate[n] * time[n]) * paid
        delta[n], gamma[n], vega[n] = chance, density / (spot[n] * spread), spot[n] * density * root
    return price, delta, gamma, vega


@jit
def drawdown(x: Array) -> tuple[Array, ...]:
    down, peaks, ages = np.empty_like(x), np.empty_like(x), np.empty(x.shape, np.int64)
    for n in prange(len(x)):
        peak, age = x[n, 0], 0
        for t in range(x.shape[1]):
            peak, age = max(peak, x[n, t]), 0 if x[n, t] >= peak else age + 1
            down[n, t], peaks[n, t], ages[n, t] = 1 - x[n, t] / peak, peak, age
    return down, peaks, ages


@jit
def biquad(x: Array, b0: float, b1: float, b2: float, a1: float, a2: float) -> Array:
    result = np.empty_like(x)
    for n in prange(len(x)):
        first = second = np.float32(0)
        for t in range(x.shape[1]):
            y = b0 * x[n, t] + first
            first, second = b1 * x[n, t] - a1 * y + second, b2 * x[n, t] - a2 * y
            result[n, t] = y
    return result


@jit
def forces(places: Array) -> Array:
    result = np.empty_like(places)
    for i in prange(len(places)):
        fx = fy = fz = np.float32(0)
        for j in range(len(places)):
            if i != j:
                x, y, z = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1], places[i, 2] - places[j, 2]
                inverse = np.float32(1) / (x * x + y * y + z * z)
                cube = inverse * inverse * inverse
                strength = np.float32(24) * (np.float32(2) * cube * cube * inverse - cube * inverse)
                fx, fy, fz = fx + strength * x, fy + strength * y, fz + strength * z
        result[i, 0], result[i, 1], result[i, 2] = fx, fy, fz
    return result


@numba.njit(fastmath=True)
def kept_boxes(boxes: Array) -> Array:
    result = np.empty(len(boxes), np.bool_)
    for i in range(len(boxes)):
        a, keeps = boxes[i], True
        for j in range(i):
            if result[j]:
                b = boxes[j]
                w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
                common = w * h if w > 0 and h > 0 else np.float32(0)
                together = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
                if common > np.float32(0.5) * together:
                    keeps = False
                    break
        result[i] = keeps
    return result


def _random(*shape: int) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def _boxes(count: int) -> Array:
    corners = np.random.default_rng(4).uniform(0, 100, (count, 2)).astype(np.float32)
    return np.concatenate([corners, corners + 8], 1)


def works() -> Iterator[tuple[str, str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]]:
    """Name, file, numba's loops, operands, and further arguments of the woven operator in the order of numba's."""
    board = (np.random.default_rng(1).random((1000, 1000)) < 0.4).astype(np.int32)
    yield "life 1000 x 1000", "neighbours", life, (board,), {}
    places = np.random.default_rng(2).uniform(0, 512, (512, 512, 2)).astype(np.float32)
    yield "bilinear sampling 512 x 512", "neighbours", sample_bilinear, (_random(512, 512), places), {}
    x, y = np.meshgrid(np.linspace(-2, 1, 1000, dtype=np.float32), np.linspace(-1.5, 1.5, 1000, dtype=np.float32))
    yield "Mandelbrot 1000 x 1000, 50 rounds", "language", mandelbrot, (x, y), {}
    yield "quaternion product 1e6", "vectors", quaternion_product, (_random(10**6, 4), _random(10**6, 4)), {}
    yield "2 x 2 inverse 1e6", "vectors", inverse2, (_random(10**6, 2, 2),), {}
    yield "cross product 1e6", "vectors", cross_product, (_random(10**6, 3), _random(10**6, 3)), {}
    yield "rotary embedding 8 x 512 x 64", "vectors", rotary, (_random(8, 512, 32, 2), _random(512, 32)), {}
    moments = (_random(10**6), _random(10**6), _random(10**6), abs(_random(10**6)))
    market = [abs(_random(10**6)) + np.float32(0.1) for _ in range(5)]
    yield "Black-Scholes 1e6, four results", "language", black_scholes, market, {}
    yield "Adam 1e6", "language", adam_step, moments, {"steps": 3.0}
    yield "drawdown 1000 x 1000", "language", drawdown, (abs(_random(1000, 1000)) + 1,), {}
    numbers = {
        name: np.float32(value) for name, value in (("b0", 0.2), ("b1", 0.4), ("b2", 0.2), ("a1", -0.4), ("a2", 0.2))
    }
    yield "biquad 1000 x 1000", "language", biquad, (_random(1000, 1000),), numbers
    yield "Lennard-Jones 1000 particles", "neighbours", forces, (_random(1000, 3) * 10,), {}
    yield "NMS 1000 boxes", "language", kept_boxes, (_boxes(1000),), {}


def woven(folder: Path) -> Callable[[str], ModuleType]:
    modules: dict[str, ModuleType] = {}

    def module(name: str) -> ModuleType:
        if name not in modules:
            weave(EXAMPLES / f"{name}.yaml", out=folder)
            modules[name] = importlib.import_module(name)
        return modules[name]

    return module


def rows(pattern: str, folder: Path) -> Iterator[measure.Figure]:
    module = woven(folder)
    for name, file, loops, operands, numbers in works():
        if pattern not in name:
            continue
        operator = getattr(module(file), loops.__name__)
        tensors = [opweave.from_numpy(each) for each in operands]
        given = {key: float(value) for key, value in numbers.items()}
        calls = {
            "opweave": lambda operator=operator, tensors=tensors, given=given: operator(*tensors, **given),
            "numba": lambda loops=loops, operands=operands, numbers=numbers: loops(*operands, *numbers.values()),
        }
        _check(name, *(call() for call in calls.values()))
        yield measure.Figure(name, measure.best(calls), 1.5, "numba")


def _check(name: str, own: Any, other: Any) -> None:
    """Both compute the same."""
    own, other = (each if isinstance(each, tuple) else (each,) for each in (own, other))
    for left, right in zip(own, other, strict=True):
        assert np.mean(~np.isclose(left.numpy(), right, rtol=2e-3, atol=2e-3)) < 1e-3, name


def main() -> None:
    opweave.set_num_threads(THREADS)
    numba.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        found = list(rows(" ".join(sys.argv[1:]), Path(folder)))
        show(found)
        ratios = [ratio for each in found if (ratio := each.ratio("numba"))]
        print(f"geometric mean: {exp(sum(map(log, ratios)) / len(ratios)):.2f} x numba (to reach: 0.80)")


if __name__ == "__main__":
    main()
