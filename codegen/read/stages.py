"""Expressions over indices that have stages: a composite, which calls an operator for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from ..dtypes import Promotion
from ..errors import Diagnostics
from ..expr.atoms import Atom
from ..model.computation import computed_dtype, own_computed_dtype
from ..model.compute import Compute, shape_argument
from ..model.operator import MAX_OPERANDS, Composite, Derivative, Operator
from ..model.stages import Stage, stages
from .adjoints import AUTO, used_in
from .internal import internal, returned, scalar_of, unused

_VALUE = "value"
"""Ends the name of the operator that gives the results."""


def follow(operator: Operator, body: Compute, diagnostics: Diagnostics) -> Iterable[Operator] | None:
    """The composite, and the operators of its stages; None where the body is computed at once."""
    if body.with_names is None or body.own or not _is_plain(operator):
        return None
    automatic = any(each.text == AUTO for each in operator.derivatives.values())
    refused: frozenset[Atom] = frozenset()
    taken = {each.name for each in operator.schema.arguments}
    while found := stages(body.with_names, automatic, refused, taken):
        made = tuple(_operator(operator, each, found) for each in found)
        if any(len(each.inputs) > MAX_OPERANDS for each in made):
            return None
        wrong = [each for stage, part in zip(found, made, strict=True) for each in _unfit(operator, stage, part)]
        if not wrong:
            return (_composite(operator, body, found, made), *made)
        refused |= {*wrong}
    return None


def _is_plain(operator: Operator) -> bool:
    """Return True if gradients are those of its stages, and the dtype of computation is that of tensors alone."""
    formulas = {each.text for each in operator.derivatives.values()}
    promotes = operator.promotion in (Promotion.DEFAULT, Promotion.INT_TO_FLOAT)
    has_numbers = any(each.name not in operator.body.fixed for each in operator.inputs)
    is_real = not any(each.is_scalar for each in operator.schema.arguments)
    return formulas <= {AUTO, "none"} and promotes and has_numbers and is_real


def _unfit(operator: Operator, stage: Stage, made: Operator) -> Iterator[Atom]:
    """Yield the values that tensors of the dtype of computation cannot hold."""
    for index, atom in enumerate(stage.held):
        kinds = ((computed_dtype(made, stage.body, index, dtype), dtype) for dtype in operator.compute_dtypes)
        if any(kind is not dtype for kind, dtype in kinds):
            yield atom


# ---- operators of stages ------------------------------------------------------------------------------------


def _operator(operator: Operator, stage: Stage, all_stages: Sequence[Stage]) -> Operator:
    body = stage.body
    used = used_in(body)
    arguments = [str(each.type) + f" {each.name}" for each in operator.schema.arguments if each.name in body.tensors]
    arguments += [f"Tensor {each}" for other in all_stages for each in other.tensors if each in body.tensors]
    arguments += [
        f"{each.type} {each.name}" for each in operator.schema.arguments if not each.is_tensor and each.name in used
    ]
    shapes = [shape_argument(each.name) for each in operator.inputs]
    arguments += [f"int[] {each}" for each in shapes if each in used]
    returns = returned(each.name for each in body.results)
    end = "_".join(stage.tensors) or _VALUE
    what = f"Part of `{operator.name}`, computed before." if stage.tensors else f"The results of `{operator.name}`."
    source = next(iter(operator.derivatives.values()), None)
    automatic = next((each for each in operator.derivatives.values() if each.text == AUTO), source)
    derivatives: dict[str, Derivative] = {
        name: each for name, each in operator.derivatives.items() if name in body.tensors
    }
    if automatic is not None:
        derivatives |= {each: automatic for other in all_stages for each in other.tensors if each in body.tensors}
    return internal(
        operator,
        f"{operator.name}_{end}({', '.join(arguments)}) -> {returns}",
        body,
        what,
        dtypes=frozenset(operator.compute_dtypes),
        promotion=Promotion.DEFAULT,
        derivatives=MappingProxyType(derivatives),
    )


# ---- the composite ------------------------------------------------------------------------------------------


def _composite(operator: Operator, body: Compute, found: Sequence[Stage], made: Sequence[Operator]) -> Operator:
    names = {each.name for each in operator.schema.arguments} | {each for stage in found for each in stage.tensors}
    dtype, line = in_dtype_of_computation(operator, body, names)
    lines = [line]
    lines += [
        f"{', '.join(stage.tensors)} = {_call(operator, each)}"
        for stage, each in zip(found[:-1], made[:-1], strict=True)
    ]
    results = [f"result_{index}" if len(body.results) > 1 else "result" for index in range(len(body.results))]
    lines.append(f"{', '.join(unused(each, names) for each in results)} = {_call(operator, made[-1])}")
    kept = [own_computed_dtype(operator, body, index) is None for index in range(len(body.results))]
    values = [f"{each}.to({dtype})" if is_kept else each for each, is_kept in zip(results, kept, strict=True)]
    lines.append(f"return {', '.join(values)}")
    automatic = tuple(name for name, each in operator.derivatives.items() if each.text == AUTO)
    return replace(
        operator,
        body=Composite(scalar_of("\n".join(lines), body.span), None, loops=body, automatic=automatic),
        derivatives=MappingProxyType({}),
    )


def in_dtype_of_computation(operator: Operator, body: Compute, taken: set[str]) -> tuple[str, str]:
    """The name of the dtype of results, and the statement by which tensors have the one of computation."""
    dtype = unused("dtype", taken)
    tensors = [each.name for each in operator.inputs if each.name not in body.fixed]
    whole = operator.promotion is Promotion.INT_TO_FLOAT
    return dtype, f"{dtype}, {', '.join(tensors)} = in_dtype_of_computation({', '.join([str(whole), *tensors])})"


def _call(operator: Operator, made: Operator) -> str:
    given = {shape_argument(each.name): f"{each.name}.shape" for each in operator.inputs}
    return f"{made.name}({', '.join(given.get(each.name, each.name) for each in made.schema.arguments)})"
