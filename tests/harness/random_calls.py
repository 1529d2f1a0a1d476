"""Random arguments for operators, and calls compared with NumPy.

All choices come from one `random.Random`, which may be hypothesis's own: that makes calls that fail smaller.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import opweave

from codegen.dtypes import DTYPES, DType

from . import accumulate
from .arrays import PROMOTING, Array, cast, holder, tensor
from .calls import compare_or_refuse, divisible, input_dtypes
from .extremes import extremes, ordinary
from .promotion import operand
from .reference import common_dtype
from .spec import Spec

MAX_SIZE = 600
"""Elements of a random tensor: more than a chunk, few enough to be quick."""

REAL = [dtype for dtype in PROMOTING if not dtype.is_complex]
EDGES = [0, 1, 2, 3, 5, 16, 17]


def random_shape(random: Random, max_dims: int) -> tuple[int, ...]:
    choices = (random.choice, EDGES), (random.randint, 0, 40)
    sizes = [choose(*among) for choose, *among in random.choices(choices, k=random.randint(0, max_dims))]
    while math.prod(size or 1 for size in sizes) > MAX_SIZE:
        sizes[sizes.index(max(sizes))] //= 2
    return tuple(sizes)


def filled(shape: tuple[int, ...], dtype: DType, seed: int) -> Array:
    """Ordinary and extreme values in a random order."""
    count = max(math.prod(shape), 1)
    values = np.concatenate([ordinary(dtype, count, seed % 5), extremes(dtype)])
    order = np.random.default_rng(seed).permutation(values.size)
    return np.resize(values[order], shape) if math.prod(shape) else np.empty(shape, holder(dtype))


def laid_out(random: Random, values: Array, dtype: DType) -> opweave.Tensor:
    """A tensor of exactly these values: transposed, in steps, as a part, or repeated where its size is one."""
    order = random.sample(range(values.ndim), values.ndim)
    steps = [random.randint(1, 3) for _ in order]
    starts = [random.randint(0, 2) for _ in order]
    moved = values.transpose(order)
    wide = np.zeros([n * step + start for n, step, start in zip(moved.shape, steps, starts, strict=True)], values.dtype)
    where = tuple(slice(start, None, step) for step, start in zip(steps, starts, strict=True))
    wide[where] = moved
    x = tensor(wide, dtype)
    for dim, (step, start) in enumerate(zip(steps, starts, strict=True)):
        x = x.slice(dim, start, None, step)
    return x.permute(*np.argsort(order).tolist()) if order else x


# ---- right results ------------------------------------------------------------------------------------------

NOTABLE = (True, False, 0, 1, -1, 2, 0.5, -0.0, 1e30, math.inf, -math.inf, math.nan)


def random_number(random: Random) -> Any:
    kind = random.randrange(3)
    return (random.choice(NOTABLE), random.randint(-128, 127), float(np.float32(random.gauss(0, 100))))[kind]


def broadcastable(random: Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to the given one."""
    kept = random.randint(0, len(shape))
    return tuple(1 if random.randrange(4) == 0 else size for size in shape[len(shape) - kept :])


def compare_elementwise(spec: Spec, random: Random) -> None:
    """A random call whose right result NumPy knows."""
    shape = random_shape(random, 4)
    common = DTYPES[random.choice(spec.dtypes)]
    mixed = random.randrange(4) == 0
    operands: dict[str, Any] = {}
    values: dict[str, Array] = {}
    for index, name in enumerate(spec.inputs):
        dtype = input_dtypes(spec, common)[name]
        if index and name in spec.free and mixed:
            dtype = random.choice(REAL)
        if index and name in spec.numbers and random.randrange(6) == 0:
            number = random_number(random)
            operands[name], values[name] = number, np.asarray(number)
            continue
        own = shape if not index else broadcastable(random, shape)
        values[name] = divisible(spec, name, filled(own, dtype, random.randint(0, 10**6)))
        operands[name] = laid_out(random, values[name], dtype)
    if convertible(spec, operands, values):
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


def compare_accumulated(spec: Spec, random: Random) -> None:
    shape = random_shape(random, 4)
    dtype = DTYPES[random.choice(spec.dtypes)]
    trial: Any = (accumulate.ScanTests if "keepdim" not in (spec.reference or "") else accumulate.ReduceTests)()
    trial.spec = spec
    choices = [each for each in trial.arguments(shape) if not trial.refuses(shape, each)]
    if choices:
        arguments, values = random.choice(choices), accumulate.values_of(dtype, shape)
        trial.compare(laid_out(random, values, dtype), values, dtype, f"random {shape}", **arguments)
