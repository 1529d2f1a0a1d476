"""The one comparison with torch: a call is made with opweave, and torch's outcome is looked up or asked for.

    check(lambda L: L.polygamma(2, L.tensor([0.5, 3.0])), "polygamma", Like(rtol=2e-6))
    check(expression("a.sum(0); a"), ...)

A call is a function of the library; its inputs do not depend on the library, nor on the machine: numbers that are
written down, tensors of `Twin` over numbers of drawn.py. Outcomes are descriptions (outcome.py). Differences are
gathered and reported when the test ends.
"""

from __future__ import annotations

import importlib
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import opweave

from codegen.dtypes import DType

from .arrays import Array, flat_tensor, holder, to_memory
from .compare import check_values
from .layouts import Layout
from .outcome import PARAGRAPH, Described, Error, Items, Kept, Table, Values, outcome, restored, stored
from .recording import current, has

__all__ = ["CLOSE", "EXACT", "GRADIENTS", "PRINTED", "TORCH_LACKS", "Call", "Like", "Twin"]
__all__ += ["agree", "ask", "check", "has", "judge", "of", "sweep"]

Call = Callable[[Any], Any]
T = TypeVar("T")

CLOSE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 1e-12, "complex64": 4e-6, "complex128": 1e-12}
"""Relative errors of sums and of chains of functions, by the dtype of the result."""

TORCH_LACKS = ("not implemented for", "Promotion for uint16, uint32, uint64 types is not supported")
"""What torch has no kernel or no common dtype for is opweave's own affair."""


@dataclass(frozen=True)
class Like:
    """What an outcome must have in common with torch's."""

    ulp: float = 0
    bound: Any = None
    """An absolute error for each element that is forgiven besides."""
    signed_zeros: bool = True
    rtol: float | Mapping[str, float] | None = None
    """In place of `ulp`: a relative error, or one for each dtype (of others none),"""
    atol: float | Mapping[str, float] = 0.0
    """and an absolute one,"""
    scale: bool = False
    """which is a share of the largest element of the tensor."""
    strides: bool = True
    grad: bool = True
    """Is requires_grad the same?"""
    printed: bool = False
    """Are tensors compared by their printed form?"""
    texts: bool = True
    """Do errors say the same,"""
    until: str = ""
    """up to these words?"""
    advice: bool = True
    """Is advice, which each library gives on its own, part of the text?"""
    lacks: bool = False
    """May opweave take what torch has no kernel for?"""

    few: int = 64
    """How many elements of larger tensors are recorded, where no digest of all can be."""

    @property
    def kept(self) -> Kept:
        return Kept(self.few, not self.ulp and self.bound is None and self.rtol is None, self.signed_zeros)


EXACT = Like()
PRINTED = Like(printed=True)
GRADIENTS = Like(rtol=1e-6, atol=1e-9, strides=False, advice=False, few=16)


# ---- asking -------------------------------------------------------------------------------------------------


@cache
def torch_module() -> ModuleType:
    """torch without opt_einsum, beside which other errors and orders of products are its answer."""
    for name in ("autograd.functional", "func", "utils.benchmark", "utils.checkpoint"):
        importlib.import_module(f"torch.{name}")
    torch = importlib.import_module("torch")
    torch.backends.opt_einsum.enabled = False
    return torch


def ask(call: Call, what: str, like: Like = EXACT) -> Described:
    """torch's outcome of a call. `what` names the call, in words that do not depend on the library or the machine."""
    test = current()
    if test.mode == "replay":
        return restored(test.next_answer(what))
    live = outcome(call, torch_module(), like.printed)
    if test.mode == "check":
        result = differences(live, restored(test.next_answer(what)), like)
        if result:
            test.failures.append(f"{what}: the recording is not what torch says: {result}")
    else:
        test.count(what)
        test.keep(stored(live, like.kept))
    return live


def check(call: Call, what: str = "", like: Like = EXACT) -> None:
    """opweave's outcome is torch's."""
    what = what or f"call {current().asked}"
    agree(call, ask(call, what, like), what, like)


def agree(call: Call, want: Described, what: str, like: Like = EXACT) -> None:
    """As check(), where torch has been asked."""
    line = getattr(getattr(call, "__code__", None), "co_firstlineno", "")
    judge(outcome(call, opweave, like.printed), want, f"{what} (line {line})", like)


def judge(got: Described, want: Described, what: str, like: Like) -> None:
    """As agree(), where opweave has been asked, too."""
    result = differences(got, want, like)
    if result:
        current().failures.append(f"{what}: {result}")


def sweep(cases: Iterable[T], most: int) -> list[T]:
    """So many of the cases, which are recorded; all of them where torch is there to answer."""
    listed = list(cases)
    if current().mode == "live" or len(listed) <= most:
        return listed
    order = sorted(range(len(listed)), key=lambda index: zlib.crc32(str(index).encode()))
    return [listed[index] for index in sorted(order[:most])]


# ---- comparing ----------------------------------------------------------------------------------------------


