"""Derivatives of Fourier transforms and spectrograms, beside differences and beside torch's.

Squares of the results have second derivatives, which the transforms do not.
"""

from __future__ import annotations

import itertools
from typing import Any

import opweave
import pytest
from derivatives import check, check_with_torch, values

NORMS = (None, "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")
OF_REAL = ("rfft", "ihfft")

pytestmark = pytest.mark.oracle


def dtypes(name: str) -> tuple[str, ...]:
    return ("float64",) if name.startswith(OF_REAL) else ("float64", "complex128")


@pytest.mark.parametrize("name", ONE)
def test_one_dimension(name: str) -> None:
    for dtype, norm, n in itertools.product(dtypes(name), NORMS, (None, 1, 4, 7)):
        x = values(3, 5, dtype=dtype)

        def transform(L: Any, x: Any, norm: Any = norm, n: Any = n) -> Any:
            return getattr(L.fft, name)(x, n, -1, norm) ** 2

        check(transform, x)
        check_with_torch(transform, x)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_dimensions(name: str) -> None:
    for dtype, norm, s in itertools.product(dtypes(name), NORMS, (None, (2, 3), (7, 6))):
        x = values(3, 5, 4, dtype=dtype)
        for dim in ((0, 1), (2, 0)):

            def transform(L: Any, x: Any, norm: Any = norm, s: Any = s, dim: Any = dim) -> Any:
                return getattr(L.fft, name)(x, s, dim, norm) ** 2

            check_with_torch(transform, x)
        check(transform, x)


def test_no_dimensions() -> None:
    check(lambda L, x: L.fft.fftn(x, dim=()) ** 2, values(3, 2, dtype="complex128"))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name: str) -> None:
    check(lambda L, x: getattr(L.fft, name)(x) ** 2, values(3, 4))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hop_length": 3, "center": False},
        {"normalized": True, "onesided": False},
        {"win_length": 5, "hop_length": 2, "pad_mode": "constant"},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_stft(dtype: str, options: dict[str, Any]) -> None:
    def spectrogram(L: Any, x: Any, window: Any) -> Any:
        return L.stft(x, 8, window=window, return_complex=True, **options) ** 2

    inputs = values(2, 20, dtype=dtype), values(options.get("win_length", 8))
    check(spectrogram, *inputs)
    check_with_torch(spectrogram, *inputs)


@pytest.mark.parametrize("options", [{}, {"normalized": True, "length": 17}, {"hop_length": 3}], ids=str)
@pytest.mark.parametrize("half", [True, False])
def test_istft(half: bool, options: dict[str, Any]) -> None:
    def signal(L: Any, x: Any, window: Any) -> Any:
        return L.istft(x, 8, window=window * window + 1, onesided=half, return_complex=not half, **options) ** 2

    inputs = values(2, 5 if half else 8, 9, dtype="complex128"), values(8)
    check(signal, *inputs)
    check_with_torch(signal, *inputs)


def test_gradients_are_real_where_the_signal_is() -> None:
    x = opweave.ones(5, dtype=opweave.float32, requires_grad=True)
    opweave.fft.fft(x).abs().sum().backward()
    assert x.grad is not None
    assert x.grad.dtype is opweave.float32
