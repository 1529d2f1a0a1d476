"""Decides which kernels call a function of whole rows, and what is left for the loop around the call.

vector_math.h, special.h and complex_math.h have functions of rows that use vector instructions which no compiler
generates from a loop, or that compute less where the row allows it. A kernel that is only such a call passes its rows
on. A kernel that contains one computes the arguments for a few hundred elements, calls the function for them, and
computes the rest from the results, which are still in the level-1 cache.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..dtypes import DType
from ..expr import Emitted
from ..expr.kernel_text import emit_tree, variable
from ..expr.typed import Arg, Cast, Const, Node, Op, postorder, replaced

RESULT = "staged"
"""The C variable that holds the result of the call in the rest of the expression."""
_UNNAMED = "<result>"
"""The name of the result in the typed tree, which no argument can have."""
_OWN = {_UNNAMED: RESULT}


@dataclass(frozen=True)
class BlockCall:
    """A call of a function of rows, with inputs as they are or with one expression as arguments."""

    function: str
    dtype: DType
    inputs: tuple[str, ...]
    expression: str | None
    rest: Emitted | None
    """The kernel's expression with RESULT in place of the call; None if it is only the call."""
    fills: bool
    """True if the function accepts any length, so that the loop need not pad."""

    @property
    def ctype(self) -> str:
        return self.dtype.c_type


def block_call(emitted: Emitted, inputs: Collection[str]) -> BlockCall | None:
    """The only call in the expression that has a function of rows; None if there are several, or if its arguments have
    to be computed by the loop. `inputs` are the arguments that are rows."""
    calls = [node for node in postorder(emitted.root) if isinstance(node, Op) and _function(node)]
    if len(calls) != 1 or emitted.uses_err:
        return None
    (call,) = calls
    function = _function(call)
    assert function is not None
    rest = None if call == emitted.root else _rest(emitted.root, call)
    names = [operand.name for operand in call.operands if isinstance(operand, Arg) and operand.name in inputs]
    if len(names) == len(call.operands):
        fills = rest is None and call.row.fills
        return BlockCall(function, call.dtype, tuple(map(variable, names)), None, rest, fills)
    if len(call.operands) > 1:
        return None
    argument = emit_tree(call.operands[0])
    computed = {node for node in postorder(call.operands[0]) if not _is_leaf(node)}
    if argument.statements or (rest is not None and computed.intersection(postorder(rest.root))):
        return None
    return BlockCall(function, call.dtype, (), argument.value, rest or emit_result(call.dtype), fills=False)


def emit_result(dtype: DType) -> Emitted:
    """True if the expression is the result of the call itself."""
    return emit_tree(Arg(dtype, _UNNAMED), _OWN)


def _rest(root: Node, call: Node) -> Emitted:
    return emit_tree(replaced(root, call, Arg(call.dtype, _UNNAMED)), _OWN)


def _function(node: Op) -> str | None:
    return node.row.block(node.operand_dtype)


def _is_leaf(node: Node) -> bool:
    """True for an argument or a number, which may occur twice without being computed twice."""
    return isinstance(node, (Arg, Const)) or (isinstance(node, Cast) and isinstance(node.operand, Arg))
