"""opweave.fft beside torch.fft: values, dtypes, shapes, memory order, errors."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import opweave
import pytest
from harness import expressions, oracle, recording
from harness.drawn import Drawn
from harness.oracle import Call, Like

LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
PLANES = tuple(f"{name}2" for name in LINES)
VOLUMES = tuple(f"{name}n" for name in LINES)
NORMS = (None, "backward", "ortho", "forward")


def inputs(dtype: str) -> list[Call]:
    """Tensors in several memory orders."""
    drawn = Drawn(7)
    values = drawn.normal((4, 3, 6)) * 8
    if dtype.startswith("complex"):
        values = values + 1j * drawn.normal((4, 3, 6))
    values = values.astype(dtype)
    views: tuple[Call, ...] = (
        lambda x: x,
        lambda x: x.transpose(0, 2),
        lambda x: x.permute(1, 2, 0),
        lambda x: x[:, ::2],
        lambda x: x[..., 1:2],
        lambda x: x[1:2].expand(2, 3, 6),
        lambda x: x[0],
    )
    return [lambda L, view=view: view(L.from_numpy(values)) for view in views]


ERRORS = {"float32": 2e-6, "complex64": 2e-6, "float64": 1e-12, "complex128": 1e-12}
LIKE = Like(rtol=0.0, atol=ERRORS, scale=True, few=8)


def compare(name: str, dtype: str, calls: list[dict[str, Any]]) -> None:
    for arguments, (index, x) in oracle.sweep(itertools.product(calls, enumerate(inputs(dtype))), 40):
        oracle.check(lambda L, x=x, a=arguments: getattr(L.fft, name)(x(L), **a), f"{index} {arguments}", LIKE)


DTYPES = ("float32", "float64", "complex64", "complex128", "int32", "uint8", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LINES)
def test_one_dimension(name: str, dtype: str) -> None:
    calls = [{"n": n, "dim": dim} for n, dim in itertools.product((None, 1, 2, 4, 5, 9, 0), (-1, 0, 1, 2))]
    compare(name, dtype, [*calls, *({"norm": norm, "n": 5} for norm in NORMS)])


@pytest.mark.parametrize("dtype", DTYPES[:5])
@pytest.mark.parametrize("name", [*PLANES, *VOLUMES])
def test_several_dimensions(name: str, dtype: str) -> None:
    calls: list[dict[str, Any]] = [{"norm": norm} for norm in NORMS]
    calls += [{"s": s} for s in ((3, 5), (5, 2), (-1, 4), (4, -1), (7,), (0, 2), (2, 3, 4, 5))]
    calls += [{"dim": dim} for dim in ((0, 1), (1, 0), (-1, 0), (0,), (0, 0), (0, 1, 2), (2, 0, 1), 1, ())]
    calls += [{"s": (2, 7), "dim": (1, 0), "norm": norm} for norm in NORMS]
    compare(name, dtype, calls)


EXPRESSIONS = r"""
L.fft.fft(z)
L.fft.rfft(z)
L.fft.irfft(z + 1j)
L.fft.fft2(z)
L.fft.fftn(z)
L.fft.rfftn(z)
L.fft.irfftn(z)
L.fft.ihfftn(z)
L.fft.fft(a.to(L.float16))
L.fft.irfft(a.to(L.bfloat16))
L.fft.rfft2(a.to(L.float16))
L.fft.fft(a, norm="bad")
L.fft.hfft(a, norm="")
L.fft.fftn(a, None, None, 3)
L.fft.fft(a, 2.5)
L.fft.fft(a, (2,))
L.fft.fft(a, 2, (0,))
L.fft.fft2(a, "x")
L.fft.fftn(a, (1, 2.5))
L.fft.fft([1.0])
L.fft.fft(e, dim=0)
L.fft.rfftn(e)
L.fft.irfft(a[:, :1])
L.fft.irfft(a[:, :1], 0)
L.fft.irfft2(a[:, :1])
L.fft.rfft(a + 1j)
L.fft.rfft2(a + 1j)
L.fft.rfftn(a + 1j)
L.fft.ihfft(a + 1j)
L.fft.ihfft2(a + 1j)
L.fft.ihfftn(a + 1j)
L.fft.ihfftn(a + 1j, norm="bad")
L.fft.fftfreq(5)
L.fft.fftfreq(4, 2)
L.fft.fftfreq(0)
L.fft.fftfreq(4, 0)
L.fft.fftfreq(-1)
L.fft.fftfreq(7, 0.3, dtype=L.float64)
L.fft.fftfreq(n=7, d=0.3, device="cpu", layout=L.strided, requires_grad=False)
L.fft.fftfreq(5, dtype=L.int64)
L.fft.fftfreq(5, dtype=L.float16)
L.fft.fftfreq(5.0)
L.fft.fftfreq(5, "x")
L.fft.fftfreq(5, out=L.empty(0))
L.fft.rfftfreq(5)
L.fft.rfftfreq(4, 2)
L.fft.rfftfreq(4, 0)
L.fft.rfftfreq(0)
L.fft.rfftfreq(7, 0.3, dtype=L.float64)
L.fft.rfftfreq(5, dtype=L.bool)
L.fft.fftshift(a)
L.fft.fftshift(a, 1)
L.fft.fftshift(a.t(), (0, 1))
L.fft.fftshift(a, (0, 0))
L.fft.fftshift(a, 7)
L.fft.fftshift(a, ())
L.fft.fftshift(z)
L.fft.fftshift(e)
L.fft.ifftshift(a)
L.fft.ifftshift(L.arange(5))
L.fft.ifftshift(b, -1)
"""


def test_expressions() -> None:
    expressions.check_all(EXPRESSIONS.strip().splitlines())


@pytest.mark.parametrize("name", [*LINES, *PLANES, *VOLUMES])
def test_out(name: str) -> None:
    """Written to in the precision of the result or another; what cannot hold the result is refused."""
    values = np.arange(12.0, dtype="float32").reshape(3, 4)
    want = oracle.ask(lambda L: getattr(L.fft, name)(L.from_numpy(values)), name, LIKE)
    fitting, unfitting = ("complex64", "complex128"), ("float32", "float64", "int64")
    if want.dtype == "float32":
        fitting, unfitting = unfitting[:2], ("int64",)
    for dtype in fitting:
        out = opweave.empty(0, dtype=getattr(opweave, dtype))
        assert getattr(opweave.fft, name)(opweave.from_numpy(values), out=out) is out
        same = out.to(getattr(opweave, want.dtype))
        oracle.agree(lambda _, same=same: same, want, f"{name} to {dtype}", replace(LIKE, strides=False))
    for dtype in unfitting:
        oracle.check(
            lambda L, dtype=dtype: getattr(L.fft, name)(L.from_numpy(values), out=L.empty(0, dtype=getattr(L, dtype))),
            f"{name} to {dtype}",
            Like(texts=False),
        )


def test_all_functions_of_torch() -> None:
    public = {name for name in recording.names_of("fft") if not name.startswith("_")}
    assert public - {"Tensor", "torch", "sys", "factory_common_args", "common_args"} <= {*opweave.fft.__all__}
