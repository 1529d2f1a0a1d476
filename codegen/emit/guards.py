"""Rewrites `where` in derivative formulas so that the formulas can be differentiated again.

The derivative of `where(c, a, b)` gives the arm that was not taken a gradient of zero, and zero times an infinite
derivative of that arm is NaN. So if an arm is more than a multiple of `grad`, each input that it uses is replaced, for
elements that do not take the arm, by a number at which the arm and its derivatives are finite.
"""

from __future__ import annotations

from collections.abc import Collection

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..expr import Apply, Expr, ExpressionError, Literal, Name, apply, derive, evaluate, names, shared_parts
from ..model.operator import Derivative, Operator

AUTO = "auto"

_CANDIDATES = (0.5, 2.0, -0.5, -2.0)
"""Numbers at which powers, logarithms and quotients are finite, inside of domains."""
_PARAMETER = 0.75


def guarded(operator: Operator, derivative: Derivative, cache: Cache = NO_CACHE) -> str | None:
    """The derivative formula of an elementwise operator as text, with guarded choices."""
    tree, formula = derivative.tree, derivative.formula
    if tree is None or formula is None:
        return formula
    inputs = {argument.name for argument in operator.inputs if argument.name not in operator.body.fixed} | {"result"}

    def text() -> str:
        safe = _guard(tree, inputs)
        if safe == tree and derivative.text != AUTO:
            return formula
        return shared_parts.text(safe, [param.name for param in operator.params])

    return cache.text(operator, f"guarded {formula}", text)


def _guard(tree: Expr, inputs: Collection[str]) -> Expr:
    done: dict[Expr, Expr] = {}

    def visit(node: Expr) -> Expr:
        if not isinstance(node, Apply):
            return node
        if node not in done:
            args = tuple(map(visit, node.args))
            if node.function == "where":
                condition, then, other = args
                arms = ((then, True), (other, False))
                args = (condition, *(_protected(arm, condition, taken, inputs) for arm, taken in arms))
            done[node] = Apply(node.function, args, span=node.span)
        return done[node]

    return visit(tree)


def _protected(arm: Expr, condition: Expr, taken: bool, inputs: Collection[str]) -> Expr:
    """The arm with its inputs replaced where the condition does not have the value `taken`."""
    used = sorted(_value_names(arm).intersection(inputs))
    if not used or _is_linear(arm, used):
        return arm
    safe = next((candidate for candidate in _CANDIDATES if _is_finite(arm, used, candidate)), None)
    if safe is None:
        return arm

    done: dict[Expr, Expr] = {}

    def protect(node: Expr) -> Expr:
        if isinstance(node, Name) and node.name in used:
            return apply("where", condition, *((node, Literal(safe)) if taken else (Literal(safe), node)))
        if not isinstance(node, Apply):
            return node
        if node not in done:
            kept = 1 if node.function == "where" else 0  # a condition has no derivative
            args = (*node.args[:kept], *map(protect, node.args[kept:]))
            done[node] = Apply(node.function, args, span=node.span)
        return done[node]

    return protect(arm)


def _value_names(tree: Expr) -> frozenset[str]:
    """Names that a value depends on, other than through conditions."""
    found: set[str] = set()
    seen: set[Expr] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Name):
            found.add(node.name)
        parts = node.children[1:] if isinstance(node, Apply) and node.function == "where" else node.children
        waiting += [part for part in parts if part not in seen]
        seen.update(parts)
    return frozenset(found)


def _is_linear(arm: Expr, used: Collection[str]) -> bool:
    """True if the derivatives of the arm depend on no input."""
    try:
        return not any(_value_names(derive(arm, name)).intersection(used) for name in (*used, "grad"))
    except ExpressionError:
        return False


def _is_finite(arm: Expr, used: Collection[str], at: float) -> bool:
    """True if the arm and its known derivatives are finite where all its inputs have the value `at`."""
    import numpy as np

    values = {name: np.float64(at if name in used else 1.0 if name == "grad" else _PARAMETER) for name in names(arm)}
    for name in ("", *used):
        try:
            value = evaluate(derive(arm, name) if name else arm, values)
        except ExpressionError:
            continue  # no derivative is known, or SciPy, which would compute the value, is not installed
        if not np.isfinite(value.astype(np.float64)):
            return False
    return True
