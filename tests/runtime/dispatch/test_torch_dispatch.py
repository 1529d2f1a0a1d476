"""Classes with `__torch_dispatch__`: tensors that stand for others, as torch's documentation and torchao write them."""

import copy
import io
import pickle
from typing import ClassVar

import opweave
import pytest
from opweave.utils._python_dispatch import (
    TorchDispatchMode,
    is_traceable_wrapper_subclass,
    is_traceable_wrapper_subclass_type,
    return_and_correct_aliasing,
    transform_subclass,
)
from opweave.utils._pytree import tree_map

aten = opweave.ops.aten


class LoggingTensor(opweave.Tensor):
    calls: ClassVar = []

    @staticmethod
    def __new__(cls, elem):
        made = opweave.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=elem.device,
            requires_grad=elem.requires_grad,
        )
        made.elem = elem.detach()
        return made

    def __repr__(self):
        return f"LoggingTensor({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrap(value):
            return value.elem if isinstance(value, cls) else value

        def wrap(value):
            return cls(value) if isinstance(value, opweave.Tensor) else value

        cls.calls.append(str(func))
        return tree_map(wrap, func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))


class TwoTensor(opweave.Tensor):
    """As torch.testing._internal.two_tensor."""

    @staticmethod
    def __new__(cls, a, b):
        assert a.shape == b.shape
        return opweave.Tensor._make_wrapper_subclass(
            cls, a.shape, strides=a.stride(), dtype=a.dtype, device=a.device, requires_grad=a.requires_grad
        )

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"TwoTensor({self.a!r}, {self.b!r})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, outer_size, outer_stride):
        return TwoTensor(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        of_a = func(*tree_map(lambda x: x.a if isinstance(x, cls) else x, args), **kwargs)
        of_b = func(*tree_map(lambda x: x.b if isinstance(x, cls) else x, args), **kwargs)
        pairs = isinstance(of_a, opweave.Tensor)
        out = cls(of_a, of_b) if pairs else type(of_a)([cls(a, b) for a, b in zip(of_a, of_b, strict=True)])
        return return_and_correct_aliasing(func, args, kwargs, out)


class QuantizedWeight(opweave.Tensor):
    """As torchao's: integers and scales, which a product of matrices turns into numbers."""

    @staticmethod
    def __new__(cls, integers, scale, shape):
        return opweave.Tensor._make_wrapper_subclass(cls, shape, dtype=scale.dtype, device=integers.device)

    def __init__(self, integers, scale, shape):
        self.integers, self.scale = integers, scale

    @classmethod
    def of(cls, weight):
        scale = weight.abs().amax(1, keepdim=True) / 127
        return cls((weight / scale).round().to(opweave.int8), scale, weight.shape)

    def dequantize(self):
        return self.integers * self.scale

    def __tensor_flatten__(self):
        return ["integers", "scale"], self.shape

    @classmethod
    def __tensor_unflatten__(cls, inner, shape, outer_size=None, outer_stride=None):
        return cls(inner["integers"], inner["scale"], shape)

    def __repr__(self):
        return f"QuantizedWeight(shape={tuple(self.shape)})"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is opweave.nn.functional.linear:
            x, weight, bias = (*args, None)[:3]
            return opweave.nn.functional.linear(x, weight.dequantize(), bias)
        return super().__torch_function__(func, types, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func in (aten.detach.default, aten.clone.default):
            return cls(args[0].integers.clone(), args[0].scale.clone(), args[0].shape)
        plain = [x.dequantize() if isinstance(x, cls) else x for x in args]
        return func(*plain, **(kwargs or {}))


def logged(values, **options):
    tensor = LoggingTensor(opweave.tensor(values, **options))
    LoggingTensor.calls.clear()
    return tensor


# ---- what such a tensor is --------------------------------------------------------------------------------------


def test_facts():
    inner = opweave.arange(12.0).view(3, 4).t()[1:]
    x = LoggingTensor(inner)
    assert (x.shape, x.stride(), x.storage_offset(), x.dtype) == ((3, 3), (1, 4), 1, opweave.float32)
    assert (x.device, x.layout, x.is_meta, x.is_cpu) == (opweave.device("cpu"), opweave.strided, False, True)
    assert (x.is_leaf, x.requires_grad, x.data_ptr(), type(x)) == (True, False, 0, LoggingTensor)
    plain = opweave.Tensor._make_wrapper_subclass(LoggingTensor, (2, 3))
    assert (plain.stride(), plain.dtype) == ((3, 1), opweave.get_default_dtype())
    assert opweave.Tensor._make_wrapper_subclass(LoggingTensor, (2,), device="meta").is_meta
    empty = opweave.Tensor._make_wrapper_subclass(LoggingTensor, (0, 3), strides=(3, 1), storage_offset=2)
    assert (empty.numel(), empty.storage_offset()) == (0, 2)


def test_layouts_are_what_the_maker_says():
    make = opweave.Tensor._make_wrapper_subclass
    for layout in (opweave.sparse_coo, opweave.sparse_csr, opweave.strided):
        x = make(LoggingTensor, (2, 3), layout=layout)
        for each in (x, pickle.loads(pickle.dumps(x))):
            assert (each.layout, each.is_sparse) == (layout, layout is opweave.sparse_coo)
            assert (each.shape, each.stride(), each.numel()) == ((2, 3), (3, 1), 6)
    assert make(LoggingTensor, (2,)).layout is opweave.strided


REFUSED = [
    (lambda make: make(opweave.Tensor, (2,)), TypeError, "must define __torch_dispatch__"),
    (lambda make: make(int, (2,)), TypeError, "does not inherit from Tensor"),
    (lambda make: make(LoggingTensor, 2), TypeError, "must be tuple of ints, not int"),
    (lambda make: make(LoggingTensor, (2,), dtype="float"), TypeError, "'dtype' must be"),
    (lambda make: make(LoggingTensor, (-2,)), RuntimeError, "negative"),
    (lambda make: make(LoggingTensor, (2**40, 2**40)), RuntimeError, "overflow"),
    (lambda make: make(LoggingTensor, (2, 3), strides=(2**62, 2**62)), RuntimeError, "overflow"),
    (lambda make: make(LoggingTensor, (2, 3), strides=(-1, 1)), RuntimeError, "strides"),
    (lambda make: make(LoggingTensor, (2, 3), strides=(1,)), RuntimeError, "must match dimensionality of strides"),
    (lambda make: make(LoggingTensor, (2,), dtype=opweave.int64, requires_grad=True), RuntimeError, "floating point"),
    (lambda make: make(LoggingTensor, (2,), dispatch_sizes_strides_policy="x"), ValueError, "sizes_strides_policy"),
    (lambda make: make(LoggingTensor, (2,), layout="sparse_coo"), TypeError, "'layout' must be"),
    (lambda make: make(LoggingTensor, (2, 3), storage_offset=1), RuntimeError, "storage offset without stride"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case):
    call, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        call(opweave.Tensor._make_wrapper_subclass)


def test_no_memory_is_read():
    x = logged([1.0, 2.0])
    reads = [
        x.numpy, x.untyped_storage, x.storage, x.share_memory_, x.__dlpack__, lambda: memoryview(x),
        lambda: bytes(x), lambda: opweave.frombuffer(x, dtype=opweave.float32),
        lambda: opweave.from_dlpack(x), lambda: x.view(opweave.int32).numpy(),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises((RuntimeError, TypeError, BufferError, NotImplementedError, ValueError)):
            read()
    plain = x.as_subclass(opweave.Tensor)  # nobody knows its elements any more
    assert (plain + 1).is_meta
    assert x.tolist() == [1.0, 2.0]


def test_classes_are_asked_in_order():
    class Base(opweave.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((cls, types))
            return NotImplemented

    class Derived(Base):
        pass

    seen = []
    base, derived = (opweave.Tensor._make_wrapper_subclass(kind, (2,)) for kind in (Base, Derived))
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'opweave\\.ops\\.aten\\.add\\.Tensor'"):
        opweave.add(base, derived)
    assert seen == [(Derived, (Derived, Base)), (Base, (Derived, Base))]
    assert opweave.Tensor.__torch_dispatch__ is Derived.__mro__[2].__torch_dispatch__


def test_make_subclass():
    class Kept(opweave.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return super().__torch_dispatch__(func, types, args, kwargs)

    seen = []
    data = opweave.tensor([1.0, 2.0])
    kept = opweave.Tensor._make_subclass(Kept, data, True)
    assert type(kept) is Kept
    assert kept.requires_grad
    assert kept.data_ptr() == data.data_ptr()
    result = kept * 3
    assert (type(result), result.tolist(), seen) == (opweave.Tensor, [3.0, 6.0], ["aten.mul.Tensor"])
    assert type(opweave.Tensor._make_subclass(opweave.nn.Parameter, data, True)) is opweave.nn.Parameter
    for arguments, error in (((int, data), TypeError), ((Kept, 3), TypeError)):
        with pytest.raises(error):
            opweave.Tensor._make_subclass(*arguments)
    with pytest.raises(RuntimeError, match="floating point"):
        opweave.Tensor._make_subclass(Kept, opweave.ones(2, dtype=opweave.int64), True)


# ---- calls --------------------------------------------------------------------------------------------------------


def test_calls():
    x = logged([[1.0, 2.0], [3.0, 4.0]])
    assert (x + 1).elem.tolist() == [[2.0, 3.0], [4.0, 5.0]]
    largest = x.max(0)
    assert largest.values.elem.tolist() == [3.0, 4.0]
    assert largest.indices.elem.tolist() == [1, 1]
    assert x.split(1)[1].elem.tolist() == [[3.0, 4.0]]
    assert opweave.cat([x, x]).shape == (4, 2)
    assert opweave.nn.functional.linear(x, x).elem.tolist() == [[5.0, 11.0], [11.0, 25.0]]
    assert x.sum().item() == 10.0
    assert bool((x == x).all())
    assert "aten.linear.default" not in LoggingTensor.calls
    assert {"aten.add.Tensor", "aten.t.default", "aten.max.dim", "aten.cat.default"} <= set(LoggingTensor.calls)


def test_writes():
    x = logged([1.0, 2.0])
    version = x._version
    assert x.add_(1) is x
    assert x.elem.tolist() == [2.0, 3.0]
    assert x._version == version + 1
    assert opweave.mul(x, 2, out=x) is x
    assert x.elem.tolist() == [4.0, 6.0]
    y = logged([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        y.add_(1)
    z = y * 1
    z.mul_(3)
    z.sum().backward()
    assert y.grad.elem.tolist() == [3.0, 3.0]
    square = (y * 1).exp()
    loss = square.sum()
    square.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    base = y * 1
    view = base.view(2, 1)
    assert view._base is base
    assert base.split(1)[1]._base is base
    with pytest.raises(RuntimeError, match="view"):
        view.mul_(2)


def test_gradients():
    x = logged([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x * x).sum().backward()
    assert type(x.grad) is LoggingTensor
    assert x.grad.elem.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert "aten.expand.default" in LoggingTensor.calls
    (first,) = opweave.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = opweave.autograd.grad(first.sum(), x)
    assert second.elem.tolist() == [[6.0, 12.0], [18.0, 24.0]]
    w = opweave.ones(2, 2, requires_grad=True)
    (x.detach() @ w).sum().backward()
    assert isinstance(w.grad, opweave.Tensor)
    assert w.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_modules():
    layer = opweave.nn.Linear(2, 3)
    expected = layer(opweave.ones(1, 2)).tolist()
    layer.weight = opweave.nn.Parameter(LoggingTensor(layer.weight.detach()))
    assert isinstance(layer.weight, opweave.nn.Parameter)
    assert type(layer.weight) is LoggingTensor
    assert len(list(layer.parameters())) == 2
    result = layer(opweave.ones(1, 2))
    assert result.elem.tolist() == expected
    result.sum().backward()
    assert layer.weight.grad.elem.tolist() == [[1.0, 1.0]] * 3
    before = layer.weight.elem.clone()
    opweave.optim.SGD(layer.parameters(), lr=0.5).step()
    assert opweave.equal(layer.weight.elem, before - 0.5)


def test_quantized_weight():
    opweave.manual_seed(0)
    model = opweave.nn.Sequential(opweave.nn.Linear(8, 4), opweave.nn.ReLU(), opweave.nn.Linear(4, 2))
    x = opweave.randn(5, 8, requires_grad=True)
    expected = model(x)
    for layer in (model[0], model[2]):
        layer.weight = opweave.nn.Parameter(QuantizedWeight.of(layer.weight.detach()), requires_grad=False)
    got = model(x)
    assert type(got) is opweave.Tensor
    assert (got - expected).abs().max() < 0.05
    got.sum().backward()
    assert x.grad.shape == x.shape
    assert model[0].bias.grad is not None
    file = io.BytesIO()
    opweave.save(model.state_dict(), file)
    file.seek(0)
    state = opweave.load(file, weights_only=False)
    assert type(state["0.weight"]) is QuantizedWeight
    assert opweave.equal(state["0.weight"].integers, model[0].weight.integers)
    twin = copy.deepcopy(model)
    assert type(twin[0].weight) is QuantizedWeight
    assert opweave.equal(twin(x), got)
    with opweave.serialization.safe_globals([QuantizedWeight]):
        file.seek(0)
        assert type(opweave.load(file, weights_only=True)["2.weight"]) is QuantizedWeight


def test_two_tensors():
    a, b = opweave.arange(6.0).view(2, 3), opweave.ones(2, 3)
    x = TwoTensor(a, b).requires_grad_()
    y = (x * 2).t().relu()
    y.sum().backward()
    assert (x.grad.a.tolist(), x.grad.b.tolist()) == ([[0.0, 2.0, 2.0], [2.0, 2.0, 2.0]], [[2.0] * 3] * 2)
    plain = TwoTensor(a.clone(), b.clone())
    assert plain.add_(1) is plain
    assert plain.b.tolist() == [[2.0] * 3] * 2
    turned = plain.t()
    assert turned._base is plain
    assert turned.stride() == (1, 3)
    before = plain._version
    turned.add_(1)
    assert plain._version > before
    pieces = plain.split(1)
    assert [piece.b.tolist() for piece in pieces] == [[[3.0] * 3]] * 2
    assert is_traceable_wrapper_subclass(x)
    assert is_traceable_wrapper_subclass_type(TwoTensor)
    assert not is_traceable_wrapper_subclass(a)
    assert not is_traceable_wrapper_subclass_type(LoggingTensor)
    doubled = transform_subclass(x, lambda name, inner: inner.detach() * (2 if name == "a" else 3))
    assert (doubled.a[1].tolist(), doubled.b[1].tolist()) == ([6.0, 8.0, 10.0], [3.0] * 3)
    with pytest.raises(AssertionError, match="shape equal to"):
        transform_subclass(x, lambda name, inner: inner[:1])


def test_copies():
    x = logged([1.0, 2.0], requires_grad=True)
    x.note = ["kept"]
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.copy(x)):
        assert type(twin) is LoggingTensor
        assert (twin.elem.tolist(), twin.note, twin.requires_grad) == ([1.0, 2.0], ["kept"], True)
        assert twin.elem is not x.elem or twin.note is x.note
    assert copy.deepcopy(x).elem.data_ptr() != x.elem.data_ptr()
    assert repr(x) == "LoggingTensor(tensor([1., 2.]))"
    assert opweave.Tensor.__repr__(x) == "LoggingTensor(..., requires_grad=True)"
    assert x.data.elem.tolist() == [1.0, 2.0]
    assert not x.data.requires_grad


def test_modes_are_asked_first():
    class Counts(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            Counts.count += 1
            return func(*args, **(kwargs or {}))

    x = logged([1.0])
    with Counts():
        x + 1
    assert Counts.count == 1  # which is left while it calls
    assert LoggingTensor.calls == ["aten.add.Tensor"]
