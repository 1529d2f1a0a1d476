"""Pinned memory of the accelerator `clip`. There is one accelerator in a process, so test_pinned_memory.py runs these
tests in one of their own.

The device has buffers of ctypes, and says which copies read or write memory that it has pinned.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import threading
from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Iterator
from typing import Any

import opweave as ow
import pytest
from opweave import library
from opweave.utils.data import DataLoader

BUFFERS: dict[int, Any] = {}
PINNED: dict[int, int] = {}
"""The pinned blocks: address and size."""
COPIED: list[bool] = []
"""Of each copy between the CPU and the device: was it pinned memory of the CPU?"""
LIMIT = 1 << 16


def _allocate(index: int, nbytes: int) -> int:
    buffer = (ctypes.c_char * nbytes)()
    BUFFERS[ctypes.addressof(buffer)] = buffer
    return ctypes.addressof(buffer)


def _free(index: int, address: int, nbytes: int) -> None:
    del BUFFERS[address]


def _is_pinned(address: int) -> bool:
    return any(start <= address < start + size for start, size in PINNED.items())


def _copy_in(index: int, to: int, source: int, nbytes: int) -> None:
    COPIED.append(_is_pinned(source))
    ctypes.memmove(to, source, nbytes)


def _copy_out(index: int, to: int, source: int, nbytes: int) -> None:
    COPIED.append(_is_pinned(to))
    ctypes.memmove(to, source, nbytes)


def _allocate_pinned(nbytes: int) -> int:
    if nbytes > LIMIT:
        raise ow.OutOfMemoryError(f"clip does not pin {nbytes} bytes")
    if nbytes == 1001:
        return 0
    if nbytes == 1002:
        PINNED[8] = nbytes
        return 8
    buffer = (ctypes.c_char * (nbytes + 64))()
    address = (ctypes.addressof(buffer) + 63) // 16 * 16
    BUFFERS[address] = buffer
    PINNED[address] = nbytes
    return address


def _free_pinned(address: int, nbytes: int) -> None:
    assert PINNED.pop(address) == nbytes
    BUFFERS.pop(address, None)


library.register_device(
    library.Device(
        "clip", _allocate, _free, _copy_in, _copy_out, is_accelerator=True,
        allocate_pinned=_allocate_pinned, free_pinned=_free_pinned,
    )
)  # fmt: skip
library.register_device(library.Device("plainer", _allocate, _free, _copy_in, _copy_out))
library.register_fallback("clip")(library.cpu_fallback)


@pytest.fixture(autouse=True)
def freed() -> Iterator[None]:
    """Every test gives back what it pins."""
    yield
    gc.collect()
    assert not PINNED


def test_memory_of_the_cpu() -> None:
    x = ow.arange(6.0).view(2, 3).t()
    pinned = x.pin_memory()
    assert (pinned.tolist(), pinned.stride(), pinned.device) == (x.tolist(), x.stride(), ow.device("cpu"))
    assert not x.is_pinned()
    for each in (pinned, pinned[1:], pinned.detach()):
        assert each.is_pinned()
    assert [*PINNED.items()] == [(pinned.data_ptr(), 24)]
    assert pinned.pin_memory() is pinned
    part = pinned[1].pin_memory()
    assert part.data_ptr() == pinned[1].data_ptr()
    pinned.mul_(2).add_(1)
    assert (pinned @ pinned.t()).equal((2 * x + 1) @ (2 * x + 1).t())
    assert pinned.numpy().tolist() == (2 * x + 1).tolist()
    assert (pinned + 1).is_pinned() is False


def test_copies_use_it() -> None:
    x = ow.arange(6.0).view(2, 3).t().pin_memory()
    COPIED.clear()
    y = x.to("clip", non_blocking=True)
    x.copy_(y + 1)
    y.copy_(x)
    assert [*filter(None, COPIED)] == [True] * 3
    assert (y.stride(), y.tolist(), x._version) == ((1, 3), [[1, 4], [2, 5], [3, 6]], 2)


def test_copies_that_convert() -> None:
    x = ow.arange(6.0).view(2, 3)
    for source in (x[:, :2], x[:, :1].expand(2, 2), x.t()[:2], x.int()[:, :2]):
        for there in (source.to("clip"), ow.empty(2, 2, device="clip").copy_(source)):
            assert there.tolist() == source.tolist()
            assert ow.empty(2, 2, dtype=there.dtype).copy_(there).equal(source.to(there.dtype))
    readonly = ow.frombuffer(bytes(8), dtype=ow.float32)
    for target in (readonly, ow.inference_mode()(lambda: ow.zeros(2))()):
        with pytest.raises(RuntimeError):
            target.copy_(ow.ones(2, device="clip"))
        assert target.tolist() == [0, 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: ow.empty(3, **given),
        lambda **given: ow.zeros((2, 2), dtype=ow.int8, **given),
        lambda **given: ow.full((2,), 7, **given),
        lambda **given: ow.arange(5, **given),
        lambda **given: ow.eye(3, **given),
        lambda **given: ow.rand(3, **given),
        lambda **given: ow.randperm(3, **given),
        lambda **given: ow.tensor([1.0, 2.0], **given),
        lambda **given: ow.ones(2).new_zeros(3, **given),
        lambda **given: ow.ones(2).new_tensor([1.0], **given),
        lambda **given: ow.zeros_like(ow.ones(2, 3).t(), **given),
        lambda **given: ow.empty_strided((2, 2), (1, 2), **given),
        lambda **given: ow.hann_window(4, **given),
    ],
)
def test_factories(make: Any) -> None:
    ow.manual_seed(0)
    pinned = make(pin_memory=True)
    ow.manual_seed(0)
    want = make()
    assert (pinned.is_pinned(), want.is_pinned()) == (True, False)
    assert (pinned.dtype, pinned.shape, pinned.stride()) == (want.dtype, want.shape, want.stride())
    if make.__code__.co_names[1] not in ("empty", "empty_strided"):
        assert pinned.equal(want)


def test_gradients() -> None:
    leaf = ow.ones(2, pin_memory=True, requires_grad=True)
    assert (leaf.is_leaf, leaf.requires_grad, leaf.is_pinned()) == (True, True, True)
    x = ow.tensor([1.0, 2.0], requires_grad=True)
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    (pinned * pinned).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]
    y = ow.tensor([3.0], requires_grad=True)
    with ow.autograd.graph.save_on_cpu(pin_memory=True):
        z = (y * y).exp()
    assert len(PINNED) >= 1 + 2
    z.backward()


def test_what_is_kept_for_gradients_on_the_device() -> None:
    x = ow.tensor([1.0, 2.0], device="clip", requires_grad=True)
    with ow.autograd.graph.save_on_cpu(pin_memory=True):
        y = x.exp()
    assert len(PINNED) == 1
    y.sum().backward()
    assert x.grad is not None
    assert ow.allclose(x.grad.cpu(), ow.tensor([1.0, 2.0]).exp())


def test_storages() -> None:
    storage = ow.arange(3.0).untyped_storage()
    pinned = storage.pin_memory()
    assert (storage.is_pinned(), pinned.is_pinned(), bytes(pinned.tolist())) == (False, True, bytes(storage.tolist()))
    assert pinned.pin_memory() is pinned
    typed = ow.arange(3.0).storage().pin_memory()
    assert (typed.tolist(), typed.is_pinned(), type(typed)) == ([0.0, 1.0, 2.0], True, ow.FloatStorage)
    with pytest.raises(TypeError, match="UntypedStorage' only CPU memory can be pinned"):
        ow.ones(1, device="clip").untyped_storage().pin_memory()
    with pytest.raises(RuntimeError, match="storage that is not resizable"):
        pinned.resize_(100)


def test_what_is_made_of_it() -> None:
    """Copies by pickle or in shared memory, in other threads and other tensors, and what is emptied."""
    x = ow.arange(4.0).pin_memory()
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert (made.tolist(), made.is_pinned()) == (x.tolist(), False)
    y = ow.nn.Parameter(x)
    assert (y.is_pinned(), y.data_ptr()) == (True, x.data_ptr())
    z = ow.zeros(1)
    z.data = x
    assert z.is_pinned()
    del x, y
    z.data = ow.zeros(1)
    assert not PINNED
    shared = ow.ones(2).pin_memory().share_memory_()
    assert (shared.is_shared(), shared.is_pinned(), shared.tolist()) == (True, False, [1.0, 1.0])
    held = [ow.ones(2).pin_memory()]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert not PINNED
    assert ow.ones(0).pin_memory().shape == (0,)


def test_kinds_of_tensors() -> None:
    sparse = ow.eye(3).to_sparse()
    for each in (sparse, sparse.to_sparse_csr()):
        pinned = each.pin_memory()
        assert (each.is_pinned(), pinned.is_pinned(), pinned.layout) == (False, True, each.layout)
        assert pinned.to_dense().equal(ow.eye(3))
    made = ow.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,), pin_memory=True)
    assert made.is_pinned()
    assert ow.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), pin_memory=True).values().is_pinned()
    conjugate = ow.tensor([1 + 2j]).conj().pin_memory()
    assert (conjugate.tolist(), conjugate.is_pinned()) == ([1 - 2j], True)
    named = ow.ones(2, names=("N",)).pin_memory()
    assert (named.is_pinned(), named.names) == (True, ("N",))

    class Derived(ow.Tensor):
        pass

    derived = ow.ones(2).as_subclass(Derived).pin_memory()
    assert (type(derived), derived.is_pinned()) == (Derived, True)
    packed = ow.nn.utils.rnn.pack_sequence([ow.ones(3), ow.ones(2)]).pin_memory()
    assert (type(packed).__name__, packed.is_pinned(), packed.data.tolist()) == ("PackedSequence", True, [1.0] * 5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ow.ones(1, device="clip").pin_memory(), RuntimeError, "cannot pin 'clipFloatType' only dense"),
        (lambda: ow.ones(1, device="meta").pin_memory(), RuntimeError, "cannot pin 'MetaFloatType' only dense"),
        (lambda: ow.ones(1, device="clip", pin_memory=True), RuntimeError, "Only dense CPU tensors can be pinned"),
        (lambda: ow.ones(1, pin_memory=1), TypeError, "argument 'pin_memory' .*must be bool, not int"),  # type: ignore[arg-type]
        (lambda: ow.empty(LIMIT + 1, dtype=ow.uint8, pin_memory=True), ow.OutOfMemoryError, "clip does not pin 65537"),
        (lambda: ow.ones(LIMIT).pin_memory(), ow.OutOfMemoryError, "clip does not pin"),
        (lambda: ow.ones(1001, dtype=ow.bool).pin_memory(), RuntimeError, r"clip gave no address, but 0"),
        (lambda: ow.ones(1002, dtype=ow.bool).pin_memory(), RuntimeError, "gave 0x8, which is no multiple of 16"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
    assert not PINNED


def test_meta_has_none() -> None:
    assert ow.ones(1, device="meta", pin_memory=True).is_pinned() is False


def test_one_function_is_not_enough() -> None:
    nothing: Any = lambda *_: None  # noqa: E731
    with pytest.raises(ValueError, match="allocate_pinned and free_pinned, or neither"):
        library.register_device(library.Device("half", *[nothing] * 4, allocate_pinned=nothing))


def test_named_device() -> None:
    with pytest.warns(DeprecationWarning, match=r"of Tensor\.pin_memory\(\) is deprecated"):
        x = ow.ones(1).pin_memory("clip")
    with pytest.warns(DeprecationWarning, match=r"of Tensor\.is_pinned\(\) is deprecated"):
        assert (x.is_pinned("clip"), x.is_pinned("cuda")) == (True, False)
    for name, text in (("cuda", "not available"), ("plainer", "the device plainer does not allocate pinned memory")):
        with pytest.warns(DeprecationWarning, match="deprecated"), pytest.raises(RuntimeError, match=text):
            ow.ones(1).pin_memory(name)


def test_forks_give_nothing_back() -> None:
    """What the parent has pinned is the parent's; what a child pins it gives back itself."""
    x = ow.ones(3).pin_memory()
    child = os.fork()
    if not child:
        good = x.tolist() == [1.0] * 3 and not x.is_pinned()
        del x
        own = ow.ones(2).pin_memory()
        good = good and len(PINNED) == 2 and own.is_pinned()
        del own
        os._exit(0 if good and len(PINNED) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert x.is_pinned()
    assert len(PINNED) == 1


# ---- loaders -------------------------------------------------------------------------------------------------------

Pair = namedtuple("Pair", ["x", "y"])


class Own:
    def __init__(self, x: Any) -> None:
        self.x = x

    def pin_memory(self) -> Own:
        return Own(self.x.pin_memory())


class Attributed(UserDict):  # type: ignore[type-arg]
    label = "none"


def _collated(samples: list[int]) -> dict[str, Any]:
    x = ow.tensor(samples)
    mapping = Attributed(x=x)
    mapping.label = "kept"
    return OrderedDict(
        tensor=x, pair=Pair(x, "text"), tuple=(x, 1), list=[x, None], own=Own(x), mapping=mapping, number=range(2)
    )


@pytest.mark.filterwarnings("ignore:.*workers are more")
@pytest.mark.parametrize("workers", [0, 1])
def test_loaders(workers: int) -> None:
    context = "fork" if workers else None
    loader: Any = DataLoader(
        range(4), 2, pin_memory=True, collate_fn=_collated, num_workers=workers, multiprocessing_context=context
    )
    count = 0
    for batch in loader:
        assert type(batch) is OrderedDict
        assert type(batch["pair"]) is Pair
        assert (batch["pair"].y, batch["tuple"][1], batch["list"][1], batch["number"]) == ("text", 1, None, [0, 1])
        assert (type(batch["mapping"]), batch["mapping"].label) == (Attributed, "kept")
        first = [batch[name][0] for name in ("tuple", "list", "pair")]
        for each in (batch["tensor"], *first, batch["own"].x, batch["mapping"]["x"]):
            assert each.is_pinned()
            assert each.tolist() == [2 * count, 2 * count + 1]
        count += 1
    assert count == 2
    with pytest.warns(UserWarning, match="pin_memory_device is deprecated, the current accelerator will be used"):
        assert next(iter(DataLoader(range(2), pin_memory=True, pin_memory_device="clip"))).is_pinned()
    assert not next(iter(DataLoader(range(2)))).is_pinned()
