"""opweave.fx: programs as graphs, to look at and to change, as in torch.fx.

    module = fx.symbolic_trace(model)   # a GraphModule: `module.graph`, `module.code`
    for node in module.graph.nodes: ...
    module.recompile()

A program is run once with proxies, by the protocol `__torch_function__`, and what is done with them becomes
the nodes of a graph. Graphs are compiled to Python.
"""

from __future__ import annotations

from . import graph, graph_module, immutable_collections, interpreter, node, proxy, subgraph_rewriter
from ._symbolic_trace import PH, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "graph",
    "graph_module",
    "has_side_effect",
    "immutable_collections",
    "interpreter",
    "map_arg",
    "node",
    "proxy",
    "replace_pattern",
    "subgraph_rewriter",
    "symbolic_trace",
    "wrap",
]
