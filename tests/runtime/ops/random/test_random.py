"""Random numbers: recorded streams, generators, layouts, and errors. The streams are those of torch 2.13."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import opweave as ow
import pytest

FLOATS = (ow.float16, ow.bfloat16, ow.float32, ow.float64)
Draw = Callable[..., Any]


def seeded(seed: int = 42) -> ow.Generator:
    return ow.Generator().manual_seed(seed)


def same(a: ow.Tensor, b: ow.Tensor) -> bool:
    return a.dtype is b.dtype and a.tolist() == b.tolist()


# ---- recorded streams ---------------------------------------------------------------------------------------

# Calls with the default generator at seed 42, and what torch 2.13 gives.
RECORDED: dict[str, tuple[Draw, list[float]]] = {
    "rand": (
        lambda m: m.rand(5),
        [0.8822692632675171, 0.9150039553642273, 0.38286375999450684, 0.9593056440353394, 0.3904482126235962],
    ),
    "rand float64": (
        lambda m: m.rand(3, dtype=m.float64),
        [0.05815448596142969, 0.06291016742457756, 0.12358607277440903],
    ),
    "rand bfloat16": (lambda m: m.rand(3, dtype=m.bfloat16), [0.8828125, 0.9140625, 0.3828125]),
    "uniform_": (
        lambda m: m.empty(4).uniform_(-3.3, 7.1),
        [5.8755998611450195, 6.21604061126709, 0.6817830204963684, 6.676778316497803],
    ),
    "randn, one by one": (
        lambda m: m.randn(5),
        [0.33669036626815796, 0.12880940735340118, 0.23446236550807953, 0.23033303022384644, -1.1228563785552979],
    ),
    "randn, in blocks": (
        lambda m: m.randn(17)[::4],
        [1.9269152879714966, -0.7581311464309692, 0.3558599054813385, -0.2316243201494217, -0.3097267746925354],
    ),
    "randn float64": (
        lambda m: m.randn(17, dtype=m.float64)[::4],
        [0.2995562877502637, -0.03720300727052493, 0.038435238263354446, 0.39238484373268534, 0.2494118796915765],
    ),
    "normal_": (
        lambda m: m.empty(20).normal_(2.5, 0.3)[15:],
        [2.7579574584960938, 2.4070820808410645, 2.381286859512329, 2.741022825241089, 2.313521385192871],
    ),
    "log_normal_": (
        lambda m: m.empty(3).log_normal_(0.5, 0.25),
        [1.793506383895874, 1.7026780843734741, 1.7482504844665527],
    ),
    "exponential_": (
        lambda m: m.empty(3).exponential_(1.5),
        [0.039942678064107895, 0.04331741854548454, 0.08794452250003815],
    ),
    "cauchy_": (lambda m: m.empty(3).cauchy_(1, 2), [-9.82497501373291, -8.987401962280273, -3.8897485733032227]),
    "geometric_": (lambda m: m.empty(5).geometric_(0.3), [8.0, 8.0, 6.0, 9.0, 2.0]),
    "randint": (lambda m: m.randint(100, (5,)), [42, 67, 76, 14, 26]),
    "randint, long range": (
        lambda m: m.randint(-(2**60), 2**60, (3,)),
        [1144438114394717619, 243761024291149070, 820768296564020295],
    ),
    "random_": (
        lambda m: m.empty(3, dtype=m.int64).random_(),
        [6909045637428952499, 8314211556539077902, 4279532810384561223],
    ),
    "random_ of float32": (lambda m: m.empty(3).random_(), [14801927.0, 15351016.0, 6423145.0]),
    "random_ of int8": (lambda m: m.empty(5, dtype=m.int8).random_(), [102, 51, 92, 14, 106]),
    "randperm": (lambda m: m.randperm(8), [6, 3, 0, 7, 2, 1, 4, 5]),
    "bernoulli_": (lambda m: m.empty(8).bernoulli_(0.4), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    "bernoulli": (lambda m: m.bernoulli(m.full((8,), 0.4)), [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
    "poisson": (lambda m: m.poisson(m.tensor([0.0, 0.5, 9.0, 11.0, 500.0])), [0.0, 0.0, 4.0, 5.0, 474.0]),
    "gamma": (
        lambda m: m._standard_gamma(m.tensor([0.0, 1e-3, 0.5, 1.0, 4.5, 1e4])),
        [2.0**-126, 1.082860043095952e-26, 0.3128827214241028, 0.26964449882507324, 5.356687545776367, 10080.8203125],
    ),
    "dirichlet": (
        lambda m: m._sample_dirichlet(m.tensor([0.5, 2.0, 3.0])),
        [0.4079904556274414, 0.506523609161377, 0.08548595756292343],
    ),
    "binomial": (
        lambda m: m.binomial(m.tensor([5.0, 100.0, 100.0, 1e6]), m.tensor([0.3, 0.7, 0.01, 0.5])),
        [0.0, 79.0, 0.0, 500037.0],
    ),
    "normal": (
        lambda m: m.normal(m.tensor([1.0, 2.0, 3.0]), m.tensor([0.1, 0.2, 0.3])),
        [1.0336689949035645, 2.025761842727661, 3.070338726043701],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    draw, want = RECORDED[name]
    ow.manual_seed(42)
    assert draw(ow).tolist() == want


def test_engine_is_that_of_numpy() -> None:
    """MT19937 with the initialiser of one word, which NumPy's legacy seeding is, too."""
    engine = np.random.MT19937()
    engine._legacy_seeding(123)
    want = engine.random_raw(3000) & 0xFFFFFF
    assert np.array_equal(ow.rand(3000, generator=seeded(123)).numpy() * 2**24, want)


