"""stft and istft beside torch's: values, memory order, errors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from harness import oracle
from harness.drawn import Drawn
from harness.oracle import Like

# `x`: a signal, `c`: a complex one, `m`: several, `w`: a window, `y` and `f`: what stft makes of `x` and of `c`.
CALLS = r"""
x.stft(8, window=w, return_complex=True)
L.stft(x, 8, 3, 8, w, return_complex=True)
L.stft(m, 8, window=w, return_complex=True)
L.stft(c, 8, window=w)
L.stft(c, 8, window=w, return_complex=False)
L.stft(x, 8, window=w + 1j)
L.stft(x, 8, window=w, return_complex=False)
L.stft(x, 8, 2, 6, w[:6], return_complex=True)
L.stft(x, 9, 2, 6, w[:6], return_complex=True)
L.stft(x, 9, 4, 8, w, False, return_complex=True)
L.stft(x, 8, 2, window=w, center=False, return_complex=True)
L.stft(x, 8, 2, window=w, normalized=True, return_complex=True)
L.stft(x, 8, 2, window=w, onesided=False, return_complex=True)
L.stft(m, 8, 2, window=w, onesided=False, normalized=True, return_complex=True)
L.stft(x, 8, 2, window=w, pad_mode="replicate", return_complex=True)
L.stft(x, 8, 2, window=w, pad_mode="circular", return_complex=True)
L.stft(x, 8, 2, window=w, pad_mode="constant", return_complex=True)
L.stft(x, 8, 2, window=w.double(), return_complex=True)
L.stft(x.double(), 8, 2, window=w, return_complex=True)
L.stft(x, 8, 2, window=L.ones(8, dtype=L.int64), return_complex=True)
L.stft(x, 8, 2, 6, w[:6], center=False, return_complex=True, align_to_window=True)
L.stft(x, 8, 2, 6, w[:6], center=False, return_complex=True, align_to_window=False)
L.stft(m, 8, 3, 4, w[:4], center=False, return_complex=True, align_to_window=True)
L.istft(y, 8, window=w)
y.istft(8, window=w)
L.istft(L.stft(m, 8, window=w, return_complex=True), 8, window=w)
L.istft(y, 8, window=w, length=30)
L.istft(y, 8, window=w, length=41)
L.istft(y, 8, window=w, length=50)
L.istft(y, 8, window=w, normalized=True)
L.istft(y, 8, window=w.double())
L.istft(y, 8, 2, 6, w[:6] + 1)
L.istft(y, 8, window=w + 1, center=False)
L.istft(f, 8, window=w, return_complex=True)
L.istft(f, 8, window=w + 0.5j, return_complex=True)
L.istft(f, 8, window=w, onesided=False)
""".strip().splitlines()

MISTAKES = r"""
x.stft(8, window=w)
L.stft(x, 8, 0, window=w, return_complex=True)
L.stft(x, 8, -1, window=w, return_complex=True)
L.stft(x, 8, 2, 6, w, return_complex=True)
L.stft(x, 8, 2, 0, return_complex=True)
L.stft(x, 8, 2, 9, return_complex=True)
L.stft(x, 0, return_complex=True)
L.stft(x, 100, return_complex=True)
L.stft(x, 100, center=False, return_complex=True)
L.stft(x[:7], 8, 2, 6, center=False, return_complex=True, align_to_window=True)
L.stft(x, 8, pad_mode="xx", return_complex=True)
L.stft(m[None], 8, return_complex=True)
L.stft(L.arange(40), 8, return_complex=True)
L.stft(x, 8, window=w[None], return_complex=True)
L.stft(c, 8, 2, 6, w[:7], False, normalized=True, return_complex=True, align_to_window=False)
L.stft(c, 8, window=w, onesided=True)
L.stft(x, 8, window=w + 1j, onesided=True)
L.stft(x, 8, align_to_window=True, window=w, return_complex=True)
L.stft(x, 8, align_to_window=False, window=w, return_complex=True)
L.istft(L.view_as_real(y), 8, window=w)
L.istft(y, 8, window=w, center=False)
L.istft(y, 8, window=w, onesided=False)
L.istft(y, 16, window=L.hann_window(16))
L.istft(y, 8, 0, window=w)
L.istft(y, 8, 9, window=w)
L.istft(y, 8, -1, window=w)
L.istft(y, 8, 2, 9)
L.istft(y, 8, 2, 0)
L.istft(y, 8, 2, 6, w)
L.istft(y, 8, window=w + 1j)
L.istft(y, 8, window=w, return_complex=True)
L.istft(y, 8, window=w, onesided=False, return_complex=True)
L.istft(y[None, None], 8, window=w)
L.istft(y[:, 0], 8, window=w)
L.istft(y[:, :0], 8, window=w)
L.istft(y, 8, window=L.zeros(8))
""".strip().splitlines()


def environment(library: ModuleType) -> dict[str, Any]:
    L = library
    values = Drawn(5).normal((4, 40)).astype("float32")
    x, m, w = L.from_numpy(values[0]), L.from_numpy(values[:2]), L.hann_window(8)
    c = L.from_numpy(values[2] + 1j * values[3])
    y, f = L.stft(x, 8, window=w, return_complex=True), L.stft(c, 8, window=w, return_complex=True)
    return {"L": L, "x": x, "m": m, "w": w, "c": c, "y": y, "f": f}


def test_values() -> None:
    for call in CALLS:
        oracle.check(lambda L, call=call: eval(call, environment(L)), call, Like(rtol=0, atol=2e-5))


def test_mistakes() -> None:
    for call in MISTAKES:
        oracle.check(lambda L, call=call: eval(call, environment(L)), call)
