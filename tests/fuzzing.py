"""Random calls of every operator, and what is expected of them.

Reads `operators.json`, which codegen wrote beside the compiled package's Python files. All choices come from one
`random.Random`, which may be hypothesis's own. Run as a script with a first seed and a number of calls, it prints every
call's seed before it makes the call, so that the last line names the call that ended the process.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import opweave
from harness.arrays import array, cast, dtype_of, opweave_dtype, tensor
from harness.catalog import described
from opweave import _operators

from codegen.dtypes import DTYPE_CLASSES, DTYPES, ordered
from codegen.read.copies import DERIVED
from codegen.schema import parse

EXPECTED = (TypeError, ValueError, RuntimeError, IndexError, OverflowError, AssertionError)  # torch asserts, too
ROOT = Path(__file__).resolve().parent.parent

DTYPE_NAMES = tuple(dtype.name for dtype in ordered(DTYPE_CLASSES["all"]))
HUGE = (2**48, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 2**70, -(10**30))
# Small or huge, nothing between: a range or a shape made of them has few elements or more than fit the address space.
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 127, 200, 300, -129, True, False, 0.0, -0.0, 0.5, 1.5, -2.25, 100.25),
    *(math.inf, -math.inf, math.nan, 1e300, -1e300, np.float64(2.5), np.int64(3), np.bool_(True), np.float32(0.25)),
    *HUGE[1:],
)
JUNK: tuple[Any, ...] = (None, "a", b"", (), [1], {}, object(), 2j, np.ones(2), slice(None), ..., opweave.float32, int)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.75, 100.0, 1e-30, 1e30, math.inf, -math.inf, math.nan)
# What a result of these dtypes may be off by from NumPy's, which computes halves in steps of its own.
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 1e-5, "float64": 1e-12}


@dataclass(frozen=True)
class Entry:
    """One operator under one of its names."""

    family: str
    promotion: str
    function: Callable[..., Any]
    name: str
    types: tuple[str, ...]
    keywords: Mapping[str, str]
    has_out: bool
    inplace: bool
    strided: bool
    """Does it take strides, so that elements beyond those of the tensor matter?"""
    reference: str | None

    @property
    def draws(self) -> bool:
        """Does it draw random numbers?"""
        return "generator" in self.keywords or "Generator?" in self.types


@cache
def entries() -> dict[str, tuple[Entry, ...]]:
    """The forms of every operator: functions, methods and their in-place twins, and Python's operators."""
    known = {name for each in described() for name in each["functions"]}
    assert known >= set(_operators.FUNCTIONS), "operators.json is not of this build"
    results = {each["name"]: tuple(forms(each)) for each in described()}
    return {name: found for name, found in results.items() if found}  # some are only there for others to choose


def forms(entry: dict[str, Any]) -> list[Entry]:
    schema = parse(entry["schema"])
    results = []
    names = [(name, attrgetter(name)(opweave)) for name in (*entry["functions"], *entry["submodules"])]
    names += [(name, getattr(opweave.Tensor, name)) for name in entry["methods"]]
    for name, function in names:
        types = tuple(str(each.type) for each in schema.positional)
        keywords: dict[str, str] = {}
        has_out = False
        if name.startswith("__"):  # Python's operators take tensors only
            types = tuple(each for each in types if each.startswith("Tensor"))
        else:
            accepted = inspect.signature(function).parameters
            keywords = {each.name: str(each.type) for each in schema.keyword_only if each.name in accepted}
            has_out = "out" in accepted
        inplace = (name.endswith("_") and not name.endswith("__")) or (name.startswith("__i") and name != "__invert__")
        family, promotion = entry["family"], entry["promotion"]
        if family == "composite":
            # Some composites are views, copies of views or factories in all that matters here.
            is_view = schema.returns_alias or DERIVED in entry["tags"]
            family = "view" if is_view else "factory" if schema.argument("device") else family
        moves = {"resize_", "resize_as_"} & {schema.name.identifier}  # elements stay where they are in memory
        reference, strided = entry["reference"], bool(moves) or schema.argument("stride") is not None
        results.append(Entry(family, promotion, function, name, types, keywords, has_out, inplace, strided, reference))
    return results


