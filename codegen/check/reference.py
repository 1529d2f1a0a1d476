"""Checks the NumPy form of an operator against its body, at sample values: docstrings show what it computes.

It is Python, evaluated without builtins that do anything; names and attributes that begin with '_' are refused.
"""

from __future__ import annotations

import ast
import importlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..dtypes import DType
from ..errors import Diagnostics, suggest
from ..expr import ExpressionError
from ..model.computation import argument_dtypes, result_dtype
from ..model.operator import Elementwise, Operator, Reduce, Rows, Scan
from ..model.reference import reference
from . import samples
from .samples import Array

_BUILTINS = (abs, bool, complex, float, int, len, list, max, min, range, round, slice, sum, tuple)
_MODULES = ("np", "scipy", "math")
_RELATIVE, _ABSOLUTE = 1e-4, 1e-6
_HELP = "the NumPy function or expression that computes the same, or 'none'"


def check(operator: Operator, diagnostics: Diagnostics) -> None:
    """Compare the declared form with the body; without one, the NumPy function of the operator's name, if it exists."""
    declared = operator.reference is not None
    text = reference(operator)
    # Examples in docstrings of elementwise operators are computed from their bodies.
    if text is None or (not declared and isinstance(operator.body, Elementwise)):
        return
    problem = _unknown(text, operator) if declared else None
    if problem is None:
        problem = _contradiction(operator, text, declared)
    if problem is not None:
        span = operator.reference_span or operator.place(operator.name)
        diagnostics.report(span, problem, _HELP if declared else f"give 'reference': {_HELP}")


# ---- names --------------------------------------------------------------------------------------------------


def _unknown(text: str, operator: Operator) -> str | None:
    """Return what is wrong with the names of an expression, or None."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "'reference' is not a Python expression"
    nodes = list(ast.walk(tree))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    known = [argument.name for argument in operator.schema.arguments]
    accepted = {*known, *bound, *_MODULES, "dtype", *(each.__name__ for each in _BUILTINS)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return f"'reference' uses the private name '{node.attr}'"
        if isinstance(node, ast.Name) and node.id not in accepted:
            return f"unknown name '{node.id}' in 'reference': {suggest(node.id, (*known, *_MODULES))}"
    if "np" in known or "math" in known:
        return None
    return next(filter(None, map(_lacking, nodes)), None)


def _lacking(node: ast.AST) -> str | None:
    """Return a message if the node is `np.this.that` and NumPy has no such part, else None."""
    path: list[str] = []
    value: ast.AST = node
    while isinstance(value, ast.Attribute):
        path.insert(0, value.attr)
        value = value.value
    module = _module(value.id) if path and isinstance(value, ast.Name) else None
    if module is None:
        return None
    for name in path:
        if not hasattr(module, name):
            return f"'reference' names '{ast.unparse(node)}', which does not exist"
        module = getattr(module, name)
    return None


def _module(name: str) -> Any:
    """Return the module that a name stands for; None if it is not installed or the name is not one of a module."""
    if name not in ("np", "math", "scipy"):
        return None
    try:
        if name == "scipy":
            importlib.import_module("scipy.special")
        return importlib.import_module("numpy" if name == "np" else name)
    except ImportError:
        return None


# ---- values -------------------------------------------------------------------------------------------------


def _contradiction(operator: Operator, text: str, declared: bool) -> str | None:
    import numpy as np

    if "scipy" in text and _module("scipy") is None:
        return None
    # NumPy has no arithmetic on bool.
    for dtype in [dtype for dtype in samples.dtypes(operator) if not dtype.is_bool][:1]:
        try:
            for env, shown, expected in _samples(operator, dtype):
                scope = {each.__name__: each for each in _BUILTINS} | {
                    "math": math,
                    "np": np,
                    "scipy": _module("scipy"),
                }
                with np.errstate(all="ignore"):
                    value = eval(_compiled(text), {"__builtins__": {}, **scope, "dtype": dtype.numpy, **env})
                    wrong = _first(np.asarray(value), expected)
                if wrong is not None:
                    differs = (
                        "'reference' contradicts the body" if declared else f"np.{operator.name} is something else"
                    )
                    return f"{differs}: {_describe(wrong, shown, np.asarray(value), expected)}"
        except ExpressionError:
            return None  # the body is wrong, which is reported separately, or cannot be evaluated
        except Exception as error:  # NumPy and the text may raise anything
            return f"'reference' fails: {type(error).__name__}: {error}" if declared else None
    return None


def _compiled(text: str) -> Any:
    return compile(text.strip(), "<reference>", "eval")


def _samples(operator: Operator, dtype: DType) -> Iterator[tuple[dict[str, Any], dict[str, Array], Array]]:
    """Return the arguments, those among them that messages show, and the result of the body."""
    import numpy as np

    body = operator.body
    numbers = samples.numbers(operator)
    x = samples.matrix(dtype)
    alone = isinstance(body, (Reduce, Scan, Rows)) and [each.name for each in operator.inputs] == ["self"]
    if isinstance(body, (Reduce, Scan, Rows)) and alone and operator.schema.argument("dim") is not None:
        defaults = {
            each.name: None if each.default is None else each.default.value for each in operator.schema.arguments
        }
        expected, *others = samples.results(operator, body, {"self": x}, dtype)
        if not others:
            kept = not isinstance(body, Reduce) and expected.shape[1] == x.shape[1]
            yield {**defaults, **numbers, "self": x, "dim": 1}, {}, expected if kept else expected[:, 0]
        return
    if not isinstance(body, Elementwise):
        return
    expression = body.expression(dtype)
    optional = any(argument.is_optional for argument in (*operator.inputs, *operator.params))
    if expression is None or optional or not body.is_single:
        return
    types = argument_dtypes(operator, body, dtype)
    inputs = {
        argument.name: np.roll(samples.matrix(types[argument.name]).ravel(), 5 * index)
        for index, argument in enumerate(operator.inputs)
    }
    env: dict[str, Array] = inputs | {name: np.array(value, types[name].numpy) for name, value in numbers.items()}
    expected = samples.value(expression.tree, env, result_dtype(operator, dtype))
    yield {**inputs, **numbers}, inputs, np.broadcast_to(expected, x.size)


def _first(computed: Array, expected: Array) -> int | None:
    """Return the index of the first element in which they differ by more than rounding, or None. Elements in which
    either is undefined are not compared."""
    import numpy as np

    if computed.dtype.kind not in "biufc":
        return 0
    try:
        computed = np.broadcast_to(computed, expected.shape).ravel()
    except ValueError:
        return 0
    expected = expected.ravel()
    with np.errstate(all="ignore"):
        tolerance = _RELATIVE * np.maximum(np.abs(computed), np.abs(expected * 1.0)) + _ABSOLUTE
        near = np.abs(computed.astype(expected.dtype) * 1.0 - expected * 1.0) <= tolerance
    defined = np.isfinite(computed) & np.isfinite(expected)
    indices = np.flatnonzero(defined & ~near)
    return int(indices[0]) if len(indices) else None


def _describe(index: int, shown: Mapping[str, Array], computed: Array, expected: Array) -> str:
    if computed.dtype.kind not in "biufc" or (computed.ndim and computed.size != expected.size):
        return f"it gives {' '.join(str(computed).split())[:60]}"
    given, body = computed.ravel()[index if computed.ndim else 0], expected.ravel()[index]
    at = ", ".join(f"{name}={values.ravel()[index]:g}" for name, values in shown.items())
    return f"{f'at {at}: ' if at else ''}the reference gives {given:g}, the body {body:g}"
