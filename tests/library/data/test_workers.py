"""Loaders whose batches are read by worker processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import opweave
import pytest
from opweave.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    def __init__(self, count: int = 11) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> opweave.Tensor:
        if index == 100:
            raise KeyError("no such number")
        if index == 200:
            os._exit(3)
        return opweave.tensor([index, os.getpid()])


class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 9, info.num_workers))


class Drawn(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[float, float, int]:
        return opweave.rand(1).item(), random.random(), get_worker_info().seed


def test_batches_come_in_order_from_other_processes() -> None:
    batches = list(DataLoader(Numbers(), 2, num_workers=2))
    assert [each[:, 0].tolist() for each in batches] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
    assert os.getpid() not in {pid for each in batches for pid in each[:, 1].tolist()}
    assert len({pid for each in batches for pid in each[:, 1].tolist()}) == 2


def test_workers_live_on_where_they_are_persistent() -> None:
    loader = DataLoader(Numbers(), 3, num_workers=1, persistent_workers=True)
    first = {pid for each in loader for pid in each[:, 1].tolist()}
    next(iter(loader))  # a pass that is not finished
    last = [each[:, 0].tolist() for each in loader]
    assert last == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]]
    assert first == {pid for each in loader for pid in each[:, 1].tolist()}
    loader._iterator.close()


def test_each_worker_reads_its_share_of_a_stream() -> None:
    batches = [each.tolist() for each in DataLoader(Stream(), 2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4, 6], [5, 7], [8]]


def test_seeds() -> None:
    opweave.manual_seed(4)
    rows = [[part.item() for part in each] for each in DataLoader(Drawn(), num_workers=2)]
    opweave.manual_seed(4)
    assert rows == [[part.item() for part in each] for each in DataLoader(Drawn(), num_workers=2)]
    assert rows[0][2] + 1 == rows[1][2]
    assert len({row[0] for row in rows}) == 4


def test_errors_come_from_the_worker_with_their_traceback() -> None:
    loader = DataLoader(Numbers(), sampler=[1, 100], num_workers=1)
    with pytest.raises(KeyError, match=r"Caught KeyError in DataLoader worker process 0.*no such number"):
        list(loader)


def test_a_worker_that_dies_is_reported() -> None:
    loader = DataLoader(Numbers(), sampler=[1, 200], num_workers=1)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)


def test_a_worker_that_takes_too_long_is_reported() -> None:
    loader = DataLoader(Numbers(), num_workers=1, timeout=0.2, worker_init_fn=lambda number: time.sleep(3))
    with pytest.raises(RuntimeError, match="timed out"):
        list(loader)


def test_what_cannot_be_sent_is_an_error() -> None:
    loader = DataLoader(Numbers(2), num_workers=1, collate_fn=lambda batch: lambda: batch)
    with pytest.raises(Exception, match="DataLoader worker process 0"):
        list(loader)


def test_workers_are_initialized() -> None:
    def begin(number: int) -> None:
        get_worker_info().dataset.count = 100 + number

    class Own(Numbers):
        def __getitem__(self, index: int) -> int:
            return self.count

    assert [each.item() for each in DataLoader(Own(2), num_workers=2, worker_init_fn=begin)] == [100, 101]


class Broken(IterableDataset):
    def __init__(self, passes: int = 0) -> None:
        self.passes = passes

    def __iter__(self):
        self.passes -= 1
        if self.passes < 0:
            raise ValueError("cannot be read")
        return iter(range(3))


def test_a_worker_that_cannot_begin_says_why() -> None:
    def fail(number: int) -> None:
        raise KeyError("no such file")

    with pytest.raises(ValueError, match=r"Caught ValueError in DataLoader worker process 0(?s:.*)cannot be read"):
        list(DataLoader(Broken(), num_workers=1))
    for persistent in (False, True):
        loader = DataLoader(Numbers(), num_workers=2, worker_init_fn=fail, persistent_workers=persistent)
        for _ in range(2):
            with pytest.raises(KeyError, match="no such file"):
                list(loader)
    loader = DataLoader(Broken(1), num_workers=1, persistent_workers=True)
    assert [each.item() for each in loader] == [0, 1, 2]
    with pytest.raises(ValueError, match="cannot be read"):
        list(loader)


@pytest.mark.parametrize("workers", [0, 2])
def test_stop_iteration_of_a_data_set_ends_no_pass(workers: int) -> None:
    def ended(batch: list[int]) -> int:
        raise StopIteration

    class Ended(Numbers):
        def __getitem__(self, index: int) -> int:
            return index if index != 2 else next(iter(()))

    for loader in (DataLoader(Ended(), num_workers=workers), DataLoader(Numbers(), collate_fn=ended),
                   DataLoader(Stream(), num_workers=2, collate_fn=ended)):  # fmt: skip
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            list(loader)


def test_no_batches_ahead() -> None:
    loader = DataLoader(Numbers(), num_workers=1, prefetch_factor=0)  # torch's constructor takes it
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(loader)


def test_a_fork_leaves_the_workers_alone() -> None:
    loader = DataLoader(Numbers(), num_workers=1, persistent_workers=True)
    first = [each[0, 0].item() for each in loader]
    child = os.fork()
    if not child:
        loader._iterator.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [each[0, 0].item() for each in loader] == first
    loader._iterator.close()


SCRIPT = """
import os, signal, sys, time
import opweave
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs in the background without it
from opweave.utils.data import DataLoader, Dataset, worker
worker.PATIENCE = 0.2
class Slow(Dataset):
    def __len__(self): return 1000
    def __getitem__(self, index):
        time.sleep(0.002)
        return opweave.ones(200, 200)
loader = DataLoader(Slow(), 2, num_workers=2)
passed = iter(loader)
next(passed)
print(*[each.pid for each in passed.processes], flush=True)
for batch in passed:
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks which processes are there")
@pytest.mark.parametrize(
    ("sent", "to_all", "pause"),
    [(signal.SIGKILL, False, "0.1"), (signal.SIGINT, False, "0"), (signal.SIGINT, True, "0")],
)
def test_workers_end_with_the_main_process(sent: signal.Signals, to_all: bool, pause: str) -> None:
    """The pause is in a batch's use, or there is none and the main process waits for batches."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, pause], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as main:  # fmt: skip
        assert main.stdout is not None
        workers = main.stdout.readline().split()
        assert len(workers) == 2
        (os.killpg if to_all else os.kill)(main.pid, sent)
        assert main.wait(timeout=20) == -sent
        end = time.monotonic() + 20
        while any(os.path.exists(f"/proc/{int(pid)}") for pid in workers):
            assert time.monotonic() < end, "workers are left"
            time.sleep(0.02)
