"""Numbers in the place of tensors: accepted where torch has an overload for one, and refused elsewhere."""

from __future__ import annotations

import operator
from typing import Any

import opweave
import pytest

X = opweave.tensor([3.0, 5.0])
N = opweave.tensor([3, 5])

REFUSED: list[tuple[str, tuple[Any, ...], str]] = [
    *(
        (name, (2, X), "input")
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "fmod", "copysign", "rsub", "clamp_min")
    ),
    *((name, (2, X), "input") for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp")),
    *((name, (X, 2), "other") for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp")),
    *((name, (X, 2), "other") for name in ("logical_and", "logical_or", "logical_xor", "igamma", "nextafter", "ldexp")),
    ("gcd", (N, 2), "other"),
    ("lcm", (2, N), "input"),
    ("heaviside", (X, 2), "values"),
    ("lerp", (X, 2, 0.5), "end"),
    ("lerp", (2, X, 0.5), "input"),
    ("addcmul", (X, 2, X), "tensor1"),
    ("addcdiv", (X, X, 2), "tensor2"),
    ("complex", (X, 2.0), "imag"),
    ("polar", (2.0, X), "abs"),
    ("where", (True, X, X), "condition"),
    ("pow", (2, 3), "input"),
    ("remainder", (2, 3), "input"),
    ("bitwise_and", (2, 3), "input"),
]


@pytest.mark.parametrize(("name", "args", "argument"), REFUSED, ids=[f"{each[0]}-{each[2]}" for each in REFUSED])
def test_refused(name: str, args: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\): argument '{argument}' \(position \d\) must be Tensor, not "):
        getattr(opweave, name)(*args)


def test_a_number_first() -> None:
    assert opweave.sub(2, X).tolist() == [-1.0, -3.0]
    assert opweave.remainder(17, N).tolist() == [2, 2]
    assert opweave.pow(2, N).tolist() == [8, 32]
    assert opweave.bitwise_or(8, N).tolist() == [11, 13]
    assert opweave.xlogy(0, X).tolist() == [0.0, 0.0]
    assert opweave.where(X > 4, 1, X).tolist() == [3.0, 1.0]
    assert opweave.special.chebyshev_polynomial_t(2.0, N).tolist() == [26.0, 362.0]
    assert opweave.floor_divide(17, N).tolist() == [5, 3]


def test_a_number_last() -> None:
    assert opweave.eq(X, 3).tolist() == [True, False]
    assert opweave.fmod(X, 4).tolist() == [3.0, 1.0]
    assert opweave.lerp(X, X + 2, 0.5).tolist() == [4.0, 6.0]
    assert opweave.clamp(X, 4, None).tolist() == [4.0, 5.0]
    assert opweave.clamp(X, max=4).tolist() == [3.0, 4.0]


def test_numbers_alone() -> None:
    for function, value in {opweave.add: 5, opweave.sub: -1, opweave.mul: 6, opweave.floor_divide: 0}.items():
        assert function(2, 3).item() == value
    assert opweave.div(3, 2).item() == opweave.true_divide(3, 2).item() == 1.5


def test_operators_of_python() -> None:
    assert (2 - X).tolist() == [-1.0, -3.0]
    assert operator.lt(2, X).tolist() == [True, True]
    assert operator.eq(3, N).tolist() == [True, False]
    assert [(17 % N).tolist(), (2**N).tolist(), (1 | N).tolist(), (17 // N).tolist()] == [
        [2, 2],
        [8, 32],
        [3, 5],
        [5, 3],
    ]


def test_gradients_of_formulas_with_numbers() -> None:
    """Formulas call operators that take tensors alone."""
    x = opweave.tensor([40.0, 1.0], dtype=opweave.float64, requires_grad=True)
    (first,) = opweave.autograd.grad(opweave.special.erfcx(x).sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = opweave.autograd.grad(first.sum(), x)
    assert second.shape == (2,)


def test_the_start_of_narrow() -> None:
    x = opweave.arange(5)
    assert x.narrow(0, opweave.tensor(1), 2).tolist() == [1, 2]
    for start in (opweave.tensor([1]), opweave.tensor(1.0), opweave.tensor(True)):
        with pytest.raises(RuntimeError, match=r"^start must be an 0-dim integral Tensor\.$"):
            opweave.narrow(x, 0, start, 2)  # type: ignore[arg-type]
