"""Prints nodes as YAML, each scalar as it stands in its file."""

from __future__ import annotations

from .nodes import Mapping, Node, Scalar


def to_yaml(node: Node, indentation: str = "") -> str:
    """The lines of a node, which begin with `indentation`; the first one is that of a key or an item, or the value."""
    if isinstance(node, Scalar):
        return node.source.text[node.start : node.stop].rstrip()
    deeper = indentation + "  "
    if isinstance(node, Mapping):
        lines = [f"{to_yaml(key)}:{_value(value, deeper)}" for key, value in node.items]
        return f"\n{indentation}".join(lines) or "{}"
    if all(isinstance(item, Scalar) for item in node):
        return f"[{', '.join(map(to_yaml, node))}]"
    return f"\n{indentation}".join(f"- {to_yaml(item, deeper)}" for item in node)


def _value(node: Node, indentation: str) -> str:
    text = to_yaml(node, indentation)
    if isinstance(node, Scalar) or text[0] in "[{":
        return f" {text}".rstrip()
    return f"\n{indentation}{text}"
