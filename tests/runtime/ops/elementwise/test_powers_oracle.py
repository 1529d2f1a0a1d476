"""Powers by numbers for which there is a shorter way: bit for bit those of torch, special values included."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from harness import oracle
from harness.oracle import Like

SPECIAL = [0.0, -0.0, 1.0, -1.5, 3.25, 1e-42, -1e30, float("inf"), float("-inf"), float("nan")]
DTYPES = ["float32", "float64", "int8", "int64", "uint8", "bool", "complex64"]
EXPONENTS = [2, 3, 2.0, 0.5, -0.5, -1, -2, -1.0, 0, 1, 4, True, False, 0.0]


def power(library: Any, dtype: str, exponent: float, variant: str) -> Any:
    dtype_object = getattr(library, dtype)
    whole = [0, 1, 3, 100] if dtype in ("int8", "int64", "uint8", "bool") else SPECIAL
    # Infinite and undefined parts of complex numbers are compared elsewhere.
    x = library.tensor([1 + 2j, -3j, 2.0] if dtype == "complex64" else whole).to(dtype_object)
    if variant == "operator":
        return x**exponent
    if variant == "out":
        out = library.empty(0, dtype=library.float64 if dtype != "complex64" else dtype_object)
        return library.pow(x, exponent, out=out)
    return getattr(x, variant)(exponent)


@pytest.mark.parametrize("variant", ["operator", "pow_", "out"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_by_numbers(dtype: str, variant: str) -> None:
    # To a third of an ULP of float32 in any dtype; zeros have torch's signs.
    like = Like(rtol=1e-6, texts=False) if dtype == "complex64" else Like(ulp=3, texts=False)
    for exponent in EXPONENTS:
        bound = 1e-20 if variant == "out" else None
        oracle.check(
            lambda L, e=exponent: power(L, dtype, e, variant), f"{dtype} {exponent!r}", replace(like, bound=bound)
        )


@pytest.mark.parametrize("exponent", [0, 1, 0.5, 2, 3.0, True])
def test_gradients_at_zero(exponent: float) -> None:
    """That of a constant is zero though its formula has an infinite factor; so is that of an exponent of zero."""
    base, exponents = [0.0, 1.5, float("nan"), float("inf")], [0.0, 3.0, -1.0, exponent]
    for power in (lambda m, x: x**exponent, lambda m, x: m.zeros(4) ** x, lambda m, x: x ** m.tensor(exponents)):

        def gradient(library: Any, power: Any = power) -> Any:
            x = library.tensor(base, requires_grad=True)
            power(library, x).sum().backward()
            return x.grad

        oracle.check(gradient, "", Like(rtol=1e-6))
