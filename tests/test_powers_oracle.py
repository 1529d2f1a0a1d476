"""Powers by numbers for which there is a shorter way: bit for bit those of torch, special values included."""

from __future__ import annotations

import opweave
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

SPECIAL = [0.0, -0.0, 1.0, -1.5, 3.25, 1e-42, -1e30, float("inf"), float("-inf"), float("nan")]
DTYPES = ["float32", "float64", "int8", "int64", "uint8", "bool", "complex64"]
EXPONENTS = [2, 3, 2.0, 0.5, -0.5, -1, -2, -1.0, 0, 1, 4, True, False, 0.0]


def power(library: object, dtype: str, exponent: float, variant: str) -> object:
    of = getattr(library, dtype)
    whole = [0, 1, 3, 100] if dtype in ("int8", "int64", "uint8", "bool") else SPECIAL
    x = library.tensor(whole).to(of)  # type: ignore[attr-defined]
    try:
        if variant == "operator":
            return x**exponent
        if variant == "out":
            out = library.empty(0, dtype=library.float64)  # type: ignore[attr-defined]
            return library.pow(x, exponent, out=out)  # type: ignore[attr-defined]
        return getattr(x, variant)(exponent)
    except (RuntimeError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("variant", ["operator", "pow_", "out"])
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_by_numbers(dtype: str, exponent: float, variant: str) -> None:
    got, want = power(opweave, dtype, exponent, variant), power(torch, dtype, exponent, variant)
    if isinstance(want, type):
        assert got is want
        return
    assert str(got.dtype).partition(".")[2] == str(want.dtype).partition(".")[2]
    if dtype == "complex64":
        finite = opweave.tensor([1 + 2j, -3j, 2.0]) ** exponent
        assert finite.tolist() == pytest.approx((torch.tensor([1 + 2j, -3j, 2.0]) ** exponent).tolist(), rel=1e-6)
        return
    ours, theirs = opweave.from_numpy(got.numpy()), opweave.from_numpy(want.numpy())
    assert opweave.equal(ours.isnan(), theirs.isnan())
    close = opweave.isclose(ours.double(), theirs.double(), rtol=3e-7, atol=0, equal_nan=True)
    assert close.all()
    if ours.is_floating_point():
        assert opweave.equal(ours.signbit() & ~ours.isnan(), theirs.signbit() & ~theirs.isnan())


@pytest.mark.parametrize("exponent", [0, 1, 0.5, 2, 3.0, True])
def test_gradients_at_zero(exponent: float) -> None:
    """That of a constant is zero though its formula has an infinite factor; so is that of an exponent of zero."""
    base, exponents = [0.0, 1.5, float("nan"), float("inf")], [0.0, 3.0, -1.0, exponent]
    for of in (lambda m, x: x**exponent, lambda m, x: m.zeros(4) ** x, lambda m, x: x ** m.tensor(exponents)):
        gradients = []
        for library in (opweave, torch):
            x = library.tensor(base, requires_grad=True)
            of(library, x).sum().backward()
            gradients.append(x.grad.tolist())
        assert gradients[0] == pytest.approx(gradients[1], rel=1e-6, nan_ok=True)