# ---- arguments ----------------------------------------------------------------------------------------------


def random_shape(random: Random) -> tuple[int, ...]:
    """Sides are often equal, so that shapes fit each other."""
    side = random.choice((1, 2, 3, 4, 7))
    return tuple(random.choice((side, side, side, 1, 2, 0, 3)) for _ in range(random.choice((0, 1, 2, 2, 3, 4, 5))))


def broadcastable(random: Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if random.random() < 0.1 else size for size in shape[random.choice((0, 0, 0, 1)) :])


def random_tensor(random: Random, shape: tuple[int, ...], dtype: str) -> opweave.Tensor:
    """Any layout: steps, transposed, expanded, reversed."""
    order = random.sample(range(len(shape)), len(shape))
    whole, indices, expanded = [], [], []
    for dim in order:
        step = random.choice((1, 1, 1, 2, -1, -2))
        if DTYPES[dtype].numpy is None:
            step = abs(step)
        repeated = shape[dim] > 1 and random.random() < 0.1
        size = 1 if repeated else shape[dim]
        expanded.append(repeated)
        whole.append(size * abs(step))
        indices.append(slice(None, None, step))
    values = random_values(np.random.default_rng(random.getrandbits(32)), tuple(whole), dtype)
    if DTYPES[dtype].numpy is None:
        result = tensor(values, DTYPES[dtype])
        for dim, index in enumerate(indices):
            result = result.slice(dim, None, None, index.step)
    else:
        result = opweave.from_numpy(np.asarray(values[tuple(indices)]))
    result = result.expand([shape[dim] if repeated else -1 for dim, repeated in zip(order, expanded, strict=True)])
    return result.permute([order.index(dim) for dim in range(len(shape))])


