"""Checks the formulas of reductions, scans and row operators: each against differences of what the body gives.

Such formulas are Python in terms of the functions of this package, so they can only be tried where it is at hand: when
declarations are woven or checked. The body is computed by codegen, with NumPy. As checking a file must not run whatever
it says, formulas name the helpers of derivatives, and operators as attributes: none of these reads or writes a file.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import _derivatives, _operators
from .._base.interchange import from_numpy
from . import loaded_libraries

if TYPE_CHECKING:
    from ..codegen.errors import Diagnostics
    from ..codegen.model.operator import Body, Derivative, Operator

Array = Any
"""A NumPy array."""

_STEP = 1e-6
_RELATIVE, _ABSOLUTE = 1e-4, 1e-6


def functions() -> dict[str, Any]:
    """The helpers of derivatives that formulas may call, without the tables of the package, which are in capitals."""
    return {
        name: each
        for name, each in vars(_derivatives).items()
        if not (name.startswith("_") or name.isupper()) and (each is math or not isinstance(each, (type, ModuleType)))
    }


def check(operators: tuple[Operator, ...], diagnostics: Diagnostics) -> None:
    """Reports every formula that contradicts its body."""
    own = {operator.name for operator in operators}
    for operator in operators:
        floating = any(dtype.is_floating for dtype in operator.compute_dtypes)
        if not operator.family.has_lines or not floating:
            continue
        for name, derivative in operator.derivatives.items():
            if derivative.differs or derivative.text in ("none", "auto"):
                continue
            if operator.derived and derivative.source.value.strip() == "auto":
                continue  # it follows from the body, and takes tensors of rows and of places
            names, attributes = names_of(derivative.text)
            if (names | attributes) & own:
                continue  # these do not exist yet
            problem = refusal(name, attributes) or _contradiction(operator, operator.body, name, derivative)
            if problem is not None:
                diagnostics.report(derivative.source.span, problem)


def names_of(text: str) -> tuple[set[str], set[str]]:
    """The names, and the attributes of tensors, that a formula reads.

    A formula may call something else `math`, so that only what the module is for counts as its attribute.
    """
    nodes = list(ast.walk(ast.parse(text.strip(), mode="eval")))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return names, {each.attr for each in attributes if each.attr not in _MATH or ast.unparse(each.value) != "math"}


def refusal(name: str, attributes: set[str]) -> str | None:
    """Return why the formula of an input may not be evaluated, or None if it may."""
    woven = (each.methods for each in loaded_libraries.loaded())
    operators = {*_operators.FUNCTIONS, *_operators.METHODS}.union(*woven)
    forbidden = sorted(attributes - operators - _ATTRIBUTES)
    if not forbidden:
        return None
    return f"the derivative of '{name}' uses '.{forbidden[0]}', which is no operator: what it does cannot be checked"


def _contradiction(operator: Operator, body: Body, name: str, derivative: Derivative) -> str | None:
    import numpy as np

    for inputs in _inputs(operator, body):
        for dim, keepdim in _forms(operator, body):
            given = {each: x if dim == 1 else np.ascontiguousarray(x.T) for each, x in inputs.items()}
            matrix = given[name]
            try:
                declared, expected = _both(operator, body, name, derivative, given, dim, keepdim)
            except Exception as error:  # whatever the formula makes of its arguments
                return f"the derivative of '{name}' fails: {type(error).__name__}: {error}"
            if declared.shape != expected.shape:
                shapes = f"{declared.shape} for an input of shape {expected.shape}"
                return f"the derivative of '{name}' has the shape {shapes}"
            near = np.abs(declared - expected) <= _RELATIVE * np.maximum(np.abs(declared), np.abs(expected)) + _ABSOLUTE
            if not near.all():
                index = np.flatnonzero(~near.ravel())[0]
                return (
                    f"derivative of '{name}' contradicts the body: of {_row(matrix, index, dim)} by element "
                    f"{np.unravel_index(index, matrix.shape)[dim]}: the formula gives {declared.ravel()[index]:.6g}, "
                    f"differences of the body give {expected.ravel()[index]:.6g}"
                )
    return None


def _row(matrix: Array, index: int, dim: int) -> str:
    import numpy as np

    row, column = np.unravel_index(index, matrix.shape)
    return str([float(f"{each:g}") for each in (matrix[row] if dim == 1 else matrix[:, column])])


def _inputs(operator: Operator, body: Body) -> Iterator[dict[str, Array]]:
    """Sample matrices of which the results are finite: as they are, or without their signs."""
    import numpy as np

    from ..codegen.check import samples
    from ..codegen.dtypes import FLOAT64
    from ..codegen.expr import ExpressionError

    for positive in (False, True):
        x = samples.matrix(FLOAT64, positive)
        inputs = {each.name: np.roll(x, 2 * index) for index, each in enumerate(operator.inputs)}
        inputs = {each: value > 0.5 if each in body.fixed else value for each, value in inputs.items()}
        try:
            values = _results(operator, body, inputs)
        except ExpressionError:
            return  # nothing evaluates it
        if all(np.isfinite(each).all() for each in values):
            yield inputs
            return


def _results(operator: Operator, body: Body, inputs: Mapping[str, Array]) -> tuple[Array, ...]:
    """Results over the rows of matrices."""
    from ..codegen.check import folds, samples
    from ..codegen.dtypes import FLOAT64
    from ..codegen.model.folding import Folding

    if isinstance(body, Folding):
        return folds.results(operator, body, inputs, FLOAT64)
    return samples.results(operator, inputs, FLOAT64)


def _forms(operator: Operator, body: Body) -> Iterator[tuple[int, bool]]:
    """Values of `dim` and `keepdim`."""
    yield from ((1, False), (0, False))
    if operator.schema.argument("keepdim") is not None:
        yield 1, True


def _both(
    operator: Operator,
    body: Body,
    name: str,
    derivative: Derivative,
    inputs: Mapping[str, Array],
    dim: int,
    keepdim: bool,
) -> tuple[Array, Array]:
    """The gradient by the formula, and by differences."""
    import numpy as np

    from ..codegen.check import samples

    x = inputs[name]

    def results(given: Array) -> tuple[Array, ...]:
        every = {**inputs, name: given}
        values = _results(operator, body, {each: value if dim == 1 else value.T for each, value in every.items()})
        return values if dim == 1 else tuple(each.T for each in values)

    values = results(x)
    generator = np.random.default_rng(3)
    # Positions have no gradient.
    grads = [generator.standard_normal(each.shape) * (each.dtype.kind == "f") for each in values]
    expected = np.empty_like(x)
    for index in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[index] = _STEP
        pairs = zip(grads, results(x + step), results(x - step), strict=True)
        expected[index] = sum(np.sum(grad * (above - below)) for grad, above, below in pairs) / (2 * _STEP)
    shrinks = not keepdim and values[0].shape != x.shape
    env: dict[str, Any] = {each: from_numpy(np.array(value)) for each, value in inputs.items()}
    env |= {"dim": dim, "keepdim": keepdim, **samples.numbers(operator)}
    for kind, arrays in (("grad", grads), ("result", values)):
        tensors = [from_numpy(np.array(each.squeeze(dim) if shrinks else each)) for each in arrays]
        env |= named(operator, kind, tensors)
    formula = compile(" ".join(derivative.text.split()), "<derivative>", "eval")
    result = eval(formula, {**functions(), "__builtins__": BUILTINS, **env})
    return np.asarray(result.detach().numpy()), expected


def named(operator: Operator, kind: str, tensors: list[Any]) -> Mapping[str, Any]:
    """`grad`, or `grad_values` of several."""
    if len(tensors) == 1:
        return {kind: tensors[0]}
    returns = operator.schema.returns
    return {f"{kind}_{each.name or index}": tensors[index] for index, each in enumerate(returns)}


BUILTINS = {each.__name__: each for each in (abs, bool, float, int, isinstance, len, list, max, min, range, sum, tuple)}
"""The functions that a formula may call."""

_MATH = {each for each in dir(math) if not each.startswith("_")}
_ATTRIBUTES = {"device", "dim", "dtype", "indices", "is_complex", "is_floating_point", "itemsize", "layout", "ndim"}
_ATTRIBUTES |= {"requires_grad", "shape", "size", "stride", "to", "values"}
"""Attributes of tensors, dtypes and results that are no operators."""
