"""Graphs run node by node, and changed while they are: the programs of torch's pages on fx."""

from __future__ import annotations

import copy
import time

import opweave as ow
import pytest
from opweave import fx, nn
from opweave.fx.passes.shape_prop import ShapeProp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)
        self.inner = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))

    def forward(self, x, scale=2.0):
        return self.inner(self.bn(self.conv(x))).relu() * scale


def test_interpreters_compute_what_the_module_does():
    module = fx.symbolic_trace(Net()).eval()
    x = ow.randn(2, 1, 5, 5)
    interpreter = fx.Interpreter(module)
    assert ow.equal(interpreter.run(x), module(x))
    assert ow.equal(interpreter.run(x, 3.0), module(x, 3.0))
    assert len(interpreter.env) <= 3
    args = [x]
    assert ow.equal(interpreter.boxed_run(args), module(x))
    assert args == []
    keeping = fx.Interpreter(module, garbage_collect_values=False)
    keeping.run(x)
    assert {node.name for node in keeping.env} == {node.name for node in module.graph.nodes}
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x, but one was not passed in!"):
        interpreter.run()


def test_errors_name_the_node():
    module = fx.symbolic_trace(lambda x: ow.matmul(x, x))
    with pytest.raises(
        RuntimeError, match=r"(?s)While executing %matmul : \[num_users=1\] = call_function\[target=opweave.matmul"
    ):
        fx.Interpreter(module).run(ow.ones(2, 3))


def test_profiling_interpreter():
    class Profiling(fx.Interpreter):
        def __init__(self, module):
            super().__init__(fx.symbolic_trace(module))
            self.seconds = {}

        def run_node(self, n):
            start = time.perf_counter()
            result = super().run_node(n)
            self.seconds[n] = time.perf_counter() - start
            return result

    interpreter = Profiling(Net())
    interpreter.run(ow.randn(2, 1, 5, 5))
    assert [node.op for node in interpreter.seconds].count("call_module") == 4


def test_interpreters_that_swap_operators():
    def program(x):
        return ow.sigmoid(x).neg()

    class Swapped(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            return ow.neg(*args, **kwargs) if target is ow.sigmoid else super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return args[0] if target == "neg" else super().call_method(target, args, kwargs)

    module = fx.symbolic_trace(program)
    x = ow.randn(3)
    assert ow.equal(Swapped(module).run(x), -x)

    class SwappedGraph(fx.Transformer, Swapped):
        pass

    class NegateSigmoid(fx.Transformer):
        def call_function(self, target, args, kwargs):
            result = super().call_function(target, args, kwargs)
            return -result if target is ow.sigmoid else result

    made = NegateSigmoid(module).transform()
    assert ow.equal(made(x), ow.sigmoid(x))
    assert [node.name for node in made.graph.nodes] == ["x", "sigmoid", "neg", "neg_1", "output"]


def test_transformers_keep_attributes_and_defaults():
    module = fx.symbolic_trace(Net()).eval()
    made = fx.Transformer(module).transform()
    assert made.code == module.code
    x = ow.randn(2, 1, 5, 5)
    assert ow.equal(made(x), module(x))


def test_fusion_of_batch_normalization():
    model = Net().eval()
    with ow.no_grad():
        for each in model.modules():
            if isinstance(each, nn.BatchNorm2d):
                each.running_mean.uniform_(-1, 1)
                each.running_var.uniform_(0.5, 2)
    module = fx.symbolic_trace(copy.deepcopy(model))
    modules = dict(module.named_modules())
    for node in module.graph.nodes:
        if node.op != "call_module" or not isinstance(modules[node.target], nn.BatchNorm2d):
            continue
        if isinstance(modules[node.args[0].target], nn.Conv2d) and len(node.args[0].users) == 1:
            conv = modules[node.args[0].target]
            fused = nn.utils.fuse_conv_bn_eval(conv, modules[node.target])
            path, _, name = node.args[0].target.rpartition(".")
            setattr(module.get_submodule(path), name, fused)
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
    module.recompile()
    module.delete_all_unused_submodules()
    assert "bn" not in module.code
    assert not any(isinstance(each, nn.BatchNorm2d) for each in module.modules())
    x = ow.randn(2, 1, 5, 5)
    assert ow.allclose(module(x), model(x), atol=1e-5)


def test_shapes_of_all_values():
    module = fx.symbolic_trace(Net())
    ShapeProp(module).propagate(ow.randn(2, 1, 5, 5))
    found = {node.name: node.meta["tensor_meta"] for node in module.graph.nodes if "tensor_meta" in node.meta}
    assert found["conv"].shape == (2, 2, 3, 3)
    assert found["conv"].dtype == ow.float32
    assert found["conv"].stride == (18, 9, 3, 1)
    assert found["x"].requires_grad is False
    assert found["mul"].requires_grad is True
