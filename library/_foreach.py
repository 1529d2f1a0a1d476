"""`opweave._foreach_add` and its like: an operator for each tensor of a list, as torch's optimizers call them.

They are derived from the operators when they are first asked for; nothing is fused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from ._base.tensor_class import Tensor
from ._dispatch.ops import ops

__all__ = ["PREFIX", "function_of"]

PREFIX = "_foreach_"

_OF_ONE = (
    *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma"),
    *("log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt"),
    *("tan", "tanh", "trunc"),
)
_OF_SEVERAL = ("add", "sub", "mul", "div", "pow", "lerp", "addcmul", "addcdiv", "clamp_min", "clamp_max")
_IN_PLACE_TOO = frozenset((*_OF_ONE, *_OF_SEVERAL, "maximum", "minimum"))
_CALLED: dict[str, str] = {
    **{name: name for name in (*_OF_ONE, *_OF_SEVERAL, "clone", "max", "mm", "zero_", "copy_")},
    "maximum": "clamp_min",  # which take numbers as well
    "minimum": "clamp_max",
    "norm": "linalg_vector_norm",
    "powsum": "powsum",
}
"""The operator behind each name; those of `_IN_PLACE_TOO` have a twin in place."""

_OF_TWO = (("self",), ("other", "scalar", "scalars"))
_SCALED = (("self",), ("tensor1",), ("tensor2",), ("value", "scalars"))
_ARGUMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max"), _OF_TWO),
    **dict.fromkeys(("addcmul", "addcdiv"), _SCALED),
    "pow": (("self",), ("exponent",)),
    "lerp": (("self",), ("tensors1",), ("weight", "weights")),
    "copy": (("self",), ("src",), ("non_blocking",)),
}
"""The names of arguments at each place, by those of torch's overloads."""


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a name that begins with `_foreach_`. Raises AttributeError where there is none."""
    base = name.removeprefix(PREFIX)
    plain = base.removesuffix("_")
    in_place = base != plain
    if base in _CALLED:
        operator = getattr(ops, _CALLED[base])
    elif in_place and plain in _IN_PLACE_TOO:
        operator = getattr(ops, f"{_CALLED[plain]}_")
    else:
        raise AttributeError(f"module 'opweave' has no attribute {name!r}")
    scaled = plain in ("addcmul", "addcdiv")

    def function(*given: Any, **options: Any) -> Any:
        columns = _placed(plain, given, options)
        if scaled and len(columns) > 3:
            options["value"] = columns.pop()
        count = _count(name, columns)
        values = _column(options.pop("value", 1), count) if scaled else None
        rows = zip(*(_column(each, count) for each in columns), strict=False)
        results = [operator(*row, **options, **({} if values is None else {"value": next(values)})) for row in rows]
        return columns[0] if in_place else tuple(results)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return `{_CALLED[base if base in _CALLED else plain]}` of each tensor of a list."
    return function


def _placed(plain: str, given: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    """The arguments by place, for which those that are given by name are taken out of the options."""
    columns = [*given]
    for place, names in enumerate(_ARGUMENTS.get(plain, (("self",),))):
        named = next((name for name in names if name in options), None)
        if place == len(columns) and named is not None:
            columns.append(options.pop(named))
    return columns


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _count(name: str, columns: Sequence[Any]) -> int:
    """The length of the lists of tensors, which is the same."""
    lists = [each for each in columns if _is_list(each) and not (each and not isinstance(each[0], Tensor))]
    if not lists or not columns or not (_is_list(columns[0]) or name == f"{PREFIX}pow"):
        raise TypeError(
            f"{name}() takes lists of tensors, but got {', '.join(type(each).__name__ for each in columns)}"
        )
    count = len(lists[0])
    if not count:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in lists[1:]:
        if len(other) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(other)}")
    return count


def _column(value: Any, count: int) -> Any:
    """A value for each tensor: one of a list, or the same for all."""
    if isinstance(value, Tensor) and value.ndim == 1 and value.numel() == count:
        value = value.tolist()  # numbers, as `addcmul` takes them
    if not _is_list(value):
        return repeat(value, count)
    if len(value) != count:
        raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return iter(value)
