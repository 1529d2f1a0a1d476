"""Fourier transforms and spectrograms beside torch's and NumPy's: `python benchmarks/fft.py [PATTERN]`.

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each; NumPy has one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import measure
import numpy as np
from figures import Libraries, show
from shaping import on

Row = tuple[str, tuple[int, ...], str, str, dict[str, int]]

LARGE: tuple[Row, ...] = (
    ("fft 2^20", (1 << 20,), "complex64", "fft", {}),
    ("fft 2^20", (1 << 20,), "complex128", "fft", {}),
    ("fft 2^20", (1 << 20,), "float32", "fft", {}),
    ("rfft 2^20", (1 << 20,), "float32", "rfft", {}),
    ("irfft 2^20", ((1 << 19) + 1,), "complex64", "irfft", {}),
    ("fft 1000003, a prime", (1_000_003,), "complex64", "fft", {}),
    ("rfft2 1000 x 1000", (1000, 1000), "float32", "rfft2", {}),
    ("rfft2 1000 x 1000", (1000, 1000), "float64", "rfft2", {}),
    ("irfft2 1000 x 501", (1000, 501), "complex64", "irfft2", {}),
    ("fft 1000 x 1024, rows", (1000, 1024), "complex64", "fft", {}),
    ("fft 1000 x 1024, columns", (1000, 1024), "complex64", "fft", {"dim": 0}),
    ("fftn 100 x 100 x 100", (100, 100, 100), "complex64", "fftn", {}),
)
SMALL: tuple[Row, ...] = (
    ("fft 8", (8,), "complex64", "fft", {}),
    ("fft 1024", (1024,), "complex64", "fft", {}),
    ("rfft 1024", (1024,), "float32", "rfft", {}),
)


def signal(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    random = np.random.default_rng(0)
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def transforms(lib: Libraries, works: tuple[Row, ...], limit: float) -> Iterator[measure.Figure]:
    for work, shape, dtype, name, arguments in works:
        x = signal(shape, dtype)
        make = on((x,), lambda m, x, name=name, arguments=arguments: getattr(m.fft, name)(x, **arguments))
        renamed = {"axis" if key == "dim" else key: value for key, value in arguments.items()}
        numpy = partial(getattr(np.fft, name), x, **renamed)
        yield from lib.run(f"{work}, {dtype}", make, numpy, limit)


def spectrograms(lib: Libraries) -> Iterator[measure.Figure]:
    x = signal((1_000_000,), "float32")
    for size, hop in ((1024, 256), (400, 160)):
        window = np.hanning(size).astype("float32")
        frames = partial(spectrogram, size=size, hop=hop)
        yield from lib.run(f"stft 1e6, {size} every {hop}", on((x, window), frames), None, 1.5)
        back = partial(spectrogram, size=size, hop=hop, inverse=True)
        yield from lib.run(f"stft and istft 1e6, {size} every {hop}", on((x, window), back), None, 1.5)


def spectrogram(library: Any, x: Any, window: Any, size: int, hop: int, inverse: bool = False) -> Any:
    spectra = library.stft(x, size, hop, window=window, return_complex=True)
    return library.istft(spectra, size, hop, window=window) if inverse else spectra


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    yield from transforms(lib, LARGE, 1.5)
    yield from spectrograms(lib)
    yield from transforms(lib, SMALL, 3.0)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()