# ---- generators ---------------------------------------------------------------------------------------------


def test_generator() -> None:
    generator = ow.Generator()
    assert generator.initial_seed() == 67280421310721
    assert generator.device == ow.device("cpu")
    assert generator.manual_seed(7) is generator
    assert generator.manual_seed(-1).initial_seed() == 2**64 - 1
    assert generator.seed() == generator.initial_seed()
    assert same(seeded(7).get_state()[8:], seeded(7 + 2**32).get_state()[8:])


def test_states_continue_streams() -> None:
    """From any place in a block, and with a normal number that waits."""
    for count in (0, 1, 5, 15, 623, 624, 625, 2000):
        generator = seeded()
        generator_copy = ow.Generator()
        ow.rand(count, generator=generator)
        ow.randn(3, generator=generator)
        generator_copy.set_state(generator.get_state())
        for other in (generator_copy, generator.clone_state(), pickle.loads(pickle.dumps(generator))):
            assert other.initial_seed() == 42
            again = generator.clone_state()
            assert same(ow.randn(5, generator=again), ow.randn(5, generator=other))
            assert same(ow.rand(700, generator=again), ow.rand(700, generator=other))
            assert same(again.get_state(), other.get_state())


def test_corrupt_states_are_refused() -> None:
    generator = seeded()
    state = generator.get_state()
    for index, value in ((8, 0), (8, 255), (12, 0), (17, 3)):
        wrong = state.clone()
        wrong[index] = value
        if index == 8 and value == 255:
            wrong[9] = 255
        with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
            generator.set_state(wrong)
    assert same(generator.get_state(), state)
    with pytest.raises(RuntimeError, match="RNG state size to be 3"):
        generator.set_state(state[:3])
    with pytest.raises(RuntimeError, match="must be contiguous"):
        generator.set_state(ow.zeros(5056, 2, dtype=ow.uint8)[:, 0])
    for wrong in (3, ow.zeros(5056)):
        with pytest.raises(TypeError, match="ByteTensor"):
            generator.set_state(wrong)  # type: ignore[arg-type]


def test_default_generator() -> None:
    assert ow.manual_seed(5) is ow.default_generator
    assert ow.initial_seed() == ow.random.initial_seed() == 5
    state = ow.get_rng_state()
    first = ow.rand(3)
    ow.set_rng_state(state)
    assert same(ow.rand(3), first)
    ow.set_rng_state(state)
    assert same(ow.rand(3, generator=ow.default_generator), first)
    assert ow.seed() == ow.initial_seed()


def test_fork_rng() -> None:
    ow.manual_seed(1)
    with ow.random.fork_rng():
        first = ow.rand(3)
        ow.manual_seed(2)
    assert same(ow.rand(3), first)
    with ow.random.fork_rng(enabled=False):
        ow.manual_seed(1)
    assert same(ow.rand(3), first)


def test_seeds_out_of_range() -> None:
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            ow.manual_seed(seed)
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        ow.Generator().manual_seed(2.5)  # type: ignore[arg-type]
    assert ow.manual_seed(2.7).initial_seed() == 2


