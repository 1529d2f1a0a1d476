"""Tensors on the device `meta`: what they say of themselves, what reads values, default devices, gradients."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import opweave
import pytest
from opweave import library
from opweave._dispatch import dispatcher
from opweave._dispatch.infer import infer
from opweave._dispatch.op import INPLACE, OUT

META = opweave.device("meta")
NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_ITEM = r"Tensor.item\(\) cannot be called on meta tensors"


@pytest.fixture
def m() -> Any:
    return opweave.empty(2, 3, device="meta")


@pytest.fixture(autouse=True)
def default_device() -> Iterator[None]:
    yield
    assert opweave.get_default_device() == opweave.device("cpu")


# ---- what a tensor says -------------------------------------------------------------------------------------


def test_a_tensor_of_a_trillion_elements() -> None:
    x = opweave.zeros(10**6, 10**6, device="meta")
    assert (x @ x).sum(0)[3:].shape == (999_997,)
    assert (x.nbytes, x.untyped_storage().nbytes(), x.data_ptr()) == (4 * 10**12, 4 * 10**12, 0)


def test_attributes(m: Any) -> None:
    assert (m.device, m.is_meta, m.is_cpu, m.get_device()) == (META, True, False, -1)
    assert (m.dtype, m.shape, m.stride(), m.numel()) == (opweave.float32, (2, 3), (3, 1), 6)
    assert m.type() == "opweave.meta.FloatTensor"
    x = opweave.ones(1)
    assert (x.device, x.is_meta, x.is_cpu) == (opweave.device("cpu"), False, True)
    assert opweave.ones(2, device=m.device).is_meta
    assert opweave.empty(1, device="meta:1").device == META


def test_text(m: Any) -> None:
    assert repr(m) == "tensor(..., device='meta', size=(2, 3))"
    assert repr(m.long()) == "tensor(..., device='meta', size=(2, 3), dtype=opweave.int64)"
    assert f"{m.sum()}" == "tensor(..., device='meta', size=())"
    assert repr(m.requires_grad_()) == "tensor(..., device='meta', size=(2, 3), requires_grad=True)"
    assert repr(m * 2) == "tensor(..., device='meta', size=(2, 3), grad_fn=<MulBackward0>)"
    assert repr(m.untyped_storage()) == "...\n[opweave.UntypedStorage(device=meta) of size 24]"


@pytest.mark.parametrize(
    ("read", "error", "text"),
    [
        (lambda m: m.tolist(), NotImplementedError, NO_DATA),
        (lambda m: m.cpu(), NotImplementedError, NO_DATA),
        (lambda m: m.to("cpu", opweave.float64), NotImplementedError, NO_DATA),
        (lambda m: m.to(opweave.ones(1)), NotImplementedError, NO_DATA),
        (lambda m: opweave.ones(2, 3).copy_(m), NotImplementedError, NO_DATA),
        (lambda m: opweave.tensor(m, device="cpu"), NotImplementedError, NO_DATA),
        (lambda m: m.numpy(force=True), NotImplementedError, NO_DATA),
        (lambda m: m.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
        (lambda m: m.untyped_storage()[0], NotImplementedError, "Not available for 'meta' device type"),
        (lambda m: m.__dlpack__(), BufferError, "Cannot pack tensors on meta"),
        (lambda m: m.__dlpack_device__(), ValueError, "Unknown device type meta for Dlpack"),
        (lambda m: m.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
        (lambda m: m[0, 0].item(), RuntimeError, NO_ITEM),
        (lambda m: bool(m[0, 0]), RuntimeError, NO_ITEM),
        (lambda m: float(m[0, 0]), RuntimeError, NO_ITEM),
        (lambda m: opweave.zeros(m[0, 0].long()), RuntimeError, NO_ITEM),
        (lambda m: bool(m), RuntimeError, "more than one value is ambiguous"),
        (lambda m: m[m > 0], NotImplementedError, "depends on the values"),
        (lambda m: m.unique(), NotImplementedError, "depends on the values"),
        (lambda m: m.pin_memory(), RuntimeError, "cannot pin 'MetaFloatType' only dense CPU tensors can be pinned"),
    ],
)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_values_cannot_be_read(m: Any, read: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        read(m)


def test_devices_mix_only_with_numbers(m: Any) -> None:
    cpu = opweave.ones(2, 3)
    assert (m + opweave.tensor(1.0)).is_meta
    assert (2 - m).is_meta
    assert m.copy_(cpu) is m
    m[0] = cpu[0]
    m[m > 0] = 1.0
    assert m[opweave.tensor([0, 0, 1])].shape == (3, 3)
    assert m[[1], None].shape == (1, 1, 3)
    for first, second, call in (
        ("cpu", "meta", lambda: m + cpu),
        ("meta", "cpu", lambda: cpu + m),
        ("meta", "cpu", lambda: opweave.cat([cpu, m])),
        ("cpu", "meta", lambda: opweave.where(m > 0, m, cpu)),
        ("meta", "cpu", lambda: cpu.add_(m)),
        ("meta", "cpu", lambda: cpu[m.long()[0]]),
    ):
        with pytest.raises(RuntimeError, match=f"device {first} is not on the expected device {second}"):
            call()
    for out, given in ((cpu, m), (m, cpu)):
        with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
            opweave.add(given, given, out=out)
        with pytest.raises(RuntimeError, match="Attempted to set the storage"):
            out.set_(given)
    assert cpu.tolist() == [[1.0] * 3] * 2


# ---- memory -------------------------------------------------------------------------------------------------


def test_views_share_memory(m: Any) -> None:
    view = m.t()[1:]
    assert (view.shape, view.stride(), view.storage_offset()) == ((2, 2), (1, 3), 1)
    view.mul_(2)
    assert m._version == 1
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        m.flatten()[1:].copy_(opweave.add(m.flatten()[1:], 1, out=m.flatten()[:5]))
    assert opweave.add(m, m, out=opweave.empty(0, device="meta")).shape == (2, 3)
    assert m.resize_(4, 5).untyped_storage().nbytes() == 80


def test_copies_and_pickles(m: Any) -> None:
    whole, part = pickle.loads(pickle.dumps([m.requires_grad_(), m.detach()[1:]]))
    assert repr(whole) == repr(m)
    assert part.untyped_storage() is whole.untyped_storage()
    assert (part.stride(), part.storage_offset()) == ((3, 1), 3)
    for each in (copy.copy(m), copy.deepcopy(m), m.clone(), m.data, m.new_tensor([[1.0] * 3] * 2)):
        assert (each.is_meta, each.shape) == (True, (2, 3))


def test_to_and_back_by_empty_like() -> None:
    x = opweave.ones(3, 2).t()
    y = x.to("meta", opweave.float64)
    assert (y.dtype, y.shape, y.stride()) == (opweave.float64, (2, 3), (1, 2))
    assert y.to("meta") is y
    back = opweave.empty_like(y, device="cpu")
    assert (back.is_cpu, back.stride()) == (True, (1, 2))
    assert opweave.zeros_like(y, device="cpu").sum().item() == 0
    assert x.to(y).dtype is opweave.float64
    assert all(each.is_meta for each in (y.new_zeros(2), opweave.ones_like(y), y.new(2), y.new_full((1,), 3)))


def test_random_numbers_are_not_drawn(m: Any) -> None:
    state = opweave.get_rng_state()
    opweave.rand(3, device="meta")
    opweave.randperm(5, device="meta")
    opweave.multinomial(m.abs(), 2)
    opweave.nn.functional.dropout(m)
    m.normal_()
    assert opweave.equal(opweave.get_rng_state(), state)
    with pytest.raises(RuntimeError, match="META device type not an accelerator"):
        opweave.Generator(device="meta")


# ---- the default device -------------------------------------------------------------------------------------

FACTORIES: list[Callable[[], Any]] = [
    lambda: opweave.zeros(2, 2),
    lambda: opweave.full((2, 2), 3.0),
    lambda: opweave.eye(2),
    lambda: opweave.arange(5),
    lambda: opweave.linspace(0, 1, 5),
    lambda: opweave.logspace(0, 1, 5),
    lambda: opweave.rand(2, 2),
    lambda: opweave.randint(3, (2,)),
    lambda: opweave.randperm(4),
    lambda: opweave.tensor([1, 2]),
    lambda: opweave.tensor([[1.5]], dtype=opweave.bfloat16),
    lambda: opweave.tensor(opweave.ones(2, device="cpu")),
    lambda: opweave.as_tensor([1, 2]),
    lambda: opweave.as_tensor(np.ones(2)),
    lambda: opweave.asarray([1, 2]),
    lambda: opweave.scalar_tensor(1),
    lambda: opweave.empty_strided((2, 2), (1, 2)),
    lambda: opweave.empty_permuted((2, 3), (1, 0)),
    lambda: opweave.tril_indices(4, 5, -1),
    lambda: opweave.triu_indices(4, 5, 1),
    lambda: opweave.hann_window(8),
    lambda: opweave.fft.fftfreq(8),
]


@pytest.mark.filterwarnings("ignore:To copy construct")
@pytest.mark.parametrize("made", FACTORIES)
def test_factories(made: Callable[[], Any]) -> None:
    want = made()
    with META:
        got = made()
    assert (got.is_meta, want.is_meta) == (True, False)
    assert (got.dtype, got.shape, got.stride()) == (want.dtype, want.shape, want.stride())


def test_blocks() -> None:
    with opweave.device("meta"):
        assert opweave.zeros(1).is_meta
        with opweave.device("cpu"):
            assert opweave.zeros(1).is_cpu
            with META, META:
                assert opweave.zeros(1).is_meta
            assert opweave.zeros(1).is_cpu
        with pytest.raises(ZeroDivisionError), opweave.device("cpu"):
            opweave.zeros(1 // 0)
        assert opweave.get_default_device() == META
        assert opweave.zeros(1, device="cpu").is_cpu
    assert opweave.zeros(1).is_cpu
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"), opweave.device("cuda"):
        pass


def test_set_default_device() -> None:
    found = []
    opweave.set_default_device("meta")
    try:
        thread = threading.Thread(target=lambda: found.append(opweave.zeros(1).device.type))
        thread.start()
        thread.join()
        assert (opweave.get_default_device(), opweave.zeros(1).device, found) == (META, META, ["cpu"])
        with opweave.device("cpu"):
            assert opweave.zeros(1).is_cpu
        assert opweave.get_rng_state().is_cpu
    finally:
        opweave.set_default_device(None)
    assert opweave.zeros(1).is_cpu


def test_operators_stay_on_the_device_of_their_tensors() -> None:
    x = opweave.rand(3, 3, requires_grad=True)
    with META:
        assert opweave.from_numpy(np.ones(2)).is_cpu
        assert opweave.FloatTensor(2).is_cpu
        assert x.new_zeros(2).is_cpu
        assert opweave.zeros_like(x).is_cpu
        results = (x.softmax(0), x.diff(), x.cov(), opweave.linalg.pinv(x), x[[0, 1]], opweave.combinations(x[0]))
        sum(each.sum() for each in (*results, x.prod(), x.cumprod(0))).backward()
    assert all(each.is_cpu for each in results)
    assert x.grad is not None
    assert x.grad.is_cpu


# ---- gradients and handlers ---------------------------------------------------------------------------------


def test_gradients() -> None:
    a = opweave.ones(3, 3, device="meta", requires_grad=True)
    (opweave.linalg.solve(a, (a * 2).sin()) @ a.cumprod(0)).sum().backward()
    assert repr(a.grad) == "tensor(..., device='meta', size=(3, 3))"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        a.add_(1)


def test_gradients_are_on_the_device_of_their_tensors(m: Any) -> None:
    x = opweave.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with device type 'meta'"):
        x.grad = m
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = m
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        (x * 2).backward(m)
    with pytest.raises(NotImplementedError, match=NO_DATA):
        x.to("meta").sum().backward()
    assert x.grad is None

    class Halves(opweave.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return grads[0] + grads[1] if grads[1].is_meta else m

    with pytest.raises(RuntimeError, match="HalvesBackward returned an invalid gradient at index 0 - expected"):
        Halves.apply(x)[0].sum().backward()
    leaf = opweave.ones(2, 3, device="meta", requires_grad=True)
    Halves.apply(leaf)[0].sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.is_meta


def test_asarray_without_a_copy(m: Any) -> None:
    assert opweave.asarray(m, copy=False).data_ptr() == 0
    with pytest.raises(ValueError, match="can't alias tensor from device 'cpu' to 'meta'"):
        opweave.asarray(opweave.ones(2), device="meta", copy=False)


def test_a_handler_comes_first(m: Any) -> None:
    seen = []

    @library.register("sigmoid", "meta")
    def sigmoid(op: Any, args: Any, out: Any, mode: int) -> Any:
        seen.append(op.name)
        return library.redispatch(op, args, out, mode, below="meta")

    library.register("zeros", "meta")(sigmoid)
    assert m.sigmoid().shape == (2, 3)
    assert opweave.zeros(2, device="meta").is_meta
    with META:
        assert opweave.zeros(2).is_meta
        assert opweave.zeros(2, device="cpu").is_cpu
    assert opweave.zeros(2).is_cpu
    for each in (opweave.sigmoid, opweave.zeros):
        dispatcher.unregister("meta", each.op)
    assert seen == ["sigmoid", "zeros", "zeros"]


def test_infer_computes_nothing() -> None:
    x = opweave.ones(2, 3)
    result = infer(opweave.add.op, (x, opweave.ones(3, dtype=opweave.float64), 1))
    assert repr(result) == "tensor(..., device='meta', size=(2, 3), dtype=opweave.float64)"
    infer(opweave.add.op, (x, x, 1), None, INPLACE)
    infer(opweave.add.op, (x, x, 1), x, OUT)
    assert x.tolist() == [[1.0] * 3] * 2
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        infer(opweave.add.op, (x[0, :2], x[0, :2], 1), x[0, 1:], OUT)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        infer(opweave.mm.op, (x, x))
    with opweave.inference_mode():
        guarded = opweave.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        infer(opweave.add.op, (guarded, guarded, 1), None, INPLACE)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        infer(opweave.arange.op, (0, 9, 1, None, None, None, None), opweave.from_numpy(np.ones(2)), OUT)
