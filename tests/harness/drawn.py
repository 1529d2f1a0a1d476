"""Random numbers that every version of NumPy and every machine draws alike: recorded answers of torch belong to them.

The words are those of SplitMix64, whose state is a counter; what is made of them takes exact steps and correctly
rounded additions only. The names are those of `numpy.random.Generator`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...] | int

_STEP, _FIRST, _SECOND = (np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def _mixed(words: Array) -> Array:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


class Drawn:
    """A sequence of random numbers, chosen by integers."""

    def __init__(self, *seeds: int) -> None:
        self._state = np.zeros(1, np.uint64)
        for seed in (*seeds, len(seeds)):
            self._state = _mixed(self._state + _STEP + np.array([seed % 2**64], np.uint64))

    def words(self, shape: Shape) -> Array:
        """Of 64 bits."""
        count = int(np.prod(shape, dtype=np.int64))
        states = self._state + _STEP * np.arange(1, count + 1, dtype=np.uint64)
        self._state = self._state + _STEP * np.array([count], np.uint64)
        return _mixed(states).reshape(shape)

    def random(self, shape: Shape) -> Array:
        """Between zero and one."""
        return np.asarray((self.words(shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53)

    def uniform(self, low: float, high: float, shape: Shape) -> Array:
        return np.asarray(low + self.random(shape) * (high - low))

    def normal(self, shape: Shape) -> Array:
        """The sum of twelve numbers, whose variance is one."""
        total = np.full(shape, -6.0)
        for _ in range(12):
            total += self.random(shape)
        return total

    def integers(self, low: int, high: int, shape: Shape) -> Array:
        """From `low` to `high` exclusive."""
        span = high - low
        words = self.words(shape) if span >= 2**64 else np.asarray(self.words(shape) % np.uint64(span))
        moved = np.asarray(words + np.array(low % 2**64, np.uint64))
        return moved.view(np.int64 if low < 0 or high <= 2**63 else np.uint64)

    def choice(self, values: Any, shape: Shape) -> Array:
        values = np.asarray(values)
        return np.asarray(values[self.integers(0, len(values), shape)])

    def permutation(self, count: int) -> Array:
        return np.argsort(self.words(count), kind="stable")