def test_threads_share_a_generator() -> None:
    """A fill is one piece of the stream, whichever thread makes it."""
    generator, parts = seeded(), []
    size = 200_000
    workers = [threading.Thread(target=lambda: parts.append(ow.rand(size, generator=generator))) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    whole = ow.rand(6 * size, generator=seeded()).view(6, size).tolist()
    assert sorted(part.tolist() for part in parts) == sorted(whole)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_during_fills() -> None:
    """The child finds every generator free, and has the state of a moment between two fills."""
    generator, stop = seeded(), threading.Event()

    def draw() -> None:
        while not stop.is_set():
            ow.rand(500_000, generator=generator)

    worker = threading.Thread(target=draw)
    worker.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                ow.rand(10, generator=generator)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        worker.join()


# ---- what is drawn ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 511, 512, 513, 1300])
def test_levels_and_pieces(dtype: ow.dtype, size: int) -> None:
    """A fill is the same whether it goes straight to memory or through a buffer to a view of it."""
    direct = ow.rand(size, dtype=dtype, generator=seeded())
    strided = ow.zeros(size, 3, dtype=dtype)
    strided[:, 1].uniform_(generator=seeded())
    assert same(strided[:, 1], direct)
    assert not strided[:, ::2].any()


def test_elements_in_memory_order() -> None:
    want = ow.rand(3, 4, generator=seeded())
    assert same(ow.empty(3, 4).t().uniform_(generator=seeded()), want.t())
    base = ow.zeros(5, 6, 7)
    view = base.permute(2, 0, 1)[1:4, :, ::2]
    view.exponential_(generator=seeded())
    assert same(base[:, ::2, 1:4], ow.empty(5, 3, 3).exponential_(generator=seeded()))


def test_nothing_is_drawn_for_no_elements() -> None:
    generator = seeded()
    state = generator.get_state()
    for call in (ow.rand, ow.randn, ow.randperm):
        call(0, generator=generator)
    ow.empty(3, 0).exponential_(generator=generator)
    assert same(generator.get_state(), state)


def test_moments() -> None:
    """Mean and variance within five standard errors."""
    n, generator = 200_000, seeded()
    for draw, mean, variance in (
        (lambda t: t.uniform_(-1, 3, generator=generator), 1, 16 / 12),
        (lambda t: t.normal_(2, 3, generator=generator), 2, 9),
        (lambda t: t.exponential_(2, generator=generator), 0.5, 0.25),
        (lambda t: t.geometric_(0.25, generator=generator), 4, 12),
        (lambda t: t.bernoulli_(0.3, generator=generator), 0.3, 0.21),
        (lambda t: t.random_(0, 10, generator=generator), 4.5, 8.25),
        (lambda t: ow.poisson(t.fill_(3.5), generator=generator), 3.5, 3.5),
        (lambda t: ow.poisson(t.fill_(50), generator=generator), 50, 50),
        (lambda t: ow.binomial(t.fill_(40), ow.full((), 0.6, dtype=t.dtype), generator=generator), 24, 9.6),
    ):
        values = draw(ow.empty(n, dtype=ow.float64)).numpy()
        assert abs(values.mean() - mean) < 5 * (variance / n) ** 0.5
        assert abs(values.var() / variance - 1) < 0.05


@pytest.mark.parametrize("dtype", [ow.float32, ow.float64])
def test_counts_of_strange_arguments_end(dtype: ow.dtype) -> None:
    """Rejection and inversion repeat until a comparison holds, which no comparison with NaN does."""
    nan, inf = float("nan"), float("inf")
    chances = ow.tensor([nan, 0.0, 1e-45, 1e-300, 0.5, 0.99, 1.0, inf, -inf], dtype=dtype)
    counts = ow.tensor([nan, -inf, 0.0, 0.5, 3.0, 1e6, 1e30, inf], dtype=dtype)
    result = ow.binomial(counts[:, None].expand(8, 9).contiguous(), chances.expand(8, 9).contiguous())
    assert bool(result[0, 4:8].isnan().all())
    assert result[4, 6] == 3
    assert bool((result[1:3] == 0).all())
    ow.poisson(ow.tensor([0.0, 1e-45, 9.99, 10.0, 1e30, inf], dtype=dtype))


def test_uniform_range_excludes_its_end() -> None:
    for dtype in FLOATS:
        values = ow.empty(20_000, dtype=dtype).uniform_(1, 1.5, generator=seeded())
        assert bool((values >= 1).all())
        assert bool((values < 1.5).all())


@pytest.mark.parametrize("n", [0, 1, 2, 511, 512, 513, 514, 10_000])
def test_permutations(n: int) -> None:
    assert ow.randperm(n, generator=seeded()).numpy().tolist() != list(range(n)) or n < 3
    assert np.array_equal(np.sort(ow.randperm(n, generator=seeded()).numpy()), np.arange(n))


def test_out() -> None:
    out = ow.empty(0)
    assert ow.rand(2, 3, out=out, generator=seeded()) is out
    assert same(out, ow.rand(2, 3, generator=seeded()))
    whole = ow.zeros(4, 6, dtype=ow.int32)
    ow.randint(5, (4, 3), out=whole[:, ::2], generator=seeded())
    assert same(whole[:, ::2], ow.randint(5, (4, 3), dtype=ow.int32, generator=seeded()))


def test_dropout() -> None:
    x = ow.rand(40, 50)
    assert ow.dropout(x, 0.5, False) is x
    assert not ow.dropout(x, 1.0, True).any()
    kept = ow.dropout(x, 0.25, True)
    assert bool(((kept == 0) | (kept == x * (1 / 0.75))).all())
