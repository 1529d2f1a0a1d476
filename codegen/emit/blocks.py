"""Kernels that call a function of whole rows: which calls, and what they leave for the loop around them.

vector_math.h, special.h and complex_math.h have functions of rows that use vector instructions no compiler makes of a
loop, or compute less where the row allows it. A kernel that is nothing but such a call hands its rows over. One that
contains the call computes the arguments of a few hundred elements, calls the function of rows for them, and computes
the rest from its results, which the level-1 cache still holds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..dtypes import DType
from ..expr import Emitted
from ..expr.kernel_text import emit_tree, variable
from ..expr.typed import Arg, Cast, Const, Node, Op, postorder, replaced

RESULT = "staged"
"""The variable that has the call's result in the rest of the expression."""
_UNNAMED = "<result>"
"""What the typed tree calls it, so that an argument may have that name."""
_OWN = {_UNNAMED: RESULT}


@dataclass(frozen=True)
class BlockCall:
    """The call of a function of rows: of inputs as they are, or of one expression."""

    function: str
    dtype: DType
    inputs: tuple[str, ...]
    expression: str | None
    rest: Emitted | None
    """The kernel's expression with RESULT in place of the call; None when there is nothing else."""
    fills: bool
    """Need its rows not be filled up to vectors?"""

    @property
    def ctype(self) -> str:
        return self.dtype.c_type


def block_call(emitted: Emitted, inputs: Collection[str]) -> BlockCall | None:
    """The only call in the expression that has a function of rows; None when there are several, or it needs what the
    loop computes before. `inputs` are the arguments that are rows."""
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
    computed = {node for node in postorder(call.operands[0]) if not _is_at_hand(node)}
    if argument.statements or (rest is not None and computed.intersection(postorder(rest.root))):
        return None
    return BlockCall(function, call.dtype, (), argument.value, rest or emit_result(call.dtype), fills=False)


def emit_result(dtype: DType) -> Emitted:
    """An expression that is the call's result as it is."""
    return emit_tree(Arg(dtype, _UNNAMED), _OWN)


def _rest(root: Node, call: Node) -> Emitted:
    return emit_tree(replaced(root, call, Arg(call.dtype, _UNNAMED)), _OWN)


def _function(node: Op) -> str | None:
    return node.row.block(node.operand_dtype)


def _is_at_hand(node: Node) -> bool:
    """Is it an argument or a number, so that nothing is computed twice where it occurs twice?"""
    return isinstance(node, (Arg, Const)) or (isinstance(node, Cast) and isinstance(node.operand, Arg))
