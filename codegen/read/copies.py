"""torch's `*_copy` operators: what a view gives, in contiguous memory of its own. They follow from the entries of views
that have the tag `copied`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..model.operator import Composite, Declaration, Operator
from ..schema import FunctionSchema, parse
from .internal import scalar_of

TAG = "copied"
DERIVED = "copy"
"""The tag of what is derived: like that of its view, its success depends on strides."""
_CLONE = "clone(memory_format=contiguous_format)"


def derived(declarations: Iterable[Declaration]) -> Iterator[Operator]:
    """The operators that copy, of those declared that have one."""
    for declaration in declarations:
        if isinstance(declaration, Operator) and TAG in declaration.tags:
            yield _copy(declaration)


def _copy(view: Operator) -> Operator:
    name = f"{view.name}_copy"
    return replace(
        view,
        schema=parse(str(view.schema).replace(view.name, name, 1).replace("Tensor(a)", "Tensor")),
        body=Composite(scalar_of(_body(view), view.span), None),
        doc=_doc(view),
        text=f"# {name} follows from this entry.\n{view.text}",
        method=False,
        function=True,
        internal=False,
        operator=None,
        aliases=(),
        exports=(),
        tags=("out_exact", DERIVED),
        places={name: view.span},
        reference="none",
        derivatives={},
        complex_derivatives={},
        rule=None,
        reason=None,
    )


def _body(view: Operator) -> str:
    call = f"{view.name}({', '.join(_arguments(view.schema))})"
    return f"return tuple([each.{_CLONE} for each in {call}])" if view.returns_list else f"return {call}.{_CLONE}"


def _arguments(schema: FunctionSchema) -> Iterator[str]:
    yield from (argument.name for argument in schema.positional)
    yield from (f"{argument.name}={argument.name}" for argument in schema.keyword_only)


def _doc(view: Operator) -> str:
    _, marker, returns = view.doc.partition(" Returns ")
    shape = f"Returns {returns}" if marker else f"Returns the shape that `{view.name}` gives; dtype that of the input."
    return f"Copy of what `{view.name}` gives, in contiguous memory. {shape}"
