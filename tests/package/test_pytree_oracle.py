"""utils._pytree: nested containers taken apart and made again, as torch does."""

from __future__ import annotations

import dataclasses
import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import opweave
import pytest
from harness import oracle
from harness.oracle import PRINTED
from opweave.utils import _pytree

Point = namedtuple("Point", ["x", "y"])
NESTED = {"a": [1, (2.5, None)], "b": deque([3], 4), "c": Point(1, OrderedDict(z="s")), "d": defaultdict(list, k=[7])}


def tree(library: Any) -> Any:
    return importlib.import_module(f"{library.__name__}.utils._pytree")


CALLS = {
    "leaves": lambda p: p.tree_leaves(NESTED),
    "is_leaf": lambda p: p.tree_leaves(NESTED, is_leaf=lambda each: isinstance(each, tuple)),
    "leaves and nodes": lambda p: [getattr(p.tree_structure(NESTED), each) for each in ("num_leaves", "num_nodes")],
    "back": lambda p: repr(p.tree_unflatten(range(7), p.tree_structure(NESTED))),
    "map": lambda p: repr(p.tree_map(str, NESTED)),
    "rests": lambda p: p.tree_map(lambda x, y: (x, y), {"a": [1, 2], "b": 3}, {"b": 4, "a": [(5,), 6]}),
    "unlike": lambda p: p.tree_map(lambda x, y: (x, y), [1, 2], [1]),
    "structure": lambda p: repr(p.tree_structure([1, {"a": ((2, 3), 4)}, 5])),
    "few leaves": lambda p: p.tree_unflatten([1], p.tree_structure([1, 2])),
    "no structure": lambda p: p.tree_unflatten([1], [1]),
    "only": lambda p: repr(p.tree_map_only(int, lambda x: -x, NESTED)),
    "only of two": lambda p: repr(p.tree_map_only((int, str), str, NESTED)),
    "any": lambda p: [p.tree_any(lambda x: x == 3, NESTED), p.tree_all_only(int, lambda x: x < 8, NESTED)],
    "paths": lambda p: [(p.keystr(path), leaf) for path, leaf in p.tree_leaves_with_path(NESTED)],
    "map paths": lambda p: repr(p.tree_map_with_path(lambda path, x: p.keystr(path), NESTED)),
    "text": lambda p: p.treespec_dumps(p.tree_structure([1, (2, {"a": 3, 4: None}), OrderedDict(b=5), deque([6], 7)])),
    "text of no name": lambda p: p.treespec_dumps(p.tree_structure(Point(1, 2))),
    "text and back": lambda p: repr(p.treespec_loads(p.treespec_dumps(p.tree_structure([1, {"a": (2,)}])))),
    "protocol": lambda p: p.treespec_dumps(p.tree_structure(1), protocol=2),
    "unknown name": lambda p: p.treespec_loads('[1, {"type": "x.Y", "context": "null", "children_spec": []}]'),
    "broadcast": lambda p: p._broadcast_to_and_flatten([1, (2, 3)], p.tree_structure([[0, 0], (0, [0])])),
    "no broadcast": lambda p: p._broadcast_to_and_flatten([1, 2], p.tree_structure([1])),
    "equal": lambda p: p.tree_structure([1, (2,)]) == p.tree_structure([3, ("x",)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    oracle.check(lambda library: CALLS[name](tree(library)), name, PRINTED)


def test_classes_become_containers() -> None:
    class Pair:
        def __init__(self, left: Any, right: Any) -> None:
            self.left, self.right = left, right

    @dataclasses.dataclass
    class Record:
        first: Any
        second: Any = None

    _pytree.register_pytree_node(Pair, lambda x: ([x.left, x.right], "kept"), lambda values, _: Pair(*values))
    _pytree.register_dataclass(Record)
    doubled = _pytree.tree_map(lambda x: 2 * x, [Pair(1, opweave.ones(2)), Record(3)])
    assert doubled[0].left == 2
    assert doubled[0].right.tolist() == [2.0, 2.0]
    assert doubled[1] == Record(6)
    assert [_pytree.keystr(path) for path, _ in _pytree.tree_leaves_with_path([Record(3)])] == ["[0].first"]
    with pytest.raises(ValueError, match="already registered"):
        _pytree.register_pytree_node(Pair, lambda x: ([], None), lambda values, _: None)
