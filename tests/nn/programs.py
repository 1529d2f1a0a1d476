"""Small programs that see the library as `L`, `nn` and `F`; the value of the last line is compared with torch's."""

from __future__ import annotations

import ast
import copy
import io
import pickle
from collections import OrderedDict
from typing import Any

from harness import oracle
from harness.oracle import Like

from .side_by_side import environment

LIKE = Like(rtol=2e-5, atol=4e-6, scale=True, strides=False, few=24)


def run(library: Any, text: str) -> Any:
    library.manual_seed(3)
    names = environment(library) | {"copy": copy, "pickle": pickle, "io": io, "OrderedDict": OrderedDict}
    tree = ast.parse(text)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "program", "exec"), names)
    return eval(compile(ast.Expression(last.value), "program", "eval"), names)


def programs(text: str) -> list[str]:
    """Those that lines of dashes are between."""
    return [part.strip("\n") for part in text.split("\n---\n") if part.strip()]


def check(text: str, like: Like = LIKE) -> None:
    oracle.check(lambda library: run(library, text), text, like)
