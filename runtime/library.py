"""opweave.library: who answers calls of operators, for tensors that the core does not compute with.

A tensor may carry dispatch keys, as those of a class derived from Tensor do. A call whose tensors carry one goes to the
function that is registered for it, instead of the core. Every such function has one signature:

    function(op, args, out, mode)

`op` names the operator (`op.name`) and its arguments (`op.names`). `args` are the arguments in the order of the schema,
with their defaults. `out` is the tensor, or tuple of tensors, that the result is to be written to, or None. `mode` is
NEW, INPLACE (the argument number `op.target` is overwritten and returned) or OUT. What the function returns is the
result of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TypeVar

from ._dispatch import dispatcher
from ._dispatch.dispatcher import Handler, redispatch
from ._dispatch.op import INPLACE, NEW, OUT
from ._dispatch.ops import ops

__all__ = ["INPLACE", "NEW", "OUT", "redispatch", "register", "register_fallback"]

_Function = TypeVar("_Function", bound=Handler)


def register(operator: str, key: str) -> Callable[[_Function], _Function]:
    """Return a decorator that has a function answer calls of one operator for tensors with a dispatch key.

    Args:
        operator (str): the name of an operator of ops.yaml, such as `"add"` or `"linalg_qr"`; `"add_"` is the same one.
        key (str): `"subclass"`, `"autograd"`, `"named"`, `"sparse"`, `"quantized"`, `"cuda"` or `"meta"`.

    Raises:
        ValueError: there is no such operator or key, or the operator has a function for the key.
    """
    if not hasattr(getattr(ops, operator, None), "op"):
        near = get_close_matches(operator, [name for name, each in vars(ops).items() if hasattr(each, "op")], 1)
        raise ValueError(f"there is no operator {operator!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    def decorate(function: _Function) -> _Function:
        dispatcher.register(key, function, getattr(ops, operator).op)
        return function

    return decorate


def register_fallback(key: str, *, composites: bool = False) -> Callable[[_Function], _Function]:
    """Return a decorator that has a function answer calls of all operators that have none of their own for a key.

    Args:
        key (str): as of `register`.
        composites (bool): also of operators that are made of others. Else these are decomposed, and the function sees
            the calls that they make.

    Raises:
        ValueError: there is no such key, or it has a fallback.
    """

    def decorate(function: _Function) -> _Function:
        dispatcher.register(key, function, composites=composites)
        return function

    return decorate
