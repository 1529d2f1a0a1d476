"""Kernels: functions of compiled C that take and give tensors, and the libraries that are kept on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.errors import raise_pending
from .._C import lib
from .._dispatch.define import Operators
from .._handle import make_results
from .._toolchain.object_cache import ObjectCache, users_folder
from ._graph import Operation, Value

if TYPE_CHECKING:
    from ._program import Program


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that computes values of a group.

    Attributes:
        function: takes the inputs and gives the results, a tuple of them if there are several.
        library: the key among kept libraries of the one that has the function.
        operations: the calls that it computes, in order.
        text: its C.
        backward: the program of its gradients, where these are recorded.
        parts: the steps that it runs tile by tile; none for a loop.
        out: the memory that it writes its results to; none: that is new.
    """

    function: Callable[..., Any]
    library: str
    inputs: tuple[Value, ...]
    results: tuple[Value, ...]
    operations: tuple[Operation, ...]
    text: str
    backward: Program | None = None
    parts: tuple[Kernel | Operation, ...] = ()
    out: tuple[Value, ...] = ()

    @property
    def operands(self) -> tuple[Value, ...]:
        """The tensors that it is given, by the name that they have in an operation."""
        return (*self.inputs, *self.out)

    @property
    def operators(self) -> list[str]:
        """The names of the operators whose calls it computes, in order."""
        return [each.op.name for each in self.operations]


class Merged(NamedTuple):
    """Operations of a group, and the kernels that compute them: mostly one; none: they run one by one."""

    operations: tuple[Operation, ...]
    kernels: tuple[Kernel, ...]


def kept_libraries() -> ObjectCache:
    """Return the compiled libraries of the user, by their keys."""
    return ObjectCache(users_folder("compiled"))


class LoadedFunction(NamedTuple):
    """A function with the key of its library."""

    function: Any
    library: str


def kernel_of(
    loaded: LoadedFunction,
    inputs: tuple[Value, ...],
    results: tuple[Value, ...],
    operations: tuple[Operation, ...],
    text: str,
) -> Kernel | None:
    """Return the kernel of a function; None if its results have other shapes or strides than recorded calls gave."""
    made = make_results(loaded.function, tuple(each.tensor for each in inputs), None, 0, True)
    pairs = zip(made if isinstance(made, tuple) else (made,), results, strict=True)
    is_alike = all((tuple(a.shape), a.stride()) == (b.facts.shape, b.facts.stride) for a, b in pairs)
    return Kernel(*loaded, inputs, results, operations, text) if is_alike else None


KNOWN: dict[str, LoadedFunction | None] = {}
"""The functions of C texts; None where one cannot be compiled."""


def kept_function(text: str, library: str, inputs: int) -> LoadedFunction | None:
    """Return the function of a C text by the key of its library; None where that is not kept, or cannot be loaded."""
    known = KNOWN.get(text)
    content = None if known is not None else kept_libraries().find(library)
    if content is not None:
        with suppress(RuntimeError, OSError):
            known = KNOWN[text] = load(text, library, content, inputs)
    return known


def load(text: str, library: str, content: bytes, inputs: int) -> LoadedFunction:
    """Return the function of a C text with a number of inputs, in a library of this key and content.

    Raises RuntimeError where this process cannot load it.
    """
    from tempfile import TemporaryDirectory

    name = f"recorded_{sha256(text.encode()).hexdigest()[:12]}"
    with TemporaryDirectory(prefix="opweave-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, f"{name}.so")
        with open(path, "wb") as file:
            file.write(content)
        index = lib.load_library(os.fsencode(path))
    if index < 0:
        raise_pending()
    operators = Operators({}, name)
    params = tuple((f"a{place}", "Tensor") for place in range(inputs))
    operators.define(index, name, "elementwise", "t" * inputs, params, inputs, function=True, out="cast")
    return LoadedFunction(operators.functions[name], library)
