"""Functions of sparse tensors as functions of their values, which have their histories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._representations.sparse.tensor import is_sparse
from .jacobians import as_tuple

if TYPE_CHECKING:
    from .jacobians import Function

__all__ = ["of_values"]


def of_values(func: Function, arguments: tuple[Any, ...]) -> tuple[Function, tuple[Any, ...]]:
    """The function with values in place of its sparse arguments, and of its sparse results; and the arguments."""

    def of_dense(*values: Any) -> Any:
        given = [
            each._with_values(value) if is_sparse(each) else value
            for each, value in zip(arguments, values, strict=True)
        ]
        results = func(*given)
        found = tuple(each._sparse.values if is_sparse(each) else each for each in as_tuple(results))
        return found if isinstance(results, (tuple, list)) else found[0]

    return of_dense, tuple(each._sparse.values if is_sparse(each) else each for each in arguments)
