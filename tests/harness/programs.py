"""Small programs that see the library as `L`, `nn` and `F`; the value of the last line is compared with torch's."""

from __future__ import annotations

import ast
import copy
import io
import pickle
from collections import OrderedDict
from types import ModuleType
from typing import Any

import numpy as np

from . import oracle
from .oracle import Like

LIKE = Like(rtol=2e-5, atol=4e-6, scale=True, strides=False, few=24)


def numbers(library: ModuleType, *shape: int, dtype: str = "float32", step: float = 0.7, grad: bool = False) -> Any:
    values = np.cos(step * np.arange(np.prod(shape, dtype=int)) + 0.3).reshape(shape)
    return library.tensor(values.tolist(), dtype=getattr(library, dtype)).reshape(shape).requires_grad_(grad)


def environment(library: ModuleType) -> dict[str, Any]:
    """What expressions see: `L` the library, `nn`, `F`, `x(2, 3)` a tensor of these sizes, `g(2, 3)` one with a
    gradient, `i(10, 2, 3)` one of integers below ten."""

    def integers(below: int, *shape: int) -> Any:
        places = np.arange(np.prod(shape, dtype=int))
        return library.tensor(((places * places + places // 2) % below).reshape(shape).tolist())

    return {
        "L": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "x": lambda *shape, **options: numbers(library, *shape, **options),
        "g": lambda *shape, **options: numbers(library, *shape, grad=True, **options),
        "i": integers,
    }


def run(library: ModuleType, text: str) -> Any:
    library.manual_seed(3)
    names = environment(library) | {"copy": copy, "pickle": pickle, "io": io, "OrderedDict": OrderedDict}
    tree = ast.parse(text)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "program", "exec"), names)
    return eval(compile(ast.Expression(last.value), "program", "eval"), names)


def programs(text: str) -> list[str]:
    """Programs separated by lines of dashes."""
    return [part.strip("\n") for part in text.split("\n---\n") if part.strip()]


def check(text: str, like: Like = LIKE) -> None:
    oracle.check(lambda library: run(library, text), text, like)
