"""autograd.graph.GradientEdge: places of the graph in the place of tensors, and what nodes say of themselves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome
from opweave.autograd.graph import GradientEdge, Node, get_gradient_edge


class Graph:
    """z = sum(y * y) for y = 2 x, and the edges of all three."""

    def __init__(self, library: Any) -> None:
        self.x = library.ones(3, requires_grad=True)
        self.y = self.x * 2
        self.z = (self.y * self.y).sum()
        self.unused = library.ones(2, requires_grad=True) * 2
        edge = library.autograd.graph.get_gradient_edge
        self.at_x, self.at_y, self.at_z, self.at_unused = map(edge, (self.x, self.y, self.z, self.unused))


GRADIENTS: dict[str, Callable[[Any, Graph], Any]] = {
    "by a leaf": lambda lib, g: lib.autograd.grad(g.z, g.at_x),
    "by two": lambda lib, g: lib.autograd.grad(g.z, [g.at_y, g.x]),
    "of an edge": lambda lib, g: lib.autograd.grad(g.at_z, [g.at_y, g.at_x]),
    "of an edge and its tensor": lambda lib, g: lib.autograd.grad([g.at_z, g.z], g.x),
    "of several elements": lambda lib, g: lib.autograd.grad(g.at_y, g.x, lib.arange(3.0)),
    "in another dtype": lambda lib, g: lib.autograd.grad(g.at_y, g.x, lib.ones(3, dtype=lib.float64)),
    "of several elements without gradients": lambda lib, g: lib.autograd.grad(g.at_y, g.x),
    "of a wrong shape": lambda lib, g: lib.autograd.grad(g.at_y, g.x, lib.ones(2)),
    "of complex numbers": lambda lib, g: lib.autograd.grad(g.at_y, g.x, lib.ones(3, dtype=lib.complex64)),
    "of a leaf": lambda lib, g: lib.autograd.grad(g.at_x, g.x, lib.ones(3)),
    "by a tuple": lambda lib, g: lib.autograd.grad(g.z, [tuple(g.at_x)]),
    "by the parts of an edge": lambda lib, g: lib.autograd.grad(g.z, tuple(g.at_y)),
    "by a node": lambda lib, g: lib.autograd.grad(g.z, [g.y.grad_fn]),
    "by a number": lambda lib, g: lib.autograd.grad(g.z, [3]),
    "an unused edge": lambda lib, g: lib.autograd.grad(g.z, [g.at_x, g.at_unused]),
    "an unused edge, allowed": lambda lib, g: lib.autograd.grad(g.z, [g.at_x, g.at_unused], allow_unused=True),
    "zeros by an unused edge": lambda lib, g: lib.autograd.grad(g.z, [g.at_x, g.at_unused], materialize_grads=True),
    "zeros by an unused tensor": lambda lib, g: lib.autograd.grad(g.z, [g.at_x, g.unused], materialize_grads=True),
    "a batch of an edge": lambda lib, g: lib.autograd.grad(g.at_y, g.at_x, lib.eye(3), is_grads_batched=True),
    "a batch of nothing": lambda lib, g: lib.autograd.grad(g.y, g.x, is_grads_batched=True),
    "made by hand": lambda lib, g: lib.autograd.grad(lib.autograd.graph.GradientEdge(g.z.grad_fn, 0), g.at_y),
    "by a dict": lambda lib, g: lib.autograd.grad(g.z, {"x": g.x, "y": g.y}),
    "a batch by a dict": lambda lib, g: lib.autograd.grad(g.y, {"x": g.x}, lib.eye(3), is_grads_batched=True),
    "by an empty dict": lambda lib, g: lib.autograd.grad(g.z, {}),
    "by another mapping": lambda lib, g: lib.autograd.grad(g.z, OrderedDict(x=g.x)),
    "twice": lambda lib, g: lib.autograd.grad(lib.autograd.grad(g.z, g.at_y, create_graph=True)[0].sum(), g.at_x),
    "of no history": lambda lib, g: lib.autograd.graph.get_gradient_edge(g.x.detach()),
}  # fmt: skip


@pytest.mark.oracle
def test_gradients_of_edges() -> None:
    for name, case in GRADIENTS.items():
        check_outcome(lambda lib, case=case: case(lib, Graph(lib)), name)  # type: ignore[misc]


BACKWARD: dict[str, Callable[[Any, Graph], Any]] = {
    "of an edge": lambda lib, g: lib.autograd.backward(g.at_z),
    "of several elements": lambda lib, g: lib.autograd.backward([g.at_y], [lib.ones(3)]),
    "of several elements without gradients": lambda lib, g: lib.autograd.backward(g.at_y),
    "to a leaf": lambda lib, g: g.z.backward(inputs=g.at_x),
    "to no leaf": lambda lib, g: g.z.backward(inputs=[g.at_y]),
    "to both": lambda lib, g: g.z.backward(inputs=[g.at_y, g.at_x]),
    "to a tensor that is no leaf": lambda lib, g: g.z.backward(inputs=[g.y]),
    "to a tuple": lambda lib, g: g.z.backward(inputs=[tuple(g.at_x)]),
    "to a dict": lambda lib, g: g.z.backward(inputs={"x": g.x}),
    "to another mapping": lambda lib, g: g.z.backward(inputs=OrderedDict(x=g.x)),
}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_backward_of_edges() -> None:
    def run(lib: Any, case: Callable[[Any, Graph], Any]) -> Any:
        graph = Graph(lib)
        case(lib, graph)
        return graph.x.grad, graph.y.grad, graph.y.retains_grad

    for name, case in BACKWARD.items():
        check_outcome(lambda lib, case=case: run(lib, case), name)  # type: ignore[misc]


def test_edges_outlive_their_tensors() -> None:
    x = ow.ones(2, requires_grad=True)
    parts = (x * 3).split(1)
    edge = get_gradient_edge(parts[1])
    assert (edge.output_nr, edge.ownership_token) == (1, None)
    del parts
    assert ow.autograd.grad(edge, x)[0].tolist() == [0, 3]


def test_edges_that_lead_nowhere() -> None:
    graph = Graph(ow)
    for edge, error, text in [
        (GradientEdge(graph.z.grad_fn, 1), IndexError, "output_nr of a GradientEdge must be less than 1"),
        (GradientEdge(graph.z.grad_fn, -1), IndexError, "but got -1"),
        (GradientEdge(graph.z.grad_fn, "a"), TypeError, "output_nr of a GradientEdge must be int, not str"),
        (GradientEdge(3, 0), TypeError, "must be a node of the graph, such as grad_fn, not int"),
    ]:  # type: ignore[list-item]
        for call in (
            lambda edge=edge: ow.autograd.grad(edge, graph.x),
            lambda edge=edge: ow.autograd.grad(graph.z, edge),
        ):
            with pytest.raises(error, match=text):
                call()
    with pytest.raises(TypeError, match="element 0 of tensors must be a Tensor or GradientEdge, but got tuple"):
        ow.autograd.grad([tuple(graph.at_z)], graph.x)


def test_batches_say_what_is_wrong() -> None:
    graph = Graph(ow)
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of .*\[3, 2\].* and output\[0\]"):
        ow.autograd.grad(graph.at_y, graph.x, ow.ones(3, 2), is_grads_batched=True)
    with pytest.raises(ValueError, match="got a Tensor of no dimensions at index 0"):
        ow.autograd.grad(graph.z, graph.x, is_grads_batched=True)


# ---- nodes ---------------------------------------------------------------------------------------------------


def described(node: Any) -> list[Any]:
    return [
        (each.shape, each.dtype, str(each.device), each.is_nested_tensor, each.is_cpp_nested_tensor)
        for each in node._input_metadata
    ]


def leaf_node(tensor: Any) -> Any:
    return (tensor * 1).grad_fn.next_functions[0][0]


NODES: dict[str, Callable[[Any, Any], Any]] = {
    "one output": lambda lib, x: described((x * 2).grad_fn),
    "several outputs": lambda lib, x: described(x.split([1, 2])[0].grad_fn),
    "indices beside": lambda lib, x: described(x.max(0)[0].grad_fn),
    "a leaf": lambda lib, x: (described(leaf_node(x)), leaf_node(x)._sequence_nr(), leaf_node(x).name()),
    "metadata": lambda lib, x: ((x * 2).grad_fn.metadata, leaf_node(x).metadata),
    "a view that was written to": lambda lib, x: lib.ones(3).mul_(x)[:1].mul_(2)._base.grad_fn.name(),
}


@pytest.mark.oracle
def test_what_nodes_say_of_themselves() -> None:
    for name, case in NODES.items():
        check_outcome(lambda lib, case=case: case(lib, lib.ones(3, requires_grad=True)), name)  # type: ignore[misc]


def test_nodes_keep_what_is_noted_of_them() -> None:
    y = ow.ones(1, requires_grad=True) * 2
    node = y.grad_fn
    assert isinstance(node, Node)
    node.metadata["note"] = 3
    assert y.grad_fn is node
    assert node.metadata == {"note": 3}
    with pytest.raises(AttributeError):
        node.metadata = {}  # type: ignore[misc]
    later = (y * 2).grad_fn
    assert later is not None
    assert later._sequence_nr() > node._sequence_nr()
