"""Short-time Fourier transforms beside their definition, and back."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import opweave
import pytest


def signal(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray[Any, Any]:
    random = np.random.default_rng(3)
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def by_definition(x: Any, size: int, hop: int, window: Any, center: bool) -> Any:
    if center:
        x = np.pad(x, size // 2, mode="reflect")
    before = (size - len(window)) // 2
    window = np.pad(window, (before, size - len(window) - before))
    return np.stack([np.fft.fft(x[at : at + size] * window) for at in range(0, len(x) - size + 1, hop)], 1)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("size", "hop", "width"), [(8, 2, 8), (8, 3, 5), (9, 4, 6), (16, 16, 16), (7, 1, 7)])
def test_definition(size: int, hop: int, width: int, dtype: str) -> None:
    x, window = signal((50,), dtype), signal((width,))
    for center, onesided in itertools.product((True, False), (True, False)):
        if onesided and dtype[0] == "c":
            continue
        want = by_definition(x, size, hop, window, center)
        got = opweave.stft(
            opweave.from_numpy(x), size, hop, width, opweave.from_numpy(window), center,
            onesided=onesided, return_complex=True,
        )  # fmt: skip
        np.testing.assert_allclose(got.numpy(), want[: size // 2 + 1] if onesided else want, atol=1e-12)
        scaled = opweave.stft(
            opweave.from_numpy(x), size, hop, width, opweave.from_numpy(window), center,
            normalized=True, onesided=onesided, return_complex=True,
        )  # fmt: skip
        np.testing.assert_allclose(scaled.numpy(), got.numpy() / np.sqrt(size), atol=1e-12)


@pytest.mark.parametrize(("size", "hop"), [(8, 2), (8, 4), (10, 3), (16, 5), (9, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_inverse(size: int, hop: int, dtype: str) -> None:
    x = opweave.from_numpy(signal((3, 60), dtype))
    window = opweave.hamming_window(size, dtype=x.real.dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    for normalized, center in itertools.product((False, True), repeat=2):
        spectra = x.stft(size, hop, window=window, center=center, normalized=normalized, return_complex=True)
        length = x.size(1) if center else size + hop * (spectra.size(2) - 1)
        back = spectra.istft(
            size, hop, window=window, center=center, normalized=normalized, length=length,
            return_complex=x.is_complex(),
        )  # fmt: skip
        np.testing.assert_allclose(back.numpy(), x.numpy()[:, :length], atol=tolerance)


def test_parts_of_a_frame_without_window_are_left_out() -> None:
    """With `align_to_window` the first frame begins where the window does, whatever the difference in size."""
    x, window = signal((40,)), signal((5,))
    for size in (5, 6, 7, 8):
        got = opweave.stft(
            opweave.from_numpy(x), size, 3, 5, opweave.from_numpy(window), center=False, return_complex=True,
            align_to_window=True,
        )  # fmt: skip
        before = (size - 5) // 2
        rows = [np.pad(x[at : at + 5] * window, (before, size - 5 - before)) for at in range(0, 36, 3)]
        np.testing.assert_allclose(got.numpy(), np.fft.rfft(np.stack(rows)).T, atol=1e-12)


def test_real_pairs() -> None:
    x = opweave.from_numpy(signal((30,)))
    window = opweave.ones(8, dtype=opweave.float64)
    pairs = x.stft(8, window=window, return_complex=False)
    assert pairs.shape == (5, 16, 2)
    np.testing.assert_array_equal(
        opweave.view_as_complex(pairs).numpy(), x.stft(8, window=window, return_complex=True).numpy()
    )


def test_missing_windows_are_warned_of() -> None:
    x = opweave.from_numpy(signal((30,)))
    with pytest.warns(UserWarning, match="A window was not provided"):
        spectrum = x.stft(8, return_complex=True)
    with pytest.warns(UserWarning, match="A window was not provided"):
        back = spectrum.istft(8)
    np.testing.assert_allclose(back.numpy(), x.numpy()[:30], atol=1e-12)


def test_windows_that_leave_gaps_cannot_be_inverted() -> None:
    window = opweave.hann_window(8)
    spectrum = opweave.ones(40).stft(8, 8, window=window, return_complex=True)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        spectrum.istft(8, 8, window=window)


def test_longer_than_known() -> None:
    window = opweave.ones(8)
    spectrum = opweave.ones(40).stft(8, 2, window=window, center=False, return_complex=True)
    with pytest.warns(UserWarning, match="padded with zeros"):
        back = spectrum.istft(8, 2, window=window, center=False, length=45)
    assert back.shape == (45,)
    assert back[40:].tolist() == [0] * 5
