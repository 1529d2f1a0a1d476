"""Divides a graph into kernels and single operations: groups, their C, and the compiler that makes libraries of it.

A second process finds the libraries that a first one had compiled. What is kept only saves time: where it cannot be
written to, or is damaged, the kernel is compiled; where that is not possible either, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

from .._base.warn import warn
from .._toolchain import isa_levels, object_cache, toolchain
from ..codegen import fused, recorded
from ..codegen.dtypes import DType
from ..codegen.expr.typed import Arg, Node, names, postorder
from ..codegen.model.operator import MAX_OUTPUTS
from ._graph import Graph, Operation, Value
from ._groups import Group, Grouping, dtype_of, name_of
from ._kernels import KNOWN, LoadedFunction, Merged, kept_libraries, kernel_of, load


class _Draft(NamedTuple):
    """A kernel that is not compiled yet."""

    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    text: str


def divided(graph: Graph) -> tuple[list[Merged | Operation], bool]:
    """Return the steps of a graph, without those of what follows, and whether all kernels could be compiled."""
    steps = Grouping(graph).steps
    drafts = {each: _drafts(each) for each in steps if isinstance(each, Group) and len(each.operations) > 1}
    of_all = [each for of_group in drafts.values() for each in of_group]
    _compile(of_all)
    found = [_merged(each, drafts.get(each, ())) if isinstance(each, Group) else each for each in steps]
    return found, all(KNOWN[each.text] is not None for each in of_all)


def _merged(group: Group, drafts: Sequence[_Draft]) -> Merged:
    """A group with its kernels; without them where one could not be compiled, or gives results in another layout."""
    operations = tuple(group.operations)
    made = []
    for draft in drafts:
        loaded = KNOWN[draft.text]
        kernel = None if loaded is None else kernel_of(loaded, draft.inputs, draft.results, operations, draft.text)
        if kernel is None:
            return Merged(operations, ())
        made.append(kernel)
    return Merged(operations, tuple(made))


# ---- texts --------------------------------------------------------------------------------------------------


def _drafts(group: Group) -> list[_Draft]:
    """The kernels that compute what a group keeps; none where one of them would have no inputs."""
    kept = group.kept
    parts = [tuple(kept[begin : begin + MAX_OUTPUTS]) for begin in range(0, len(kept), MAX_OUTPUTS)]
    drafts = [_draft(group, each) for each in parts]
    return drafts if all(each.inputs for each in drafts) else []


def _draft(group: Group, results: tuple[Value, ...]) -> _Draft:
    roots = [group.nodes[each] for each in results]
    used = frozenset[str]().union(*(names(each) for each in roots))
    inputs = tuple(value for name, value in group.leaves.items() if name in used)
    # Names by position, so that equal groups have one text wherever they are in programs.
    named = {name_of(value): f"a{place}" for place, value in enumerate(inputs)}
    dtypes = tuple((named[name_of(value)], dtype_of(value)) for value in inputs)
    return _Draft(inputs, results, _text(dtypes, tuple(_renamed(each, named) for each in roots)) if inputs else "")


def _renamed(root: Node, named: dict[str, str]) -> Node:
    arguments = {each.name: Arg(each.dtype, named[each.name]) for each in postorder(root) if isinstance(each, Arg)}
    return recorded.with_operands(root, arguments)


@lru_cache(1024)
def _text(inputs: tuple[tuple[str, DType], ...], roots: tuple[Node, ...]) -> str:
    return fused.c_text(fused.operator("recorded", dict(inputs), roots))


# ---- compiling ----------------------------------------------------------------------------------------------


def _compile(drafts: Sequence[_Draft]) -> None:
    """Have the functions of some drafts known; they are compiled at the same time."""
    missing = {each.text: each for each in drafts if each.text not in KNOWN}
    if not missing:
        return
    try:
        compiler = _Compiler()
    except (toolchain.CompilerError, OSError) as error:
        _refuse(missing, error)
        return
    with ThreadPoolExecutor(toolchain.cores()) as pool:
        libraries = {text: pool.submit(compiler.library, text) for text in missing}
        for text, library in libraries.items():
            try:
                KNOWN[text] = compiler.function(missing[text], library.result())
            except (RuntimeError, OSError) as error:
                _refuse([text], error)


class _Compiler:
    """The C compiler, and the libraries that it made before."""

    def __init__(self) -> None:
        """Find the compiler. Raises CompilerError if there is none."""
        self._compiler, self._level = toolchain.find(), isa_levels.own()
        self._identity = toolchain.identity(self._compiler)
        self._kept = kept_libraries()

    def library(self, text: str, is_made: bool = False) -> bytes:
        """Return the library of a C text, one that is kept unless it `is_made` anew. Raises CompilerError."""
        key = self._key(text)
        found = None if is_made else self._kept.find(key)
        if found is None:
            found = toolchain.library(self._compiler, text, self._level, self._identity)
            self._kept.keep(key, found)
            self._kept.remove_unused()
        return found

    def function(self, draft: _Draft, library: bytes) -> LoadedFunction:
        """Return the function of a draft with this library, which is made anew if another machine made it."""
        key, inputs = self._key(draft.text), len(draft.inputs)
        try:
            return load(draft.text, key, library, inputs)
        except RuntimeError:
            return load(draft.text, key, self.library(draft.text, is_made=True), inputs)

    def _key(self, text: str) -> str:
        return object_cache.key([*self._identity, *toolchain.arguments(self._compiler, self._level), text])


_warned = False


def _refuse(texts: Iterable[str], reason: Exception) -> None:
    """Have no functions for some texts, with one warning in all."""
    global _warned
    KNOWN.update(dict.fromkeys(texts))
    if not _warned:
        warn(f"compiled functions run their operators one by one, as there is no kernel for several: {reason}")
    _warned = True
