"""Calls written as expressions: they see the library as `L`, NumPy as `np`, and the fixed tensors of `environment`.

What stands before the last `; ` are statements. Tensors are compared by their printed form, strides and offset, errors
by type and text.
"""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from . import oracle
from .oracle import PRINTED, Call, Like


def environment(library: ModuleType) -> dict[str, Any]:
    return {
        "L": library,
        "np": np,
        "copy": copy,
        "operator": operator,
        "pickle": pickle,
        "a": library.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
        "b": library.tensor([[[1, 2], [3, 4], [5, 6]]]),
        "i": library.tensor([[1, 2], [3, 4]]),
        "u": library.tensor([1, 2, 255], dtype=library.uint8),
        "z": library.tensor(3.5),
        "zi": library.tensor(1),
        "e": library.zeros(0, 3),
    }


def expression(text: str) -> Call:
    def call(library: Any) -> Any:
        names = environment(library)
        statements, _, result = text.rpartition("; ")
        exec(statements, names)
        return eval(result, names)

    return call


def check(text: str, like: Like = PRINTED) -> None:
    oracle.check(expression(text), text, like)


def check_all(texts: Iterable[str], setup: str = "", like: Like = PRINTED) -> None:
    for text in texts:
        check(setup + text, like)
