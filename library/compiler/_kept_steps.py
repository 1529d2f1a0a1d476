"""Steps of graphs, kept on disk: another process makes a program without reading declarations or printing C.

They are found by a digest of everything that they follow from: the graph, and the files that divide it and print its
kernels. Kernels are for all sizes, so of sizes it has which are equal, and which are 0 or 1. An entry is JSON, which
says by number which operations are one kernel, with its C and the key of its library. It only saves time: where it is
missing, damaged, or has a library that is not there any longer, the graph is divided anew.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from .. import _C, codegen
from .._base.devices import device
from .._base.dtypes import dtype, get_default_dtype
from .._base.tensor_class import Tensor
from .._base.types import layout, memory_format, qscheme
from .._C import lib
from .._dispatch.op import Op
from .._toolchain import object_cache
from ._graph import Graph, Operation, Value
from ._kernels import Kernel, Merged, kept_function, kernel_of
from ._recording import Facts

Steps = list[Merged | Operation]
_Object = TypeVar("_Object")
_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes, range, slice, type(...)))
_NAMED = (device, dtype, layout, memory_format, qscheme)


def steps_of(graph: Graph) -> Steps:
    """Return the steps of a graph, without those of what follows."""
    kept = object_cache.ObjectCache(object_cache.users_folder("programs"))
    try:
        described = _Described(graph)
    except _Unknown:
        described = None
    found = None if described is None else described.steps(kept.find(described.key))
    if found is not None:
        return found
    from ._drafts import divided

    found, is_complete = divided(graph)
    if described is not None and is_complete:
        kept.keep(described.key, described.entry(found))
        kept.remove_unused()
    return found


class _Unknown(Exception):  # noqa: N818 (no error)
    """Exception: a graph has an object whose state is not known."""


class _Described:
    """A graph as a text that is the same in other processes, and its objects, which steps name by number.

    Attributes:
        key: the digest of the text, and of what the steps depend on besides.
    """

    def __init__(self, graph: Graph) -> None:
        """Describe a graph. Raises _Unknown where that cannot be done."""
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        parts = (_files(), str(lib.level()), repr(get_default_dtype()), *self._text(graph))
        self.key = object_cache.key(parts)

    def _text(self, value: Any) -> Iterator[str]:
        """The lines of a value: of objects what their classes show of them, once."""
        kind = type(value)
        yield kind.__qualname__
        if kind in _PLAIN or isinstance(value, _NAMED):
            yield repr(value)
        elif isinstance(value, Op):
            yield value.qualified
        elif isinstance(value, Facts):
            yield repr(value.dtype)
            yield from self._layout(value.shape, value.stride)
        elif isinstance(value, Tensor):
            yield repr(value.tolist())
        elif kind in (list, dict) or isinstance(value, tuple):
            yield str(len(value))
            for each in value.items() if kind is dict else value:
                yield from self._text(each)
        elif id(value) in self._numbers:
            yield str(self._numbers[id(value)])
        elif is_dataclass(value):
            self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
            for field in fields(value):
                if field.repr:
                    yield from self._text(getattr(value, field.name))
        else:
            raise _Unknown

    def _layout(self, shape: tuple[int, ...], stride: tuple[int, ...]) -> Iterator[str]:
        """The lines of a shape and its strides: what a layout of other sizes has in common with them."""
        for each in shape:
            yield str(each) if each < 2 else f"size {self._sizes.setdefault(each, len(self._sizes))}"
        order = sorted(range(len(shape)), key=lambda dim: (stride[dim], -dim))
        expected = 1
        for dim in order:
            yield f"{dim} {0 if stride[dim] == 0 else 1 if stride[dim] == expected else 2}"
            expected = stride[dim] * shape[dim]

    # ---- entries ----

    def entry(self, steps: Steps) -> bytes:
        """Return the entry of some steps."""
        return json.dumps([self._of_step(each) for each in steps], indent=1).encode()

    def steps(self, entry: bytes | None) -> Steps | None:
        """Return the steps of an entry; None where it is none, or not all of its libraries are kept."""
        try:
            return None if entry is None else [self._step(each) for each in json.loads(entry)]
        except (ValueError, LookupError, TypeError, RecursionError):
            return None

    def _of_step(self, step: Merged | Operation) -> dict[str, Any]:
        if isinstance(step, Operation):
            return {"operation": self._number(step)}
        kernels = [
            {
                "inputs": [*map(self._number, each.inputs)],
                "results": [*map(self._number, each.results)],
                "library": each.library,
                "text": each.text,
            }
            for each in step.kernels
        ]
        return {"operations": [*map(self._number, step.operations)], "kernels": kernels}

    def _step(self, step: dict[str, Any]) -> Merged | Operation:
        """The step of an entry. Raises LookupError where a library is not kept."""
        if "operation" in step:
            return self._object(Operation, step["operation"])
        operations = tuple([self._object(Operation, each) for each in step["operations"]])
        return Merged(operations, tuple([self._kernel(operations, **each) for each in step["kernels"]]))

    def _kernel(
        self, operations: tuple[Operation, ...], inputs: list[int], results: list[int], library: str, text: str
    ) -> Kernel:
        loaded = kept_function(text, library, len(inputs))
        given, made = (tuple([self._object(Value, each) for each in numbers]) for numbers in (inputs, results))
        kernel = None if loaded is None else kernel_of(loaded, given, made, operations, text)
        if kernel is None:
            raise LookupError(library)
        return kernel

    def _number(self, value: Value | Operation) -> int:
        return self._numbers[id(value)]

    def _object(self, kind: type[_Object], number: int) -> _Object:
        found = self._objects[number]
        if not isinstance(found, kind):
            raise TypeError(number)
        return found


@cache
def _files() -> str:
    """The sizes of the files that divide graphs and print kernels, and when they were written."""
    own, printing = (os.path.dirname(each) for each in (__file__, codegen.__file__))
    beside = os.path.dirname(printing)  # in the source tree the templates are there
    paths = (_C.__file__, own, printing, os.path.join(beside, "templates"), os.path.join(beside, "ops.yaml"))
    return "\n".join(line for path in paths for line in _written(path))


def _written(path: str) -> Iterator[str]:
    try:
        status = os.stat(path)
        entries = sorted(os.listdir(path)) if stat.S_ISDIR(status.st_mode) else None
    except OSError:
        return
    if entries is None:
        yield f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}"
        return
    for each in entries:
        if each != "__pycache__":
            yield from _written(os.path.join(path, each))
