"""Memory that processes share: by fork, by queues of spawned processes, and as files."""

from __future__ import annotations

import gc
import importlib
import os
import pickle
from pathlib import Path
from typing import Any

import opweave as ow
import opweave.multiprocessing as mp
import pytest

STRATEGIES = sorted(mp.get_all_sharing_strategies())


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> Any:
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy("file_descriptor")
    gc.collect()
    assert not [name for name in os.listdir("/dev/shm") if name.startswith(f"opweave_{os.getpid()}_")]


# ---- one process --------------------------------------------------------------------------------------------


def test_shared_memory() -> None:
    x = ow.arange(6.0).reshape(2, 3).t()
    x = x.clone()
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared()
    assert x[1:].is_shared()
    assert x.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert x.stride() == (1, 3)
    address = x.data_ptr()
    x.share_memory_()
    assert x.data_ptr() == address
    assert not x.clone().is_shared()
    del x
    gc.collect()
    assert ow.empty(0).share_memory_().numel() == 0
    with pytest.raises(RuntimeError, match="only available on CPU"):
        ow.empty(2, device="meta").share_memory_()


def test_conjugates_stay_conjugates() -> None:
    x = ow.tensor([1j]).conj()
    one, other = mp.Pipe()
    one.send(x)
    assert x.is_shared()
    assert x.is_conj()
    assert x.tolist() == other.recv().tolist() == [-1j]


def test_a_view_moves_with_its_base() -> None:
    base = ow.arange(6.0)
    view = base.reshape(2, 3).t()
    view.share_memory_()
    view[0, 1] = 9.0
    assert base.is_shared()
    assert base.tolist() == [0.0, 1.0, 2.0, 9.0, 4.0, 5.0]
    other = ow.arange(6.0).reshape(2, 3).share_memory_()
    assert other.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    bits = ow.ones(3)[1:].view(ow.int32).share_memory_()
    assert bits.tolist() == [0x3F800000] * 2
    leaf = ow.zeros(4, requires_grad=True)
    result = leaf.view(2, 2)
    result.share_memory_()
    (result * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0] * 4
    assert leaf.is_shared()


def test_memory_of_several_tensors_does_not_move() -> None:
    x = ow.arange(4.0)
    view = x[1:]
    with pytest.raises(RuntimeError, match="other tensors have the same memory"):
        x.share_memory_()
    del view
    storage = x.untyped_storage()
    x.share_memory_()
    assert storage.is_shared()
    assert x.untyped_storage() is storage
    storage[0:4] = 0
    x[1] = 7.0
    assert storage.data_ptr() == x.data_ptr()
    assert x.storage().tolist() == [0.0, 7.0, 2.0, 3.0]
    alone = ow.FloatStorage([1.0, 2.0]).share_memory_()
    assert alone.is_shared()
    assert alone.tolist() == [1.0, 2.0]


def test_modules() -> None:
    model = ow.nn.Sequential(ow.nn.Linear(2, 3), ow.nn.LSTM(3, 2), ow.nn.BatchNorm1d(2))
    before = {name: each.tolist() for name, each in model.state_dict().items()}
    model[0](ow.ones(2, 2)).sum().backward()
    model.share_memory()
    assert all(each.is_shared() for each in model.state_dict().values())
    assert {name: each.tolist() for name, each in model.state_dict().items()} == before
    model.zero_grad()
    model[0](ow.ones(2, 2)).sum().backward()
    assert model[0].weight.grad.tolist() == [[2.0, 2.0]] * 3


# ---- several ------------------------------------------------------------------------------------------------


def child(queue: Any, answers: Any) -> None:
    received = queue.get()
    received["x"][0] = 42.0
    x, view = received["x"], received["view"]
    is_same = view.untyped_storage() is x.untyped_storage()
    answers.put((x.is_shared(), view.tolist(), is_same, type(received["p"]).__name__, received["e"].shape))
    received["p"].detach().fill_(5.0)
    answers.put(received["x"] * 2)
    queue.get()  # what has been sent stays until it is received


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_queues(strategy: str, method: str) -> None:
    context = mp.get_context(method)
    queue, answers = context.Queue(), context.Queue()
    process = context.Process(target=child, args=(queue, answers))
    process.start()
    x, p = ow.arange(4.0), ow.nn.Parameter(ow.ones(3))
    x.share_memory_()
    queue.put({"x": x, "view": x[:2], "p": p, "e": ow.empty(0, 2)})
    assert answers.get(timeout=120) == (True, [42.0, 1.0], True, "Parameter", (0, 2))
    assert answers.get(timeout=120).tolist() == [84.0, 2.0, 4.0, 6.0]
    queue.put(None)
    process.join(120)
    assert x[0] == 42.0
    assert p.is_shared()
    assert p.tolist() == [5.0] * 3


