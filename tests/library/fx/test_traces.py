"""jit.trace: programs as the operators that an example called."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from opweave import jit, nn
from opweave.nn import functional


def sample(*sizes: int) -> Any:
    return ow.randn(*sizes, generator=ow.Generator().manual_seed(sum(sizes)))


def as_arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def assert_same(actual: Any, expected: Any) -> None:
    ow.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


MODULES: dict[str, tuple[Callable[[], nn.Module], Any, Any]] = {
    "LSTM": (lambda: nn.LSTM(3, 4), sample(5, 2, 3), sample(7, 3, 3)),
    "GRU": (lambda: nn.GRU(3, 4, bidirectional=True), sample(5, 2, 3), sample(7, 3, 3)),
    "LSTMCell": (lambda: nn.LSTMCell(3, 4), sample(2, 3), sample(5, 3)),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(4, 2, 8).eval(), sample(5, 2, 4), sample(3, 1, 4)),
    "Conv2d": (
        lambda: nn.Conv2d(2, 3, 3, padding_mode="circular", padding=1),
        sample(1, 2, 5, 5),
        sample(2, 2, 6, 7),
    ),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), sample(1, 2, 3, 3), sample(2, 2, 5, 4)),
    "Bilinear": (lambda: nn.Bilinear(2, 3, 4), (sample(2, 2), sample(2, 3)), (sample(5, 2), sample(5, 3))),
    "MaxPool2d": (lambda: nn.MaxPool2d(2, return_indices=True), sample(1, 1, 4, 4), sample(2, 1, 6, 6)),
    "weight_norm": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)), sample(1, 2), sample(4, 2)),
    "Sequential": (
        lambda: nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3).eval(), nn.ReLU(inplace=True), nn.Softmax(1)),
        sample(1, 2, 4),
        sample(3, 2, 6),
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_follow_the_sizes_of_each_call(name: str) -> None:
    make, example, other = MODULES[name]
    module = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = jit.trace(module, example)
    expected = module(*as_arguments(other))
    assert_same(traced(*as_arguments(other)), expected)
    assert_same(copy.deepcopy(traced)(*as_arguments(other)), expected)
    assert_same(pickle.loads(pickle.dumps(traced))(*as_arguments(other)), expected)
    assert traced.state_dict().keys() == module.state_dict().keys()


def overwrites(x: Any) -> Any:
    y = x.clone()
    y[0] = x[1]
    y[1:] += 1
    y[y > 2] = 0
    return y


def writes_out(x: Any) -> Any:
    y = ow.empty(x.shape)
    ow.add(x, 1, out=y)
    return y


FUNCTIONS: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "sizes": (lambda x: x.view(x.shape[0] * x.size(1), -1), sample(2, 3, 4), sample(5, 6, 4)),
    "parts of sizes": (lambda x: x.view(*x.shape[:-1], 2, x.shape[-1] // 2), sample(2, 4), sample(3, 6)),
    "indices": (lambda x: x[:, x.shape[1] // 2 :], sample(2, 4), sample(3, 8)),
    "floats": (lambda x: x.numel() * x / x.size(0) ** 0.5 + (2 - x.shape[0]), sample(2, 2), sample(3, 2)),
    "factories": (lambda x: ow.zeros(x.shape) + ow.arange(x.shape[0]), sample(3), sample(5)),
    "lists": (lambda x: ow.stack(x.chunk(2)), sample(2, 4), sample(4, 6)),
    "names of results": (lambda x: (x * 2).max(0), sample(2, 3), sample(4, 5)),
    "properties": (lambda x: x.data * 2 + x.T.mT, sample(2, 3), sample(4, 5)),
    "methods in Python": (lambda x: x.double().to(ow.float16).type_as(x), sample(2), sample(3)),
    "functions in Python": (
        lambda x: functional.interpolate(x, size=(x.shape[2] * 2, 3)),
        sample(1, 1, 2, 2),
        sample(2, 1, 4, 5),
    ),
    "overwriting": (overwrites, sample(3), sample(4)),
    "out": (writes_out, sample(2), sample(3)),
    "sizes as results": (lambda x: (x.shape[0] * 2, x.sum()), sample(2), sample(3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_follow_the_sizes_of_each_call(name: str) -> None:
    function, example, other = FUNCTIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = jit.trace(function, example)
    expected = function(other)
    if name == "sizes as results":
        expected = ow.tensor(expected[0]), expected[1]
    assert_same(traced(other), expected)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x if x.sum() > 0 else -x, "tensor to a Python boolean"),
        (lambda x: x * x.sum().item(), "tensor to a Python number"),
        (lambda x: x * float(x[0]), "tensor to a Python float"),
        (lambda x: x[int(x.shape[0]) - 1], "tensor to a Python integer"),
        (lambda x: x if x.shape[0] == 2 else -x, "tensor to a Python boolean"),
        (lambda x: x * sum(x.tolist()), "tensor to a Python list"),
        (lambda x: x * float(x.numpy()[0]), "tensor to a NumPy array"),
        (lambda x: x * len(x), "Using len to get tensor shape"),
        (lambda x: next(iter(x)), "Iterating over a tensor"),
        (lambda x: x + ow.tensor(1), "torch.tensor results are registered as constants"),
    ],
)
def test_values_of_the_example_are_warned_of(function: Callable[..., Any], text: str) -> None:
    example = ow.ones(2)
    with pytest.warns(jit.TracerWarning, match=text):
        traced = jit.trace(function, example)
    assert_same(traced(example), function(example))


def test_conditions_are_those_of_the_example() -> None:
    with pytest.warns(jit.TracerWarning):
        traced = jit.trace(lambda x: x + 1 if x.sum() > 0 else x - 1, ow.ones(2))
    assert traced(-ow.ones(2)).tolist() == [0, 0]
    assert traced.code == "def forward(self, x):\n    add = opweave.add(x, 1);  x = None\n    return add\n"


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.factor = 3

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.factor

    def total(self, x: Any) -> Any:
        return self.layer.weight.sum() * x


def test_traced_modules_have_parameters_and_the_traced_methods() -> None:
    module = Scaled()
    x = ow.ones(2)
    traced = jit.trace_module(module, {"forward": x, "total": x})
    assert isinstance(traced, jit.ScriptModule)
    assert isinstance(traced, jit.TopLevelTracedModule)
    assert traced.layer.weight is module.layer.weight
    assert_same(traced.total(2 * x), module.total(2 * x))
    traced(x).sum().backward()
    assert_same(module.layer.bias.grad, ow.full((2,), 3.0))
    assert traced.original_name == "Scaled"
    assert repr(traced) == "Scaled(\n  original_name=Scaled\n  (layer): Linear(original_name=Linear)\n)"
    with pytest.raises(RuntimeError, match="Trace submodules cannot be called"):
        traced.layer(x)
    with pytest.raises(AttributeError, match="has no attribute 'factor'"):
        traced.factor  # noqa: B018
    with pytest.warns(UserWarning, match="already a ScriptModule"):
        assert jit.trace(traced, x) is traced
    assert_same(jit.trace(module, example_kwarg_inputs={"x": x})(x), module(x))


def test_states_of_traces_have_all_buffers() -> None:
    module: Any = nn.Linear(2, 2)
    module.register_buffer("places", ow.arange(2), persistent=False)
    traced = jit.trace(module, ow.ones(1, 2))
    assert list(traced.state_dict()) == ["weight", "bias", "places"]
    assert traced.places is module.places


def test_derivatives_of_functions_are_those_of_the_functions() -> None:
    class Double(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 7

    traced = jit.trace(lambda x: Double.apply(x), ow.ones(2))
    x = ow.ones(2, requires_grad=True)
    traced(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [7, 7]


def test_arguments_are_those_of_the_example() -> None:
    x = ow.ones(2)

    def added(x: Any, y: Any) -> Any:
        return x + y

    traced = jit.trace(added, (x, x))
    assert traced(y=x, x=2 * x).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"added\(\) is missing value for argument 'y'"):
        traced(x)
    with pytest.raises(RuntimeError, match=r"expected at most 2 argument\(s\) but received 3"):
        traced(x, x, x)
    with pytest.raises(RuntimeError, match="value of type 'Tensor' for argument 'y' but instead found type 'int'"):
        traced(x, 3)
    nested = jit.trace(lambda a: a[0] * a[1]["k"][0], ((x, {"k": (x, x)}),))
    assert nested((2 * x, {"k": (x, x)})).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("function", "inputs", "kind", "text"),
    [
        (lambda x: x, (3,), RuntimeError, r"Type 'Tuple\[int\]' cannot be traced"),
        (lambda x: "a", ow.ones(2), RuntimeError, "Only tensors, lists, tuples of tensors"),
        (lambda x: (x, None), ow.ones(2), RuntimeError, "Only tensors, lists, tuples of tensors"),
        (lambda x: None, ow.ones(2), RuntimeError, "didn't return any values"),
        (lambda x: {"a": x}, ow.ones(2), RuntimeError, "Encountering a dict at the output"),
        (Scaled().total, ow.ones(2), AttributeError, "individual module's functions"),
        (Scaled(), None, RuntimeError, "example_kwarg_inputs should be a dict"),
    ],
)
def test_what_cannot_be_traced(function: Any, inputs: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        jit.trace(function, inputs)


def test_tensors_with_a_history_are_no_constants() -> None:
    weight = ow.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cannot insert a Tensor that requires grad as a constant"):
        jit.trace(lambda x: x * weight, ow.ones(2))
    factor = ow.full((2,), 3.0)
    traced = jit.trace(lambda x: x * factor, ow.ones(2))
    assert traced(ow.ones(2)).tolist() == [3, 3]
    assert jit.trace(lambda x: {"a": x}, ow.ones(2), strict=False)(factor)["a"] is factor


def test_traces_are_checked() -> None:
    with pytest.warns(jit.TracerWarning, match="Output nr 1. of the traced function does not match"):
        jit.trace(lambda x: x + ow.rand(2), ow.ones(2))
    jit.trace(lambda x: x + ow.rand(2), ow.ones(2), check_trace=False)
    count = iter(range(9))
    with pytest.raises(jit.TracingCheckError, match="Graphs differed across invocations"):
        jit.trace(lambda x: x + 1 if next(count) % 2 else x * 2, ow.ones(2))


def test_programs_know_that_they_are_traced() -> None:
    def function(x: Any) -> Any:
        return x + 1 if jit.is_tracing() else x

    assert jit.trace(function, ow.ones(2), check_trace=False)(ow.zeros(2)).tolist() == [1, 1]
    assert not jit.is_tracing()
    assert type(ow.ones(2).shape[0]) is int
