"""Quantized tensors against torch: `python benchmarks/quantized.py [PATTERN]`, ratios of the best times.

PATTERN selects rows by a part of their name. Two threads each.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import measure
import numpy as np
from figures import Libraries, show
from shaping import on


def conversions(lib: Libraries) -> Iterator[measure.Figure]:
    values = np.random.default_rng(0).standard_normal(1_000_000).astype(np.float32)

    def quantized(library: Any, x: Any) -> Any:
        return library.quantize_per_tensor(x, 0.05, 120, library.quint8)

    def dequantize(library: Any) -> Callable[[], Any]:
        return quantized(library, library.from_numpy(values)).dequantize  # type: ignore[no-any-return]

    def by_channel(library: Any, x: Any) -> Any:
        return library.quantize_per_channel(x.view(1000, 1000), x[:1000].abs() + 0.01, zeros(library), 0, library.qint8)

    def zeros(library: Any) -> Any:
        return library.zeros(1000, dtype=library.int64)

    yield from lib.run("quantize 1e6, one scale", on((values,), quantized), None, 0.6)
    yield from lib.run("dequantize 1e6, one scale", dequantize, None, 0.6)
    yield from lib.run("quantize 1e6, by row", on((values,), by_channel), None, 0.6)
    fake = on((values,), lambda m, x: m.fake_quantize_per_tensor_affine(x, 0.05, 120, 0, 255))
    yield from lib.run("fake_quantize 1e6", fake, None, 0.6)


def products(lib: Libraries) -> Iterator[measure.Figure]:
    random = np.random.default_rng(0)
    for n in (64, 512, 1024):
        a, b = (random.integers(-128, 128, (n, n)).astype(np.int8) for _ in range(2))
        yield from lib.run(f"int8 @ int8 {n} x {n}", on((a, b), lambda m, x, y: m._int_mm(x, y)), None, 1.0)
        transposed = on((a, b), lambda m, x, y: m._int_mm(x, y.t()))
        yield from lib.run(f"int8 @ int8.t() {n} x {n}", transposed, None, 1.0)


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    yield from conversions(lib)
    yield from products(lib)


def main() -> None:
    warnings.filterwarnings("ignore", message=".*quantize.* deprecated")
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
