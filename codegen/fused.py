"""Operators of typed trees: what a program computes whose calls were recorded, as one elementwise operator.

Such an operator has no entry. Each input has a dtype of its own and each result as well, so that it is called with
tensors of these dtypes alone, and one kernel is all it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .dtypes import DType, Promotion
from .emit import kernels, registry
from .errors import Span
from .expr.typed import Node, Op, Results, postorder
from .expr.typed_expression import TypedExpression
from .model.operator import Elementwise, Expression, Operator
from .schema import parse
from .source.nodes import Scalar, SourceText

__all__ = ["c_text", "operator"]

_FILE = "recorded"
"""Name in place of that of the entry's file."""
_NOWHERE = Span(_FILE, 1, 1)
_NO_TEXT = Scalar("", "plain", _NOWHERE, SourceText(_FILE, ""), 0, 0)


def operator(name: str, inputs: Mapping[str, DType], results: Sequence[Node]) -> Operator:
    """Return the operator that computes typed trees of arguments of these dtypes, the first of which has kernels."""
    returns = ", ".join(f"Tensor r{place}" for place in range(len(results))) if len(results) > 1 else "Tensor"
    schema = (
        f"{name}({', '.join(f'Tensor {each}' for each in inputs)}) -> {f'({returns})' if len(results) > 1 else returns}"
    )
    computed = next(iter(inputs.values()))
    expressions = tuple(Expression(TypedExpression(each), _NO_TEXT) for each in results)
    body = Elementwise(
        cases=((frozenset({computed}), expressions),),
        fixed=dict(inputs),
        absent={},
        natural={},
        own=tuple(each.dtype for each in results),
    )
    together = Results(results[0].dtype, tuple(results))
    cost = sum(node.row.cost for node in postorder(together) if isinstance(node, Op))
    return Operator(
        schema=parse(schema, conventions=False),
        file=_FILE,
        span=_NOWHERE,
        method=False,
        function=True,
        operator=None,
        aliases=(),
        module=None,
        exports=(),
        internal=False,
        property_name=None,
        assignable=False,
        tags=(),
        updates_self=False,
        places={},
        doc="",
        meanings={},
        body=body,
        dtypes=frozenset({computed}),
        promotion=Promotion.KEEP,
        refusal=None,
        complex_refusal=None,
        reference=None,
        reference_span=None,
        error_scale=None,
        derivatives={},
        complex_derivatives={},
        cost=max(float(cost), 1.0),
        unused=frozenset(),
        choices={},
        shortcuts={},
        accepts={},
        alone=None,
        text="",
    )


def c_text(fused: Operator) -> str:
    """Return the C of a library that has an operator alone."""
    kernel = kernels.emit(fused)
    assert kernel is not None
    return kernel + registry.emit([fused], _FILE, library=fused.name)
