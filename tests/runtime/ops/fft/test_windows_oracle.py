"""Windows beside torch's: values, dtypes, errors."""

from __future__ import annotations

import itertools
from operator import attrgetter

import pytest
from harness import expressions, oracle
from harness.oracle import Like

OLDER = ("hann", "hamming", "blackman", "bartlett", "kaiser")
NEWER = ("bartlett", "blackman", "cosine", "exponential", "gaussian", "hamming", "hann", "kaiser", "nuttall")
"""Those that need no arguments but their size. Of the last one terms cancel: it is compared by value only."""

# fmt: off
EXPRESSIONS = [f"L.{name}_window({rest})" for name in OLDER for rest in (
    "-1", "0", "1", "2", "5.5", "'x'", "5, False", "window_length=6, periodic=False", "L.tensor(5)",
    "5, requires_grad=False, device='cpu', layout=L.strided",
)] + [f"L.signal.windows.{name}({rest})" for name in NEWER[:-1] for rest in (
    "-1", "0", "1", "5", "5, sym=False", "5, dtype=L.int64", "5, dtype=L.float16", "5, dtype=L.complex64",
    "5, requires_grad=False, device='cpu', layout=L.strided",
)] + r"""
L.hann_window(5, dtype=L.float16)
L.hann_window(6, dtype=L.bfloat16)
L.kaiser_window(5, dtype=L.float16)
L.kaiser_window(6, dtype=L.bfloat16)
L.hamming_window(6, True, 0.3)
L.hamming_window(6, False, 0.3, 0.2)
L.hamming_window(6, periodic=True, alpha=0.3)
L.kaiser_window(7, True, 3.5)
L.kaiser_window(7, periodic=False, beta=0)
L.signal.windows.general_cosine(5, a=[0.5])
L.signal.windows.general_cosine(5, a=(0.5, 0.25, 0.25), sym=False)
L.signal.windows.general_cosine(5, a=[])
L.signal.windows.general_cosine(1, a=[])
L.signal.windows.general_cosine(5, a=0.5)
L.signal.windows.general_hamming(7, alpha=0.4)
L.signal.windows.general_hamming(-1)
L.signal.windows.gaussian(5, std=0)
L.signal.windows.gaussian(5, std=-1.5)
L.signal.windows.gaussian(0, std=0)
L.signal.windows.exponential(5, tau=0.0)
L.signal.windows.exponential(5, center=2)
L.signal.windows.exponential(5, center=2, sym=False)
L.signal.windows.exponential(1, center=7.0, sym=False)
L.signal.windows.kaiser(5, beta=-1.5)
L.signal.windows.kaiser(5, beta=0)
sorted(L.signal.windows.__all__)
""".strip().splitlines()
# fmt: on


def test_expressions() -> None:
    expressions.check_all(EXPRESSIONS)


@pytest.mark.parametrize("name", OLDER)
def test_refused_dtypes(name: str) -> None:
    for dtype in ("int64", "bool", "complex64"):
        oracle.check(lambda L, d=dtype: getattr(L, f"{name}_window")(5, dtype=getattr(L, d)), dtype, Like(texts=False))


@pytest.mark.parametrize("name", [*(f"{name}_window" for name in OLDER), *(f"signal.windows.{name}" for name in NEWER)])
def test_values(name: str) -> None:
    for size, dtype in itertools.product((2, 3, 6, 11, 100), ("float32", "float64")):
        oracle.check(
            lambda L, size=size, dtype=dtype: attrgetter(name)(L)(size, dtype=getattr(L, dtype)),
            f"{size} {dtype}",
            Like(rtol=0, atol=1e-14 if dtype == "float64" else 1e-6),
        )
