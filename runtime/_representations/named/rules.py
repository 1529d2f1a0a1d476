"""The names of the results of an operator, by the rule of its entry or of its family (codegen/model/rules.py).

A rule takes the operator and the arguments of a call and returns the names that its results may have, of which each
gets those that are as many as its dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeAlias

from ..._base.handles import tensors_in
from ..._base.tensor_class import Tensor
from ..._dispatch.op import Op
from ..._dispatch.rules import Signature, signature, tensors
from .dimensions import reduced
from .names import Names, names_of, without
from .products import names_of_product
from .unify import unified_of
from .views import names_of_view

Rule: TypeAlias = Callable[[Op, Sequence[Any]], list[Names]]


def _keeps(op: Op, args: Sequence[Any]) -> list[Names]:
    """Return the names of the tensor whose method is called. Arguments of other kinds the operator refuses."""
    tensor = args[op.target]
    return [names_of(tensor)] if isinstance(tensor, Tensor) else []


def _unifies(op: Op, args: Sequence[Any]) -> list[Names]:
    return [unified_of(tensors_in(args))]


def _reduces(op: Op, args: Sequence[Any]) -> list[Names]:
    """Return the names without the dimensions that are reduced, and all names for results that still have these
    dimensions."""
    names = unified_of(tensors_in(args))
    return [without(names, reduced(op, args, len(names))), names]


def _views(op: Op, args: Sequence[Any]) -> list[Names]:
    return [names_of_view(op, args)] if isinstance(args[op.target], Tensor) else []


def _multiplies(rule: Signature, op: Op, args: Sequence[Any]) -> list[Names]:
    given = [args[place] for place in tensors(op)]
    names = names_of_product(rule, [value if isinstance(value, Tensor) else None for value in given])
    return [] if names is None else [names]


def _joins(op: Op, args: Sequence[Any]) -> list[Names]:
    """Return the names of tensors in a list, which must have equally many dimensions."""
    parts = tensors_in(args)
    for each in parts:
        if each.ndim != parts[0].ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {parts[0].ndim} and {each.ndim}")
    return [unified_of(parts, op.name)]


def _selects(op: Op, args: Sequence[Any]) -> list[Names]:
    """A vector of elements has no name, but those of the tensors must match."""
    _unifies(op, args)
    return [(None,)]


def _drops(op: Op, args: Sequence[Any]) -> list[Names]:
    """None at all, whatever the results are."""
    return []


_WORDS: Mapping[str, Rule | None] = {
    "drop": _drops,
    "join": _joins,
    "keep": _keeps,
    "reduce": _reduces,
    "refuse": None,
    "select": _selects,
    "unify": _unifies,
    "view": _views,
}
"""The rules by the word of the declarations (codegen/model/rules.py)."""


@cache
def rule_of(op: Op) -> Rule | None:
    """None: there is none, so that a composite is decomposed and another operator refuses names."""
    if op.naming is None:
        return None
    found = signature(op.naming)
    return partial(_multiplies, found) if found is not None else _WORDS[op.naming]


def fitting(candidates: list[Names], result: Any) -> Names | None:
    """Return those of the names that fit a result, or None if none do."""
    return next((names for names in candidates if isinstance(result, Tensor) and len(names) == result.ndim), None)
