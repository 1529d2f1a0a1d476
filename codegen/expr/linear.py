"""Linear functions among expressions: of some variables, while all other names are constant."""

from __future__ import annotations

from collections.abc import Collection

from .tree import Apply, Expr, Literal, Name, names


def is_linear(tree: Expr, variables: Collection[str]) -> bool:
    """Return True if the expression is a sum of multiples of variables: zero where these are, with nothing added."""
    return _degree(tree, frozenset(variables), {}) == 1


def _degree(tree: Expr, variables: frozenset[str], known: dict[Expr, int | None]) -> int | None:
    """0 of what has no variable, 1 of a linear function, None of all else."""
    if not names(tree) & variables:
        return 0
    if isinstance(tree, Name):
        return 1
    if isinstance(tree, Apply) and tree not in known:
        known[tree] = _of_application(tree, variables, known)
    return known.get(tree)


def _of_application(tree: Apply, variables: frozenset[str], known: dict[Expr, int | None]) -> int | None:
    degrees = [_degree(each, variables, known) for each in tree.args]
    if None in degrees:
        return None
    match tree.function, degrees:
        case ("neg", [1]) | ("add" | "sub", [1, 1]) | ("mul", [0, 1] | [1, 0]) | ("div", [1, 0]):
            return 1
        case "where", [0, *arms] if all(
            degree == 1 or _is_zero(arm) for degree, arm in zip(arms, tree.args[1:], strict=True)
        ):
            return 1
    return None


def _is_zero(tree: Expr) -> bool:
    return isinstance(tree, Literal) and tree.value == 0
