"""Prints loop nests for people: with the names of the declarations in place of C's variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..expr import Emitted
from ..expr.kernel_text import variable
from .nodes import (
    Accumulate,
    Axis,
    Comment,
    Count,
    Find,
    Guard,
    Identity,
    Join,
    Load,
    Map,
    Node,
    Reduction,
    Scope,
    Store,
    Table,
    Truncated,
)

_DECLARED = re.compile(rf"\b{variable('')}(\w+)\b")
_JOINED = {"sum": "{} + {}", "prod": "{} * {}", "any": "{} || {}", "all": "{} && {}"}
_EXTREMA = {"max": "maximum({}, {})", "min": "minimum({}, {})"}


def lines(nodes: Iterable[Node], names: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the lines of nodes, which are not indented. `names` has what arguments are called."""
    texts = dict(names or {})
    for node in nodes:
        if isinstance(node, (Load, Truncated)):
            texts[node.name] = _text(node.element, texts)
        elif isinstance(node, Reduction):
            yield from lines(node.body, texts)
            texts[node.name] = node.variable
        else:
            yield from _lines(node, texts)


def indented(texts: Iterable[str]) -> str:
    """Return the lines as one text, indented as their braces ask for."""
    depth, result = 0, []
    for line in texts:
        depth -= line.startswith("}")
        result.append("    " * depth + line)
        depth += line.endswith("{")
    return "\n".join(result)


def _lines(node: Node, names: Mapping[str, str]) -> Iterator[str]:
    match node:
        case Axis(index, size, body, first, descending):
            end = _text(size, names)
            ascends = f"{index} = {first}; {index} < {end}; {index}++"
            descends = f"{index} = {end} - 1; {index} >= {first}; {index}--"
            yield f"for (int64_t {descends if descending else ascends}) {{"
            yield from lines(body, names)
            yield "}"
        case Scope(body):
            yield from ("{", *lines(body, names), "}")
        case Comment(text):
            yield f"/* {text} */"
        case Identity(name, ctype, value):
            yield f"{ctype} {name} = {value};"
        case Table(name, dtype, sizes, numbers):
            places = "".join(f"[{size}]" for size in sizes)
            yield f"static const {dtype.c_type} {name}{places} = {{{', '.join(map(str, numbers))}}};"
        case Map(name, ctype, value, constant):
            yield from _assigned(value, [f"{'const ' * constant}{ctype} {name}"], names)
        case Accumulate((name,), _, value):
            yield from _assigned(value, [name], names)
        case Accumulate(state, ctypes, value):
            following = [f"next_{name}" for name in state]
            declared = [f"const {ctype} {name}" for ctype, name in zip(ctypes, following, strict=True)]
            yield from _assigned(value, declared, names)
            yield from (f"{name} = {each};" for name, each in zip(state, following, strict=True))
        case Join(name, how, element, compound):
            shown = _shown(element, names)
            each = f"({shown.value})" if compound and how in _JOINED else shown.value
            yield from (*shown.statements, f"{name} = {(_JOINED | _EXTREMA)[how].format(name, each)};")
        case Count(name):
            yield f"{name}_counted++;"
        case Find(name, how, element):
            shown = _shown(element, names)
            yield from shown.statements
            yield f"if ({name}_at < 0 || {shown.value} {'>' if how == 'max' else '<'} {name}) {{"
            yield from (f"{name} = {shown.value};", f"{name}_at = {name}_counted;", "}")
        case Store(elements, value, adds):
            yield from _assigned(value, elements, names, "+=" if adds else "=")
        case Guard(condition, skips):
            shown = _shown(condition, names)
            yield from (*shown.statements, f"if (!({shown.value})) {'continue' if skips else 'break'};")


def _assigned(emitted: Emitted, targets: Sequence[str], names: Mapping[str, str], sign: str = "=") -> list[str]:
    shown = _shown(emitted, names)
    pairs = zip(targets, shown.values, strict=True)
    return [*shown.statements, *(f"{target} {sign} {value};" for target, value in pairs)]


def _shown(emitted: Emitted, names: Mapping[str, str]) -> Emitted:
    statements, values = (tuple(_text(each, names) for each in texts) for texts in (emitted.statements, emitted.values))
    return replace(emitted, statements=statements, values=values)


def _text(written: str, names: Mapping[str, str]) -> str:
    """Return C with the names of the declarations, or with what `names` has for them."""
    return _DECLARED.sub(lambda name: names.get(name[1], name[1]), written)
