"""opweave.fx.subgraph_rewriter: parts of a graph that are like a pattern, replaced by another graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from .._base.tensor_class import Tensor
from ..nn import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _copy_attr
from .node import Node

__all__ = ["InternalMatch", "Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

_Program: TypeAlias = Callable[..., Any] | GraphModule | Graph


class Match(NamedTuple):
    """A match of a pattern: its last node in the graph, and the graph's nodes for those of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """The same, and the nodes that were put there."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


@dataclass
class InternalMatch:
    """A match of a pattern, as filters see it: the graph's nodes for the results of the pattern (`anchors`,
    `returning_nodes`), for all its nodes and for its inputs."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


_Filter: TypeAlias = Callable[[InternalMatch, Graph, Graph], bool]


def replace_pattern(gm: GraphModule, pattern: _Program, replacement: _Program) -> list[Match]:
    """Replace all parts of a graph that do what `pattern` does by `replacement`, and return where they were.

    Inputs of the pattern stand for any value; calls must be of the same functions with the same numbers; what is
    computed on the way must not be used elsewhere. Matches do not overlap: the first ones are taken.

    Args:
        gm (GraphModule): the module, which is changed and compiled again.
        pattern (Callable | GraphModule): a function that is traced.
        replacement (Callable | GraphModule): a function with the same arguments.

    Raises:
        RuntimeError: the replacement has other arguments, or another number of results.
    """
    replaced = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: _Program,
    replacement: _Program | None = None,
    match_filters: list[_Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:
    """Replace parts of a graph as `replace_pattern` does, where filters agree.

    Args:
        gm (GraphModule): the module, which is changed and compiled again.
        pattern (Callable | GraphModule): a function that is traced.
        replacement (Callable | GraphModule): a function with the same arguments.
        match_filters (list): functions of a match, the graph and the pattern's graph, which return whether it counts.
        ignore_literals (bool): whether numbers and other constants may differ.
        replacement_callback (Callable): in the place of `replacement`, it returns the graph for a match.

    Raises:
        RuntimeError: the replacement has other arguments, or another number of results.
    """
    wanted = _graph_of(pattern)
    other = None if replacement is None else _graph_of(replacement)
    if (other is None) == (replacement_callback is None):
        raise AssertionError("replace_pattern_with_filters() takes a replacement or a replacement_callback")
    filters = match_filters or []
    matches = [
        each
        for each in _matches(gm.graph, wanted, ignore_literals)
        if all(accepts(each, gm.graph, wanted) for accepts in filters)
    ]
    # The results that have been replaced, which later matches may take.
    changed: dict[Node, Any] = {}
    done = []
    for match in matches:
        if replacement_callback is not None:
            other = replacement_callback(match, gm.graph, wanted)
        assert other is not None
        done.append(_replace(gm.graph, match, wanted, other, changed))
    if isinstance(replacement, Module):
        for node in gm.graph.nodes:
            if node.op in ("get_attr", "call_module") and not _has(gm, node.target):
                _copy_attr(replacement, gm, node.target)
    gm.delete_all_unused_submodules()
    gm.graph.lint()
    gm.recompile()
    return done


def _graph_of(program: _Program) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _has(module: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
    return True


# ---- finding ------------------------------------------------------------------------------------------------


def _matches(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[InternalMatch]:
    """The matches, none of which has a node of another one, in the order of the graph."""
    ends = pattern.output_node().all_input_nodes
    inner = [node for node in pattern.nodes if node.op not in ("placeholder", "output")]
    if not inner or any(node.op == "placeholder" for node in ends):
        return []
    position = {node: place for place, node in enumerate(graph.nodes)}
    taken: set[Node] = set()
    found = []
    for start in graph.nodes:
        for mapping in _from(ends, [start], graph, ignore_literals):
            own = {mapping[node] for node in inner if node in mapping}
            if len(own) == len(inner) and not own & taken and _is_closed(mapping, inner, ends, own):
                match = InternalMatch(
                    [mapping[node] for node in ends],
                    mapping,
                    [mapping.get(node) for node in pattern.nodes if node.op == "placeholder"],
                    [mapping[node] for node in ends],
                )
                if _place(match, position) is not None:
                    taken |= own
                    found.append(match)
                    break
    return found


def _from(ends: list[Node], starts: list[Node], graph: Graph, ignore_literals: bool) -> list[dict[Node, Any]]:
    """The ways in which the results of a pattern are nodes of the graph, the first of them this one."""
    mappings: list[dict[Node, Any]] = [{}]
    for place, end in enumerate(ends):
        candidates = starts if place == 0 else list(graph.nodes)
        grown = []
        for mapping in mappings:
            for candidate in [mapping[end]] if end in mapping else candidates:
                trial = dict(mapping)
                if _agree(end, candidate, trial, ignore_literals):
                    grown.append(trial)
        mappings = grown
    return mappings


def _agree(wanted: Any, got: Any, mapping: dict[Node, Any], ignore_literals: bool) -> bool:
    """True if a value of the graph is as the pattern says; the nodes are added to the mapping."""
    if isinstance(wanted, Node):
        if wanted in mapping:
            known = mapping[wanted]
            return known is got or (not isinstance(got, Node) and type(known) is type(got) and bool(known == got))
        if wanted.op == "placeholder":
            mapping[wanted] = got
            return True
        if not isinstance(got, Node) or got.op != wanted.op or not _is_same_target(wanted, got):
            return False
        mapping[wanted] = got
        return _agree_in_arguments(wanted, got, mapping, ignore_literals)
    if isinstance(got, Node):
        return False
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(wanted) == len(got) and all(
            _agree(one, other, mapping, ignore_literals) for one, other in zip(wanted, got, strict=True)
        )
    if isinstance(wanted, dict) and isinstance(got, dict):
        return wanted.keys() == got.keys() and all(
            _agree(wanted[key], got[key], mapping, ignore_literals) for key in wanted
        )
    if isinstance(wanted, slice) and isinstance(got, slice):
        parts = ((wanted.start, got.start), (wanted.stop, got.stop), (wanted.step, got.step))
        return all(_agree(one, other, mapping, ignore_literals) for one, other in parts)
    return ignore_literals or (type(wanted) is type(got) and bool(wanted == got))


def _is_same_target(wanted: Node, got: Node) -> bool:
    if wanted.op != "get_attr":
        return bool(wanted.target == got.target)
    values = [_attribute(each) for each in (wanted, got)]
    return all(isinstance(each, Tensor) for each in values) or type(values[0]) is type(values[1])


def _attribute(node: Node) -> Any:
    value: Any = node.graph.owning_module
    for name in node.target.split("."):
        value = getattr(value, name, None)
    return value


def _agree_in_arguments(wanted: Node, got: Node, mapping: dict[Node, Any], ignore_literals: bool) -> bool:
    one, other = _arguments(wanted), _arguments(got)
    if len(wanted.args) == len(got.args) and wanted.kwargs.keys() == got.kwargs.keys():
        one, other = (wanted.args, dict(wanted.kwargs)), (got.args, dict(got.kwargs))
    return _agree(one, other, mapping, ignore_literals)


def _arguments(node: Node) -> Any:
    """The arguments, with names and defaults where the function has a signature."""
    if node.op == "call_function":
        try:
            bound = inspect.signature(node.target).bind(*node.args, **node.kwargs)
        except (TypeError, ValueError):
            return node.args, dict(node.kwargs)
        bound.apply_defaults()
        return bound.arguments
    return node.args, dict(node.kwargs)


def _is_closed(mapping: dict[Node, Any], inner: list[Node], ends: list[Node], own: set[Node]) -> bool:
    """True if only results of the pattern are used elsewhere."""
    return all(user in own for node in inner if node not in ends for user in mapping[node].users)


# ---- replacing ----------------------------------------------------------------------------------------------


def _place(match: InternalMatch, position: dict[Node, int]) -> Node | None:
    """The node before which the replacement goes: the last result, or what uses an earlier result before it; None: an
    input comes later."""
    own = {each for each in match.nodes_map.values() if isinstance(each, Node)}
    users = [user for node in match.returning_nodes for user in node.users if user not in own]
    place = min([max(match.returning_nodes, key=position.__getitem__), *users], key=position.__getitem__)
    inputs = [each for each in match.placeholder_nodes if isinstance(each, Node)]
    return place if all(position[each] < position[place] for each in inputs) else None


def _replace(
    graph: Graph, match: InternalMatch, pattern: Graph, replacement: Graph, changed: dict[Node, Any]
) -> ReplacedPatterns:
    inputs = [node for node in replacement.nodes if node.op == "placeholder"]
    if len(inputs) != len(match.placeholder_nodes):
        raise RuntimeError(
            f"the replacement has {len(inputs)} arguments and the pattern {len(match.placeholder_nodes)}: both take "
            "the same ones"
        )
    values = [changed.get(each, each) if isinstance(each, Node) else each for each in match.placeholder_nodes]
    position = {node: place for place, node in enumerate(graph.nodes)}
    match.placeholder_nodes = values
    place = _place(match, position)
    assert place is not None
    known: dict[Node, Any] = dict(zip(inputs, values, strict=True))
    with graph.inserting_before(place):
        results = graph.graph_copy(replacement, known)
    new = list(results) if isinstance(results, (list, tuple)) else [results]
    if len(new) != len(match.returning_nodes):
        raise RuntimeError(
            f"the replacement has {len(new)} results and the pattern {len(match.returning_nodes)}: both return as many"
        )
    for node, value in zip(match.returning_nodes, new, strict=True):
        node.replace_all_uses_with(value)
        changed[node] = value
    for each in reversed(pattern.nodes):
        if each.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[each])
    made = [known[node] for node in replacement.nodes if node in known and node not in inputs]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)
