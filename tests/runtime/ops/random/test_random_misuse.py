"""Bad arguments of random numbers: torch's errors, after which the generator is as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest

x, whole = ow.zeros(3), ow.zeros(3, dtype=ow.int64)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: x.uniform_(3, 1),
            RuntimeError,
            r"uniform_ expects to return a \[from, to\) range, but found from=3 >",
        ),
        (lambda: x.uniform_(float("nan"), 1), RuntimeError, "from is out of bounds for float"),
        (lambda: x.uniform_(0, float("inf")), RuntimeError, "to is out of bounds for float"),
        (lambda: x.uniform_(-3e38, 3e38), RuntimeError, r"to-from <= std::numeric_limits<Float>::max\(\)"),
        (lambda: x.half().uniform_(0, 1e5), RuntimeError, "to is out of bounds for c10::Half"),
        (lambda: x.uniform_("a"), TypeError, r"argument 'from' \(position 1\) must be float, not str"),
        (lambda: x.uniform_(generator=3), TypeError, "argument 'generator' must be opweave.Generator, not int"),
        (lambda: whole.uniform_(), NotImplementedError, "\"check_uniform_bounds\" not implemented for 'Long'"),
        (
            lambda: ow.rand(3, dtype=ow.int64),
            NotImplementedError,
            "\"check_uniform_bounds\" not implemented for 'Long'",
        ),
        (lambda: ow.randn(3, dtype=ow.bool), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Bool'"),
        (lambda: x.normal_(0, -1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
        (lambda: x.normal_(0, float("nan")), RuntimeError, "normal expects std >= 0.0, but found std nan"),
        (lambda: x.log_normal_(0, 0), RuntimeError, "log_normal_ expects std > 0.0, but found std=0"),
        (lambda: x.exponential_(-1.5), RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=-1.5"),
        (lambda: whole.exponential_(), RuntimeError, "Exponential distribution is a continuous .* you specified Long"),
        (lambda: whole.cauchy_(), RuntimeError, "Cauchy distribution is a continuous .* you specified long int"),
        (lambda: x.cauchy_(0, 0), RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma=0"),
        (lambda: x.geometric_(1), RuntimeError, r"geometric_ expects p to be in \(0, 1\), but got p=1"),
        (lambda: x.bernoulli_(1.5), RuntimeError, r"bernoulli_ expects p to be in \[0, 1\], but got p=1.5"),
        (lambda: ow.bernoulli(x + 2), RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true, but got false"),
        (lambda: ow.bernoulli(whole), NotImplementedError, "bernoulli_tensor_cpu_p_.* not implemented for 'Long'"),
        (lambda: x.random_(5, 5), RuntimeError, "'from' to be less than 'to', but got from=5 >= to=5"),
        (lambda: x.random_(-1), RuntimeError, "'from' to be less than 'to', but got from=0 >= to=-1"),
        (lambda: whole.random_(2**63), ValueError, "Overflow when unpacking long long"),
        (lambda: whole.to(ow.int8).random_(0, 129), RuntimeError, "to - 1 is out of bounds for signed char"),
        (lambda: whole.to(ow.uint8).random_(-1, 3), RuntimeError, "from is out of bounds for unsigned char"),
        (lambda: ow.randint(10, (2,), dtype=ow.bool), RuntimeError, "to - 1 is out of bounds for bool"),
        (lambda: ow.randint(10, 3), TypeError, r"argument 'size' \(position 2\) must be tuple of ints, not int"),
        (lambda: ow.randint(2.5, (2,)), TypeError, r"argument 'high' \(position 1\) must be int, not float"),
        (lambda: ow.randperm(-1), RuntimeError, r"Trying to create tensor with negative dimension -1: \[-1\]"),
        (
            lambda: ow.randperm(300, dtype=ow.uint8),
            RuntimeError,
            "cannot be converted to type uint8_t without overflow",
        ),
        (lambda: ow.randperm(2050, dtype=ow.half), RuntimeError, "n cannot be greater than 2049 for Half type."),
        (lambda: ow.randperm(5, dtype=ow.bool), NotImplementedError, "\"randperm\" not implemented for 'Bool'"),
        (lambda: ow.normal(0.0, 1.0), TypeError, "normal.. received an invalid combination of arguments"),
        (lambda: ow.normal(x, x - 1), RuntimeError, "normal expects all elements of std >= 0.0"),
        (lambda: ow._standard_gamma(x.half()), NotImplementedError, "\"gamma_cpu\" not implemented for 'Half'"),
        (lambda: ow._sample_dirichlet(x.int()), NotImplementedError, "\"_sample_dirichlet\" not implemented for 'Int'"),
        (lambda: ow.poisson(x - 1), RuntimeError, "invalid Poisson rate, expected rate to be non-negative"),
        (
            lambda: ow.binomial(whole, x),
            ValueError,
            "binomial only supports floating-point dtypes for count, got: Long",
        ),
        (lambda: ow.dropout(x, 1.5, True), RuntimeError, "dropout probability has to be between 0 and 1, but got 1.5"),
        (lambda: ow.empty(3).expand(3, 3).uniform_(), RuntimeError, "more than one element of the written-to tensor"),
    ],
)
def test_mistakes(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    """They leave the state alone, so that what follows is the same."""
    state = ow.get_rng_state()
    with pytest.raises(error, match=message):
        call()
    if "p_in" not in message and "Poisson" not in message:
        assert ow.get_rng_state().tolist() == state.tolist()
