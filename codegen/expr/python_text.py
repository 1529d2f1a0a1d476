"""Python of integers of a call, for bodies that are Python: sizes of tensors, integers and lists of arguments."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import ExpressionError
from .functions.lists import ITEM, LENGTH
from .indexed import SHAPE
from .tree import NOWHERE
from .typed import Arg, Cast, Const, Node, Op

_FORMS = {
    "add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "neg": "(-{})",
    "floor_divide": "({} // {})", "remainder": "({} % {})", "ceil_div": "(-(-{} // {}))",
    "minimum": "min({}, {})", "maximum": "max({}, {})", "where": "({1} if {0} else {2})",
    "lt": "({} < {})", "le": "({} <= {})", "gt": "({} > {})", "ge": "({} >= {})", "eq": "({} == {})",
    "ne": "({} != {})",
    "logical_and": "({} and {})", "logical_or": "({} or {})", "logical_not": "(not {})",
    ITEM: "{}[{}]", LENGTH: "len({})",
}  # fmt: skip


def python_text(tree: Node, lets: Mapping[str, Node]) -> str:
    """The value in Python, in which names of `lets` are written out. Raises ExpressionError where it has no form."""
    if isinstance(tree, Arg):
        if tree.name in lets:
            return python_text(lets[tree.name], lets)
        return f"{tree.name.removesuffix(SHAPE)}.shape" if tree.name.endswith(SHAPE) else tree.name
    if isinstance(tree, Const):
        return repr(tree.value)
    if isinstance(tree, Cast):
        return python_text(tree.operand, lets)
    assert isinstance(tree, Op)
    if tree.function not in _FORMS:
        message = f"'{tree.function}' is not for the sizes of results whose places are data"
        raise ExpressionError.at(NOWHERE, message, "arithmetic of sizes and arguments")
    return _FORMS[tree.function].format(*(python_text(each, lets) for each in tree.operands))
