"""Checks the NumPy form of an operator against its body, at sample values: docstrings show what it computes.

It is Python, of which only what numpy_names.py lists is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..dtypes import DType
from ..errors import Diagnostics
from ..expr import ExpressionError
from ..model.computation import argument_dtypes, result_dtype
from ..model.operator import Family, Operator
from ..model.reference import reference
from . import numpy_names, samples
from .samples import Array

_RELATIVE, _ABSOLUTE = 1e-4, 1e-6
_HELP = "the NumPy function or expression that computes the same, or 'none'"


def check(operator: Operator, diagnostics: Diagnostics) -> None:
    """Compare the declared form with the body; without one, the NumPy function of the operator's name, if it exists."""
    declared = operator.reference is not None
    text = reference(operator)
    # Examples in docstrings of elementwise operators are computed from their bodies.
    if text is None or (not declared and operator.family is Family.ELEMENTWISE):
        return
    names = [*(argument.name for argument in operator.schema.arguments), "dtype"]
    problem = numpy_names.refusal(text, names) if declared else None
    if problem is None:
        problem = _contradiction(operator, text, declared)
    if problem is not None:
        span = operator.reference_span or operator.place(operator.name)
        diagnostics.report(span, problem, _HELP if declared else f"give 'reference': {_HELP}")


# ---- values -------------------------------------------------------------------------------------------------


def _contradiction(operator: Operator, text: str, declared: bool) -> str | None:
    import numpy as np

    if "scipy" in text and numpy_names.module("scipy") is None:
        return None
    # NumPy has no arithmetic on bool.
    for dtype in [dtype for dtype in samples.dtypes(operator) if not dtype.is_bool][:1]:
        try:
            for env, shown, expected in _samples(operator, dtype):
                with np.errstate(all="ignore"):
                    value = numpy_names.value(text, {"dtype": dtype.numpy, **env})
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


def _samples(operator: Operator, dtype: DType) -> Iterator[tuple[dict[str, Any], dict[str, Array], Array]]:
    """Return the arguments, those among them that messages show, and the result of the body."""
    import numpy as np

    body = operator.body
    numbers = samples.numbers(operator)
    x = samples.matrix(dtype)
    alone = [each.name for each in operator.inputs] == ["self"] and operator.schema.argument("dim") is not None
    if alone and operator.family in samples.RESULTS:
        defaults = {
            each.name: None if each.default is None else each.default.value for each in operator.schema.arguments
        }
        expected, *others = samples.results(operator, {"self": x}, dtype)
        if not others:
            kept = operator.family is not Family.REDUCE and expected.shape[1] == x.shape[1]
            yield {**defaults, **numbers, "self": x, "dim": 1}, {}, expected if kept else expected[:, 0]
        return
    expressions = body.values(dtype)
    optional = any(argument.is_optional for argument in (*operator.inputs, *operator.params))
    if not expressions or optional or body.single is None:
        return
    types = argument_dtypes(operator, body, dtype)
    inputs = {
        argument.name: np.roll(samples.matrix(types[argument.name]).ravel(), 5 * index)
        for index, argument in enumerate(operator.inputs)
    }
    env: dict[str, Array] = inputs | {name: np.array(value, types[name].numpy) for name, value in numbers.items()}
    expected = samples.value(expressions[0].tree, env, result_dtype(operator, dtype))
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
