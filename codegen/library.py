"""Reads a file of operators: YAML → entries → operators, checked. This is the front end of codegen in one call."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .check import calls, check
from .check.calls import Provided
from .errors import Diagnostics
from .model.operator import Operator
from .read import adjoints, copies, entry, functions, like
from .source import load

__all__ = ["Provided", "read"]


def read(
    path: str | os.PathLike[str],
    name: str | None = None,
    taken: Iterable[str] = (),
    provided: Provided | None = None,
) -> tuple[Operator, ...]:
    """The operators of one file, in its order.

    `name` is what messages and generated files call it; `taken` are names it must not define, `provided` the functions
    that its bodies and its formulas may call besides its own (None: they are not known). Raises CodegenError with
    every mistake found.
    """
    diagnostics = Diagnostics()
    document = load(path, diagnostics, name)
    nodes, language = functions.read(document.root, diagnostics)
    entries = [
        None if node is None else entry.read(node, document.file, document.lines, diagnostics, language)
        for node in like.resolve(nodes, diagnostics)
    ]
    declarations = [declaration for declaration in entries if declaration is not None]
    complete = len(declarations) == len(entries)
    declarations += copies.derived(declarations)
    declarations = adjoints.derived(declarations, diagnostics)
    check(declarations, diagnostics, taken, complete=complete)
    calls.check(declarations, diagnostics, provided)
    diagnostics.raise_if_any()
    return tuple(operator for operator in declarations if isinstance(operator, Operator))
