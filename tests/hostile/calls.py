"""One call, and what must hold after it."""

from __future__ import annotations

import faulthandler
import pickle
import time
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import opweave
from opweave import _handle
from opweave._C import lib
from safetensors import SafetensorError

from .actors import RaisedError
from .specs import Spec, function_of, made

REFUSALS = (
    *(TypeError, ValueError, RuntimeError, IndexError, OverflowError, MemoryError, BufferError, AttributeError),
    *(KeyError, AssertionError, ZeroDivisionError, StopIteration, ImportError, EOFError, OSError, pickle.PickleError),
    *(opweave.library.OpCheckError, opweave.weave.WeaveError, SafetensorError),
)
"""Exceptions that a call may end with. What is a NameError, a SystemError or a RecursionError is a mistake of ours."""

SECONDS = 60
"""After which a call is said to hang."""
LONG = 10
"""Seconds of the processor that a call may take."""

_KEPT: deque[Any] = deque(maxlen=200)
"""What is there when the process ends, in cycles: the collector frees it when the package is half gone."""


def call(spec: Spec) -> str | None:
    """Makes the call; what is wrong afterwards, or None."""
    function = function_of(spec["name"])
    stage: list[Any] = []
    try:
        for recipe in spec["arguments"]:
            stage.append(made(recipe, stage))
        arguments = [*stage]
        keywords = {name: made(recipe, stage) for name, recipe in spec["keywords"].items()}
    except (*REFUSALS, RaisedError):
        return None  # an actor among them has acted already
    stage += keywords.values()
    excluded, begin = _handle.excluded(), time.process_time()
    result = None
    try:
        result = function(*arguments, **keywords)
        if isinstance(result, types.GeneratorType):
            result = [each for each, _ in zip(result, range(100), strict=False)]
    except (*REFUSALS, RaisedError):
        pass
    except Exception as error:  # one that no caller would expect
        return f"{type(error).__name__}: {error}"
    if time.process_time() - begin > LONG:
        return f"took {time.process_time() - begin:.0f} seconds"
    if lib.error_pending():
        return "an error of the core is pending"
    if _handle.excluded() != excluded:
        return "the thread's modes have changed"
    _keep(stage, result)
    for each in (*arguments, *keywords.values(), *(result if isinstance(result, (tuple, list)) else (result,))):
        wrong = what_is_wrong(each)
        if wrong and not ("torage" in spec["name"] and is_refused(each)):
            return wrong
    return None


def is_refused(value: Any) -> bool:
    """Is a tensor whose storage was made smaller refused where it is used?"""
    try:
        value.detach().clone()
    except RuntimeError:
        return True
    return False


def _keep(stage: list[Any], result: Any) -> None:
    for each in (*stage, result):
        if isinstance(each, opweave.Tensor) and each.__class__ is not opweave.Tensor:
            each.cycle = stage
    stage.append(result)
    stage.append(stage)
    _KEPT.append(stage)


def what_is_wrong(value: Any) -> str | None:
    """Of a tensor whose elements do not lie in its memory; those that do are read."""
    if not isinstance(value, opweave.Tensor):
        return None
    try:
        if value.layout is opweave.sparse_coo:
            return what_is_wrong(value._indices()) or what_is_wrong(value._values())
        if value.layout is not opweave.strided:
            of_rows = value.layout in (opweave.sparse_csr, opweave.sparse_bsr)
            plain = (value.crow_indices, value.col_indices) if of_rows else (value.ccol_indices, value.row_indices)
            return next(filter(None, (what_is_wrong(part()) for part in (*plain, value.values))), None)
        memory = value.untyped_storage().nbytes()
        steps = [(size - 1) * step for size, step in zip(value.shape, value.stride(), strict=True)]
    except (AttributeError, RuntimeError, ValueError):
        return None  # it is not finished, or has no shape yet
    reach = value.storage_offset() + sum(step for step in steps if step > 0)
    lowest = value.storage_offset() + sum(step for step in steps if step < 0)
    if value.numel() and not 0 <= lowest <= reach < max(memory // value.element_size(), 1):
        return f"elements {lowest} to {reach} of {memory} bytes: {value.dtype} {tuple(value.shape)} {value.stride()}"
    if value.numel() <= 10**5:
        try:
            value.detach().clone()
        except Exception as error:
            return f"cannot be copied: {type(error).__name__}: {error}"
    return None


def run(specs: Iterator[Spec], note: Callable[[Spec], None], report: Callable[[Spec, str], None]) -> None:
    """Makes calls; `note` hears of each before it is made, `report` of what is wrong after one."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for number, spec in enumerate(specs):
        if number % 50 == 0:
            faulthandler.dump_traceback_later(SECONDS, exit=True)
        note(spec)
        wrong = call(spec)
        if wrong:
            report(spec, wrong)
    faulthandler.cancel_dump_traceback_later()
