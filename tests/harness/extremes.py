"""The one table of extreme values of every dtype, and ordinary values to go between them."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from codegen.dtypes import DType, Format

from .arrays import Array, cast, holder
from .drawn import Drawn


def format_of(dtype: DType) -> Format:
    assert dtype.format is not None
    return dtype.format


def precision(dtype: DType) -> int:
    """Bits of the significand of a floating dtype."""
    return format_of(dtype).precision


def smallest(dtype: DType) -> float:
    """The smallest positive (denormal) number of a floating dtype."""
    return math.ldexp(smallest_normal(dtype), 1 - precision(dtype))


def smallest_normal(dtype: DType) -> float:
    return format_of(dtype).smallest_normal


def largest(dtype: DType) -> float:
    return format_of(dtype).largest


@cache
def extremes(dtype: DType) -> Array:
    """Zeros, ones, infinities, NaN, denormals, ends of the range, and the integers that a format just cannot hold."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_integer:
        low, high = dtype.lowest, dtype.highest
        numbers = {low, low + 1, -2, -1, 0, 1, 2, 3, 7, high // 2, high - 1, high, 2**24 + 1, 2**53 + 1}
        return np.array(sorted(n for n in numbers if low <= n <= high), holder(dtype))
    if dtype.is_complex:
        parts = extremes(dtype.to_real)
        pairs = np.empty((len(parts), len(parts)), holder(dtype))
        pairs.real, pairs.imag = parts[:, None], parts
        return pairs.reshape(-1)
    bits, normal = precision(dtype), smallest_normal(dtype)
    positive = [0.0, smallest(dtype), normal - smallest(dtype), normal, 0.25, 0.5, 1 - math.ldexp(1.0, -bits), 1.0]
    positive += [1 + math.ldexp(1.0, 1 - bits), 1.5, 2.0, 2.5, 3.0, math.pi, 10.0, 88.0, 100.0]
    positive += [2.0**bits - 1, 2.0**24 + 1, 2.0**53, largest(dtype) / 2, largest(dtype), math.inf]
    return cast(np.array([*positive, *(-x for x in positive), math.nan]), dtype)


@cache
def ordinary(dtype: DType, count: int, seed: int = 0) -> Array:
    """Random values: small ones, of a size at which sums and products stay in range, and a few up to the ends."""
    random = Drawn(seed, dtype.code, count)
    if dtype.is_bool:
        return random.random(count) < 0.5
    if dtype.is_integer:
        wide = random.integers(dtype.lowest, dtype.highest + 1, count).astype(holder(dtype))
        narrow = random.integers(max(dtype.lowest, -9), 10, count).astype(holder(dtype))
        return np.where(random.random(count) < 0.7, narrow, wide)
    if dtype.is_complex:
        return np.asarray(ordinary(dtype.to_real, count, seed) + 1j * ordinary(dtype.to_real, count, seed + 1))
    values = np.ldexp(random.normal(count), random.integers(-8, 8, count))
    return cast(values, dtype)


def small_integers(dtype: DType, shape: tuple[int, ...], seed: int = 0, limit: int = 4) -> Array:
    """Integers whose sums and products every dtype holds exactly, so that the order of additions does not matter."""
    random = Drawn(seed, dtype.code, *shape)
    return cast(random.integers(0 if dtype.lowest == 0 and not dtype.is_floating else -limit, limit + 1, shape), dtype)
