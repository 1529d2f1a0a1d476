"""Evaluates the same expression with opweave and with torch, and compares what comes out.

An expression sees the library as `L`, NumPy as `np`, and the fixed tensors of `environment`. Results agree when they
have the same type, values, dtype, shape and strides; errors agree when they have the same type and the same text, in
which each library may name itself.
"""

from __future__ import annotations

import copy
import operator
import pickle
import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import opweave


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


def outcome(expression: str, library: ModuleType) -> Any:
    """What the expression gives, in a form that can be compared between libraries."""
    names = environment(library)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            statement, _, result = expression.rpartition("; ")
            if statement:
                exec(statement, names)
            return describe(eval(result, names), library)
    except Exception as error:
        return type(error).__name__, own_name(str(error).partition("\nException raised")[0], library)


def own_name(text: str, library: ModuleType) -> str:
    text = text.replace(library.__name__ + ".storage.", "L.").replace(library.__name__ + ".", "L.")
    # torch says TypedStorage of the storages of every dtype, even where they are instances of FloatStorage.
    text = re.sub(r"TypedStorage\(dtype=L\.(\w+), device=cpu\)", storage_name, text)
    text = re.sub(r"<class 'L\.\w+Storage'>", "<class 'L.TypedStorage'>", text)
    # An argument may be given by another name, so that Python counts none as required.
    text = re.sub(r"takes (?:from 0 to )?(\d+) positional arguments?", r"takes \1 positional arguments", text)
    return " ".join(text.split())


def storage_name(dtype: re.Match[str]) -> str:
    return f"{getattr(opweave, dtype[1]).scalar_name}Storage"


def describe(value: Any, library: ModuleType) -> Any:
    if isinstance(value, library.Tensor):
        # The stride of a dimension of fewer than two positions is never used, and libraries differ in it.
        shape = tuple(value.shape)
        strides = [stride for size, stride in zip(shape, value.stride(), strict=True) if size > 1]
        return "tensor", own_name(repr(value), library), shape, strides if value.numel() else [], value.storage_offset()
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape, value.strides, value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [describe(item, library) for item in value]
    return type(value).__name__, own_name(repr(value), library)
