"""The text that explains an operator: its docstring, which follows from its entry.

tests/package/test_docstrings.py calls every operator as its docstring says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from ..model.operator import Operator
from ..model.python_operators import PYTHON_OPERATORS
from ..model.variants import has_inplace, own_name
from .arguments import arguments
from .examples import example
from .results import errors, meaning, result


def docstring(operator: Operator, package: str, recorded: Mapping[str, str]) -> str:
    """The docstring: meaning, formula, arguments, result, errors, spellings and an example."""
    blocks = [meaning(operator)]
    formula = operator.body.formula(operator.result_names)
    if formula:
        blocks.append(f"Formula: {formula}")
    blocks += [_section("Args", arguments(operator)), _section("Returns", [result(operator)])]
    blocks.append(_section("Raises", errors(operator)))
    also = spellings(operator)
    if also:
        blocks.append(f"Also: {also}.")
    session = example(operator, package, recorded)
    if session:
        blocks.append("Example:\n" + textwrap.indent(session, "    "))
    return "\n\n".join(blocks) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join(
        [f"{title}:", *(textwrap.fill(line, 112, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines)]
    )


def spellings(operator: Operator) -> str:
    """The operators of Python, methods, in-place forms and aliases that compute the same."""
    names = []
    if operator.operator:
        python = PYTHON_OPERATORS[operator.operator]
        names.append(f"`a {python.symbol} b`" if python.operands == 2 else f"`{python.symbol}(a)`")
    if operator.method:
        names.append(f"`Tensor.{operator.name}`")
    if operator.property_name:
        names.append(f"`Tensor.{operator.property_name}`, a property")
    if has_inplace(operator):
        below = operator.module or ("Tensor" if operator.method else None)
        where = own_name(operator) if below is None else f"{below}.{own_name(operator)}"
        names.append(f"`{where}_` in place")
    names += [f"`{alias}`" for alias in operator.aliases]
    return ", ".join(names)
