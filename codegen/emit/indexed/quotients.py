"""Integer divisions that all lanes have in common, which are computed before the loop over lanes: compilers cannot move
them there, as a zero divisor sets a flag. Where only the dividend differs and is the position of an extremum, which is
small, the divisor's inverse is computed there: processors have no integer division of vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from ...dtypes import INT64
from ...expr.emit_c import Emitted
from ...expr.typed import Arg, Node, Op, may_fail, names, postorder, replaced

_OF_POSITIONS = {"floor_divide": "ow_quotient", "remainder": "ow_remainder"}


def hoisted(
    root: Node,
    texts: Mapping[str, str],
    varying: Collection[str],
    positions: Collection[str],
    prefix: str,
    print_tree: Callable[[Node, Mapping[str, str]], Emitted],
) -> tuple[Node, dict[str, str], list[str]]:
    """Return the tree with names for what is computed before, the C of these names, and the statements that compute it.

    `varying` are the names that differ from lane to lane, among them `positions`, those of extrema.
    """
    new: dict[Node, Node] = {}
    own: dict[str, str] = {}
    statements: list[str] = []
    for number, node in enumerate(_divisions(root, varying, positions)):
        name = f"{prefix}q{number}"
        if names(node) & {*varying}:
            assert isinstance(node, Op)
            dividend, before, ctype = node.operands[0], node.operands[1], "ow_divisor"
            assert isinstance(dividend, Arg)
            own[name] = f"{_OF_POSITIONS[node.function]}({texts[dividend.name]}, {name})"
        else:
            before, ctype, own[name] = node, node.dtype.c_type, name
        value = print_tree(before, texts)
        statements += value.statements
        made = f"ow_divisor_of({value.value}, err)" if ctype == "ow_divisor" else value.value
        statements.append(f"const {ctype} {name} = {made};")
        new[node] = Arg(node.dtype, name)
    return replaced(root, new), own, statements


def _divisions(root: Node, varying: Collection[str], positions: Collection[str]) -> Iterator[Node]:
    """Yield the largest parts with divisions that can be computed before, but none of what a choice may leave out."""
    seen: set[Node] = set()

    def visit(node: Node) -> Iterator[Node]:
        if node in seen or not any(map(may_fail, postorder(node))):
            return
        seen.add(node)
        if not names(node) & {*varying} or _is_of_position(node, varying, positions):
            yield node
            return
        is_choice = isinstance(node, Op) and node.function == "where"
        for child in node.children[:1] if is_choice else node.children:
            yield from visit(child)

    return visit(root)


def _is_of_position(node: Node, varying: Collection[str], positions: Collection[str]) -> bool:
    if not isinstance(node, Op) or node.function not in _OF_POSITIONS or node.dtype != INT64:
        return False
    dividend, divisor = node.operands
    return isinstance(dividend, Arg) and dividend.name in positions and not names(divisor) & {*varying}
