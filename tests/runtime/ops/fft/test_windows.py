"""Windows beside SciPy's and NumPy's, and their symmetries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import opweave
import pytest
from opweave.signal import windows

COSINES = [0.4, 0.3, 0.2, 0.1]

# By the name in torch.signal.windows: arguments there, and what SciPy calls the window.
WINDOWS: dict[str, tuple[dict[str, object], object]] = {
    "bartlett": ({}, "bartlett"),
    "blackman": ({}, "blackman"),
    "cosine": ({}, "cosine"),
    "exponential": ({"tau": 3.0}, ("exponential", None, 3.0)),
    "gaussian": ({"std": 2.5}, ("gaussian", 2.5)),
    "general_cosine": ({"a": COSINES}, ("general_cosine", COSINES)),
    "general_hamming": ({"alpha": 0.7}, ("general_hamming", 0.7)),
    "hamming": ({}, "hamming"),
    "hann": ({}, "hann"),
    "kaiser": ({"beta": 8.6}, ("kaiser", 8.6)),
    "nuttall": ({}, "nuttall"),
}
OLDER: dict[str, tuple[Callable[..., opweave.Tensor], object]] = {
    "hann": (opweave.hann_window, "hann"),
    "hamming": (opweave.hamming_window, "hamming"),
    "blackman": (opweave.blackman_window, "blackman"),
    "bartlett": (opweave.bartlett_window, "bartlett"),
    "kaiser": (opweave.kaiser_window, ("kaiser", 12.0)),
}


def of_scipy(window: object, size: int, fftbins: bool = True) -> np.ndarray:
    """Imported here, as it takes long to import."""
    return pytest.importorskip("scipy.signal").get_window(window, size, fftbins)  # type: ignore[no-any-return]


def test_every_window_is_compared() -> None:
    assert WINDOWS.keys() == {*windows.__all__}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", WINDOWS)
def test_values(name: str, dtype: str) -> None:
    arguments, name_there = WINDOWS[name]
    for size in (1, 2, 3, 7, 64):
        for sym in (True, False):
            got = getattr(windows, name)(size, sym=sym, dtype=getattr(opweave, dtype), **arguments)
            want = of_scipy(name_there, size, fftbins=not sym)
            assert str(got.dtype) == f"opweave.{dtype}"
            np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-12 if dtype == "float64" else 1e-6)
    assert getattr(windows, name)(0, **arguments).shape == (0,)


@pytest.mark.parametrize("name", OLDER)
def test_older_forms(name: str) -> None:
    function, name_there = OLDER[name]
    for size in (1, 2, 3, 8, 33):
        for periodic in (True, False):
            want = of_scipy(name_there, size, fftbins=periodic)
            wide = function(size, periodic, dtype=opweave.float64)
            np.testing.assert_allclose(wide.numpy(), want, rtol=0, atol=1e-14)
            np.testing.assert_allclose(function(size, periodic).numpy(), want, rtol=0, atol=1e-6)
            assert function(size, periodic, dtype=opweave.float16).dtype is opweave.float16
    assert function(0).shape == (0,)


def test_default_dtype() -> None:
    opweave.set_default_dtype(opweave.float64)
    try:
        assert opweave.hann_window(3).dtype is opweave.float64
        assert windows.hann(3).dtype is opweave.float64
    finally:
        opweave.set_default_dtype(opweave.float32)


def test_centre_of_an_exponential_window() -> None:
    got = windows.exponential(5, center=1, sym=False, tau=2, dtype=opweave.float64)
    np.testing.assert_allclose(got.numpy(), of_scipy(("exponential", 1, 2), 5), atol=1e-14)
