"""Exported programs do what their modules do, and say what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from opweave import nn
from opweave.export import graph_signature
from opweave.nn import functional


class Function(nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Normalized(nn.Module):
    """Parameters, buffers of both kinds, and a tensor that is neither."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("shift", opweave.arange(4.0), persistent=False)
        self.scale = opweave.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x: Any, times: int = 2, *, plus: Any = None) -> Any:
        y = self.norm(self.linear(x).relu_()) * times * self.scale + self.shift
        return {"y": y if plus is None else y + plus["a"][0], "same": (x, times)}


class Block(nn.Module):
    """A residual block of convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1, bias=False), nn.Conv2d(3, 3, 1)
        self.norm = nn.BatchNorm2d(3)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        y = self.relu(self.norm(self.first(x)))
        y = self.second(y)
        y += x
        return functional.adaptive_avg_pool2d(functional.max_pool2d(self.relu(y), 2), 1).flatten(1)


def writes(x: Any) -> Any:
    y = x.clone()
    y[:, 0] = 3
    y.t()[1].mul_(2)
    return y, y.max(1), opweave.cat([y, opweave.ones(2, 1)], 1)


def without_history(x: Any, y: Any) -> Any:
    with opweave.no_grad():
        z = x * 2
    return z * y


CALLS: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "block": (Block().eval(), (opweave.randn(2, 3, 8, 8),)),
    "transformer": (
        nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True).eval(), (opweave.randn(2, 3, 8),)
    ),
    "recurrent": (nn.LSTM(3, 4), (opweave.randn(5, 2, 3),)),
    "embedding": (nn.Embedding(5, 3), (opweave.tensor([[1, 4], [0, 2]]),)),
    "writes": (Function(writes), (opweave.randn(2, 3),)),
    "attention": (
        Function(lambda q, k: functional.scaled_dot_product_attention(q, k, k, is_causal=True)),
        (opweave.randn(2, 3, 4), opweave.randn(2, 3, 4)),
    ),
    "two that are one": (Function(lambda x, y: (x + y, y)), (X := opweave.randn(2), X)),
    "sparse indices": (Function(lambda x: x[opweave.tensor([1, 0])][:, None]), (opweave.randn(2, 3),)),
}  # fmt: skip


def equal(one: Any, other: Any) -> bool:
    ones, others = opweave.utils._pytree.tree_flatten(one), opweave.utils._pytree.tree_flatten(other)
    assert ones[1] == others[1]
    return all(
        x.equal(y) and x.dtype is y.dtype if isinstance(x, opweave.Tensor) else x == y
        for x, y in zip(ones[0], others[0], strict=True)
    )


def renewed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(opweave.randn(each.shape) if each.is_floating_point() else each.flip(0) for each in args)


@pytest.mark.parametrize("name", CALLS)
def test_programs_do_what_modules_do(name: str) -> None:
    module, args = CALLS[name]
    before = [each.clone() for each in args]
    program = opweave.export.export(module, args)
    assert equal(args, tuple(before))
    other = renewed(args)
    assert equal(program.module()(*other), module(*other))
    decomposed = program.run_decompositions()
    assert equal(decomposed.module()(*other), module(*other))
    assert len(decomposed.graph.nodes) >= len(program.graph.nodes) - 2


def test_parts_of_a_program() -> None:
    opweave.manual_seed(0)
    module = Normalized()
    x, plus = opweave.randn(2, 3), {"a": [opweave.ones(4)]}
    mean = module.norm.running_mean.clone()
    program = opweave.export.export(module, (x,), {"plus": plus})
    assert module.norm.running_mean.equal(mean), "what the example writes are copies"
    assert program.state_dict.keys() == module.state_dict().keys()
    assert program.state_dict["linear.weight"] is module.linear.weight
    signature = program.graph_signature
    assert signature.parameters == ("linear.weight", "linear.bias", "norm.weight", "norm.bias")
    assert signature.non_persistent_buffers == ("shift",)
    assert signature.lifted_tensor_constants == ("c_0",)
    assert signature.user_inputs == ("x", "plus_a_0")
    assert signature.user_outputs == ("add_1", "x", 2)
    assert signature.input_specs[0].kind is graph_signature.InputKind.PARAMETER
    assert program.constants["c_0"].equal(module.scale)
    assert dict(program.named_parameters()).keys() == {*signature.parameters}
    assert len([*program.buffers()]) == len(signature.buffers) == 4
    run = program.module()
    assert run.state_dict().keys() == module.state_dict().keys()
    assert equal(run(x, plus=plus), module(x, plus=plus))
    assert not module.norm.running_mean.equal(mean), "the buffers of both are one"
    run(x, plus=plus)["y"].sum().backward()
    assert module.linear.weight.grad is not None
    with pytest.raises(NotImplementedError, match="not supported yet"):
        run.eval()
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram directly"):
        program(x)


def test_the_text_of_a_program() -> None:
    program = opweave.export.export(Function(lambda x: (x * 2).relu_()), (opweave.ones(2, 3),))
    assert (
        str(program)
        == """ExportedProgram:
    class GraphModule(opweave.nn.Module):
        def forward(self, args_0 : 'f32[2, 3]'):
            mul : 'f32[2, 3]' = opweave.ops.aten.mul.Tensor(args_0, 2);  args_0 = None
            relu_ : 'f32[2, 3]' = opweave.ops.aten.relu_.default(mul);  mul = None
            return (relu_,)

