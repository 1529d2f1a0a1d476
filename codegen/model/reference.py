"""The NumPy form of an operator, with which tests compare and from which examples are computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import variants
from .operator import Family, Operator


def reference(operator: Operator) -> str | None:
    """The NumPy form as an expression over the names of the schema, or None."""
    text = operator.reference or f"np.{operator.name}"
    if text == "none":
        return None
    return f"{text}({', '.join(_numpy_arguments(operator))})" if re.fullmatch(r"\w+(\.\w+)+", text) else text


def _numpy_arguments(operator: Operator) -> Iterator[str]:
    """The arguments in the form in which NumPy's functions of the family take them."""
    if operator.family is Family.REDUCE:
        yield from ("self", "axis=dim", "keepdims=keepdim")
    elif operator.family is Family.SCAN:
        yield from ("self", "axis=dim")
    elif operator.family is Family.FACTORY:
        named = ("dtype", *variants.PLACEMENT)
        yield from (argument.name for argument in operator.schema.arguments if argument.name not in named)
        yield "dtype=dtype"
    else:
        yield from (argument.name for argument in operator.schema.positional if argument.name != "dtype")
