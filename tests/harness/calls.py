"""Operands for elementwise operators, and calls of them compared with the reference."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import opweave
import pytest

from codegen.dtypes import DTYPES, DType, promote_all

from . import reference
from .arrays import Array, cast
from .compare import check
from .drawn import Drawn
from .extremes import extremes, largest, ordinary
from .layouts import Layout
from .promotion import operand
from .spec import Spec

_EXTREMA = re.compile(r"\b(maximum|minimum|fmax|fmin|clamp)\b")


def input_dtypes(spec: Spec, dtype: DType) -> dict[str, DType]:
    return {name: DTYPES[spec.fixed.get(name, dtype.name)] for name in spec.inputs}


def divisible(spec: Spec, name: str, values: Array) -> Array:
    """Without the values for which a fallible operator has no result."""
    if spec.fallible and name == spec.inputs[-1] and values.dtype.kind in "iu":
        return np.where(values == 0, values.dtype.type(1), values)
    return values


def shaped_values(spec: Spec, dtype: DType, shape: tuple[int, ...]) -> dict[str, Array]:
    """Ordinary and extreme values for every input."""
    return {
        name: divisible(spec, name, _shaped(index, facts, shape))
        for index, (name, facts) in enumerate(input_dtypes(spec, dtype).items())
    }


@cache  # every operator asks for the same ones
def _shaped(index: int, dtype: DType, shape: tuple[int, ...]) -> Array:
    count = max(int(np.prod(shape)), 1)
    mixed = np.concatenate([ordinary(dtype, count, index), extremes(dtype)])
    values = np.resize(mixed[Drawn(index, count).permutation(mixed.size)], shape)
    values.flags.writeable = False
    return values


def moderate(spec: Spec, name: str, dtypes: tuple[DType, ...], shape: tuple[int, ...], facts: DType) -> Array:
    """Values that no conversion takes out of range, which have tests of their own; halves round the largest ones."""
    bounds = tuple(dtype for dtype in (*dtypes, promote_all([*dtypes])) if dtype.is_integer)
    low = max((dtype.lowest for dtype in bounds), default=-9)
    nonzero = spec.fallible and name == spec.inputs[-1]
    return _moderate(len(name), shape, facts, max(low, -9), all(dtype.itemsize > 1 for dtype in bounds), nonzero)


@cache
def _moderate(seed: int, shape: tuple[int, ...], dtype: DType, low: int, large: bool, nonzero: bool) -> Array:
    random = Drawn(seed, dtype.code, len(shape))
    numbers = random.integers(low, 10, shape)
    if large:
        numbers = np.where(random.random(shape) < 0.2, random.choice([2049, 4099, 5001], shape), numbers)
    if nonzero:
        numbers = np.where(numbers == 0, 1, numbers)
    if dtype.is_floating:
        numbers = numbers + random.integers(0, 8, shape) / 8
    values = cast(numbers, dtype)
    values.flags.writeable = False
    return values


_PLACED: dict[tuple[Layout, DType, int], tuple[Array, opweave.Tensor, Array]] = {}
"""By layout, dtype and the identity of the values, which are kept: what placed() has made."""


def placed(layout: Layout, values: Array, dtype: DType) -> tuple[opweave.Tensor, Array]:
    """As layout.place(), once for values that nothing writes to; nothing may write to the results either."""
    if values.flags.writeable:
        return layout.place(values, dtype)
    key = layout, dtype, id(values)
    if key not in _PLACED:
        _PLACED[key] = values, *layout.place(values, dtype)
    return _PLACED[key][1:]


def run(spec: Spec, operands: Mapping[str, Any], **params: Any) -> opweave.Tensor:
    """The operator in whichever form it has."""
    params = spec.keywords | params
    if spec.function:
        return spec.find(opweave)(*(operands.get(name) for name in spec.inputs), **params)
    receiver, *rest = (operands.get(name) for name in spec.inputs)
    return getattr(receiver, spec.name)(*rest, **params)


def compare(spec: Spec, operands: Mapping[str, Any], values: Mapping[str, Array], what: str, **params: Any) -> None:
    """One call: the values are NumPy's, and where no function is involved those of the declared expression to the
    sign of zero, for which NumPy has rules of its own; of two zeros an extremum may choose either."""
    dtypes = {name: operand(value) for name, value in operands.items()}
    call = reference.Elementwise(spec, values, dtypes, params)
    got = run(spec, operands, **call.numbers)
    what = f"{spec} {what} {params or ''}"
    want, chooses = call.numpy(), any(_EXTREMA.search(text) for _, text in spec.expressions)
    if want is not None:
        bound, signed = (None, False) if call.exact else (call.bound, spec.magnitude is None and not chooses)
        check(got, want, call.result.name, call.ulp, what, bound, signed)
    if call.exact and len(values) == len(spec.inputs):
        check(got, call.declared(), call.result.name, 0, f"{what}, as declared", signed_zeros=not chooses)


def compare_or_refuse(spec: Spec, operands: Mapping[str, Any], values: Mapping[str, Array], what: str) -> None:
    """A dtype that is not accepted is refused."""
    common = reference.common_dtype(spec, {name: operand(value) for name, value in operands.items()})
    if not common.is_floating and any(type(operands[n]) is int and operands[n] < 0 for n in spec.natural):
        with pytest.raises(RuntimeError):
            run(spec, operands)
        return
    numbers = [name for name, value in operands.items() if is_number(value)]
    checked = [name for name in numbers if spec.fitting_numbers or (name in spec.natural and not common.is_floating)]
    is_half = common.is_floating and not common.compute
    narrow = [operands[name] for name in numbers if is_half and name in spec.in_range]
    beyond = any(math.isfinite(each) and abs(each) > largest(common) for each in narrow)
    if beyond or not all(fits(operands[name], common) for name in checked):
        with pytest.raises(RuntimeError, match="without overflow"):
            run(spec, operands)
        return
    kinds = [operand(operands[name])[0] for name in spec.free]
    weights = spec.free[2:]  # without dimensions they stand for numbers
    tensors = {
        operand(operands[name])[0]
        for name in spec.free
        if isinstance(operands[name], opweave.Tensor) and (operands[name].ndim or name not in weights)
    }
    if spec.same_dtype and len(tensors) > 1:
        with pytest.raises(RuntimeError):
            run(spec, operands)
        return
    if common.name in spec.complex_dtypes:
        return
    strange = [kind.name not in spec.dtypes for kind in kinds]
    refused = all(strange[1:]) if spec.refuses_factors else any(strange)
    if common.name in spec.dtypes and not (spec.refusal and refused):
        compare(spec, operands, values, what)
        return
    with pytest.raises(refusal_of(spec, common)):
        run(spec, operands)


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def fits(number: float, dtype: DType) -> bool:
    """Is it in the dtype's range? Negative numbers wrap around once into unsigned ones; beside halves all may stand."""
    if dtype.is_bool or not math.isfinite(number) or (dtype.is_floating and not dtype.compute):
        return True
    if dtype.is_floating:
        return abs(number) <= largest(dtype)
    return (dtype.lowest or -dtype.highest) <= number <= dtype.highest


def refusal_of(spec: Spec, dtype: DType) -> type[Exception]:
    """What a dtype that is not accepted raises."""
    told = spec.refusal or (dtype.is_complex and spec.complex_refusal)
    return RuntimeError if told else NotImplementedError