Graph signature:
    # inputs
    args_0: USER_INPUT

    # outputs
    relu_: USER_OUTPUT

Range constraints: {}
"""
    )


def test_gradients_are_those_of_the_module() -> None:
    module = Function(without_history)
    args = [opweave.randn(3, requires_grad=True), opweave.randn(3, requires_grad=True)]
    program = opweave.export.export(module, tuple(args)).module()
    assert program(*args).grad_fn is not None
    program(*args).sum().backward()
    assert args[0].grad is None
    assert args[1].grad is not None
    assert args[1].grad.equal(2 * args[0])


def test_autocast_is_part_of_a_program() -> None:
    module = nn.Linear(3, 4)
    x = opweave.randn(2, 3)
    with opweave.autocast("cpu"):
        expected = module(x)
        program = opweave.export.export(module, (x,))
    assert program.module()(x).dtype is opweave.bfloat16
    assert program.module()(x).equal(expected)
    with opweave.autocast("cpu"), pytest.raises(RuntimeError, match=r"autocast casts within linalg_pinv\(\)"):
        opweave.export.export(Function(opweave.linalg.pinv), (opweave.randn(3, 3),))
    with opweave.autocast("cpu"):
        program = opweave.export.export(Function(lambda x: x.chunk(2)[0] @ x.t()), (opweave.randn(4, 4),))
    assert program.module()(opweave.randn(4, 4)).dtype is opweave.bfloat16


def test_it_is_known_what_is_exported() -> None:
    seen = []
    opweave.export.export(Function(lambda x: seen.append(opweave.compiler.is_exporting()) or x + 1), (X,))
    assert seen == [True]
    assert not opweave.compiler.is_exporting()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x if x.sum() > 0 else -x, r"item\(\) reads elements"),
        (lambda x: x * x.tolist()[0], r"tolist\(\) reads elements"),
        (lambda x: x * float(x.numpy()[0]), r"numpy\(\) reads elements"),
        (lambda x: x + LEARNED, "requires gradients is no parameter"),
    ],
)
def test_what_is_no_program_names_its_line(function: Callable[..., Any], reason: str) -> None:
    line = function.__code__.co_firstlineno
    with pytest.raises(RuntimeError, match=rf"{reason}.*test_exported_programs.py, line {line}\)"):
        opweave.export.export(Function(function), (opweave.ones(3),))


LEARNED = opweave.ones(3, requires_grad=True)


def test_results_are_tensors() -> None:
    with pytest.raises(RuntimeError, match="the result has an object of class set"):
        opweave.export.export(Function(lambda x: {3}), (X,))


@pytest.mark.parametrize(
    ("args", "kwargs", "error"),
    [
        ((opweave.ones(3, 3),), {}, r"Guard failed: args_0.size\(\)\[0\] == 2"),
        ((opweave.ones(2, 3, dtype=opweave.float64),), {}, "Guard failed: args_0.dtype == .*float32"),
        ((opweave.ones(6),), {}, r"Guard failed: args_0.dim\(\) == 2"),
        ((3,), {}, r"Guard failed: isinstance\(args_0, Tensor\)"),
        ((opweave.ones(2, 3),), {"n": 3}, "Guard failed: n == 2"),
        ((opweave.ones(2, 3),), {"n": 2.0}, "Guard failed: n == 2"),
        ((), {"n": 2}, "exported input tree spec"),
    ],
)
def test_other_calls_are_refused(args: Any, kwargs: Any, error: str) -> None:
    program = opweave.export.export(Function(lambda x, n: x * n), (opweave.ones(2, 3),), {"n": 2})
    with pytest.raises((AssertionError, ValueError), match=error):
        program.module()(*args, **({"n": 2} | kwargs))


def test_arguments_of_export() -> None:
    with pytest.raises(ValueError, match="Expected `mod` to be an instance of"):
        opweave.export.export(lambda x: x, (X,))
    with pytest.raises(ValueError, match="Expecting `args` to be a tuple"):
        opweave.export.export(nn.ReLU(), X)
    with pytest.raises(NotImplementedError, match="a program is one graph"):
        opweave.export.draft_export(nn.ReLU(), (X,))
