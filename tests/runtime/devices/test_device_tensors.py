"""What tensors of a registered device are: made, moved, printed, indexed, written to, and refused to others."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import devices.mirror
import numpy as np
import opweave as ow
import pytest

assert devices.mirror


@pytest.fixture
def x() -> ow.Tensor:
    return ow.tensor([[1.0, 2.0], [3.0, 4.0]], device="mirror")


def test_what_a_tensor_says(x: ow.Tensor) -> None:
    assert (x.device, str(x.device), x.device.index, x.get_device()) == (ow.device("mirror", 0), "mirror:0", 0, 0)
    assert (x.is_cpu, x.is_meta, x.is_cuda) == (False, False, False)
    assert x.shape == (2, 2)
    assert repr(x) == "tensor([[1., 2.],\n        [3., 4.]], device='mirror:0')"
    assert repr(x.to("mirror:1")[0, 0].to(ow.float64)) == "tensor(1., device='mirror:1', dtype=opweave.float64)"
    assert repr(x.clone().requires_grad_()).endswith("device='mirror:0', requires_grad=True)")
    assert repr(ow.empty(0, 3, device="mirror")) == "tensor([], device='mirror:0', size=(0, 3))"
    assert x.storage().device == x.untyped_storage().device == x.device


@pytest.mark.parametrize(
    "make",
    [
        lambda where: ow.tensor([1, 2], device=where),
        lambda where: ow.as_tensor(np.ones(2), device=where),
        lambda where: ow.zeros(2, device=where),
        lambda where: ow.full((2,), 3, device=where),
        lambda where: ow.arange(3, device=where),
        lambda where: ow.linspace(0, 1, 3, device=where),
        lambda where: ow.eye(2, device=where),
        lambda where: ow.rand(2, device=where),
        lambda where: ow.randint(5, (2,), device=where),
        lambda where: ow.empty_strided((2, 2), (1, 2), device=where),
        lambda where: ow.zeros_like(ow.ones(2), device=where),
        lambda where: ow.ones(2).new_full((2,), 1, device=where),
        lambda where: ow.from_numpy(np.ones(2)).to(where),
        lambda where: ow.nn.Linear(2, 2, device=where).weight,
        lambda where: ow.ones(2, device=where).to_sparse().values(),
    ],
)
def test_factories(make: Callable[[str], ow.Tensor]) -> None:
    assert make("mirror").device == ow.device("mirror:0")
    assert make("mirror:1").device == ow.device("mirror:1")


def test_default_devices() -> None:
    with ow.device("mirror:1"):
        assert ow.get_default_device() == ow.device("mirror:1")
        assert ow.ones(2).device == ow.tensor([1]).device == ow.device("mirror:1")
        assert ow.zeros_like(ow.ones(2, device="cpu")).device == ow.device("cpu")
        with ow.device("cpu"):
            assert ow.ones(2).device == ow.device("cpu")
    ow.set_default_device("mirror")
    assert ow.nn.Linear(2, 3).bias.device == ow.device("mirror:0")
    ow.set_default_device(None)
    assert ow.ones(2).device == ow.get_default_device() == ow.device("cpu")


def test_moves(x: ow.Tensor) -> None:
    assert x.to("mirror") is x.to("mirror:0") is x
    assert x.cpu().tolist() == x.to("mirror:1").cpu().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert x.to("meta").shape == (2, 2)
    assert x.to(ow.int32).device == x.device
    assert x.to("cpu", ow.float64).dtype is ow.float64
    assert x.t().cpu().stride() == ow.ones(2, 2).t().to("mirror").stride() == (1, 2)
    assert x[:, :1].expand(2, 3).cpu().tolist() == [[1.0] * 3, [3.0] * 3]
    assert ow.ones(3)[::2].to("mirror").tolist() == [1.0, 1.0]
    assert ow.ones(1).expand(3).to("mirror").tolist() == [1.0] * 3
    assert x.to(ow.ones(1, device="mirror:1")).device == ow.device("mirror:1")
    assert ow.ones(0, device="mirror").cpu().shape == (0,)
    copied = x.to("mirror", copy=True)
    copied.zero_()
    assert x.sum().item() == 10.0


def test_copies_between_devices(x: ow.Tensor) -> None:
    there, here = ow.zeros(2, 2, device="mirror:1"), ow.zeros(2, 2)
    assert there.copy_(x) is there
    assert here.copy_(there[0]).tolist() == [[1.0, 2.0]] * 2
    x[:, 0].copy_(ow.tensor([8, 9]))
    assert x.tolist() == [[8.0, 2.0], [9.0, 4.0]]
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        x.copy_(ow.ones(2, 2, device="meta"))


def test_views_share_memory(x: ow.Tensor) -> None:
    row, column = x[1], x.t()[0]
    row.add_(10)
    assert column.tolist() == [1.0, 13.0]
    assert x.view(4)[2].device == x.device
    assert x.unsqueeze(0).squeeze().data_ptr() == x.data_ptr()
    flat = x.t().reshape(4)  # which takes a copy
    flat.zero_()
    assert x[0].tolist() == [1.0, 2.0]
    x.t_()
    assert x.tolist() == [[1.0, 13.0], [2.0, 14.0]]


def test_values(x: ow.Tensor) -> None:
    assert (x[1, 0].item(), bool(x[0, 0]), float(x[1, 1]), int(x[0, 1])) == (3.0, True, 4.0, 2)
    x[0] = 7
    x[ow.tensor([1])] = ow.tensor([8.0, 9.0], device="mirror")
    x[x > 8] = 0
    assert x.tolist() == [[7.0, 7.0], [8.0, 0.0]]
    assert x[ow.tensor([1, 0])].tolist() == [[8.0, 0.0], [7.0, 7.0]]
    assert [row.tolist() for row in x] == x.tolist()
    assert ow.equal(x, x.clone())
    assert format(x[0, 0], ".1f") == "7.0"


def test_results_in_memory_that_is_given(x: ow.Tensor) -> None:
    out = ow.empty(0, device="mirror")
    assert ow.mul(x, 2, out=out) is out
    assert out.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    ow.add(x, x, out=x)
    values, indices = ow.empty(0, device="mirror"), ow.empty(0, dtype=ow.int64, device="mirror")
    ow.max(x, 1, out=(values, indices))
    assert (values.tolist(), indices.tolist()) == ([4.0, 8.0], [1, 1])
    view = x[:, 1]
    ow.sum(ow.ones(2, 3, device="mirror"), 1, out=view)
    assert x.tolist() == [[2.0, 3.0], [6.0, 3.0]]


def test_numbers_of_the_cpu_go_with_any_device(x: ow.Tensor) -> None:
    assert (x + ow.tensor(1.0)).tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert ow.where(x > 2, x, ow.tensor(0.0)).sum().item() == 7.0


def test_sizes_that_change(x: ow.Tensor) -> None:
    assert x.resize_(3, 2).shape == (3, 2)
    assert x[:2].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    other = ow.tensor([5.0], device="mirror")
    x.set_(other)
    other.add_(1)
    assert x.tolist() == [6.0]
    x.data = ow.tensor([9.0], device="mirror:1")
    assert x.device == ow.device("mirror:1")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t.numpy(), TypeError, "can't convert mirror:0 device type tensor to numpy. Use Tensor.cpu"),
        (lambda t: np.asarray(t), TypeError, "can't convert mirror:0 device type tensor to numpy"),
        (lambda t: t.__dlpack__(), BufferError, "Cannot pack tensors on mirror:0"),
        (lambda t: ow.from_dlpack(ow.ones(1), device="mirror"), BufferError, "Cannot pack tensors on mirror:0"),
        (lambda t: t.__dlpack_device__(), ValueError, "Unknown device type mirror"),
        (lambda t: t.share_memory_(), RuntimeError, "only available on CPU"),
        (lambda t: memoryview(t), BufferError, "no memory"),
        (lambda t: t.untyped_storage()[:2], NotImplementedError, "parts of storages on the device mirror:0"),
        (
            lambda t: t + ow.ones(2),
            RuntimeError,
            "Expected all tensors to be on the same device, but found at least two",
        ),
        (lambda t: ow.ones(2) + t, RuntimeError, "at least two devices, cpu and mirror:0!"),
        (lambda t: t.add_(ow.ones(2, device="mirror:1")), RuntimeError, "at least two devices, mirror:0 and mirror:1!"),
        (lambda t: ow.cat([t, ow.ones(2, 2)]), RuntimeError, "at least two devices, mirror:0 and cpu!"),
        (lambda t: ow.add(t, t, out=ow.ones(2, 2)), RuntimeError, "at least two devices, mirror:0 and cpu!"),
        (lambda t: ow.add(ow.ones(1), ow.ones(1), out=t), RuntimeError, "at least two devices, cpu and mirror:0!"),
        (lambda t: t @ ow.ones(2, 2, device="meta"), RuntimeError, "at least two devices"),
        (lambda t: t.to("mirror:2"), RuntimeError, "'mirror:2' is not available: there are 2 devices of this kind"),
        (lambda t: ow.ones(2, device="mirrors"), RuntimeError, "device type at start of device string: mirrors"),
        (
            lambda t: t.to("cuda"),
            RuntimeError,
            "'cuda' is not available: tensors of this build live on the CPU, mirror",
        ),
        (lambda t: t.to_sparse() + ow.ones(2, 2).to_sparse(), RuntimeError, "device"),
    ],
)
def test_refusals(x: ow.Tensor, call: Callable[[Any], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(x)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_files(x: ow.Tensor) -> None:
    file = io.BytesIO()
    ow.save({"x": x, "row": x[1], "there": x.to("mirror:1")}, file)
    for where, devices_of in ((None, ["mirror:0", "mirror:0", "mirror:1"]), ("cpu", ["cpu"] * 3)):
        file.seek(0)
        found = ow.load(file, map_location=where)
        assert [str(each.device) for each in found.values()] == devices_of
        found["row"].zero_()
        assert found["x"].tolist() == [[1.0, 2.0], [0.0, 0.0]]
    file.seek(0)
    assert {str(each.device) for each in ow.load(file, map_location={"mirror:1": "mirror:0"}).values()} == {"mirror:0"}
    file = io.BytesIO()
    ow.save(ow.ones(2), file)
    file.seek(0)
    assert ow.load(file, map_location="mirror:1").device == ow.device("mirror:1")
    file.seek(0)
    with pytest.raises(RuntimeError, match="mirror:7"):
        ow.load(file, map_location="mirror:7")


def test_pickles_and_copies(x: ow.Tensor) -> None:
    for protocol in (2, 5):
        found = pickle.loads(pickle.dumps([x, x[0]], protocol))
        assert [each.device for each in found] == [x.device] * 2
        found[1].zero_()
        assert found[0].tolist() == [[0.0, 0.0], [3.0, 4.0]]
    copied = copy.deepcopy(x.requires_grad_())
    assert copied.requires_grad
    assert copied.is_leaf
    x.data[0] = 5.0
    assert copied.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_generators() -> None:
    generator = ow.Generator("mirror").manual_seed(3)
    assert generator.device == ow.device("mirror:0")
    drawn = ow.rand(3, device="mirror", generator=generator)
    assert drawn.tolist() == ow.rand(3, generator=ow.Generator().manual_seed(3)).tolist()
    assert generator.clone_state().device == ow.device("mirror:0")
    with pytest.raises(RuntimeError, match="Expected a 'mirror' device type for generator but found 'cpu'"):
        ow.rand(3, device="mirror", generator=ow.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'mirror' device type for generator but found 'cpu'"):
        ow.ones(3, device="mirror").uniform_(generator=ow.Generator())


@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: ow.rand(2, generator=generator),
        lambda generator: ow.ones(2).normal_(generator=generator),
        lambda generator: ow.multinomial(ow.ones(3), 2, generator=generator),
        lambda generator: ow.randperm(3, generator=generator),
        lambda generator: ow.normal(0.0, 1.0, (2,), generator=generator),
    ],
)
def test_generators_of_a_device_do_not_fill_tensors_of_the_cpu(draw: Any) -> None:
    generator = ow.Generator("mirror").manual_seed(3)
    before = generator.get_state()
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'mirror'"):
        draw(generator)
    assert (generator.get_state() == before).all()
