"""The constant `ow_op` that describes an operator to the core; its fields follow from the model alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from ..dtypes import DType, ordered
from ..model.computation import default_numbers, own_dtypes, turns_complex, turns_real
from ..model.operator import End, Family, Operator


@dataclass(frozen=True)
class Descriptor:
    """The fields of `ow_op` as C text."""

    symbol: str
    name: str
    family: str
    promotion: str
    fixed: tuple[str, ...]
    absent: tuple[str, ...]
    natural: tuple[str, ...]
    requirements: str | None
    needs_elements: int
    results: str
    own: tuple[str, ...]
    opmath_number: int
    rounds_params: int
    real_params: str
    whole_params: str | None
    degrees: tuple[int, ...]
    dtypes: tuple[str, ...]
    refusal: str
    complex_refusal: str
    cost: float
    defaults: tuple[str, ...]
    param_ends: tuple[str, ...]
    refuses_factors: int
    same_dtype: int
    strict_numbers: int
    fitting_numbers: int
    in_range: str
    part: str
    table: str | None
    view: str | None
    copies: int
    routine: str | None
    reductions: tuple[str, ...]
    words: tuple[str, ...]
    shortcuts: tuple[str, ...]
    shortcut_numbers: tuple[str, ...]


def descriptor(operator: Operator) -> Descriptor:
    """Return the constants by which the core knows an operator."""
    body = operator.body
    fixed, absent, natural = [], [], []
    for argument in operator.inputs:
        dtype = body.fixed.get(argument.name)
        end = body.absent.get(argument.name)
        fixed.append(f"OW_{dtype.name.upper()}" if dtype else "OW_PROMOTED")
        absent.append(f"OW_ABSENT_{end.name}" if isinstance(end, End) else "OW_REQUIRED")
        message = body.natural.get(argument.name)
        natural.append(json.dumps(message) if message else "NULL")
    numbers = default_numbers(operator)
    defaults = tuple(repr(float(numbers.get(param.name, 0))) for param in operator.params)
    return Descriptor(
        symbol=operator.name,
        name=operator.name,
        family=f"OW_{operator.family.name}",
        promotion=f"OW_PROMOTE_{operator.promotion.name}",
        fixed=tuple(fixed),
        absent=tuple(absent),
        natural=tuple(natural),
        requirements=f"{operator.name}_requirements" if body.conditions else None,
        opmath_number=int("opmath_number" in operator.tags),
        rounds_params=int("rounded_numbers" in operator.tags),
        real_params=hex(sum(1 << index for index, param in enumerate(operator.params) if param.is_real)),
        whole_params=_bits(param.is_integral for param in operator.params),
        degrees=body.degrees,
        results=_results(operator),
        own=tuple(f"1 + OW_{own.name.upper()}" if own else "0" for own in own_dtypes(operator)),
        needs_elements=int(body.refuses_empty),
        dtypes=dtype_bits(operator.dtypes),
        refusal=json.dumps(operator.refusal) if operator.refusal else "NULL",
        complex_refusal=json.dumps(operator.complex_refusal) if operator.complex_refusal else "NULL",
        cost=operator.cost,
        defaults=defaults,
        param_ends=tuple(
            f"OW_ABSENT_{end.name}" if isinstance(end := body.absent.get(param.name), End) else "OW_REQUIRED"
            for param in operator.params
        ),
        refuses_factors=int("refuses_factors" in operator.tags),
        same_dtype=int("same_dtype" in operator.tags),
        strict_numbers=int("strict_numbers" in operator.tags),
        fitting_numbers=int("fitting_numbers" in operator.tags),
        in_range=_in_range(operator),
        part=_part(operator),
        table=operator.family.table if body.has_table else None,
        view=f"{operator.name}_geometry" if operator.family is Family.VIEW else None,
        copies=int(body.copies),
        routine=body.called(operator),
        reductions=body.reductions,
        words=tuple(map(json.dumps, body.words)),
        shortcuts=tuple(operator.shortcuts.values()),
        shortcut_numbers=tuple(map(repr, operator.shortcuts)),
    )


def _in_range(operator: Operator) -> str:
    inputs, params = (
        _bits(each.name in operator.in_range for each in arguments) or "0"
        for arguments in (operator.inputs, operator.params)
    )
    return inputs if params == "0" else f"{inputs} | {params} << 16"


def _bits(truths: Iterable[bool]) -> str | None:
    bits = sum(1 << index for index, truth in enumerate(truths) if truth)
    return hex(bits) if bits else None


def _part(operator: Operator) -> str:
    if turns_real(operator):
        return "OW_PART_REAL"
    return "OW_PART_COMPLEX" if turns_complex(operator) or "complex_result" in operator.tags else "OW_PART_SAME"


def _results(operator: Operator) -> str:
    found = " | ".join(f"OW_{each.name}" for each in operator.body.found)
    return found or str(len(operator.schema.returns))


def dtype_bits(dtypes: frozenset[DType]) -> tuple[str, ...]:
    """Return a set of dtypes as bits, in C."""
    # Kernels' header has no names for the dtypes that are only stored.
    return tuple(
        f"1u << OW_{dtype.name.upper()}" if dtype.promotes else f"1u << {dtype.code} /* {dtype} */"
        for dtype in ordered(dtypes)
    )
