"""The example in an operator's docstring: a call with small inputs and what it prints.

It is derived from the entry and computed with NumPy where that can tell the result, and otherwise recorded
(sessions.py). The tests run all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..check import numpy_names
from ..dtypes import FLOAT32, INT64, DType
from ..expr.evaluate import evaluate
from ..model.computation import argument_dtypes, default_numbers, result_dtype
from ..model.operator import End, Family, Operator
from ..model.parts import python_name
from ..model.reference import reference
from ..model.variants import own_name
from ..schema import Argument

Array = Any
"""A NumPy array."""

# Values of the first, second and third input; further ones have these in another order. The next row is used where a
# result would not be finite.
_FLOATING = (
    ((-1.0, 0.5, 2.0), (0.5, 2.0, 4.0), (1.0, 3.0, 0.25)),
    ((0.25, 0.5, 0.75), (0.5, 0.25, 2.0), (1.0, 3.0, 0.25)),
    ((1.5, 2.0, 3.0), (2.0, 3.0, 1.0), (1.0, 3.0, 0.25)),
)
_INTEGERS = (((12, -5, 3), (2, 3, 1), (1, 0, 2)), ((12, 10, 6), (18, 4, 9), (1, 0, 2)))
_TRUTHS = (True, False, True)
_MATRIX = ((3.0, 1.0, 2.0), (4.0, 6.0, 5.0))
# Values of required arguments: of an integer, and of a list of integers.
_INT, _LISTS = 1, ((1, 0), (3, 2), (2, 3))


def example(operator: Operator, package: str, recorded: Mapping[str, str]) -> str | None:
    """The lines of a Python session, taken from `recorded` if it has the operator; None if none can be derived."""
    if operator.name in recorded:
        return recorded[operator.name]
    if operator.internal or any(argument.is_optional for argument in operator.inputs):
        return None
    is_elementwise = operator.family is Family.ELEMENTWISE
    if is_elementwise and operator.body.single is None:
        return None
    find = _elementwise if is_elementwise else _by_reference
    for inputs, arguments, result, dtype in find(operator):
        text = _tensor_text(result, dtype)
        if text is not None:
            return "\n".join([*_assignments(inputs), f">>> {_call(operator, package, inputs, arguments)}", text])
    return None


_Found = tuple[Mapping[str, Array], Mapping[str, object], Array, DType]
"""Inputs and other arguments by their Python names, the result and its dtype."""


def _elementwise(operator: Operator) -> Iterator[_Found]:
    import numpy as np

    body = operator.body
    for dtype in (FLOAT32, INT64):
        computed, result = operator.promotion.resolve(dtype)
        expressions = body.values(computed.opmath)
        if dtype in operator.dtypes and expressions:
            break
    else:
        return
    numbers = sample_numbers(operator, computed)
    for rows in _FLOATING if dtype.is_floating else _INTEGERS:
        inputs = {
            name: np.array(_TRUTHS if own.is_bool else np.roll(rows[index % 3], index // 3), own.numpy)
            for index, (name, own) in enumerate(
                (argument.name, body.fixed.get(argument.name, dtype)) for argument in operator.inputs
            )
        }
        types = argument_dtypes(operator, body, computed)
        env = {name: array.astype(types[name].numpy) for name, array in inputs.items()}
        env |= {name: np.array(value, types[name].numpy) for name, value in numbers.items()}
        value = evaluate(expressions[0].tree, env, result_dtype(operator, computed))
        given = {argument.name: numbers[argument.name] for argument in operator.params if argument.default is None}
        yield inputs, given, value, result


def sample_numbers(operator: Operator, dtype: DType) -> dict[str, float]:
    """Values of the parameters; those without a default are one half or one."""
    import numpy as np

    half = 0.5 if dtype.is_floating else 1
    numbers: dict[str, float] = {param.name: 1 if param.is_integral else half for param in operator.params}
    limits: Any = np.finfo(str(dtype.numpy)) if dtype.is_floating else np.iinfo(str(dtype.numpy))
    for name, end in operator.body.absent.items():
        if isinstance(end, End) and name in numbers:
            numbers[name] = limits.min if end is End.LOWEST else limits.max
    return numbers | default_numbers(operator)


def _by_reference(operator: Operator) -> Iterator[_Found]:
    """Results of the operator's NumPy form for small matrices."""
    import numpy as np

    text = reference(operator)
    if text is None or operator.family is Family.INDEXING or not operator.inputs:
        return
    dtype = FLOAT32 if FLOAT32 in operator.dtypes else INT64
    inputs = {
        argument.name: np.array(_matrix(operator, index), dtype.numpy) for index, argument in enumerate(operator.inputs)
    }
    composite = operator.family is Family.COMPOSITE
    for lists in _LISTS:
        given = {
            argument.name: _integer(operator, argument) if argument.name == "dim" or not argument.is_list else lists
            for argument in operator.schema.positional
            if not argument.is_tensor and (argument.default is None or (argument.name == "dim" and not composite))
        }
        defaults = {a.name: None if a.default is None else a.default.value for a in operator.schema.arguments}
        numbers = sample_numbers(operator, dtype)
        try:
            value = numpy_names.value(text, {**defaults, **numbers, **inputs, **given})
        except (TypeError, ValueError, IndexError, AttributeError, NameError):
            continue  # these arguments do not fit the shape, or the form uses more than NumPy
        result = operator.promotion.resolve(dtype)[1]
        yield inputs, given, np.asarray(value), result


