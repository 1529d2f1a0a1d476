"""Kernels of groups: their C, compiled at once and kept by its content, as functions that take and give tensors.

A second process finds what a first one compiled. The cache only saves time: where it cannot be written to, or is
damaged, the kernel is compiled; where that is not possible either, there is none.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.errors import raise_pending
from .._base.warn import warn
from .._C import lib
from .._dispatch.define import Operators
from .._handle import make_results
from .._toolchain import isa_levels, object_cache, toolchain
from ..codegen import fused, recorded
from ..codegen.dtypes import DType
from ..codegen.expr.typed import Arg, Node, names, postorder
from ..codegen.model.operator import MAX_OUTPUTS
from ._graph import Operation, Value
from ._groups import Group, dtype_of, name_of

if TYPE_CHECKING:
    from ._program import Program

CACHE = "compiled"
"""The folder of the user's cache that has compiled kernels."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that computes values of a group.

    Attributes:
        function: takes the inputs and gives the results, a tuple of them if there are several.
        operations: the calls that it computes, in order.
        text: its C.
        backward: the program of its gradients, where these are recorded.
    """

    function: Callable[..., Any]
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    operations: tuple[Operation, ...]
    text: str
    backward: Program | None = None

    @property
    def operands(self) -> tuple[Value, ...]:
        """The inputs, by the name that they have in an operation."""
        return self.inputs

    @property
    def operators(self) -> list[str]:
        """The names of the operators whose calls it computes, in order."""
        return [each.op.name for each in self.operations]


class _Draft(NamedTuple):
    """A kernel that is not compiled yet."""

    group: Group
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    text: str


def kernels(groups: Sequence[Group]) -> list[list[Kernel] | None]:
    """Return the kernels that compute what each group keeps, mostly one; None: there can be none."""
    drafts = [_drafts(each) for each in groups]
    functions = _functions({each.text: each for of_group in drafts for each in of_group or ()}.values())
    return [None if of_group is None else _made(of_group, functions) for of_group in drafts]


def _drafts(group: Group) -> list[_Draft] | None:
    kept = group.kept
    parts = [tuple(kept[begin : begin + MAX_OUTPUTS]) for begin in range(0, len(kept), MAX_OUTPUTS)]
    drafts = [_draft(group, each) for each in parts]
    return None if None in drafts else [each for each in drafts if each is not None]


def _draft(group: Group, results: tuple[Value, ...]) -> _Draft | None:
    roots = [group.nodes[each] for each in results]
    used = frozenset[str]().union(*(names(each) for each in roots))
    inputs = tuple(value for name, value in group.leaves.items() if name in used)
    if not inputs:
        return None
    # Names by position, so that equal groups have one text wherever they are in programs.
    named = {name_of(value): f"a{place}" for place, value in enumerate(inputs)}
    text = _text(
        {named[name_of(value)]: dtype_of(value) for value in inputs}, [_renamed(each, named) for each in roots]
    )
    return _Draft(group, inputs, results, text)


def _made(drafts: Sequence[_Draft], functions: Mapping[str, Any]) -> list[Kernel] | None:
    made = []
    for group, inputs, results, text in drafts:
        function = functions[text]
        if function is None or not _gives(function, inputs, results):
            return None
        made.append(Kernel(function, inputs, results, tuple(group.operations), text))
    return made


def _gives(function: Any, inputs: Sequence[Value], results: Sequence[Value]) -> bool:
    """Return whether the results have the shapes and strides that the recorded calls gave."""
    made = make_results(function, tuple(each.tensor for each in inputs), None, 0, True)
    pairs = zip(made if isinstance(made, tuple) else (made,), results, strict=True)
    return all((tuple(a.shape), a.stride()) == (b.facts.shape, b.facts.stride) for a, b in pairs)


def _renamed(root: Node, named: dict[str, str]) -> Node:
    arguments = {each.name: Arg(each.dtype, named[each.name]) for each in postorder(root) if isinstance(each, Arg)}
    return recorded.with_operands(root, arguments)


def _text(inputs: dict[str, DType], roots: Sequence[Node]) -> str:
    return fused.c_text(fused.operator("recorded", inputs, roots))


# ---- compiling ----------------------------------------------------------------------------------------------


_known: dict[str, Any] = {}
"""The functions of C texts; None where one cannot be compiled."""


def _functions(drafts: Iterable[_Draft]) -> Mapping[str, Any]:
    """The functions of the C texts of some drafts, which are compiled at the same time."""
    missing = [each for each in drafts if each.text not in _known]
    texts = [each.text for each in missing]
    if len(missing) > 1:
        with ThreadPoolExecutor(toolchain.cores()) as pool:
            libraries = list(pool.map(_shared_object, texts))
    else:
        libraries = [_shared_object(each) for each in texts]
    for draft, library in zip(missing, libraries, strict=True):
        _known[draft.text] = _function(draft, library)
    return _known


def _function(draft: _Draft, library: bytes | Exception) -> Any:
    if isinstance(library, Exception):
        _warn_once(str(library))
        return None
    name = f"recorded_{sha256(draft.text.encode()).hexdigest()[:12]}"
    with tempfile.TemporaryDirectory(prefix="opweave-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, f"{name}.so")
        path.write_bytes(library)
        index = lib.load_library(os.fsencode(path))
    if index < 0:
        raise_pending()
    operators, inputs = Operators({}, name), len(draft.inputs)
    params = tuple((f"a{place}", "Tensor") for place in range(inputs))
    operators.define(index, name, "elementwise", "t" * inputs, params, inputs, function=True)
    return operators.functions[name]


_warned = False


def _warn_once(reason: str) -> None:
    global _warned
    if not _warned:
        warn(f"compiled functions run their operators one by one, as there is no kernel for several: {reason}")
    _warned = True


def _shared_object(text: str) -> bytes | Exception:
    """The library of a C text, from the user's cache or from the compiler, or the error of that."""
    try:
        compiler, level = toolchain.find(), isa_levels.own()
        kept = object_cache.ObjectCache(object_cache.users_folder(CACHE))
        key = object_cache.key([*toolchain.identity(compiler), *toolchain.arguments(compiler, level), text])
        found = kept.find(key)
        if found is None:
            found = toolchain.library(compiler, text, level)
            kept.keep(key, found)
            kept.remove_unused()
        return found
    except (toolchain.CompilerError, OSError) as error:
        return error
