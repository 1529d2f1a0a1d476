"""Random numbers against torch 2.13: every byte of results and of the generator's state after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness import oracle

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SIZES = (0, 1, 15, 16, 17, 31, 32, 100, 512, 513, 1000)
SEEDS = (0, 42, 2**32 - 1, 2**40 + 7)
Call = Callable[[Any, Any], Any]


def compare(call: Call, dtype: str, seeds: tuple[int, ...] = SEEDS) -> None:
    for seed in seeds:

        def drawn(library: Any, seed: int = seed) -> Any:
            library.manual_seed(seed)
            result = call(library, getattr(library, dtype))
            return result, library.get_rng_state(), library.initial_seed()

        oracle.check(drawn, f"{dtype} {seed}")


@pytest.mark.oracle
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_sizes(dtype: str, size: int) -> None:
    compare(lambda m, d: m.rand(size, dtype=d), dtype)
    compare(lambda m, d: m.empty(size, dtype=d).uniform_(-3.3, 7.1), dtype)
    compare(lambda m, d: m.randn(size, dtype=d), dtype)
    compare(lambda m, d: m.empty(size, dtype=d).normal_(2.5, 0.3), dtype)


FILLS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("exponential_", (1.5,)),
    ("cauchy_", (1.0, 2.0)),
    ("log_normal_", (0.5, 0.25)),
    ("geometric_", (0.3,)),
    ("bernoulli_", (0.3,)),
    ("random_", ()),
    ("random_", (100,)),
    ("random_", (-5, 70)),
    ("random_", (3, None)),
)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "arguments"), FILLS)
def test_distributions(name: str, arguments: tuple[Any, ...], dtype: str) -> None:
    compare(lambda m, d: getattr(m.empty(1000, dtype=d), name)(*arguments), dtype)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_integers(dtype: str) -> None:
    for arguments in ((), (2,), (0, 1)):
        compare(lambda m, d: m.empty(1000, dtype=d).random_(*arguments), dtype)  # noqa: B023
    compare(lambda m, d: m.empty(1000, dtype=d).bernoulli_(0.3), dtype)
    if dtype != "bool":
        compare(lambda m, d: m.randperm(100, dtype=d), dtype)
        compare(lambda m, d: m.empty(1000, dtype=d).geometric_(0.3), dtype)


@pytest.mark.oracle
@pytest.mark.parametrize("bounds", [(2**28 - 1,), (2**28,), (2**40,), (-(2**60), 2**60), (-(2**63), None)])
def test_ranges(bounds: tuple[int, ...]) -> None:
    compare(lambda m, d: m.empty(1000, dtype=d).random_(*bounds), "int64")


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", FLOATS)
def test_from_tensors(dtype: str) -> None:
    compare(lambda m, d: m.bernoulli(m.rand(1000, dtype=d)), dtype)
    compare(lambda m, d: m.empty(30, 40).t().bernoulli_(m.rand(30, dtype=d)), dtype)
    compare(lambda m, d: m.poisson(m.rand(1000, dtype=d) * 60), dtype)
    compare(lambda m, d: m.normal(m.rand(1000, dtype=d), m.rand(1000, dtype=d)), dtype)
    compare(lambda m, d: m.normal(m.rand(1000, dtype=d), 2.0), dtype)
    compare(lambda m, d: m.normal(2.0, m.rand(1000, dtype=d)), dtype)
    if dtype in ("float32", "float64"):
        compare(lambda m, d: m.binomial((m.rand(1000, dtype=d) * 90).floor(), m.rand(1000, dtype=d)), dtype)
        compare(lambda m, d: m._standard_gamma(m.rand(40, 25, dtype=d).t() * 5), dtype)
        compare(lambda m, d: m._standard_gamma(m.tensor([0.0, 1e-3, 1e-30, 1.0, 1e8], dtype=d).expand(50, 5)), dtype)
        compare(lambda m, d: m._sample_dirichlet(m.rand(300, 4, dtype=d) * 5), dtype)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_"])
def test_layouts(name: str, dtype: str) -> None:
    compare(lambda m, d: getattr(m.empty(30, 40, dtype=d).t(), name)(), dtype)
    compare(lambda m, d: getattr(m.zeros(30, 40, 5, dtype=d).permute(2, 0, 1)[1:4, ::3], name)(), dtype)
    compare(lambda m, d: getattr(m.zeros(40, dtype=d)[::2], name)(), dtype)


@pytest.mark.oracle
def test_spare_normal_is_shared() -> None:
    compare(
        lambda m, d: m.cat([m.randn(3, dtype=d), m.rand(2, dtype=d), m.randn(16, dtype=d), m.randn(4, dtype=d)]),
        "float32",
    )


@pytest.mark.oracle
@pytest.mark.parametrize("n", [1, 2, 1000, 100_003])
def test_permutations(n: int) -> None:
    compare(lambda m, d: m.randperm(n, dtype=d), "int64", SEEDS[:2])


@pytest.mark.oracle
def test_others() -> None:
    compare(lambda m, d: m.dropout(m.rand(30, 40, dtype=d).t(), 0.3, True), "float32")
    compare(lambda m, d: m.rand_like(m.empty(30, 40, dtype=d).t()), "float32")
    compare(lambda m, d: m.randn_like(m.empty(30, 40, dtype=d).t()), "float32")
    compare(lambda m, d: m.randint_like(m.empty(30, 40, dtype=d), 3, 9), "float32")


@pytest.mark.oracle
def test_states_travel() -> None:
    """Either library goes on from a state of the other: the states after the same calls are equal bytes."""

    def states(library: Any) -> Any:
        library.manual_seed(9)
        library.rand(700)
        library.randn(3)
        return library.get_rng_state(), library.randn(5), library.get_rng_state(), library.rand(700)

    oracle.check(states)