def _integer(operator: Operator, argument: Argument) -> int:
    reduces = operator.family in (Family.REDUCE, Family.SCAN)
    return _INT if reduces or not argument.name.startswith("dim") or argument.name == "dim1" else 0


def _matrix(operator: Operator, index: int) -> Sequence[object]:
    """A matrix; for a routine, as many dimensions of size two as its signature says."""
    if operator.family is not Family.EXTERN:
        return _MATRIX
    shape = operator.body.signature.split("->")[0].split("),")[index]
    ndim = len([name for name in shape.strip("()").split(",") if name])
    row = [float(index + 1), 2.0]
    matrix = [row, [0.0, 3.0]]
    return row if ndim == 1 else matrix if ndim == 2 else [matrix]


# ---- text ---------------------------------------------------------------------------------------------------


def _assignments(inputs: Mapping[str, Array]) -> Iterator[str]:
    for name, array in inputs.items():
        yield f">>> {python_name(name)} = opweave.tensor({array.tolist()})"


def _call(operator: Operator, package: str, inputs: Mapping[str, Array], arguments: Mapping[str, object]) -> str:
    given = [f"{name}={value}" for name, value in arguments.items()]
    names = [python_name(name) for name in inputs]
    if operator.function:
        path = ".".join(filter(None, (package, operator.module, own_name(operator))))
        return f"{path}({', '.join([*names, *given])})"
    if operator.property_name:
        return f"{names[0]}.{operator.property_name}"
    return f"{names[0]}.{operator.name}({', '.join([*names[1:], *given])})"


def _tensor_text(values: Array, dtype: DType) -> str | None:
    """The tensor as `repr` prints it; None if it would not be a good example."""
    texts = _element_texts(values, dtype) if values.ndim <= 2 else None
    if texts is None:
        return None
    width = max(map(len, texts)) if values.ndim else 0
    suffix = "" if dtype.is_bool or dtype in (FLOAT32, INT64) else f", dtype=opweave.{dtype.name}"
    return f"tensor({_nested([text.rjust(width) for text in texts], values.shape)}{suffix})"


def _element_texts(values: Array, dtype: DType) -> list[str] | None:
    """Texts of the elements in order; None if they would not be a good example. A complex number joins two texts."""
    import numpy as np

    if values.dtype.kind == "c":
        real, imag = _element_texts(values.real, dtype), _element_texts(values.imag, dtype)
        if real is None or imag is None:
            return None
        return [f"{left}{'' if right[0] == '-' else '+'}{right}j" for left, right in zip(real, imag, strict=True)]
    negative_zeros = (values == 0) & np.signbit(values) if values.dtype.kind == "f" else False
    if not values.size or not np.isfinite(values).all() or np.any(negative_zeros):
        return None
    values = values.astype(dtype.numpy)
    if not dtype.is_floating:
        return [str(value) for value in values.ravel().tolist()]
    sizes = np.abs(values[values != 0])
    if sizes.size and (sizes.max() > 1000 * sizes.min() or sizes.max() > 1e5 or sizes.min() < 1e-2):
        return None
    form = "{:.0f}." if (values == np.round(values)).all() else "{:.4f}"
    return [form.format(value) for value in values.ravel().tolist()]


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return texts[0]
    rows = [f"[{', '.join(texts[at : at + shape[-1]])}]" for at in range(0, len(texts), shape[-1])]
    if len(shape) == 1:
        return rows[0]
    separator = ",\n" + " " * len("tensor([")
    return f"[{separator.join(rows)}]"
