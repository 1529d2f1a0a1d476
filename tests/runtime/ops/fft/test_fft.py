"""opweave.fft beside NumPy, and by the laws of the transforms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import opweave
import pytest
from opweave import fft
from opweave._dispatch.ops import ops

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
            want = ops.fft_c2c(x + 0j, dims, normalization, True)
            close(ops.fft_r2c(x, dims, normalization, False), want.numpy())
            half = want.narrow(dims[-1], 0, shape[dims[-1]] // 2 + 1)
            close(ops.fft_r2c(x, dims, normalization, True), half.numpy())


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


@pytest.mark.parametrize("shape", [(1 << 15,), (100_003,), (300, 700), (700, 300), (3, 40_000), (50, 30, 40)])
def test_number_of_threads_changes_no_bit(shape: tuple[int, ...]) -> None:
    x = opweave.from_numpy(values(shape, "complex64"))
    before, results = opweave.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            opweave.set_num_threads(count)
            spectra = [fft.fftn(x), fft.fft(x, dim=0), fft.rfft(x.real), fft.irfft(x), fft.ifft(x)]
            results.append(b"".join(each.numpy().tobytes() for each in spectra))
    finally:
        opweave.set_num_threads(before)
    assert len({*results}) == 1


LENGTHS = [
    *range(1, 70),
    96,
    121,
    127,
    128,
    129,
    143,
    169,
    243,
    255,
    257,
    289,
    343,
    509,
    625,
    1001,
    1331,
    2187,
    4096,
    4099,
]
"""Products of each radix, lengths beside those of vectors, primes and products of large ones."""


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("signals", [1, 3, 17])
def test_lengths(signals: int, dtype: str) -> None:
    """One signal, too few for the lanes of a vector, and one more than these; along rows and along columns."""
    for n, dim in itertools.product(LENGTHS, (0, 1)):
        x = values((signals, n), dtype)
        x = x.T.copy() if dim == 0 else x
        wide, tensor = x.astype("complex128"), opweave.from_numpy(x)
        close(fft.fft(tensor, dim=dim), np.fft.fft(wide, axis=dim))
        close(fft.ifft(tensor, dim=dim), np.fft.ifft(wide, axis=dim))
        close(fft.rfft(tensor.real, dim=dim), np.fft.rfft(wide.real, axis=dim))
        close(fft.fft(tensor.real, dim=dim), np.fft.fft(wide.real, axis=dim))
        for real in (2 * n - 2, 2 * n - 1):
            if real:
                close(fft.irfft(tensor, real, dim), np.fft.irfft(wide, real, dim))


def test_signals_that_repeat_elements() -> None:
    x = opweave.from_numpy(values((3, 1), "float64"))
    for shape, dim in itertools.product(((3, 8), (3, 9)), (0, 1)):
        want = np.broadcast_to(x.numpy(), shape)
        close(fft.rfft(x.expand(shape), dim=dim), np.fft.rfft(want, axis=dim))
        close(fft.fft((x + 0j).expand(shape), dim=dim), np.fft.fft(want, axis=dim))
        flipped = opweave.from_numpy(want[::-1].copy()).flip(0)
        close(fft.rfft(flipped, dim=dim), np.fft.rfft(want, axis=dim))


def test_values_that_are_not_finite_stay_in_their_signal() -> None:
    x = opweave.from_numpy(values((5, 64), "complex64"))
    want = fft.fft(x)
    x[2, 7] = float("nan")
    got = fft.fft(x)
    assert got[2].isnan().all()
    assert all(opweave.equal(got[k], want[k]) for k in (0, 1, 3, 4))


def test_exact_results() -> None:
    """Roots of unity that are 0 or 1 are exactly that."""
    for n in (4, 8, 12, 16, 1024):
        delta = opweave.zeros(n, dtype=opweave.complex64)
        delta[0] = 1
        assert opweave.equal(fft.fft(delta), opweave.ones(n, dtype=opweave.complex64))
    assert fft.fft(opweave.tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [10, -2 + 2j, -2, -2 - 2j]


def test_frequencies_and_shifts() -> None:
    for n, d in itertools.product((1, 2, 5, 8), (1.0, 0.25, 3)):
        close(fft.fftfreq(n, d, dtype=opweave.float64), np.fft.fftfreq(n, d))
        close(fft.rfftfreq(n, d, dtype=opweave.float64), np.fft.rfftfreq(n, d))
    x = values((4, 5, 3), "float64")
    for dim in (None, 0, (1, 2), -1):
        close(fft.fftshift(opweave.from_numpy(x), dim), np.fft.fftshift(x, dim))
        close(fft.ifftshift(fft.fftshift(opweave.from_numpy(x), dim), dim), x)
