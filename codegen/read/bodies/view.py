"""`view`: shape, strides and offset of the result in the language of geometry, and the conditions to check first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ...dtypes import BOOL, INT64, INT_LIST, DType
from ...expr import geometry
from ...expr.geometry import Geometry
from ...expr.typed import names
from ...model.operator import View
from ...schema import Argument, base_name
from ...source import Mapping as MappingNode
from ...source import Scalar
from ..fields import Entry, lacks
from ..reserved import argument_reason
from . import requirements
from .shared import report_unused

EXAMPLE = "view: {shape: ..., strides: ...}"
_KEYS = ("require", "let", "shape", "strides", "offset", "copies", "wrap")
_WORD = re.compile(r"\w+")


class _Geometry:
    """Reads expressions over the names in `scope`, and collects the names that they use."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.scope: dict[str, DType] = dict(geometry.BASE_SCOPE)
        for argument in entry.schema.arguments:
            if argument.name != "self":
                self.scope[local_name(argument)] = INT_LIST if argument.is_list else INT64
        self.used: set[str] = set()
        self.broken: set[str] = set()

    def read(self, scalar: Scalar, expected: DType | None = None) -> Geometry | None:
        if self.broken & set(_WORD.findall(scalar.value)):
            return None  # the definition of such a name has to be corrected first
        tree = self.entry.located(scalar, lambda text: geometry.read(text, self.scope, expected))
        if tree is not None:
            self.used |= names(tree)
        return tree

    def field(self, owner: MappingNode, key: str, expected: DType | None) -> Geometry | None:
        scalar = self.entry.text(owner, key)
        return None if scalar is None else self.read(scalar, expected)


def read(entry: Entry, node: MappingNode) -> View | None:
    """Read the body of a view; None: there is a mistake, which is reported."""
    entry.known_keys(node, _KEYS, where="view")
    for key in ("shape", "strides"):
        if lacks(node, (key,), _KEYS):
            entry.report(node.span, f"'view' needs '{key}'", EXAMPLE)
    before = len(entry.diagnostics)
    reader = _Geometry(entry)
    wrap = _wrap(entry, node, reader)
    require = requirements.read(
        entry, node.get("require"), "ndim > 0", lambda text: reader.read(text, BOOL), reader.read
    )
    let = _let(entry, node, reader)
    shape = reader.field(node, "shape", INT_LIST)
    strides = reader.field(node, "strides", INT_LIST)
    offset = reader.field(node, "offset", INT64)
    shape_text = node.get("shape")
    if len(entry.diagnostics) > before or shape is None or strides is None or shape_text is None:
        return None
    rest = [argument for argument in entry.schema.arguments if not argument.is_tensor]
    used = frozenset(argument.name for argument in rest if local_name(argument) in reader.used)
    report_unused(entry, "view", rest, used)
    return View(shape, strides, offset, let, require, wrap, entry.flag(node, "copies"), shape_text.span.line)


def local_name(argument: Argument) -> str:
    """The name of an argument in the body: `shape_` is the argument, `shape` that of the input."""
    return argument.name + "_" if argument.name in geometry.BASE_SCOPE else argument.name


def _let(entry: Entry, node: MappingNode, reader: _Geometry) -> tuple[tuple[str, Geometry], ...]:
    """Local names and their values, which may use earlier ones."""
    bindings: list[tuple[str, Geometry]] = []
    locals_node = entry.mapping(node, "let", "name to expression")
    for key in () if locals_node is None else locals_node.keys:
        assert locals_node is not None
        tree = reader.field(locals_node, key.value, None)
        reason = argument_reason(key.value, entry.family)
        if key.value in reader.scope:
            entry.report(key.span, f"'{key.value}' is already the name of something else")
        elif not key.value.isidentifier() or reason is not None:
            entry.report(key.span, f"'{key.value}' {reason or 'is not a name'}", "rename it")
        elif tree is not None:
            reader.scope[key.value] = tree.dtype
            bindings.append((key.value, tree))
        else:
            reader.broken.add(key.value)
    return tuple(bindings)


def _wrap(entry: Entry, owner: MappingNode, reader: _Geometry) -> Mapping[str, Geometry]:
    """The range of each dimension argument: `ndim` unless `wrap` has another one."""
    node = entry.mapping(owner, "wrap", "dimension argument to its range")
    integral = [a.name for a in entry.schema.arguments if base_name(a.type) == "int"]
    if node is not None:
        entry.known_keys(node, integral, "dimension argument")
    ranges: dict[str, Geometry] = {}
    for name in integral:
        if node is not None and name in node:
            tree = reader.field(node, name, INT64)
        elif not name.startswith("dim"):
            continue
        else:
            tree = geometry.read("ndim")
        if tree is not None:
            ranges[name] = tree
    return MappingProxyType(ranges)