def random_values(generator: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    facts = DTYPES[dtype]
    if facts.is_bool:
        return generator.integers(0, 2, shape).astype(bool)
    if facts.is_floating:
        return cast(generator.choice(FLOATS[: generator.choice((5, 9, len(FLOATS)))], shape), facts)
    limits = np.iinfo(facts.numpy)
    pool = np.array([1, 2, 3, 5, 0, limits.min, limits.max, *(() if limits.min == 0 else (-1, -2))], facts.numpy)
    return generator.choice(pool[: generator.choice((4, 5, len(pool)))], shape)


def random_argument(random: Random, kind: str, shape: tuple[int, ...], dtype: str, odd: float = 0.15) -> Any:
    """`odd`: how often a tensor is a number instead, or half as often as its dtype is another one."""
    if random.random() < 0.02:
        return random.choice(JUNK)
    base = kind.rstrip("?")
    if kind.endswith("?") and random.random() < 0.3:
        return None
    if base.startswith("Tensor"):
        if random.random() < odd:
            return random.choice(NUMBERS)
        return random_tensor(random, shape, random.choice(DTYPE_NAMES) if random.random() < 2 * odd else dtype)
    if base == "Scalar":
        return random.choice(NUMBERS)
    if base in ("int", "SymInt"):
        return random.choice(HUGE) if random.random() < 0.05 else random.randint(-5, 5)
    if base.endswith("]"):
        results = [random.choice(HUGE) if random.random() < 0.03 else random.randint(-2, 4) for _ in shape]
        chosen = random.choice((results, shape, range(len(shape)), random.randint(-3, 4)))
        return chosen if isinstance(chosen, int) else random.choice((list, tuple))(chosen)
    if base == "bool":
        return random.random() < 0.5
    if base == "ScalarType":
        return opweave_dtype(random.choice(DTYPE_NAMES))
    return random.choice(JUNK)  # layouts, devices and the like, which have one right value


@dataclass
class Call:
    """One call with its arguments; `str()` is what somebody needs to repeat it."""

    entry: Entry
    arguments: list[Any]
    keywords: dict[str, Any]

    def __str__(self) -> str:
        named = [f"{name}={describe(value)}" for name, value in self.keywords.items()]
        return f"{self.entry.name}({', '.join([*map(describe, self.arguments), *named])})"


def describe(value: Any) -> str:
    if not isinstance(value, opweave.Tensor):
        return repr(value)
    values = array(value).tolist() if value.numel() <= 64 else "…"
    return f"<{value.dtype} {tuple(value.shape)} strides {value.stride()}: {values}>"


def random_call(random: Random, entry: Entry) -> Call:
    dtype = random.choice(DTYPE_NAMES)
    products = entry.family in ("extern", "composite")  # of matrices and vectors, which take few shapes
    if products:
        side = random.choice((0, 1, 2, 3, 5))
        shapes = [(side,) * random.choice((1, 2, 2, 2, 3)) for _ in entry.types]
    else:
        whole = random_shape(random)
        shapes = [broadcastable(random, whole) for _ in entry.types]
    shape = shapes[0] if shapes else ()
    odd = 0.02 if products else 0.15
    given = [random_argument(random, kind, own, dtype, odd) for kind, own in zip(entry.types, shapes, strict=True)]
    if entry.types[0].startswith("Tensor") and not isinstance(given[0], opweave.Tensor) and random.random() < 0.9:
        given[0] = random_tensor(random, shape, dtype)
    if len(given) > 1 and isinstance(given[0], opweave.Tensor) and random.random() < 0.05:
        given[1] = given[0].permute(list(range(given[0].dim()))[::-1])  # the same memory, read in another order
    keywords = {}
    for name, kind in entry.keywords.items():
        if random.random() < (0.3 if kind.rstrip("?") in ("Scalar", "ScalarType") else 0.03):
            keywords[name] = random_argument(random, kind, shape, dtype)
    if entry.has_out and random.random() < 0.15:
        keywords["out"] = random_argument(random, "Tensor", shape, dtype)
    return Call(entry, given, keywords)


# ---- outcomes -----------------------------------------------------------------------------------------------


def outcome(entry: Entry, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    try:
        return entry.function(*arguments, **keywords)
    except EXPECTED as error:
        return error


def plain(value: Any) -> Any:
    """Tensors as contiguous copies of their own."""
    return tensor(array(value), dtype_of(value)) if isinstance(value, opweave.Tensor) else value


def is_expanded(value: Any) -> bool:
    return isinstance(value, opweave.Tensor) and 0 in value.stride()


def check_call(call: Call) -> None:
    """Makes the call; other exceptions than the expected ones come through."""
    entry = call.entry
    copies = [plain(each) for each in call.arguments]
    got = outcome(entry, call.arguments, call.keywords)
    if entry.draws:
        return  # no two calls are alike
    if entry.strided or (entry.inplace and is_expanded(call.arguments[0])):
        return  # a contiguous copy has other elements around its own, or does not share one among several
    want = outcome(entry, copies, {name: value for name, value in call.keywords.items() if name != "out"})
    if isinstance(got, Exception):
        if not entry.inplace and call.keywords.get("out") is None and entry.family != "view":
            assert type(got) is type(want), f"{call}: {got!r}, of contiguous arguments {want!r}"
        return
    if got is NotImplemented or (isinstance(want, Exception) and entry.family in ("view", "factory")):
        return  # whether a view is possible depends on the strides; out gives a factory its dtype
    if isinstance(got, tuple) and isinstance(want, tuple):
        assert len(got) == len(want), f"{call}: {len(got)} parts, of contiguous arguments {len(want)}"
        for part, expected in zip(got, want, strict=True):
            check_result(call, part, expected)
    else:
        check_result(call, got, want)


def check_result(call: Call, got: Any, want: Any) -> None:
    entry = call.entry
    if isinstance(got, (bool, int, float, complex)):
        assert got == want or got != got, f"{call}: {got!r}, of contiguous arguments {want!r}"
        return
    assert isinstance(got, opweave.Tensor), f"{call}: {got!r}"
    assert isinstance(want, opweave.Tensor), f"{call}: succeeds, but contiguous arguments give {want!r}"
    if call.keywords.get("out") is not None:
        assert got is call.keywords["out"], f"{call}: another tensor than out"
    else:
        assert got.dtype == want.dtype, f"{call}: dtype {got.dtype}, of contiguous arguments {want.dtype}"
    keeps_shape = call.keywords.get("out") is not None and entry.function.op.out == "same_count"
    want = want.view(got.shape) if keeps_shape and got.numel() == want.numel() else want
    assert tuple(got.shape) == tuple(want.shape), f"{call}: shape {got.shape}, expected {want.shape}"
    huge = got.numel() > 10**5 or any(abs(n) >= 2**40 for n in (*got.shape, *got.stride(), *want.stride()))
    if entry.family == "factory" or huge or got.dtype != want.dtype:
        return  # an out of another dtype may change that of the computation
    same(array(got), array(want), entry.family in ("elementwise", "view"), got, str(call))
    if entry.family == "elementwise" and entry.function is getattr(opweave, entry.name, None):
        check_numpy(call, want)


def same(got: Any, want: Any, exact: bool, result: opweave.Tensor, what: str) -> None:
    dtype = dtype_of(result)
    inexact = dtype.is_floating or dtype.is_complex
    if exact or not inexact:
        assert np.array_equal(got, want, equal_nan=inexact), f"{what}: {got}, contiguous: {want}"
    elif np.isfinite(want).all():
        widest = np.complex128 if dtype.is_complex else np.float64
        wide, expected = got.astype(widest), want.astype(widest)
        bound = 100 * TOLERANCE[dtype.to_real.name] * max(1.0, float(np.abs(expected).max(initial=0)))
        assert (np.abs(wide - expected) <= bound).all(), f"{what}: {got}, contiguous: {want}"


def check_numpy(call: Call, result: opweave.Tensor) -> None:
    """The function of NumPy of this name gives the same, where operands have dtypes that NumPy has."""
    function = getattr(np, call.entry.name, None) if call.entry.reference is None else None
    tensors = [each for each in call.arguments if isinstance(each, opweave.Tensor)]
    if function is None or call.keywords or len(tensors) != len(call.arguments) or "bfloat16" in str(result.dtype):
        return
    common = tensors[-1].dtype
    for each in tensors[:-1] if call.entry.name != "where" else tensors[1:-1]:
        common = opweave.promote_types(common, each.dtype)
    if call.entry.promotion == "int_to_float" and not common.is_floating_point:
        common = result.dtype
    dimensions = {each.dim() for each in tensors}
    if common == opweave.bfloat16 or (0 in dimensions and len({each.dtype for each in tensors}) > 1):
        return  # 0-dim tensors have less to say in the promotion, which others test
    dtype = DTYPES[str(common).removeprefix("opweave.")]
    condition = call.entry.name == "where"
    operands = [array(each) if condition and each is tensors[0] else cast(array(each), dtype) for each in tensors]
    with np.errstate(all="ignore"):
        try:
            want = np.asarray(function(*operands))
        except (ValueError, TypeError):  # integers to negative powers, signs of bool: NumPy never
            return
        got = array(result)
        if want.dtype.kind == "f" and dtype.is_floating:
            close = np.isclose(got, want, rtol=TOLERANCE[dtype.name], atol=TOLERANCE[dtype.name] * 1e-3, equal_nan=True)
        else:
            close = got == want
    assert close.all(), f"{call}: {got}, NumPy: {want}"


def run_one(random: Random, name: str) -> None:
    check_call(random_call(random, random.choice(entries()[name])))


def main(first: int, count: int) -> None:
    names = sorted(entries())
    for seed in range(first, first + count):
        name = names[seed % len(names)]
        print(f"fuzzing.py: seed {seed}: {name}", flush=True)
        run_one(Random(seed), name)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
