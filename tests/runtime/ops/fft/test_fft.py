"""opweave.fft beside NumPy, and by the laws of the transforms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import opweave
import pytest
from opweave import fft
from opweave._ops.fft import kernels as transforms

NORMS = (None, "backward", "ortho", "forward")


def values(shape: tuple[int, ...], dtype: str = "complex128") -> np.ndarray[Any, Any]:
    random = np.random.default_rng([*shape, len(dtype)])
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def close(got: opweave.Tensor, want: np.ndarray[Any, Any]) -> None:
    assert got.shape == want.shape
    tolerance = 1e-12 if got.dtype in (opweave.float64, opweave.complex128) else 1e-5
    np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=tolerance * np.abs(want).max(initial=1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name: str, dtype: str) -> None:
    if dtype[0] == "c" and name in ("rfft", "ihfft"):
        return
    x = values((3, 5, 4), dtype)
    for n, dim, norm in itertools.product((None, 1, 2, 3, 6, 7), (0, 1, -1), NORMS):
        want = getattr(np.fft, name)(x, n, dim, norm)
        close(getattr(fft, name)(opweave.from_numpy(x), n, dim, norm), want)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_several_dimensions(name: str) -> None:
    x = values((3, 5, 4), "float64" if name[0] == "r" else "complex128")
    for s, dim, norm in itertools.product((None, (2, 3), (7, 6)), ((0, 1), (2, 0), (-1, -2)), NORMS):
        close(getattr(fft, name)(opweave.from_numpy(x), s, dim, norm), getattr(np.fft, name)(x, s, dim, norm))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 97, 1000, 4099, 32768])
@pytest.mark.parametrize("norm", NORMS)
def test_inverses(size: int, norm: str | None) -> None:
    x = opweave.from_numpy(values((2, size)))
    close(fft.ifft(fft.fft(x, norm=norm), norm=norm), x.numpy())
    real = opweave.from_numpy(values((2, size), "float64"))
    close(fft.irfft(fft.rfft(real, norm=norm), size, norm=norm), real.numpy())
    close(fft.hfft(fft.ihfft(real, norm=norm), size, norm=norm), real.numpy())
    shape = real.shape
    close(fft.irfftn(fft.rfftn(real, norm=norm), shape, norm=norm), real.numpy())
    close(fft.hfft2(fft.ihfft2(real, norm=norm), shape, norm=norm), real.numpy())
    close(fft.ifftn(fft.fftn(x, norm=norm), norm=norm), x.numpy())


@pytest.mark.parametrize("shape", [(50,), (6, 7), (3, 4, 5), (256, 256)])
def test_parseval(shape: tuple[int, ...]) -> None:
    """The energy of a signal is that of its spectrum."""
    x = opweave.from_numpy(values(shape))
    energy = x.abs().square().sum().item()
    assert fft.fftn(x, norm="ortho").abs().square().sum().item() == pytest.approx(energy, rel=1e-12)
    assert fft.fftn(x).abs().square().sum().item() == pytest.approx(energy * x.numel(), rel=1e-12)


def test_real_input_has_the_spectrum_of_complex_input() -> None:
    for shape, dims in (((1,), (0,)), ((9,), (0,)), ((4, 6), (0, 1)), ((4, 5, 3), (2, 0)), ((4, 5, 3), (0, 1, 2))):
        x = opweave.from_numpy(values(shape, "float64"))
        for normalization in (0, 1, 2):
            want = transforms.complex_transform(x + 0j, dims, normalization, True)
            close(transforms.real_transform(x, dims, normalization, False), want.numpy())
            half = want.narrow(dims[-1], 0, shape[dims[-1]] // 2 + 1)
            close(transforms.real_transform(x, dims, normalization, True), half.numpy())


def test_result_owns_new_memory() -> None:
    x = opweave.arange(4.0).to(opweave.complex64)
    for result in (fft.fft(x), fft.fftn(x, dim=()), fft.fft(x[:1], 1), fft.ifft2(x.reshape(2, 2))):
        assert result.data_ptr() != x.data_ptr()
    assert x.real.tolist() == [0, 1, 2, 3]


def test_memory_order_follows_the_input() -> None:
    x = opweave.zeros(4, 3, 5, dtype=opweave.complex64)
    assert fft.fft(x).stride() == (15, 5, 1)
    assert fft.fft(x, dim=0).stride() == (1, 20, 4)
    assert fft.fft2(x.permute(2, 1, 0)).stride() == (12, 1, 3)


def test_empty() -> None:
    """No signals have no spectra; a signal without elements is a mistake."""
    for function in (fft.fft, fft.ifft, fft.rfft, fft.irfft, fft.hfft, fft.ihfft):
        assert function(opweave.empty(0, 4)).shape[0] == 0
        with pytest.raises(RuntimeError, match=r"Invalid number of data points \((0|-2)\) specified"):
            function(opweave.empty(4, 0))
    assert fft.fft(opweave.empty(0, 4), 7).shape == (0, 7)
    assert fft.rfft2(opweave.empty(0, 4, 6)).shape == (0, 4, 4)


def test_refused_dtypes() -> None:
    for dtype in (opweave.float16, opweave.bfloat16, opweave.complex32):
        with pytest.raises(RuntimeError, match=f"Unsupported dtype {dtype.scalar_name}"):
            fft.fft(opweave.zeros(4, dtype=dtype))
    with pytest.raises(RuntimeError, match="rfft expects a real input tensor, but got ComplexFloat"):
        fft.rfft(opweave.zeros(4, dtype=opweave.complex64))


def test_integers_become_the_default_dtype() -> None:
    x = opweave.arange(4)
    assert fft.fft(x).dtype is opweave.complex64
    opweave.set_default_dtype(opweave.float64)
    try:
        assert fft.fft(x).dtype is opweave.complex128
        assert fft.irfft(x > 1).dtype is opweave.float64
        assert fft.fftfreq(3).dtype is opweave.float64
    finally:
        opweave.set_default_dtype(opweave.float32)


def test_number_of_threads_changes_no_bit_of_one_line() -> None:
    x = opweave.from_numpy(values((1 << 15,), "complex64"))
    before, results = opweave.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            opweave.set_num_threads(count)
            results.append(fft.fft(x).numpy().tobytes())
    finally:
        opweave.set_num_threads(before)
    assert len({*results}) == 1


def test_frequencies_and_shifts() -> None:
    for n, d in itertools.product((1, 2, 5, 8), (1.0, 0.25, 3)):
        close(fft.fftfreq(n, d, dtype=opweave.float64), np.fft.fftfreq(n, d))
        close(fft.rfftfreq(n, d, dtype=opweave.float64), np.fft.rfftfreq(n, d))
    x = values((4, 5, 3), "float64")
    for dim in (None, 0, (1, 2), -1):
        close(fft.fftshift(opweave.from_numpy(x), dim), np.fft.fftshift(x, dim))
        close(fft.ifftshift(fft.fftshift(opweave.from_numpy(x), dim), dim), x)
