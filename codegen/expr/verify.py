"""Checks a declared derivative formula against the symbolic derivative of the expression, numerically.

Both are evaluated in float64 at fixed sample points. A formula may use the arguments, `grad` and `result`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from .derive import derive
from .errors import ExpressionError
from .evaluate import Array, evaluate
from .simplify import build
from .tree import Expr, Name, names_in_order, substitute

# Numbers of both signs and magnitudes around one, without zero and numbers at which expressions tend to have kinks.
_MODERATE = (0.7, -1.3, 0.37, -0.21, 1.9, 2.6, -2.8, 3.3, -3.7, 0.93, -0.93, 0.06, -0.06, 5.2, -5.9)
# Whole numbers have powers of negative numbers; the others expose formulas that overflow or cancel.
_AWKWARD = (2.0, -3.0, 4.0, 1e-3, -1e-3, 17.5, -17.5, 41.0, -41.0, 310.0, -310.0, 1e-6, 2.5e4, -2.5e4)
_ROUNDS = 40
_ENOUGH = 5
_RELATIVE, _ABSOLUTE = 1e-6, 1e-9
_SMOOTH, _LOOSE = 1e-5, 1e-3


@dataclass(frozen=True)
class Mismatch:
    """A sample point at which formula and expression disagree."""

    name: str
    point: tuple[tuple[str, float], ...]
    formula: float
    expression: float

    def __str__(self) -> str:
        at = ", ".join(f"{name}={value:g}" for name, value in self.point)
        return (
            f"derivative of '{self.name}' contradicts the expression: at {at}: "
            f"formula gives {_show(self.formula)}, expression gives {_show(self.expression)}"
        )


def check_derivative(forward: Expr, name: str, formula: Expr) -> Mismatch | None:
    """Compares `formula` with `grad` times the derivative of `forward` with respect to `name`.

    Points where the expression or both derivatives are undefined do not count. Raises ExpressionError:
    located in the forward expression when its derivative is unknown or too few points are left, located in
    the formula when that cannot be evaluated.
    """
    symbolic = build("mul", Name("grad"), derive(forward, name))
    formula = substitute(formula, {"result": forward})
    used = names_in_order(forward, formula)
    arguments = [argument for argument in dict.fromkeys([*used, name]) if argument != "grad"]
    points = _points(len(arguments))
    env = {argument: _array([point[index] for point in points]) for index, argument in enumerate([*arguments, "grad"])}
    value = evaluate(forward, {argument: env[argument] for argument in arguments})
    declared, expected = _floats(formula, env), _floats(symbolic, env)
    usable = 0
    worst: Mismatch | None = None
    for index, point in enumerate(points):
        if not math.isfinite(float(value[index])):
            continue
        formula_value, expected_value = float(declared[index]), float(expected[index])
        if not _comparable(formula_value, expected_value, point):
            continue
        usable += 1
        if worst is None and not _agree(formula_value, expected_value):
            shown = list(zip(arguments, point, strict=False))
            if point[-1] != 1:
                shown.append(("grad", point[-1]))
            worst = Mismatch(name, tuple(shown), formula_value, expected_value)
    if worst is None and usable < _ENOUGH:
        raise ExpressionError.at(
            forward.span,
            f"cannot check the derivative of '{name}': {usable} of {len(points)} sample points are usable",
            "the expression is undefined (NaN or infinite) at the others",
        )
    return worst


def check_by_differences(forward: Expr, name: str, formula: Expr) -> Mismatch | None:
    """Compares `formula` with finite differences of an expression whose derivative is not known.

    Only moderate points are used at which two step sizes agree. Raises ExpressionError if either cannot be evaluated.
    """
    import numpy as np

    formula = substitute(formula, {"result": forward})
    used = names_in_order(forward, formula)
    arguments = [argument for argument in dict.fromkeys([*used, name]) if argument != "grad"]
    points = [point for point in _points(len(arguments)) if all(abs(value) < 10 for value in point)]
    env = {argument: _array([point[index] for point in points]) for index, argument in enumerate([*arguments, "grad"])}
    declared = _floats(formula, env)
    inputs = {argument: env[argument] for argument in arguments}

    def difference(step: float) -> Array:
        above, below = (_floats(forward, {**inputs, name: env[name] + sign * step}) for sign in (1, -1))
        return env["grad"] * (above - below) / (2 * step)

    with np.errstate(all="ignore"):
        expected, again = difference(1e-5), difference(3e-5)
        smooth = np.abs(expected - again) <= _SMOOTH * np.abs(expected) + _SMOOTH
        near = np.abs(declared - expected) <= _LOOSE * np.maximum(np.abs(declared), np.abs(expected)) + _LOOSE
    for index in np.flatnonzero(np.isfinite(expected) & np.isfinite(declared) & smooth & ~near)[:1]:
        shown = tuple(zip(arguments, points[index], strict=False))
        return Mismatch(name, shown, float(declared[index]), float(expected[index]))
    return None


@cache
def _points(arguments: int) -> tuple[tuple[float, ...], ...]:
    """Values of the arguments and, last, of `grad`. No two arguments are equal: functions of order have kinks there."""
    return tuple(_chosen(arguments))


def _chosen(arguments: int) -> Iterator[tuple[float, ...]]:
    generator = random.Random(20)
    grads = (1.0, 1.0, 1.0, -2.5)
    for number in range(_ROUNDS):
        grad = grads[number % len(grads)]
        pool = _MODERATE if number < _ROUNDS // 2 else _MODERATE + _AWKWARD
        if number == 0:
            values = [pool[index % len(pool)] for index in range(arguments)]
        else:
            values = generator.sample(pool, min(arguments, len(pool)))
        yield (*values, grad)
    # One argument at a time takes all values, the others moderate ones.
    for index in range(arguments):
        for extreme in _MODERATE + _AWKWARD:
            rest = [value for value in _MODERATE if value != extreme]
            values = generator.sample(rest, arguments)
            values[index] = extreme
            yield (*values, 1.0)


def _array(values: Sequence[float]) -> Array:
    import numpy as np

    return np.array(values, dtype="float64")


def _floats(expr: Expr, env: dict[str, Array]) -> Array:
    import numpy as np

    # A formula such as `0` is an integer, a comparison is bool.
    return evaluate(expr, env).astype(np.float64)


def _comparable(formula_value: float, expected_value: float, point: Sequence[float]) -> bool:
    if math.isfinite(formula_value) and math.isfinite(expected_value):
        return True
    # Equivalent formulas overflow at different points, so a single undefined value far from zero is no mistake.
    moderate = all(abs(value) < 10 for value in point)
    return moderate and not (math.isnan(formula_value) and math.isnan(expected_value))


def _agree(formula_value: float, expected_value: float) -> bool:
    if math.isnan(formula_value) or math.isnan(expected_value):
        return False
    return (
        formula_value == expected_value
        or abs(formula_value - expected_value) <= _RELATIVE * max(abs(formula_value), abs(expected_value)) + _ABSOLUTE
    )


def _show(value: float) -> str:
    return repr(float(f"{value:.6g}"))
