"""Places of the graph that gradients are asked of without their tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._base.keys import KEY_BITS
from .._base.type_names import type_name
from .._C import lib
from .._handle import edges, with_keys
from .grad_mode import AUTOGRAD
from .node import AccumulateGrad, Edge, InputMetadata, Node, described

__all__ = ["GradientEdge", "edge", "edge_of_gradient", "get_gradient_edge", "is_sparse", "output_of", "plain_edge"]

SPARSE = KEY_BITS["sparse"]


class GradientEdge(NamedTuple):
    """The place of a tensor in the graph: output `output_nr` of what `node` stands for.

    It keeps the graph alive, though not the tensor.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


GradientEdge.__module__ = "opweave.autograd.graph"


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the place of the tensor in the graph, which `grad` and `backward` take instead of the tensor.

    Raises RuntimeError for a tensor that does not require gradients.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients. Please call "
            "requires_grad_() before the tensor is used."
        )
    node, number = edge_of_gradient(tensor)
    return GradientEdge(node, node.outward(number))


def edge(tensor: Any) -> Edge | None:
    """The edge of a tensor that has a history, also while none is recorded."""
    result: Edge | None = with_keys(AUTOGRAD, 0, edges, tensor)[0]
    return result


def is_sparse(tensor: Any) -> bool:
    """True if the history is that of the tensor's values."""
    return bool(lib.keys(tensor._h) & SPARSE)


def edge_of_gradient(tensor: Any) -> Edge:
    """The edge of a tensor that requires gradients; no gradient arrives at a view that is older than the wish."""
    if is_sparse(tensor):
        tensor = tensor._sparse.values
    return edge(tensor) or (AccumulateGrad(tensor), 0)


def plain_edge(of: GradientEdge) -> Edge:
    """Return the pair that the engine knows. Raises TypeError or IndexError for what is no output of a node."""
    node, number = of.node, of.output_nr
    if not isinstance(node, Node):
        raise TypeError(
            f"the node of a GradientEdge must be a node of the graph, such as grad_fn, not {type_name(node)}"
        )
    if not isinstance(number, int):
        raise TypeError(f"output_nr of a GradientEdge must be int, not {type_name(number)}")
    if not 0 <= number < len(node.metas):
        raise IndexError(
            f"output_nr of a GradientEdge must be less than {len(node.metas)}, as many outputs as "
            f"{node.name()} has, but got {number}"
        )
    return node, node.inward(number)


def output_of(of: GradientEdge) -> InputMetadata:
    """Return shape, dtype and device of the output that the edge leads to."""
    node, number = plain_edge(of)
    return described(node.metas[number])