def differences(got: Described, want: Described, like: Like) -> str:
    """What `got` has otherwise than torch; nothing where they are alike."""
    if isinstance(want, Error):
        return _of_errors(got, want, like)
    if type(got) is not type(want):
        return f"got {got}, torch gives {want}"
    if isinstance(want, Values):
        return _of_tensors(got, want, like)
    if isinstance(want, Items):
        if (got.kind, len(got.items)) != (want.kind, len(want.items)):
            return f"got {got}, torch gives {want}"
        results = (differences(*pair, like) for pair in zip(got.items, want.items, strict=True))
        return next((f"item {index}: {each}" for index, each in enumerate(results) if each), "")
    if isinstance(want, Table):
        return differences(got.keys, want.keys, like) or differences(got.values, want.values, like)
    if isinstance(want, float) and _near(got, want, like):
        return ""
    return "" if got == want else f"got {got!r}, torch gives {want!r}"


def _of_errors(got: Described, want: Error, like: Like) -> str:
    lacks = like.lacks and any(reason in want.text for reason in TORCH_LACKS)
    if lacks and (not isinstance(got, Error) or got.kind in ("RuntimeError", "NotImplementedError")):
        return ""
    if not isinstance(got, Error) or got.kind != want.kind or (like.texts and _said(got, like) != _said(want, like)):
        return f"got {got}, torch gives {want}"
    return ""


def _said(error: Error, like: Like) -> str:
    """The text of an error, as far as it is compared."""
    text = error.text.partition(like.until)[0] if like.until else error.text
    if like.advice:
        return text.replace(PARAGRAPH, " ")
    text = re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number[0]):.7g}", text)
    return re.split(rf"{PARAGRAPH}|Please |Give back|undefined output grads", text)[0].strip(". ")


def _near(got: float, want: float, like: Like) -> bool:
    rtol, atol = _error(like.rtol or 0.0, "float64"), _error(like.atol, "float64")
    return math.isclose(got, want, rel_tol=rtol, abs_tol=atol) or (got != got and want != want)


def _error(allowed: float | Mapping[str, float], dtype: str) -> float:
    return allowed.get(dtype, 0.0) if isinstance(allowed, Mapping) else allowed


def _of_tensors(got: Values, want: Values, like: Like) -> str:
    for name in ("dtype", "shape", *["strides"] * like.strides, *["requires_grad"] * like.grad):
        mine, theirs = getattr(got, name), getattr(want, name)
        if mine != theirs:
            return f"{name} {mine}, torch has {theirs}"
    assert got.values is not None
    if want.digest:
        alike = got.digest_of(like.signed_zeros) == want.digest
        return "" if alike else f"other values than torch's, beginning with {got.values.reshape(-1)[:8]}"
    assert want.values is not None
    theirs = want.values.reshape(-1)
    chosen = want.spread(theirs.size)
    mine = got.values.reshape(-1)[chosen]
    if like.rtol is not None:
        return _far(mine, theirs, got.values, want.dtype, like)
    bound = like.bound
    if isinstance(bound, np.ndarray):
        bound = np.broadcast_to(bound, want.shape).reshape(-1)[chosen]
    try:
        check_values(mine, theirs, want.of, like.ulp, "", bound, like.signed_zeros)
    except AssertionError as error:
        return str(error).removeprefix(": ")
    return ""


def _far(mine: Array, theirs: Array, everything: Array, dtype: str, like: Like) -> str:
    """Where numbers are too far from torch's; integers are equal."""
    rtol, atol = _error(like.rtol or 0.0, dtype), _error(like.atol, dtype)
    if theirs.dtype.kind in "biu":
        rtol, atol = 0.0, 0.0
    elif like.scale:
        atol *= float(np.abs(everything[np.isfinite(everything)]).max(initial=1.0))
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(mine, theirs, rtol=rtol, atol=atol, equal_nan=theirs.dtype.kind in "fc")
    if not wrong.any():
        return ""
    index = int(np.argmax(wrong))
    return f"got {mine[index]!r} for {theirs[index]!r}; {int(wrong.sum())} of {wrong.size} are wrong"


# ---- inputs -------------------------------------------------------------------------------------------------


class Twin:
    """A tensor of the same values and the same layout in every library."""

    def __init__(self, values: Array, layout: Layout, dtype: DType) -> None:
        self.layout, self.dtype = layout, dtype
        self._memory = layout.memory(np.broadcast_to(values, layout.shape).astype(holder(dtype)))
        current().note(self._memory.tobytes())

    def of(self, library: ModuleType) -> Any:
        return self.mine if library is opweave else self.theirs

    @cached_property
    def mine(self) -> opweave.Tensor:
        return flat_tensor(self._memory, self.dtype).as_strided(*self._geometry)

    @cached_property
    def theirs(self) -> Any:
        torch = torch_module()
        dtype, words = getattr(torch, self.dtype.name), to_memory(self._memory, self.dtype)
        flat = torch.frombuffer(bytearray(words.tobytes()), dtype=dtype) if words.size else torch.empty(0, dtype=dtype)
        return flat.as_strided(*self._geometry)

    @property
    def _geometry(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        return self.layout.shape, self.layout.strides, self.layout.offset

    def __str__(self) -> str:
        return f"{self.dtype} {self.layout}"


def of(library: ModuleType, value: Any) -> Any:
    """An argument as the library takes it: twins, and lists of them."""
    if isinstance(value, Twin):
        return value.of(library)
    return type(value)(of(library, each) for each in value) if isinstance(value, (list, tuple)) else value
