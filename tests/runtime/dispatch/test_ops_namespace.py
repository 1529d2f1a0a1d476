"""opweave.ops: operators by namespace, name and overload."""

from __future__ import annotations

import copy
import pickle

import opweave
import pytest
from opweave._dispatch.ops import namespaces
from opweave._dispatch.overloads import OpOverloadPacket

aten = opweave.ops.aten


def test_calls() -> None:
    x, y = opweave.tensor([1.0, 2.0]), opweave.tensor([3.0, 5.0])
    assert aten.add.Tensor(x, y).tolist() == [4.0, 7.0]
    assert aten.add.Tensor(self=x, other=y, alpha=2).tolist() == [7.0, 12.0]
    assert aten.add(x, y).tolist() == [4.0, 7.0]
    out = opweave.empty(2)
    assert aten.add.out(x, y, out=out) is out
    assert out.tolist() == [4.0, 7.0]
    assert aten.add_.Tensor(x, y) is x
    assert aten.sum.dim_IntList(x, [0]).item() == 11.0


def test_names() -> None:
    add, neg = aten.add.Tensor, aten.neg.default
    assert (str(aten.add), repr(aten.add)) == ("aten.add", "<OpOverloadPacket(op='aten.add')>")
    assert (str(add), repr(add)) == ("aten.add.Tensor", "<OpOverload(op='aten.add', overload='Tensor')>")
    assert (add.name(), neg.name()) == ("aten::add.Tensor", "aten::neg")
    assert (add.__name__, aten.add.__name__, add.namespace) == ("add.Tensor", "add", "aten")
    assert add.overloadpacket is aten.add
    assert (aten.add.overloads(), aten.add_.overloads(), aten.t.overloads()) == (
        ["Tensor", "out"],
        ["Tensor"],
        ["default"],
    )
    assert aten.multiply is aten.mul
    assert pickle.loads(pickle.dumps(add)) is add
    assert (add.is_view, aten.t.default.is_view) == (False, True)


@pytest.mark.parametrize(
    ("names", "one"),
    [
        ("sort.stable sort.default", "sort.default"),
        ("sort.values sort.values_stable sort.stable_out", "sort.out"),
        ("squeeze.default squeeze.dim", "squeeze.dims"),
        ("squeeze_copy.dim_out squeeze_copy.dims_out", "squeeze_copy.out"),
        ("add.Scalar", "add.Tensor"),
        ("add.Scalar_out", "add.out"),
        ("add_.Scalar", "add_.Tensor"),
        ("max.default max.other", "max.dim"),
        ("max.dim_max max.unary_out", "max.out"),
        ("linalg_svd.U", "linalg_svd.out"),
    ],
)
def test_overloads_of_torch_that_one_operator_answers(names: str, one: str) -> None:
    def found(path: str) -> object:
        packet, _, name = path.partition(".")
        return getattr(getattr(aten, packet), name)

    assert all(found(each) is found(one) for each in names.split())


@pytest.mark.parametrize("path", ["neg.Scalar", "neg_.out", "add.default", "sort.dim", "t.out"])
def test_overloads_that_torch_has_not(path: str) -> None:
    packet, _, name = path.partition(".")
    with pytest.raises(AttributeError, match=f"'aten.{packet}' has no overload name '{name}'"):
        getattr(getattr(aten, packet), name)


def test_calls_of_overloads_of_torch() -> None:
    x = opweave.tensor([3.0, 1.0, 2.0])
    assert aten.sort.stable(x, stable=True, descending=True)[1].tolist() == [0, 2, 1]
    assert aten.max.other(x, opweave.tensor([0.0, 9.0, 0.0])).tolist() == [3.0, 9.0, 2.0]
    assert aten.max.default(x).item() == 3.0
    assert aten.std.default(x, False).item() == pytest.approx(0.8165, abs=1e-4)
    assert [part.tolist() for part in aten.split.sizes(x, [1, 2])] == [[3.0], [1.0, 2.0]]
    assert aten.div.Tensor_mode(x, 2, rounding_mode="floor").tolist() == [1.0, 0.0, 1.0]
    assert aten.scatter.value(x, 0, opweave.tensor([0]), 5.0).tolist() == [5.0, 1.0, 2.0]
    assert aten.repeat_interleave.Tensor(opweave.tensor([1, 2])).tolist() == [0, 1, 1]
    assert aten.arange.default(3).tolist() == [0, 1, 2]


def test_gradients_of_softmax_as_torch_has_them() -> None:
    x = opweave.tensor([[0.5, 1.0, 2.0]], requires_grad=True)
    slope = opweave.tensor([[1.0, -1.0, 0.5]])
    for name in ("softmax", "log_softmax"):
        result = getattr(opweave, name)(x, 1)
        (expected,) = opweave.autograd.grad(result, x, slope)
        actual = getattr(aten, f"_{name}_backward_data").default(slope, result.detach(), 1, x.dtype)
        assert opweave.allclose(actual, expected)
        half = getattr(opweave, f"_{name}_backward_data")(slope, result.detach(), 1, opweave.float16)
        assert half.dtype is opweave.float16
    bools = opweave.tensor([True, False])
    assert (aten._is_all_true(bools).item(), bools._is_any_true().item()) == (False, True)
    with pytest.raises(RuntimeError):
        opweave._is_all_true(slope)


def test_schemas() -> None:
    add = "Tensor self, Tensor other, *, Scalar alpha=1"
    assert str(aten.add.Tensor._schema) == f"aten::add.Tensor({add}) -> Tensor"
    assert str(aten.add_.Tensor._schema) == f"aten::add_.Tensor({add.replace(' ', '(a!) ', 1)}) -> Tensor(a!)"
    assert str(aten.add.out._schema) == f"aten::add.out({add}, Tensor(a!) out) -> Tensor(a!)"
    assert str(aten.neg_.default._schema) == "aten::neg_(Tensor(a!) self) -> Tensor(a!)"
    assert str(aten.slogdet.out._schema) == (
        "aten::slogdet.out(Tensor self, *, Tensor(a!) sign, Tensor(b!) logabsdet)"
        " -> (Tensor(a!) sign, Tensor(b!) logabsdet)"
    )


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match=r"^The underlying op of 'aten.add' has no overload name 'Tonsor'$"):
        _ = aten.add.Tonsor
    with pytest.raises(AttributeError, match=r"^'_OpNamespace' 'aten' object has no attribute 'ad'$"):
        _ = aten.ad
    with pytest.raises(AttributeError, match=r"^'_OpNamespace' 'mylib' object has no attribute 'add'$"):
        _ = opweave.ops.mylib.add


def test_every_operator_has_a_schema() -> None:
    for name in namespaces["aten"]:
        packet: OpOverloadPacket = getattr(aten, name)
        for overload in packet.overloads():
            found = getattr(packet, overload)
            assert str(found._schema).startswith(f"{found.name()}("), name
            # The arguments that are written to are those that the mode says.
            written = [each.name for each in found._schema.all_arguments if each.is_write]
            assert bool(written) == (found.mode != 0), name


def test_copies_are_the_same() -> None:
    for each in (aten, aten.add, aten.add.Tensor):
        assert copy.copy(each) is each
        assert copy.deepcopy(each) is each
        assert pickle.loads(pickle.dumps(each)) is each
