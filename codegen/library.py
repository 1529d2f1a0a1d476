"""Reads a whole file of operators: YAML → entries → operators, checked. The front half of codegen in one call."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import entry
from .check import check
from .errors import Diagnostics
from .model import Operator
from .source import load


def read(path: str | os.PathLike[str], name: str | None = None, taken: Iterable[str] = ()) -> tuple[Operator, ...]:
    """The operators of one file, in its order.

    `name` is what messages and generated files call it; `taken` are names it must not define. Raises CodegenError with
    every mistake found.
    """
    diagnostics = Diagnostics()
    document = load(path, diagnostics, name)
    found = [entry.read(node, document.file, document.lines, diagnostics) for node in document.root]
    check([declaration for declaration in found if declaration is not None], diagnostics, taken)
    diagnostics.raise_if_any()
    return tuple(operator for operator in found if isinstance(operator, Operator))
