"""Prints loop nests for people: with the names of the declarations in place of C's variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..expr import Emitted
from ..expr.kernel_text import variable
from .nodes import Accumulate, Axis, Comment, Guard, Identity, Join, Load, Map, Node, Scope, Store

_DECLARED = re.compile(rf"\b{variable('')}(\w+)\b")
_JOINED = {"sum": "{} + {}", "max": "maximum({}, {})", "min": "minimum({}, {})"}


def lines(nodes: Iterable[Node], names: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the lines of nodes, which are not indented. `names` has what arguments are called."""
    texts = dict(names or {})
    for node in nodes:
        if isinstance(node, Load):
            texts[node.name] = node.element
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
        case Axis(index, size, body):
            yield f"for (int64_t {index} = 0; {index} < {_text(size, names)}; {index}++) {{"
            yield from lines(body, names)
            yield "}"
        case Scope(body):
            yield from ("{", *lines(body, names), "}")
        case Comment(text):
            yield f"/* {text} */"
        case Identity(name, ctype, value):
            yield f"{ctype} {name} = {value};"
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
            each = f"({shown.value})" if compound and how == "sum" else shown.value
            yield from (*shown.statements, f"{name} = {_JOINED[how].format(name, each)};")
        case Store(elements, value, adds):
            yield from _assigned(value, elements, names, "+=" if adds else "=")
        case Guard(condition):
            shown = _shown(condition, names)
            yield from (*shown.statements, f"if (!({shown.value})) break;")


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
