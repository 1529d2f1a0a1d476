"""Random arguments for operators: Hypothesis strategies, and calls compared with NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opweave
from hypothesis import assume
from hypothesis import strategies as st

from codegen.dtypes import DTYPES, DType

from . import accumulate
from .arrays import Array, cast, holder, tensor
from .calls import compare_or_refuse, divisible, input_dtypes
from .extremes import extremes, ordinary
from .promotion import operand
from .reference import common_dtype
from .spec import Spec

MAX_SIZE = 600
"""Elements of a random tensor: more than a chunk, few enough to be quick."""

DTYPE = st.sampled_from([dtype for dtype in DTYPES.values() if not dtype.is_complex])
EDGES = [0, 1, 2, 3, 5, 16, 17]


@st.composite
def shapes(draw: st.DrawFn, max_dims: int = 5) -> tuple[int, ...]:
    sizes = draw(st.lists(st.one_of(st.sampled_from(EDGES), st.integers(0, 40)), max_size=max_dims))
    while math.prod(size or 1 for size in sizes) > MAX_SIZE:
        sizes[sizes.index(max(sizes))] //= 2
    return tuple(sizes)


def filled(shape: tuple[int, ...], dtype: DType, seed: int) -> Array:
    """Ordinary and extreme values in a random order."""
    count = max(math.prod(shape), 1)
    values = np.concatenate([ordinary(dtype, count, seed % 5), extremes(dtype)])
    order = np.random.default_rng(seed).permutation(values.size)
    return np.resize(values[order], shape) if math.prod(shape) else np.empty(shape, holder(dtype))


@st.composite
def laid_out(draw: st.DrawFn, values: Array, dtype: DType) -> opweave.Tensor:
    """A tensor of exactly these values: transposed, in steps, as a part, or repeated where its size is one."""
    order = draw(st.permutations(range(values.ndim)))
    steps = tuple(draw(st.integers(1, 3)) for _ in order)
    starts = tuple(draw(st.integers(0, 2)) for _ in order)
    moved = values.transpose(order)
    wide = np.zeros([n * step + start for n, step, start in zip(moved.shape, steps, starts, strict=True)], values.dtype)
    where = tuple(slice(start, None, step) for step, start in zip(steps, starts, strict=True))
    wide[where] = moved
    x = tensor(wide, dtype)
    for dim, (step, start) in enumerate(zip(steps, starts, strict=True)):
        x = x.slice(dim, start, None, step)
    return x.permute(*np.argsort(order).tolist()) if order else x


# ---- right results ------------------------------------------------------------------------------------------

NOTABLE = st.sampled_from([0, 1, -1, 2, 0.5, -0.0, 1e30, math.inf])
NUMBERS = st.one_of(st.booleans(), st.integers(-128, 127), st.floats(width=32), NOTABLE)


def broadcastable(draw: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to the given one."""
    kept = draw(st.integers(0, len(shape)))
    return tuple(1 if draw(st.integers(0, 3)) == 0 else size for size in shape[len(shape) - kept :])


def compare_elementwise(spec: Spec, data: st.DataObject) -> None:
    """A random call whose right result NumPy knows."""
    shape = data.draw(shapes(4))
    common = DTYPES[data.draw(st.sampled_from(spec.dtypes))]
    mixed = data.draw(st.integers(0, 3)) == 0
    operands: dict[str, Any] = {}
    values: dict[str, Array] = {}
    for index, name in enumerate(spec.inputs):
        dtype = input_dtypes(spec, common)[name]
        if index and name in spec.free and mixed:
            dtype = data.draw(DTYPE)
        if index and name in spec.numbers and data.draw(st.integers(0, 5)) == 0:
            number = data.draw(NUMBERS)
            operands[name], values[name] = number, np.asarray(number)
            continue
        own = shape if not index else broadcastable(data.draw, shape)
        values[name] = divisible(spec, name, filled(own, dtype, data.draw(st.integers(0, 10**6))))
        operands[name] = data.draw(laid_out(values[name], dtype))
    assume(convertible(spec, operands, values))
    compare_or_refuse(spec, operands, values, "random call")


def convertible(spec: Spec, operands: dict[str, Any], values: dict[str, Array]) -> bool:
    """Conversions of floats and numbers out of range have tests of their own, and so have divisions by zero."""
    common = common_dtype(spec, {name: operand(value) for name, value in operands.items()})
    if common.is_floating or common.is_bool:
        return True
    last = values[spec.inputs[-1]]
    if spec.fallible and (cast(last, common) == 0).any():
        return False
    return all(
        common.lowest <= value.min(initial=0) and value.max(initial=0) <= common.highest
        for value in values.values()
        if value.dtype.kind in "iu"
    )


def compare_accumulated(spec: Spec, data: st.DataObject) -> None:
    shape = data.draw(shapes(4))
    dtype = DTYPES[data.draw(st.sampled_from(spec.dtypes))]
    trial: Any = (accumulate.ScanTests if "keepdim" not in (spec.reference or "") else accumulate.ReduceTests)()
    trial.spec = spec
    choices = [each for each in trial.arguments(shape) if not trial.refuses(shape, each)]
    assume(choices)
    arguments = data.draw(st.sampled_from(choices))
    values = accumulate.values_of(dtype, shape)
    trial.compare(data.draw(laid_out(values, dtype)), values, dtype, f"random {shape}", **arguments)
