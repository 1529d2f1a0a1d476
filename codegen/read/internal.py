"""Operators that follow from another one and are there for its formulas alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..errors import Span
from ..model.operator import Body, Operator
from ..schema import parse
from ..source import Scalar, SourceText


def internal(operator: Operator, schema: str, body: Body, doc: str, **facts: Any) -> Operator:
    """The operator of this schema and body, which is otherwise like the one that it follows from but for `facts`."""
    parsed = parse(schema)
    name = parsed.name.base
    return replace(
        operator,
        schema=parsed,
        doc=doc,
        text=f"# {name} follows from this entry.\n{operator.text}",
        method=False,
        function=False,
        operator=None,
        aliases=(),
        module=None,
        exports=(),
        internal=True,
        derived=True,
        tags=(),
        places={name: operator.span},
        body=body,
        reference="none",
        complex_derivatives=MappingProxyType({}),
        choices=MappingProxyType({}),
        shortcuts=MappingProxyType({}),
        accepts=MappingProxyType({}),
        **facts,
    )


def returned(names: Iterable[str | None]) -> str:
    """Return the results of a schema: tensors of these names, or one, which needs no name."""
    tensors = [f"Tensor {name}" for name in names]
    return f"({', '.join(tensors)})" if len(tensors) > 1 else "Tensor"


def unused(name: str, taken: set[str]) -> str:
    """The name, longer where it is taken; it is taken then."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def listed(texts: Iterable[str]) -> str:
    """A tuple in a formula."""
    return f"({''.join(f'{text}, ' for text in texts)})"


def scalar_of(text: str, span: Span) -> Scalar:
    """The text as if it stood in a file: nobody is told of mistakes in it."""
    places = tuple(range(len(text) + 1))
    return Scalar(text, "plain", span, SourceText(span.file, text), 0, len(text), places)
