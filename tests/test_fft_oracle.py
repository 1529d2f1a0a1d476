"""opweave.fft beside torch.fft: values, dtypes, shapes, memory order, errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import opweave
import pytest
from compare import outcome

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
PLANES = tuple(f"{name}2" for name in LINES)
VOLUMES = tuple(f"{name}n" for name in LINES)
NORMS = (None, "backward", "ortho", "forward")


def inputs(library: ModuleType, name: str, dtype: str) -> Iterator[Any]:
    """Tensors in several memory orders."""
    random = np.random.default_rng(7)
    values = random.standard_normal((4, 3, 6)) * 8
    if dtype.startswith("complex"):
        values = values + 1j * random.standard_normal((4, 3, 6))
    x = library.from_numpy(values.astype(dtype))
    yield from (x, x.transpose(0, 2), x.permute(1, 2, 0), x[:, ::2], x[..., 1:2], x[1:2].expand(2, 3, 6), x[0])


def same(got: Any, want: Any, what: str) -> None:
    assert str(got.dtype) == str(want.dtype).replace("torch", "opweave"), what
    assert tuple(got.shape) == tuple(want.shape), what
    sizes = want.shape
    if want.numel():
        strides = [[step for step, size in zip(x.stride(), sizes, strict=True) if size > 1] for x in (got, want)]
        assert strides[0] == strides[1], what
    close(got, want, 1e-12 if want.dtype in (torch.float64, torch.complex128) else 2e-6, what)


def close(got: Any, want: Any, tolerance: float, what: str) -> None:
    scale = np.abs(want.numpy()).max(initial=1.0)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=0, atol=tolerance * scale, err_msg=what)


def result(library: ModuleType, name: str, x: Any, arguments: dict[str, Any]) -> Any:
    """A tensor, or what the error says."""
    try:
        return getattr(library.fft, name)(x, **arguments)
    except (RuntimeError, IndexError) as error:
        return type(error), str(error)


def compare(name: str, dtype: str, calls: list[dict[str, Any]]) -> None:
    for arguments in calls:
        pairs = zip(inputs(opweave, name, dtype), inputs(torch, name, dtype), strict=True)
        for place, (x, y) in enumerate(pairs):
            what = f"{name} of {dtype} {place} {arguments}"
            got, want = result(opweave, name, x, arguments), result(torch, name, y, arguments)
            if isinstance(want, torch.Tensor):
                same(got, want.resolve_conj(), what)
            else:
                assert got == want, what


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


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_expressions(expression: str) -> None:
    assert outcome(expression, opweave) == outcome(expression, torch)


@pytest.mark.parametrize("name", [*LINES, *PLANES, *VOLUMES])
def test_out(name: str) -> None:
    """Written to in the precision of the result or another; what cannot hold the result is refused."""
    values = np.arange(12.0, dtype="float32").reshape(3, 4)
    want = getattr(torch.fft, name)(torch.from_numpy(values))
    fitting, unfitting = ("complex64", "complex128"), ("float32", "float64", "int64")
    if not want.is_complex():
        fitting, unfitting = unfitting[:2], ("int64",)
    for of in fitting:
        out = opweave.empty(0, dtype=getattr(opweave, of))
        assert getattr(opweave.fft, name)(opweave.from_numpy(values), out=out) is out
        assert out.shape == want.shape
        close(out, want.resolve_conj(), 2e-6, f"{name} to {of}")
    for of, library in itertools.product(unfitting, (opweave, torch)):
        with pytest.raises(RuntimeError):
            getattr(library.fft, name)(library.from_numpy(values), out=library.empty(0, dtype=getattr(library, of)))


def test_all_functions_of_torch() -> None:
    assert {*torch.fft.__all__} - {"Tensor"} <= {*opweave.fft.__all__}
