"""No input of any kind ends the process or gives silent garbage: random calls, threads, processes."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from random import Random

import fuzzing
import numpy as np
import opweave
import pytest
from harness.paths import TESTS
from harness.processes import python, succeed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opweave import Tensor

FLOATS = ("float16", "bfloat16", "float32", "float64")
EXAMPLES = 10
LARGE = 300_001  # enough for several threads to share


# ---- random calls -------------------------------------------------------------------------------------------


NAMES = sorted(fuzzing.entries())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_random_calls(name: str) -> None:
    for number in range(EXAMPLES):
        fuzzing.run_one(Random(f"{name} {number}"), name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=80 * EXAMPLES, database=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(random=st.randoms(use_true_random=False))
def test_many_random_calls(name: str, random: Random) -> None:
    """Calls that fail are made smaller."""
    fuzzing.run_one(random, name)


@pytest.mark.parametrize(
    ("first", "count"), [(0, 4000), pytest.param(4000, 200_000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_calls_in_a_process_of_their_own(first: int, count: int) -> None:
    done = python(str(TESTS / "fuzzing.py"), str(first), str(count), timeout=600)
    last = (done.stdout.splitlines() or ["no call was made"])[-1]
    assert done.returncode == 0, f"{last}: ended with {done.returncode}\n{done.stderr[-3000:]}"
    assert f"seed {first + count - 1}" in last


@pytest.mark.parametrize("first", [0, 2_500])
def test_hostile_calls(first: int) -> None:
    """`.ci/run hostile` makes more of them; a million: `python tests/hostile 1000000`."""
    done = python(str(TESTS / "hostile"), "2500", str(first), timeout=600)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.stdout == "2500 calls, 0 failed\n"


# ---- threads and processes ----------------------------------------------------------------------------------


@pytest.fixture
def threads() -> Iterator[None]:
    before = opweave.get_num_threads()
    yield
    opweave.set_num_threads(before)


def work(seed: int) -> None:
    """Operations of all families on small and large tensors, with results that are known."""
    for n in (3, 17, 1000, LARGE + seed):
        x = opweave.arange(n, dtype=opweave.float64)
        assert float(x.sum()) == n * (n - 1) / 2
        y = x.neg().add_(x, alpha=3).sub(x * 2)
        assert not bool(y.any())
        assert int((x > seed).to(opweave.int64).sum()) == max(n - seed - 1, 0)
        assert float(x.cumsum(0)[-1]) == n * (n - 1) / 2
        assert float((x * x).sqrt().amax()) == n - 1
        square = opweave.full((7, 7), float(seed)) @ opweave.ones(7, 7)
        assert bool((square == 7.0 * seed).all())
    spectrum = opweave.fft.fft(opweave.full((30_000,), float(seed)))
    assert spectrum[0].item() == 30_000 * seed
    assert float(spectrum[1:].abs().amax()) < 1
    product = opweave.full((200, 300), float(seed)) @ opweave.ones(300, 250)  # OpenBLAS's own threads take part
    assert bool((product == 300.0 * seed).all())


def test_threads_while_their_number_changes(threads: None) -> None:
    errors: list[BaseException] = []
    stop = threading.Event()

    def worker(seed: int) -> None:
        try:
            for _ in range(3):
                work(seed)
        except BaseException as error:
            errors.append(error)

    def changer() -> None:
        n = 0
        while not stop.wait(0.001):
            n += 1
            opweave.set_num_threads(1 + n % 4)

    workers = [threading.Thread(target=worker, args=(seed,)) for seed in range(8)]
    other = threading.Thread(target=changer)
    for each in (*workers, other):
        each.start()
    for each in workers:
        each.join()
    stop.set()
    other.join()
    assert not errors, errors


FORK = """
import os, signal, opweave, test_robustness as tests
opweave.set_num_threads(3)
tests.work(2)
for round in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            tests.work(3)
            opweave.set_num_threads(2)
            tests.work(4)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    tests.work(5)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
"""

POOL = """
import multiprocessing, opweave, test_robustness as tests
def total(n):
    tests.work(n)
    return float(opweave.ones(n * 100_000).sum())
if __name__ == "__main__":
    opweave.set_num_threads(2)
    tests.work(1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(total, range(1, 5)) == [1e5, 2e5, 3e5, 4e5]
        pool.close()
        pool.join()
    tests.work(2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("script", [FORK, POOL], ids=["fork", "multiprocessing"])
def test_fork_after_parallel_work(script: str) -> None:
    succeed(python("-W", "ignore", "-c", script, modules="runtime/dispatch"))


UNARY = ("exp", "sin", "cos", "tanh", "erf", "sigmoid", "log", "sqrt")
WHOLE: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: getattr(opweave, name) for name in UNARY},
    "pow": lambda x: x.abs().pow(1.7),
    "sum": lambda x: x.sum(),
    "prod": lambda x: (x * 1e-3 + 1).prod(),
    "mean": lambda x: x.mean(),
    "cumsum": lambda x: x.cumsum(0),
    "softmax": lambda x: x.softmax(0),
    "sum of rows": lambda x: x[: LARGE - 1].reshape(3, -1).sum(1),
    "sum of columns": lambda x: x[: LARGE - 1].reshape(-1, 3).sum(0),
    "dot": lambda x: x.dot(x),
}


def bits(result: Tensor) -> bytes:
    return ctypes.string_at(result.contiguous().data_ptr(), result.nbytes)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", WHOLE)
def test_results_do_not_depend_on_the_number_of_threads(name: str, dtype: str, threads: None) -> None:
    x = opweave.from_numpy(np.random.default_rng(1).standard_normal(LARGE).astype(dtype))
    results = set()
    for n in (1, 2, 3):
        opweave.set_num_threads(n)
        results.add(bits(WHOLE[name](x)))
    assert len(results) == 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*UNARY, "pow"])
def test_results_do_not_depend_on_the_position(name: str, dtype: str) -> None:
    values = (0.0, 1e-3, 0.3, 1.0, 2.7, 10.5, 77.0, 1e4)
    ow_dtype = getattr(opweave, dtype)
    for value in values:
        single = bits(WHOLE[name](opweave.tensor([value], dtype=ow_dtype)))
        for size in (*range(2, 40), LARGE):
            whole = opweave.full((size + 1,), value, dtype=ow_dtype)
            assert set(array_items(WHOLE[name](whole[1:]))) == {single}, (value, size)
        strided = opweave.full((99, 3), value, dtype=ow_dtype)[:, 1]
        assert set(array_items(WHOLE[name](strided))) == {single}, value


def array_items(result: Tensor) -> set[bytes]:
    """The different elements, as bytes."""
    size = result.element_size()
    return {each.tobytes() for each in np.unique(np.frombuffer(bits(result), f"V{size}").view(f"u{size}"))}


def test_counts_that_no_memory_holds() -> None:
    for numbers, least in (([1], 2**50), ([2**50], 0), ([2**63 - 1], 0)):
        with pytest.raises(RuntimeError):
            opweave.bincount(opweave.tensor(numbers), minlength=least)


def test_a_method_of_something_else() -> None:
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        opweave.Tensor.detach_(5)  # type: ignore[arg-type]


def test_a_scan_without_dtype_does_not_take_that_of_out() -> None:
    with pytest.raises(NotImplementedError, match="'Long'"):
        opweave.logcumsumexp(opweave.tensor([1, 2]), 0, out=opweave.zeros(2))
