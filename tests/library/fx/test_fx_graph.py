"""Graphs: nodes made, moved and taken out, what is checked, and how they are printed."""

from __future__ import annotations

import operator

import opweave as ow
import pytest
from opweave import fx, nn


def small():
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(ow.relu, (x,))
    z = graph.call_method("neg", (y,))
    graph.output(z)
    return graph, x, y, z


def names(graph):
    return [node.name for node in graph.nodes]


def test_users_follow_arguments():
    graph, x, y, z = small()
    assert list(x.users) == [y]
    assert y.all_input_nodes == [x]
    z.args = (x,)
    assert not y.users
    assert list(x.users) == [y, z]
    y.kwargs = {"inplace": True}
    y.update_kwarg("inplace", False)
    assert y.kwargs == {"inplace": False}
    z.update_arg(0, y)
    z.insert_arg(1, 5)
    assert z.args == (y, 5)
    assert y.replace_all_uses_with(x) == [z]
    assert z.args == (x, 5)
    graph.erase_node(y)
    assert names(graph) == ["x", "neg", "output"]
    assert (len(graph.nodes), graph.output_node().args) == (3, (z,))
    assert [node.name for node in reversed(graph.nodes)] == ["output", "neg", "x"]


def test_lists_among_arguments_do_not_change():
    graph, x, _, z = small()
    node = graph.call_function(ow.cat, ([x, z],), {"dim": 0})
    with pytest.raises(TypeError, match="does not support mutation"):
        node.args[0].append(x)
    with pytest.raises(TypeError, match="does not support mutation"):
        node.kwargs["dim"] = 1
    assert node.args[0] == [x, z]


def test_places_of_new_nodes():
    graph, x, y, z = small()
    with graph.inserting_before(y):
        first = graph.call_function(operator.add, (x, 1))
        graph.call_function(operator.mul, (first, 2))
    with graph.inserting_after(y):
        graph.call_function(operator.sub, (y, 1))
        graph.call_function(operator.truediv, (y, 2))
    with graph.inserting_before():
        graph.placeholder("early")
    assert names(graph) == ["early", "x", "add", "mul", "relu", "sub", "truediv", "neg", "output"]
    z.prepend(first)
    x.append(z)
    assert names(graph) == ["early", "x", "neg", "mul", "relu", "sub", "truediv", "add", "output"]
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        graph.lint()


def test_names_are_given_once():
    graph = fx.Graph()
    wanted = ["x", "x", "x_1", "x_5", "x", "sum", "class", "0", "a.b", "Conv2d", "torch"]
    got = [graph.placeholder(each).name for each in wanted]
    assert got == ["x", "x_1", "x_2", "x_5", "x_6", "sum_1", "class_1", "_0", "a_b", "conv2d", "torch_1"]


def test_errors():
    graph, x, y, _ = small()
    with pytest.raises(
        RuntimeError, match=r"Tried to erase Node x but it still had 1 users in the graph: \{relu: None\}!"
    ):
        graph.erase_node(x)
    with pytest.raises(AssertionError, match="op 'foo' is not one of"):
        graph.create_node("foo", "x")
    with pytest.raises(ValueError, match="but a Callable is expected"):
        graph.call_function("relu", (x,))
    with pytest.raises(ValueError, match="but a str is expected"):
        graph.call_method(ow.relu, (x,))
    other = fx.Graph()
    foreign = other.placeholder("foreign")
    with pytest.raises(AssertionError, match="into a different Graph"):
        y.prepend(foreign)
    with pytest.raises(RuntimeError, match="from wrong graph"):
        graph.erase_node(foreign)
    graph.call_function(ow.relu, (foreign,))
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()
    made = fx.Graph()
    made.call_module("layer")
    with pytest.raises(RuntimeError, match="referenced target layer but that target was not provided"):
        fx.GraphModule({}, made)
    with pytest.raises(RuntimeError, match="no output node"):
        fx.Graph().output_node()


