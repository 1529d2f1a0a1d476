"""The Python of a composite: its requirements, and its body as it stands in the file."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence

from ..model.operator import Composite
from ..source import Scalar


def composite_body(body: Composite) -> str:
    """Return the Python text of a composite, with the checks of its requirements before."""
    return "\n".join((*_requirements(body), body.source.value.rstrip()))


def _requirements(body: Composite) -> Iterator[str]:
    for requirement in body.require:
        if not requirement.message:
            yield ast.unparse(_parsed(requirement.check))
            continue
        yield f"if {_negated(requirement.check)}:"
        yield f"    raise {requirement.error}({_message(requirement.message)})"


def _negated(check: Scalar) -> str:
    tree = _parsed(check)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return ast.unparse(tree.operand)
    return ast.unparse(ast.UnaryOp(ast.Not(), tree))


def _message(parts: Sequence[str | Scalar]) -> str:
    """A literal, formatted where it quotes values."""
    if all(isinstance(part, str) for part in parts):
        return json.dumps("".join(map(str, parts)), ensure_ascii=False)
    texts = (_literal(part) if isinstance(part, str) else f"{{{ast.unparse(_parsed(part))}}}" for part in parts)
    return f"f{json.dumps(''.join(texts), ensure_ascii=False)}"


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _parsed(text: Scalar) -> ast.expr:
    return ast.parse(text.value.strip(), mode="eval").body