def test_what_comes_back_is_what_was_sent(strategy: str) -> None:
    one, other = mp.Pipe()
    x = ow.arange(3.0)
    for _ in range(2):
        one.send([x, x])
        back, again = other.recv()
        assert back.data_ptr() == again.data_ptr() == x.data_ptr()
        del back, again


def test_views_of_what_cannot_move_are_copies(strategy: str) -> None:
    one, other = mp.Pipe()
    x = ow.arange(4.0)
    one.send([x[1:], x[2:]])
    first, second = other.recv()
    first[1] = 9.0
    assert second.tolist() == [9.0, 3.0]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_what_is_not_sent() -> None:
    x = ow.ones(2, requires_grad=True)
    one, other = mp.Pipe()
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        one.send(x * 2)
    one.send(ow.empty(2, 3, device="meta"))
    assert other.recv().shape == (2, 3)
    one.send(x)
    assert other.recv().requires_grad


def test_strategies() -> None:
    assert mp.get_sharing_strategy() == "file_descriptor"
    with pytest.raises(AssertionError, match="invalid sharing strategy 'other'"):
        mp.set_sharing_strategy("other")
    from opweave._tensor.shared_memory import from_name

    for name in ("/etc/passwd", "/dev/shm/../../etc/passwd", "/dev/shm/other"):
        with pytest.raises(ValueError, match="not the name of shared memory"):
            from_name(name, 10)


def write(x: Any) -> None:
    x[0] = 8.0


def test_memory_is_shared_with_forks() -> None:
    x = ow.zeros(3).share_memory_()
    alone = ow.zeros(3)
    for each in (x, alone):
        process = mp.get_context("fork").Process(target=write, args=(each,))
        process.start()
        process.join(120)
    assert (x[0], alone[0]) == (8.0, 0.0)


# ---- processes ----------------------------------------------------------------------------------------------


def count(index: int, x: Any) -> None:
    x[index] += 1


def fail(index: int) -> None:
    if index == 1:
        raise ValueError("the second one")


def leave(index: int) -> None:
    os._exit(3)


def test_spawn() -> None:
    module = importlib.import_module("opweave.multiprocessing.spawn")  # which does not take the function's name
    assert module.spawn is mp.spawn
    x = ow.zeros(2).share_memory_()
    assert mp.spawn(count, (x,), nprocs=2) is None
    assert x.tolist() == [1.0, 1.0]


def test_failures_of_processes() -> None:
    with pytest.raises(mp.ProcessRaisedException, match="the second one") as raised:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert raised.value.error_index == 1
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    context = mp.start_processes(leave, join=False, start_method="fork")
    assert len(context.pids()) == 1
    with pytest.raises(mp.ProcessExitedException, match="exit code 3"):
        context.join()


# ---- files --------------------------------------------------------------------------------------------------


def test_files_as_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    x = ow.from_file(str(path), shared=True, size=3, dtype=ow.int16)
    assert x.tolist() == [0, 0, 0]
    assert x.is_shared()
    x[1] = 258
    assert path.read_bytes() == b"\0\0\2\1\0\0"
    private = ow.from_file(str(path), size=2, dtype=ow.int16)
    private[0] = 1
    assert (private.tolist(), x.tolist()) == ([1, 258], [0, 258, 0])
    assert not private.is_shared()
    with pytest.raises(RuntimeError, match="smaller than the required mapping size <8>"):
        ow.from_file(str(path), size=4, dtype=ow.int16)
    with pytest.raises(RuntimeError, match="unable to open file"):
        ow.from_file(str(tmp_path / "none"), size=4)
    assert ow.from_file(str(path)).shape == (0,)
    assert ow.ShortStorage.from_file(str(path), True, 3).tolist() == [0, 258, 0]
    assert ow.UntypedStorage.from_file(str(path), False, 3).tolist() == [0, 0, 2]
    assert ow.UntypedStorage.from_file(str(path), shared=False, nbytes=2).tolist() == [0, 0]
    assert ow.UntypedStorage.from_file(str(path), True, 3).filename == str(path)
    assert ow.UntypedStorage.from_file(str(path), False, 3).filename is None
    before = len(os.listdir("/proc/self/fd"))
    for shared, size in ((True, 2**60), (False, 2**60), (True, 2**62), (True, 2**63)):
        with pytest.raises(RuntimeError):
            ow.from_file(str(path), shared, size, dtype=ow.uint8)
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(1000)
    with pytest.raises(RuntimeError, match="negative"):
        ow.from_file(str(path), size=-1)