def test_dead_code():
    def program(x, unused):
        x.mul(3)
        ow.relu(x)
        ow._assert(x, "message")
        x.add_(1)
        return x

    module = fx.symbolic_trace(program)
    with module.graph.inserting_before(module.graph.output_node()):
        module.graph.call_function(operator.setitem, (next(iter(module.graph.nodes)), 0, 7))
    assert module.graph.eliminate_dead_code()
    assert names(module.graph) == ["x", "unused", "_assert", "add_", "setitem", "output"]
    assert not module.graph.eliminate_dead_code()
    assert module.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    assert names(module.graph) == ["x", "unused", "output"]


def test_printed(capsys):
    graph, *_ = small()
    assert str(graph) == (
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %relu : [num_users=1] = call_function[target=opweave.relu](args = (%x,), kwargs = {})\n"
        "    %neg : [num_users=1] = call_method[target=neg](args = (%relu,), kwargs = {})\n"
        "    return neg"
    )
    graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert lines[2].split() == ["placeholder", "x", "x", "()", "{}"]
    assert len(lines) == 6


def test_code_is_changed_as_it_is_written():
    module = fx.symbolic_trace(lambda x: x + 1)

    def counted(before):
        return lambda lines: ["count = 1\n", *(before(lines) if before else lines)]

    with module.graph.on_generate_code(counted):
        module.recompile()
    assert "    count = 1\n    add = x + 1" in module.code
    module.recompile()
    assert "count" not in module.code


def test_modules_in_a_graph_module():
    model = nn.Sequential()
    model.add_module("first", nn.Linear(1, 1))
    model.add_module("second", nn.Sequential(nn.ReLU(), nn.Tanh()))
    model.second[1].register_buffer("kept", ow.ones(1), persistent=False)
    module = fx.symbolic_trace(model)
    assert module.add_submodule("extra.part", nn.Sigmoid())
    assert isinstance(module.extra.part, nn.Sigmoid)
    assert not module.add_submodule("training.part", nn.Sigmoid())
    assert not module.delete_submodule("nothing.there")
    module.delete_all_unused_submodules()
    assert [name for name, _ in module.named_modules()] == ["", "first", "second", "second.0", "second.1"]
    assert module.delete_submodule("second.0")
    with pytest.raises(RuntimeError, match="references nonexistent attribute 0 of second"):
        module.graph.lint()


def test_a_graph_by_hand_with_a_dictionary_as_root():
    graph = fx.Graph()
    x = graph.placeholder("x")
    weight = graph.get_attr("inner.weight")
    graph.output(graph.call_module("inner.act", (graph.call_function(operator.matmul, (x, weight)),)))
    module = fx.GraphModule({"inner.weight": nn.Parameter(ow.eye(2)), "inner.act": nn.ReLU()}, graph, "Made")
    assert [name for name, _ in module.named_parameters()] == ["inner.weight"]
    assert ow.equal(module(ow.tensor([[-1.0, 2.0]])), ow.tensor([[0.0, 2.0]]))
    assert module.print_readable(print_output=False).startswith(
        "class Made(opweave.nn.Module):\n    def forward(self, x):"
    )


def test_graphs_are_copied_into_each_other():
    graph, *_ = small()
    other = fx.Graph()
    start = other.placeholder("start")
    result = other.graph_copy(graph, {next(iter(graph.nodes)): start})
    other.output(other.call_method("exp", (result,)))
    assert names(other) == ["start", "relu", "neg", "exp", "output"]
    assert fx.GraphModule({}, other)(ow.tensor(0.0)).item() == 1.0


def test_proxies_without_a_tracer():
    graph, _, y, _ = small()
    with graph.inserting_after(y):
        result = ow.tanh(fx.Proxy(y)) * 2
    y.replace_all_uses_with(result.node, lambda user: user.op == "call_method")
    graph.lint()
    assert names(graph) == ["x", "relu", "tanh", "mul", "neg", "output"]
